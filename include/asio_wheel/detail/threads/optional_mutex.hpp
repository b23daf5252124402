// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_THREADS_OPTIONAL_MUTEX_HPP
#define ASIO_WHEEL_DETAIL_THREADS_OPTIONAL_MUTEX_HPP

#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/assert.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace asio_wheel::detail {

/// A mutex that can be disabled, where only one thread will ever use it.
///
/// If two threads use a disabled one at once, and assertions are on (see BOOST_ASSERT), the second
/// thread fails one. The message names the owner of the mutex and what both threads were doing.
/// This check may miss a second thread, but it never fails with a single one.
class optional_mutex {
public:
    explicit optional_mutex(bool enabled) noexcept : enabled_(enabled) {}

    void lock(const char* purpose = "a call of its own") {
        if (enabled_) {
            mutex_.lock();
        } else {
            enter(purpose);
        }
    }

    void unlock() noexcept {
        if (enabled_) {
            mutex_.unlock();
        } else {
            leave();
        }
    }

    /// Between these two calls a thread works for the owner without the lock: it runs a handler. If
    /// the mutex is disabled, a lock by another thread is a mistake then.
    void enter(const char* purpose) noexcept;
    void leave() noexcept;

private:
    mutex mutex_;
    const bool enabled_;
    // The thread that is there, for the check alone. A value that is read here is this thread's
    // own, or an old one of another thread.
    atomic<std::thread::id> holder_;
    atomic<const char*> purpose_{nullptr};
    unsigned depth_ = 0; // Used by the holder alone.
};

#if defined(BOOST_ASSERT_IS_VOID)

inline void optional_mutex::enter(const char*) noexcept {}
inline void optional_mutex::leave() noexcept {}

#else

inline void optional_mutex::enter(const char* purpose) noexcept {
    if (enabled_) {
        return;
    }
    const std::thread::id here = std::this_thread::get_id();
    std::thread::id holder{};
    if (!holder_.compare_exchange_strong(holder, here, std::memory_order_relaxed) &&
        holder != here) {
        std::fprintf(
            stderr,
            "asio_wheel: the wheel at %p was made with wheel_options::locking = false, for "
            "one thread, but two threads use it at once: one for %s, the other for %s\n",
            static_cast<const void*>(this), purpose_.load(std::memory_order_relaxed), purpose);
        BOOST_ASSERT_MSG(false, "asio_wheel: two threads use a wheel with locking = false");
        return;
    }
    if (depth_++ == 0) {
        purpose_.store(purpose, std::memory_order_relaxed);
    }
}

inline void optional_mutex::leave() noexcept {
    if (!enabled_ && holder_.load(std::memory_order_relaxed) == std::this_thread::get_id() &&
        --depth_ == 0) {
        holder_.store({}, std::memory_order_relaxed);
    }
}

#endif

} // namespace asio_wheel::detail

#endif
