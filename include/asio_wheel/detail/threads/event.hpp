// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A thread that blocks, perhaps for a limited time, until another thread lets it go on. It is not
// in sync.hpp, because a condition variable takes long to compile, and few need one.
//
// A program may define ASIO_WHEEL_EVENT_HEADER, as ASIO_WHEEL_SYNC_HEADER: see sync.hpp.
//
// A condition variable serves on all systems and for both kinds of waits. The wait of an atomic has
// no limit, and std::binary_semaphore is wrong where ASIO_WHEEL_HAS_ATOMIC_WAIT is 0.

#ifndef ASIO_WHEEL_DETAIL_THREADS_EVENT_HPP
#define ASIO_WHEEL_DETAIL_THREADS_EVENT_HPP

#ifdef ASIO_WHEEL_EVENT_HEADER
#include ASIO_WHEEL_EVENT_HEADER
#else

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace asio_wheel::detail {

class event {
public:
    event() = default;
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    void set() {
        const std::lock_guard<std::mutex> guard(mutex_);
        is_set_ = true;
        was_set_.notify_all(); // Under the lock: the thread that wakes up may destroy the event.
    }

    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        was_set_.wait(lock, [this] { return is_set_; });
    }

    /// Returns false if it is not set by then.
    [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point end) {
        std::unique_lock<std::mutex> lock(mutex_);
        return was_set_.wait_until(lock, end, [this] { return is_set_; });
    }

private:
    std::mutex mutex_; // Guards `is_set_`.
    std::condition_variable was_set_;
    bool is_set_ = false;
};

} // namespace asio_wheel::detail

#endif

#endif
