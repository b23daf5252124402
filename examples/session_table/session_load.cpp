// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Load for session_server: the peers of up to a million sessions, and the upstream that answers them.
// They open all sessions, talk, let many end at one moment, and fall silent.

#include "../support/options.hpp"
#include "../support/record.hpp"
#include "peers.hpp"
#include "probes.hpp"
#include "settings.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace sessions;

constexpr int burst = 64;
constexpr std::uint32_t most_together = 100'000;

class trial_of_relay {
public:
    explicit trial_of_relay(const load_settings& s)
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
        co_await open_all();
        co_await peers_.mark(opened);
        say("talk");
        co_await talk(from_seconds(s_.warm_up), 0);
        co_await peers_.mark(warmed_up);
        co_await talk(from_seconds(s_.seconds), 0);
        co_await peers_.mark(talked);
        if (!s_.talk_only) {
            co_await end_together();
            say("fall silent");
            co_await ask_all(probes_of_silence());
            co_await peers_.mark(silent);
        }
        peers_.close();
    }

    /// Over a quarter of the idle time: that many peers do not come at once.
    asio::awaitable<void> open_all() {
        asio::steady_timer pace(io_);
        const auto begin = steady_clock::now();
        for (std::uint32_t next = 0; next < count();) {
            pace.expires_at(begin + from_seconds(s_.idle / 4 * next / count()));
            if (steady_clock::now() < pace.expiry()) {
                co_await pace.async_wait(as_result);
            }
            co_await peers_.room(burst);
            const auto some = static_cast<int>(std::min<std::uint32_t>(burst, count() - next));
            peers_.send_burst(some, [&next] { return next++; });
        }
    }

    /// Any sessions but the first `without`, as fast as the relay forwards.
    asio::awaitable<void> talk(steady_clock::duration how_long, std::uint32_t without) {
        const auto end = steady_clock::now() + how_long;
        std::uniform_int_distribution<std::uint32_t> any(without, count() - 1);
        while (steady_clock::now() < end) {
            co_await peers_.room(burst);
            peers_.send_burst(burst, [&] { return any(random_); });
        }
    }

    /// The first sessions fall silent and end at one moment. The others talk on.
    asio::awaitable<void> end_together() {
        say("many end at one moment");
        // Their requests are answered or time out before.
        const auto grace = from_seconds(s_.deadline) + std::chrono::seconds(1);
        const datagram reply =
            co_await peers_.ask({.stamp = std::chrono::nanoseconds(grace).count(),
                                 .number = together_,
                                 .what = kind::together});
        const auto due = from_stamp(reply.stamp);
        // One expiry may take 10 µs, with all that the session holds.
        const auto gone = due + margin() + together_ * std::chrono::microseconds(10);
        probes some;
        for (std::uint32_t i = 0; i < together_; i += step(together_)) {
            some.push_back(
                {due - std::chrono::milliseconds(20), expect(i, expectation::there, due)});
            some.push_back({gone, expect(i, expectation::gone, gone)});
        }
        asio::co_spawn(io_, ask_all(std::move(some)), rethrow);
        peers_.seen.longest_answer = {};
        co_await talk(gone - steady_clock::now() + std::chrono::milliseconds(100), together_);
        peers_.seen.longest_meanwhile = peers_.seen.longest_answer;
        co_await peers_.mark(ended_together);
    }

    /// Of some sessions: just before their end they must be there, and gone when it has passed.
    probes probes_of_silence() const {
        probes all;
        const auto idle = from_seconds(s_.idle);
        for (std::uint32_t i = together_; i < count(); i += step(count() - together_)) {
            const auto& heard = peers_.heard(i);
            const auto earliest = from_stamp(heard.sent) + idle;
            const auto latest = from_stamp(heard.arrived) + idle + margin();
            const auto ask_at = earliest - std::chrono::milliseconds(20);
            if (steady_clock::now() < ask_at) {
                all.push_back({ask_at, expect(i, expectation::there, earliest)});
            }
            all.push_back({latest, expect(i, expectation::gone, latest)});
        }
        // The last to end is one that was heard last.
        all.push_back({steady_clock::now() + idle + margin(), all.back().what});
        return all;
    }

    asio::awaitable<void> ask_all(probes all) {
        std::ranges::sort(all, {}, &probe::when);
        asio::steady_timer until(io_);
        for (const probe& p : all) {
            until.expires_at(p.when);
            co_await until.async_wait(as_result);
            peers_.query(p.what);
        }
        until.expires_after(std::chrono::milliseconds(100)); // for the last reply
        co_await until.async_wait(as_result);
    }

    /// How late an end may be seen here: the tick of a wheel is one millisecond.
    [[nodiscard]] steady_clock::duration margin() const {
        return std::chrono::milliseconds(s_.margin + 1);
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

} // namespace

int main(int argc, char** argv) {
    load_settings s;
    const command_line options(
        "session_load", "Peers and upstream of session_server.",
        {{"--port", &s.port, "where the relay listens", 1, 65535},
         {"--sessions", &s.sessions, "how many (1000)", 100, 100000000},
         {"--seconds", &s.seconds, "how long to talk (20)", 0.5, 3600},
         {"--warm-up", &s.warm_up, "seconds of talk before (0)", 0, 3600},
         {"--idle", &s.idle, "seconds until the relay ends a silent session (30)", 0.2, 3600},
         {"--deadline", &s.deadline, "seconds it waits for an answer (2)", 0.1, 3600},
         {"--margin", &s.margin, "milliseconds an end may be late (250)", 1, 60000},
         {"--plain", &s.plain, "one system call for each datagram"},
         {"--talk", &s.talk_only, "stop after talking"}});
    options.parse(argc, argv);
    if (s.port == 0) {
        options.fail("--port is required");
    }
    try {
        trial_of_relay(s).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_load: %s\n", e.what());
        return 1;
    }
    return 0;
}
