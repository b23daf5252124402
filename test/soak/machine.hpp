// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Measures how late this machine itself is: a thread that sleeps and computes, and measures by how
// much it exceeds its planned time. Servers are affected in the same way.

#ifndef ASIO_WHEEL_TEST_SOAK_MACHINE_HPP
#define ASIO_WHEEL_TEST_SOAK_MACHINE_HPP

#include <asio_wheel/stats.hpp>

#include <time.h>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <thread>

namespace soak {

class machine_lateness {
public:
    machine_lateness() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

    /// Returns all measurements so far.
    [[nodiscard]] asio_wheel::lateness_histogram all() const {
        const std::lock_guard guard(mutex_);
        return all_;
    }

private:
    using clock = std::chrono::steady_clock;

    void run(const std::stop_token& stop) {
        for (int i = 0; !stop.stop_requested(); ++i) {
            const auto due = clock::now() + std::chrono::milliseconds(1);
            std::this_thread::sleep_until(due);
            add(clock::now() - due);
            // Systems favour threads that only sleep. So this one also computes now and then.
            if (i % 20 == 0) {
                add(compute(std::chrono::milliseconds(3)));
            }
        }
    }

    // Uses `work` of processor time. Returns how much longer that took.
    static std::chrono::nanoseconds compute(std::chrono::nanoseconds work) {
        const auto start = clock::now();
        const auto begin = processor_time();
        auto used = begin - begin;
        while (used < work) {
            used = processor_time() - begin;
        }
        return clock::now() - start - used;
    }

    static std::chrono::nanoseconds processor_time() {
        timespec t{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
    }

    void add(std::chrono::nanoseconds late) {
        const std::lock_guard guard(mutex_);
        all_.add(late);
    }

    mutable std::mutex mutex_; // Guards all_.
    asio_wheel::lateness_histogram all_;
    std::jthread thread_;
};

} // namespace soak

#endif
