// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A mutex that can be disabled when it is made, because only one thread will ever use it.
//
// A disabled mutex must not hide a mistake. If two threads use it at once, and assertions are on
// (see BOOST_ASSERT) where it is made, the second thread fails an assertion. The message names the
// owner of the mutex and what both threads were doing.
//
// Each thread that works for the owner is registered meanwhile as the holder, with its purpose. A
// disabled mutex orders nothing, so all of this is relaxed and serves the check alone. The check
// may miss a second thread. It never fails with a single one.

#ifndef ASIO_WHEEL_DETAIL_THREADS_OPTIONAL_MUTEX_HPP
#define ASIO_WHEEL_DETAIL_THREADS_OPTIONAL_MUTEX_HPP

#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/assert.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace asio_wheel::detail {

/// Meets the requirements of a mutex, as far as std::lock_guard and std::unique_lock need them.
class optional_mutex {
public:
    /// Tells of two threads that use a disabled mutex at once. Null: nobody looks.
    using complaint = void (*)(const void* which, const char* one, const char* other);

    explicit optional_mutex(bool enabled, complaint misuse = complain_by_assertion()) noexcept
        : misuse_(enabled ? nullptr : misuse), enabled_(enabled) {}

    /// For a mutex that is made where assertions are on: fails one. Null where they are off.
    [[nodiscard]] static constexpr complaint complain_by_assertion() noexcept;

    void lock(const char* purpose = "another call") {
        if (!enabled_) {
            enter(purpose);
        } else if (!mutex_.try_lock()) {
            waiting_.fetch_add(1, std::memory_order_relaxed);
            mutex_.lock();
            waiting_.fetch_sub(1, std::memory_order_relaxed);
        }
    }

    void unlock() noexcept {
        if (enabled_) {
            mutex_.unlock();
        } else {
            leave();
        }
    }

    /// Whether another thread waits for the mutex. Mutexes are not fair: a thread that unlocks this
    /// one and locks it again at once most often gets it before a thread that waits.
    [[nodiscard]] bool is_contended() const noexcept {
        return waiting_.load(std::memory_order_relaxed) != 0;
    }

    /// Between enter() and leave(), a thread works for the owner without the lock: it runs a
    /// handler. If the mutex is disabled, no other thread may use the owner meanwhile. These calls
    /// nest. They have no effect if the mutex is enabled.
    void enter(const char* purpose) noexcept {
        if (misuse_ != nullptr) {
            note_entry(purpose);
        }
    }
    void leave() noexcept {
        if (misuse_ != nullptr) {
            note_exit();
        }
    }

private:
    void note_entry(const char* purpose) noexcept;
    void note_exit() noexcept;

    mutex mutex_;
    const complaint misuse_;
    const bool enabled_;
    // Relaxed: it is a hint. Not a detail::atomic: tests that explore interleavings need not switch
    // threads here.
    std::atomic<unsigned> waiting_{0};
    // For the check alone. A thread that reads its own id here is the holder: no other thread
    // stores that id. What it reads otherwise may be out of date.
    atomic<std::thread::id> holder_;
    atomic<const char*> purpose_{nullptr}; // Of the holder. Read for the message only.
    unsigned depth_ = 0;                   // How often the holder has entered. Used by it alone.
};

inline void optional_mutex::note_entry(const char* purpose) noexcept {
    const std::thread::id this_thread = std::this_thread::get_id();
    std::thread::id holder{};
    if (!holder_.compare_exchange_strong(holder, this_thread, std::memory_order_relaxed) &&
        holder != this_thread) {
        misuse_(this, purpose_.load(std::memory_order_relaxed), purpose);
        return;
    }
    if (depth_++ == 0) {
        purpose_.store(purpose, std::memory_order_relaxed);
    }
}

inline void optional_mutex::note_exit() noexcept {
    if (holder_.load(std::memory_order_relaxed) == std::this_thread::get_id() && --depth_ == 0) {
        holder_.store({}, std::memory_order_relaxed);
    }
}

constexpr optional_mutex::complaint optional_mutex::complain_by_assertion() noexcept {
#if defined(BOOST_ASSERT_IS_VOID)
    return nullptr;
#else
    return [](const void* which, const char* one, const char* other) {
        std::fprintf(
            stderr,
            "asio_wheel: the wheel at %p was made with wheel_options::locking = false, for "
            "one thread, but two threads use it at once: one for %s, the other for %s\n",
            which, one, other);
        BOOST_ASSERT_MSG(false, "asio_wheel: two threads use a wheel with locking = false");
    };
#endif
}

} // namespace asio_wheel::detail

#endif
