// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How late this machine is: a thread that does nothing but sleep for a millisecond, and looks how long
// that was. What it finds is nobody's fault here.

#ifndef ASIO_WHEEL_TEST_SOAK_MACHINE_HPP
#define ASIO_WHEEL_TEST_SOAK_MACHINE_HPP

#include <asio_wheel/stats.hpp>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <thread>

namespace soak {

class machine_lateness {
public:
    machine_lateness() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

    /// All of it so far.
    [[nodiscard]] asio_wheel::lateness_histogram all() const {
        const std::lock_guard guard(mutex_);
        return all_;
    }

private:
    void run(const std::stop_token& stop) {
        using clock = std::chrono::steady_clock;
        while (!stop.stop_requested()) {
            const auto due = clock::now() + std::chrono::milliseconds(1);
            std::this_thread::sleep_until(due);
            const auto late = clock::now() - due;
            const std::lock_guard guard(mutex_);
            all_.add(late);
        }
    }

    mutable std::mutex mutex_; // Guards all_.
    asio_wheel::lateness_histogram all_;
    std::jthread thread_;
};

} // namespace soak

#endif
