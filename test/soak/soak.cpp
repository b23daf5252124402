// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// soak [minutes]: the servers of the examples under clients that come and go, are gone all at once, and
// expire all at once. Memory and descriptors have to stay flat, nothing may be early, and nothing later
// than this machine is late itself.
//
// Exit status: 0 if all is well, 1 if not, and 77 if the machine was too busy to tell.

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
#include <functional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace soak;

constexpr int too_busy = 77;

// What a server may be late beside what the machine is: a tick, and its turn among the thousands that
// expire with it, and that many clients here that look after each other.
constexpr auto own_lateness = 250ms;
// A machine that lets a thread wait so long is no judge of anybody.
constexpr auto machine_at_most = 250ms;

constexpr auto echo_idle = 2s;
constexpr std::size_t mass = 400;

// As many connections as there may be.
void allow_files() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65'536);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

class clients {
public:
    explicit clients(std::uint64_t seed) : seed_(seed) {}

    // `act` is done again and again by a thread of its own, which rests in between.
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
    all.start(1s, [&](auto&) { websocket_mass_expiry(websocket.port(), mass, seen); });

    const auto end = clock_type::now() + std::chrono::duration_cast<nanoseconds>(
                                             std::chrono::duration<double>(minutes * 60));
    bool alive = true;
    while (alive && clock_type::now() < end) {
        std::this_thread::sleep_for(1s);
        for (watched_server* const s : servers) {
            s->sample();
            alive = alive && s->is_alive();
        }
    }
    all.stop();

    // Whoever is still connected is closed within the longest of the timeouts.
    for (int i = 0; i < 200; ++i) {
        if (std::ranges::all_of(servers, [](auto* s) { return s->descriptors_left() == 0; })) {
            break;
        }
        std::this_thread::sleep_for(50ms);
    }

    const auto late = machine.all();
    std::printf("\nthis machine is late by itself: p50 %.2f, p99 %.2f, max %.2f ms\n\n",
                milliseconds(late.quantile(0.5)), milliseconds(late.quantile(0.99)),
                milliseconds(late.max()));
    const nanoseconds margin = own_lateness + late.max();
    const int seen_faults = seen.report(margin);
    std::printf("\n%-12s %29s %29s\n", "at most", "memory, by thirds of the time",
                "descriptors, likewise");
    int faults = alive ? 0 : 1;
    for (watched_server* const s : servers) {
        faults += s->report();
    }
    if (echo.counted("early_closes") != 0 || echo.counted("connections_left") != 0 ||
        echo.counted("waits_left") != 0) {
        std::printf("THE ECHO SERVER CLOSED EARLY, OR SOMETHING WAS LEFT\n");
        ++faults;
    }
    if (faults == 0 && seen_faults != 0 && !seen.anything_early() && late.max() > machine_at_most) {
        std::printf("\ntoo busy to judge: a thread of this machine was %.0f ms late in waking up\n",
                    milliseconds(late.max()));
        return too_busy;
    }
    faults += seen_faults;
    std::printf("\n%s (nothing later than %.0f ms: a server's %lld, and the machine's)\n",
                faults == 0 ? "all is well" : "NOT ALL IS WELL", milliseconds(margin),
                static_cast<long long>(own_lateness.count()));
    return faults == 0 ? 0 : 1;
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
