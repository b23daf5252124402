// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The observations of the clients of a soak, and whether they are correct.

#ifndef ASIO_WHEEL_TEST_SOAK_JUDGE_HPP
#define ASIO_WHEEL_TEST_SOAK_JUDGE_HPP

#include <asio_wheel/stats.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
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

/// Any thread may use it.
class judge {
public:
    /// Records that the server closed a connection, which was due at `due` and must not be closed
    /// before `earliest`.
    void closed(const char* by, clock_type::time_point when, clock_type::time_point earliest,
                clock_type::time_point due) {
        const std::lock_guard guard(mutex_);
        entry& e = entries_[by];
        ++e.closed;
        e.early += when < earliest ? 1 : 0;
        if (when - due > e.lateness.max()) {
            e.latest_at = when - start_;
        }
        e.lateness.add(std::max<nanoseconds>(when - due, nanoseconds::zero()));
    }

    /// Records a correct or a wrong answer.
    void answered(const char* by, bool rightly) {
        const std::lock_guard guard(mutex_);
        entry& e = entries_[by];
        ++(rightly ? e.answered : e.wrong);
    }

    /// Records that a connection that should have been closed was not.
    void left_open(const char* by) {
        const std::lock_guard guard(mutex_);
        ++entries_[by].left_open;
    }

    /// Prints all observations, and marks those later than `margin`.
    void report(nanoseconds margin) const {
        const std::lock_guard guard(mutex_);
        std::printf("%-34s %9s %6s %8s %6s %6s %28s at (s)\n", "seen by the clients", "answered",
                    "wrong", "closed", "early", "open", "late: p50, p99, max (ms)");
        for (const auto& [by, e] : entries_) {
            std::printf(
                "%-34s %9llu %6llu %8llu %6llu %6llu %12.2f %7.2f %7.2f %6.1f%s\n", by.c_str(),
                number(e.answered), number(e.wrong), number(e.closed), number(e.early),
                number(e.left_open), milliseconds(e.lateness.quantile(0.5)),
                milliseconds(e.lateness.quantile(0.99)), milliseconds(e.lateness.max()),
                milliseconds(e.latest_at) / 1000, e.lateness.max() > margin ? "  LATE" : "");
        }
    }

    /// Returns how many kinds of observations there are.
    [[nodiscard]] std::size_t kinds() const {
        const std::lock_guard guard(mutex_);
        return entries_.size();
    }

    [[nodiscard]] bool anything_early() const {
        return any([](const entry& e) { return e.early != 0; });
    }
    /// A connection that was not closed at all is late, too.
    [[nodiscard]] bool anything_late(nanoseconds margin) const {
        return any([=](const entry& e) { return e.left_open != 0 || e.lateness.max() > margin; });
    }
    [[nodiscard]] bool all_answered() const {
        return !any([](const entry& e) { return e.wrong != 0; });
    }

private:
    struct entry {
        std::uint64_t answered = 0;
        std::uint64_t wrong = 0;
        std::uint64_t closed = 0;
        std::uint64_t early = 0;
        std::uint64_t left_open = 0;
        asio_wheel::lateness_histogram lateness;
        nanoseconds latest_at{}; // When the largest lateness occurred, since the start.
    };

    template <class Question>
    [[nodiscard]] bool any(Question question) const {
        const std::lock_guard guard(mutex_);
        return std::ranges::any_of(entries_, [&](const auto& e) { return question(e.second); });
    }

    static unsigned long long number(std::uint64_t n) { return n; }

    const clock_type::time_point start_ = clock_type::now();
    mutable std::mutex mutex_; // Guards entries_.
    std::map<std::string, entry> entries_;
};

} // namespace soak

#endif
