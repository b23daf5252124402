// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// std::latch and std::barrier, as far as the tests need them, by a mutex and a condition variable.
// Those of libstdc++ 12 may sleep for ever where there is no futex: a notification between the look
// at the value and falling asleep is lost (ASIO_WHEEL_HAS_ATOMIC_WAIT).

#ifndef ASIO_WHEEL_TEST_SUPPORT_LATCH_HPP
#define ASIO_WHEEL_TEST_SUPPORT_LATCH_HPP

#include <boost/assert.hpp>

#include <condition_variable>
#include <mutex>

namespace asio_wheel::test {

class latch {
public:
    explicit latch(int expected) : expected_(expected) {}

    void count_down() {
        const std::scoped_lock lock(mutex_);
        BOOST_ASSERT(expected_ > 0);
        if (--expected_ == 0) {
            all_.notify_all(); // Under the lock: a thread that wakes up may destroy the latch.
        }
    }

    [[nodiscard]] bool try_wait() {
        const std::scoped_lock lock(mutex_);
        return expected_ == 0;
    }

    void wait() {
        std::unique_lock lock(mutex_);
        all_.wait(lock, [this] { return expected_ == 0; });
    }

    void arrive_and_wait() {
        count_down();
        wait();
    }

private:
    std::mutex mutex_; // Guards `expected_`.
    std::condition_variable all_;
    int expected_;
};

class barrier {
public:
    explicit barrier(int expected) : all_(expected), missing_(expected) {}

    void arrive_and_wait() {
        std::unique_lock lock(mutex_);
        if (--missing_ == 0) {
            missing_ = all_;
            ++round_;
            next_.notify_all();
        } else {
            next_.wait(lock, [this, round = round_] { return round_ != round; });
        }
    }

private:
    std::mutex mutex_; // Guards `missing_` and `round_`.
    std::condition_variable next_;
    const int all_;
    int missing_;
    unsigned round_ = 0;
};

} // namespace asio_wheel::test

#endif
