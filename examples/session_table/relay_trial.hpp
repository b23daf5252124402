// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The course of a trial: all sessions open, send traffic, end together, and go idle.

#ifndef SESSIONS_RELAY_TRIAL_HPP
#define SESSIONS_RELAY_TRIAL_HPP

#include "../support/coroutine.hpp"
#include "../support/record.hpp"
#include "expiry_queries.hpp"
#include "peers.hpp"
#include "traffic.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>

namespace sessions {

class relay_trial {
    static constexpr std::uint32_t most_together = 100'000;

public:
    explicit relay_trial(const load_settings& s)
        : s_(s), peers_(io_, s), together_(std::min(count() / 10, most_together)) {}

    void run() {
        asio::co_spawn(io_, play(), rethrow);
        io_.run();
        record values = peers_.seen.to_record();
        values["together"] = together_;
        values["own_delay_ms"] = milliseconds(peers_.own_delay());
        print_result(values);
    }

private:
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(s_.sessions); }

    asio::awaitable<void> play() {
        co_await peers_.introduce();
        co_await peers_.mark(begun);
        say("open");
        co_await open_all(peers_, s_);
        co_await peers_.mark(opened);
        say("send traffic");
        co_await send_traffic(peers_, 0, count() - 1, random_, from_seconds(s_.warm_up));
        co_await peers_.mark(warmed_up);
        co_await send_traffic(peers_, 0, count() - 1, random_, from_seconds(s_.seconds));
        co_await peers_.mark(talked);
        if (!s_.traffic_only) {
            co_await end_together();
            say("go idle");
            co_await ask_all(peers_, queries_of_idle_sessions(peers_, s_, together_));
            co_await peers_.mark(silent);
        }
        peers_.close();
    }

    /// The first sessions go idle and end at the same moment. The others stay active.
    asio::awaitable<void> end_together() {
        say("end many sessions at the same moment");
        // Their requests are answered or time out before that.
        const auto grace = from_seconds(s_.deadline) + std::chrono::seconds(1);
        const datagram reply =
            co_await peers_.ask({.stamp = std::chrono::nanoseconds(grace).count(),
                                 .number = together_,
                                 .what = kind::together});
        const auto due = from_stamp(reply.stamp);
        // Each expiry may take 10 µs, including the destruction of the session.
        const auto gone = due + margin(s_) + together_ * std::chrono::microseconds(10);
        asio::co_spawn(io_, ask_all(peers_, queries_of_mass_expiry(due, gone, together_)), rethrow);
        peers_.seen.longest_answer = {};
        co_await send_traffic(peers_, together_, count() - 1, random_,
                              gone - steady_clock::now() + std::chrono::milliseconds(100));
        peers_.seen.longest_meanwhile = peers_.seen.longest_answer;
        co_await peers_.mark(ended_together);
    }

    void say(const char* what) {
        const auto now = std::chrono::duration<double>(steady_clock::now() - start_);
        std::printf("%6.1f s  %s\n", now.count(), what);
        std::fflush(stdout);
    }

    load_settings s_;
    asio::io_context io_{1};
    peers peers_;
    std::uint32_t together_;
    std::mt19937 random_{20260101};
    steady_clock::time_point start_ = steady_clock::now();
};

} // namespace sessions

#endif
