// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// soak [MINUTES]: runs the servers of the examples under churn, mass disconnects and mass expiry.
// Memory and descriptors must stay flat after the warm-up. Nothing may be early, and nothing later
// than the measured lateness of this machine plus an allowance.
//
// The last line says which checks passed. Exit status: 0 if all did, 1 if one failed, and 77 if the
// machine was too busy to judge.

#include "clients.hpp"
#include "judge.hpp"
#include "machine.hpp"
#include "watched_server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace soak;

constexpr int too_busy = 77;

// The allowance covers a tick, the server's turn for each of the hundreds of connections that
// expire together, and the turns of the clients, which share the processors with it.
constexpr auto allowance = 250ms;
// If the machine itself is later than that, or has this many programs to run for each processor, it
// is too busy to judge lateness.
constexpr auto machine_at_most = 250ms;
constexpr double load_at_most = 3;

// The number of kinds of observations in clients.hpp. Each must occur.
constexpr std::size_t kinds = 9;

constexpr auto echo_idle = 2s;
constexpr std::size_t mass = 400;
constexpr std::size_t websocket_mass = 100; // Each is pinged 25 times a second.

// The maximum number of connections.
void allow_files() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65'536);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Returns how many programs were ready to run for each processor, over the last minute.
double load() {
    double average = 0;
    return ::getloadavg(&average, 1) == 1
               ? average / std::max(1U, std::thread::hardware_concurrency())
               : 0;
}

class clients {
public:
    explicit clients(std::uint64_t seed) : seed_(seed) {}

    // A thread of its own calls `act` again and again, with pauses.
    template <class Act>
    void start(std::chrono::milliseconds rest, Act act) {
        threads_.emplace_back(
            [rest, act, random = std::mt19937_64(seed_++)](const std::stop_token& stop) mutable {
                while (!stop.stop_requested()) {
                    act(random);
                    std::this_thread::sleep_for(rest);
                }
            });
    }

    void stop() {
        for (std::jthread& t : threads_) {
            t.request_stop();
        }
        threads_.clear();
    }

private:
    std::uint64_t seed_;
    std::vector<std::jthread> threads_;
};

int run(double minutes) {
    allow_files();
    const std::uint64_t seed = std::random_device{}();
    std::printf("%g minutes, seed %llu\n", minutes, static_cast<unsigned long long>(seed));
    std::fflush(stdout);

    judge seen;
    const machine_lateness machine;
    watched_server echo("echo", {ASIO_WHEEL_TEST_ECHO_SERVER, "--idle", "2"});
    watched_server http("http", {ASIO_WHEEL_TEST_HTTP_SERVER});
    watched_server websocket("websocket", {ASIO_WHEEL_TEST_WEBSOCKET_SERVER});
    const std::vector<watched_server*> servers{&echo, &http, &websocket};

    clients all(seed);
    all.start(100ms, [&](auto&) { echo_mass_expiry(echo.port(), mass, echo_idle, seen); });
    all.start(1500ms, [&](auto& random) { echo_mass_disconnect(echo.port(), mass, random, seen); });
    all.start(5ms, [&](auto& random) { echo_churn(echo.port(), random, seen); });
    all.start(10ms, [&](auto& random) { http_churn(http.port(), random, seen); });
    all.start(1s, [&](auto&) { http_mass_expiry(http.port(), mass, seen); });
    all.start(10ms, [&](auto& random) { websocket_churn(websocket.port(), random, seen); });
    all.start(1s, [&](auto&) { websocket_mass_expiry(websocket.port(), websocket_mass, seen); });

    const auto end = clock_type::now() + std::chrono::duration_cast<nanoseconds>(
                                             std::chrono::duration<double>(minutes * 60));
    bool alive = true;
    double highest_load = load();
    while (alive && clock_type::now() < end) {
        std::this_thread::sleep_for(1s);
        highest_load = std::max(highest_load, load());
        for (watched_server* const s : servers) {
            s->sample();
            alive = alive && s->is_alive();
        }
    }
    all.stop();

    // The servers close the remaining connections within the longest of their timeouts.
    for (int i = 0; i < 200; ++i) {
        if (std::ranges::all_of(servers, [](auto* s) { return s->descriptors_left() == 0; })) {
            break;
        }
        std::this_thread::sleep_for(50ms);
    }

    const auto late = machine.all();
    std::printf(
        "\nthis machine is late by itself: p50 %.2f, p99 %.2f, max %.2f ms; load %.1f for each "
        "processor\n\n",
        milliseconds(late.quantile(0.5)), milliseconds(late.quantile(0.99)),
        milliseconds(late.max()), highest_load);
    const nanoseconds margin = allowance + late.max();
    seen.report(margin);
    std::printf("\n%-12s %29s %29s\n", "at most", "memory, by thirds of the time",
                "descriptors, likewise");
    int not_flat = 0;
    for (watched_server* const s : servers) {
        not_flat += s->report();
    }
    const bool flat = alive && not_flat == 0 && echo.counted("connections_left") == 0 &&
                      echo.counted("waits_left") == 0;
    const bool early = seen.anything_early() || echo.counted("early_closes") != 0;
    const bool in_time = !seen.anything_late(margin);
    const bool answered = seen.all_answered() && seen.kinds() == kinds;
    const bool busy = late.max() > machine_at_most || highest_load > load_at_most;
    const bool failed = !flat || early || ((!in_time || !answered) && !busy);
    const bool unclear = !failed && (!in_time || !answered);

    std::printf("\n%s: memory and descriptors %s, %s early, %s later than %.0f ms (%lld, and the "
                "%.0f that this machine is late by itself), %s\n",
                failed    ? "FAILED"
                : unclear ? "TOO BUSY TO JUDGE"
                          : "HELD",
                flat ? "flat" : "NOT FLAT", early ? "SOMETHING" : "nothing",
                in_time ? "nothing" : "SOMETHING", milliseconds(margin),
                static_cast<long long>(allowance.count()), milliseconds(late.max()),
                answered ? "all answered" : "NOT ALL ANSWERED");
    return failed ? 1 : unclear ? too_busy : 0;
}

} // namespace

int main(int argc, char** argv) {
    const double minutes = argc > 1 ? std::atof(argv[1]) : 1;
    if (argc > 2 || !(minutes > 0)) {
        std::fprintf(stderr, "usage: soak [minutes]\n");
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(minutes);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "soak: %s\n", e.what());
        return 1;
    }
}
