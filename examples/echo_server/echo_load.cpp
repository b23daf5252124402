// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Load for echo_server: thousands of TCP connections that talk, fall silent, dawdle or drop dead,
// and that check when the server closes them.

#include "../support/coroutine.hpp"
#include "../support/options.hpp"
#include "../support/record.hpp"
#include "client.hpp"
#include "file_limit.hpp"
#include "load.hpp"
#include "plan.hpp"
#include "roles.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace echo;

struct settings {
    int port = 0;
    int connections = 10000;
    double seconds = 20;
    double idle = 5;
    int margin = 250;
    double pause = -1;
    bool talk = false;
    bool loris = false;
};

/// Who plays what: the mixture that finds mistakes, or one that a benchmark asked for.
role cast(const settings& s, int number) {
    if (s.talk) {
        return talk;
    }
    return s.loris ? (number % 10 == 3 ? dawdle : talk) : role_of(number);
}

/// Keeps one connection open all the time: when the server or the client has ended it, the next
/// one starts, as long as there is time for its whole life.
asio::awaitable<void> keep_connected(int number, role play, steady_clock::duration start,
                                     load& plan) {
    const auto executor = co_await asio::this_coro::executor;
    const auto whole_life = // Who only talks may stop at any time.
        play == talk ? plan.margin : plan.idle + 2 * plan.heartbeat() + plan.margin;
    asio::steady_timer pause(executor, start);
    co_await pause.async_wait(as_result);
    while (steady_clock::now() + whole_life < plan.end) {
        auto me = std::make_shared<client>(executor, plan, static_cast<std::uint64_t>(number));
        const bool connected = co_await me->connect();
        if (connected) {
            co_await play(me, plan);
            if (me->open()) {
                co_await me->leave();
            }
        } else {
            pause.expires_after(std::chrono::milliseconds(100));
            co_await pause.async_wait(as_result);
        }
    }
}

double quantile(std::vector<double>& sorted, double q) {
    const auto last = static_cast<double>(sorted.empty() ? 0 : sorted.size() - 1);
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * last)];
}

record summary(tally& seen, const own_delay& delay, double seconds) {
    auto number = [](std::uint64_t n) { return static_cast<double>(n); };
    std::ranges::sort(seen.lateness_ms);
    return {
        {"replies_per_second", number(seen.replies) / seconds},
        {"connected", number(seen.connected)},
        {"not_connected", number(seen.not_connected)},
        {"requests", number(seen.requests)},
        {"replies", number(seen.replies)},
        {"wrong_replies", number(seen.wrong_replies)},
        {"cut_off", number(seen.cut_off)},
        {"ignored", number(seen.ignored)},
        {"left", number(seen.left)},
        {"silent_closed", number(seen.silent_closed)},
        {"loris_closed", number(seen.loris_closed)},
        {"closes", number(seen.lateness_ms.size())},
        {"early", number(seen.early)},
        {"late", number(seen.late)},
        {"left_open", number(seen.waiting)},
        {"earliest_ms", seen.lateness_ms.empty() ? 0 : seen.earliest_ms},
        {"latest_ms", seen.latest_ms},
        {"own_delay_ms", milliseconds(delay.worst())},
        {"seen_p50_ms", quantile(seen.lateness_ms, 0.50)},
        {"seen_p99_ms", quantile(seen.lateness_ms, 0.99)},
        {"seen_max_ms", quantile(seen.lateness_ms, 1)},
    };
}

void run(const settings& s) {
    const auto loopback = asio::ip::address_v4::loopback();
    const auto started = steady_clock::now();
    asio::io_context io(1);
    load plan{
        .server = {loopback, static_cast<std::uint16_t>(s.port)},
        .idle = from_seconds(s.idle),
        .margin = std::chrono::milliseconds(s.margin),
        .end = started + from_seconds(s.seconds),
        .seen = {},
        .delay = own_delay(io),
        .pause = s.pause < 0 ? std::nullopt : std::optional(from_seconds(s.pause)),
    };
    plan.delay.run();
    int clients = s.connections;
    for (int i = 0; i < s.connections; ++i) { // all of them within a tenth of the time
        const auto start = from_seconds(s.seconds / 10 * i / s.connections);
        asio::co_spawn(io, keep_connected(i, cast(s, i), start, plan),
                       [&](std::exception_ptr thrown) {
                           if (--clients == 0) {
                               plan.delay.stop();
                           }
                           rethrow(thrown);
                       });
    }
    // Ends by itself once nobody is connected any more; who still is then, is left open.
    io.run_until(plan.end + plan.heartbeat() + plan.margin + std::chrono::seconds(1));
    const auto took = std::chrono::duration<double>(steady_clock::now() - started);
    // Nobody talks any more after that, even if somebody is still waiting to be closed.
    print_result(summary(plan.seen, plan.delay, std::min(took.count(), s.seconds)));
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    const command_line options(
        "echo_load", "Clients for echo_server, well-behaved and otherwise.",
        {{"--port", &s.port, "where the server listens", 1, 65535},
         {"--connections", &s.connections, "open at once (10000)", 10, 100000},
         {"--seconds", &s.seconds, "how long to talk (20)", 1, 3600},
         {"--idle", &s.idle, "seconds of silence the server allows (5)", 0.2, 3600},
         {"--margin", &s.margin, "milliseconds the server may be late (250)", 1, 60000},
         {"--pause", &s.pause, "seconds between heartbeats (1, or a third of --idle)", 0, 3600},
         {"--talk", &s.talk, "nobody but talkers"},
         {"--loris", &s.loris, "talkers, and one slow-loris in ten"}});
    options.parse(argc, argv);
    if (s.port == 0) {
        options.fail("--port is required");
    }
    // Talkers have no deadlines to meet.
    const auto mistake = s.talk ? "" : mistake_in_plan(s.seconds, s.idle, s.margin);
    if (!mistake.empty()) {
        options.fail(mistake);
    }
    const int allowed = connections_allowed(raise_file_limit());
    if (s.connections > allowed) {
        std::printf("the limit of open files allows %d connections\n", allowed);
        s.connections = allowed;
    }
    try {
        run(s);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_load: %s\n", e.what());
        return 1;
    }
}
