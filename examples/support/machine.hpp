// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Measures how late the machine itself is while a trial runs. If the machine has no processor time
// for the two processes, a late server proves nothing.

#ifndef DEMO_MACHINE_HPP
#define DEMO_MACHINE_HPP

#include "checks.hpp"
#include "coroutine.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

namespace demo {

/// Returns how long a process with one thread has been ready to run without having a processor. On
/// systems other than Linux, which do not report this, returns 0.
inline steady_clock::duration waited_for_processor([[maybe_unused]] pid_t process) {
    long long nanoseconds = 0;
#ifdef __linux__
    std::ifstream file("/proc/" + std::to_string(process) + "/schedstat");
    long long ran = 0;
    if (!(file >> ran >> nanoseconds)) {
        nanoseconds = 0;
    }
#endif
    return std::chrono::nanoseconds(nanoseconds);
}

/// Sleeps for 5 ms again and again, and records how late it wakes up. Once a second, checks how
/// long each process has waited for a processor.
class machine_monitor {
public:
    explicit machine_monitor(asio::io_context& io) : timer_(io) {}

    void add(pid_t id) { processes_.push_back({id, waited_for_processor(id)}); }

    asio::awaitable<void> run() {
        auto next_look = steady_clock::now() + std::chrono::seconds(1);
        while (!stopped_) {
            timer_.expires_after(std::chrono::milliseconds(5));
            co_await timer_.async_wait(as_result);
            const auto now = steady_clock::now();
            seen_.idle_process_ms =
                std::max(seen_.idle_process_ms, milliseconds(now - timer_.expiry()));
            if (now >= next_look || stopped_) {
                look();
                next_look = now + std::chrono::seconds(1);
            }
        }
    }

    void stop() {
        stopped_ = true;
        timer_.cancel();
    }

    const machine_lateness& seen() const { return seen_; }

private:
    struct process {
        pid_t id;
        steady_clock::duration waited;
    };

    void look() {
        for (process& p : processes_) {
            const auto waited = waited_for_processor(p.id);
            seen_.cpu_wait_ms = std::max(seen_.cpu_wait_ms, milliseconds(waited - p.waited));
            p.waited = waited;
        }
    }

    asio::steady_timer timer_;
    std::vector<process> processes_;
    machine_lateness seen_;
    bool stopped_ = false;
};

} // namespace demo

#endif
