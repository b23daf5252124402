// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A substitute for the library's mutex that reports when it is locked and unlocked: for programs
// that define ASIO_WHEEL_SYNC_HEADER as "support/measured_sync.hpp".

#ifndef ASIO_WHEEL_TEST_SUPPORT_MEASURED_SYNC_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MEASURED_SYNC_HPP

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace asio_wheel::test {

/// What the observer recorded when a mutex was locked, for when it is unlocked.
struct lock_mark {
    std::int64_t time = 0;
    std::uint64_t work = 0;
    std::uint64_t waits = 0;
};

/// Receives each lock and unlock of the library's mutexes by its thread.
class lock_observer {
public:
    lock_observer() = default;
    lock_observer(const lock_observer&) = delete;
    lock_observer& operator=(const lock_observer&) = delete;

    virtual void locked(lock_mark& mark) = 0;          ///< It is locked now.
    virtual void unlocking(const lock_mark& mark) = 0; ///< It is about to be unlocked.
    virtual void unlocked(const lock_mark& mark) = 0;  ///< It is unlocked.

    static inline thread_local lock_observer* here = nullptr;

protected:
    ~lock_observer() = default;
};

/// While this exists, its thread is not observed.
class not_observed {
public:
    not_observed() noexcept = default;
    not_observed(const not_observed&) = delete;
    not_observed& operator=(const not_observed&) = delete;
    ~not_observed() { lock_observer::here = observer_; }

private:
    lock_observer* const observer_ = std::exchange(lock_observer::here, nullptr);
};

} // namespace asio_wheel::test

namespace asio_wheel::detail {

class mutex {
public:
    void lock() {
        mutex_.lock();
        begin();
    }

    bool try_lock() {
        if (!mutex_.try_lock()) {
            return false;
        }
        begin();
        return true;
    }

    void unlock() {
        // Of nested locks, only the outermost counts: it covers the others.
        --depth;
        test::lock_observer* const observer = depth == 0 ? test::lock_observer::here : nullptr;
        const test::lock_mark mark = mark_;
        if (observer != nullptr) {
            observer->unlocking(mark);
        }
        mutex_.unlock();
        if (observer != nullptr) {
            observer->unlocked(mark);
        }
    }

private:
    void begin() {
        if (++depth == 1 && test::lock_observer::here != nullptr) {
            test::lock_observer::here->locked(mark_);
        }
    }

    static inline thread_local int depth = 0; // The number of mutexes that its thread has locked.
    std::mutex mutex_;
    test::lock_mark mark_; // Belongs to the thread that has locked the mutex.
};

template <class T>
using atomic = std::atomic<T>;

} // namespace asio_wheel::detail

#endif
