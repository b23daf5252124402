// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the clients of a soak have seen, and whether that is as it should be.

#ifndef ASIO_WHEEL_TEST_SOAK_JUDGE_HPP
#define ASIO_WHEEL_TEST_SOAK_JUDGE_HPP

#include <asio_wheel/stats.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

namespace soak {

using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

[[nodiscard]] inline double milliseconds(nanoseconds d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

/// For any thread.
class judge {
public:
    /// A connection was closed by its server: not before `earliest`, and when it was due, `due`.
    void closed(const char* by, clock_type::time_point when, clock_type::time_point earliest,
                clock_type::time_point due) {
        const std::lock_guard guard(mutex_);
        entry& e = entries_[by];
        ++e.closed;
        e.early += when < earliest ? 1 : 0;
        e.earliest = std::min<nanoseconds>(e.earliest, when - earliest);
        e.lateness.add(std::max<nanoseconds>(when - due, nanoseconds::zero()));
    }

    /// Something was answered as it should be, or was not.
    void answered(const char* by, bool rightly) {
        const std::lock_guard guard(mutex_);
        entry& e = entries_[by];
        ++(rightly ? e.answered : e.wrong);
    }

    /// A connection that should have been closed was not.
    void left_open(const char* by) {
        const std::lock_guard guard(mutex_);
        ++entries_[by].left_open;
    }

    /// Prints what there is. Returns what is wrong: nothing may be later than `margin`.
    [[nodiscard]] int report(nanoseconds margin) const {
        const std::lock_guard guard(mutex_);
        int faults = 0;
        std::printf("%-34s %9s %6s %8s %6s %6s %28s\n", "seen by the clients", "answered", "wrong",
                    "closed", "early", "open", "late: p50, p99, max (ms)");
        for (const auto& [by, e] : entries_) {
            std::printf("%-34s %9llu %6llu %8llu %6llu %6llu %12.2f %7.2f %7.2f\n", by.c_str(),
                        number(e.answered), number(e.wrong), number(e.closed), number(e.early),
                        number(e.left_open), milliseconds(e.lateness.quantile(0.5)),
                        milliseconds(e.lateness.quantile(0.99)), milliseconds(e.lateness.max()));
            faults += e.wrong != 0 || e.early != 0 || e.left_open != 0 || e.lateness.max() > margin;
        }
        return faults;
    }

    /// The latest of all.
    [[nodiscard]] nanoseconds latest() const {
        const std::lock_guard guard(mutex_);
        nanoseconds latest{};
        for (const auto& [by, e] : entries_) {
            latest = std::max(latest, e.lateness.max());
        }
        return latest;
    }

    /// What is wrong whatever the machine was doing.
    [[nodiscard]] bool anything_early() const {
        const std::lock_guard guard(mutex_);
        return std::ranges::any_of(entries_, [](const auto& e) { return e.second.early != 0; });
    }

private:
    struct entry {
        std::uint64_t answered = 0;
        std::uint64_t wrong = 0;
        std::uint64_t closed = 0;
        std::uint64_t early = 0;
        std::uint64_t left_open = 0;
        nanoseconds earliest = nanoseconds::max();
        asio_wheel::lateness_histogram lateness;
    };

    static unsigned long long number(std::uint64_t n) { return n; }

    mutable std::mutex mutex_; // Guards entries_.
    std::map<std::string, entry> entries_;
};

} // namespace soak

#endif
