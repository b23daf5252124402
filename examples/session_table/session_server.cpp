// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A UDP relay on loopback with a table of sessions (relay.hpp), on each of the two timers.

#include "../support/options.hpp"
#include "../support/record.hpp"
#include "meters.hpp"
#include "relay.hpp"
#include "timers.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>

namespace {

using namespace sessions;

double number(std::uint64_t n) {
    return static_cast<double>(n);
}

void add(record& values, const std::string& what, const lateness& seen) {
    values[what + "_early"] = number(seen.early);
    values[what + "_count"] = number(seen.late.count());
    values[what + "_p50_ms"] = milliseconds(seen.late.quantile(0.50));
    values[what + "_p99_ms"] = milliseconds(seen.late.quantile(0.99));
    values[what + "_max_ms"] = milliseconds(seen.late.max());
}

/// What a datagram cost while all sessions talked.
void add_costs(record& values, const meters& m) {
    const snapshot& from = m.marks[warmed_up];
    const snapshot& to = m.marks[talked];
    const double datagrams = number(to.datagrams - from.datagrams);
    if (datagrams > 0) {
        const double cpu = to.used.cpu_seconds - from.used.cpu_seconds;
        const double kernel = to.used.kernel_seconds - from.used.kernel_seconds;
        values["cpu_ns"] = cpu * 1e9 / datagrams;
        values["kernel_ns"] = kernel * 1e9 / datagrams;
        values["user_ns"] = (cpu - kernel) * 1e9 / datagrams;
        values["measured_datagrams"] = datagrams;
        values["handlers_per_datagram"] =
            number(to.timer_handlers - from.timer_handlers) / datagrams;
    }
    const double bytes = m.marks[opened].resident_bytes - m.marks[begun].resident_bytes;
    const std::uint64_t sessions = m.marks[opened].sessions;
    values["sessions_opened"] = number(sessions);
    values["sessions_talking"] = number(to.sessions);
    values["bytes_per_session"] = sessions == 0 ? 0 : bytes / number(sessions);
}

template <class Timer>
record summary(const meters& m, const relay<Timer>& r, asio::io_context& io) {
    record values{
        {"datagrams", number(m.datagrams)},
        {"dropped", number(r.dropped())},
        {"made", number(m.made)},
        {"expired", number(m.expired)},
        {"sessions_left", number(m.sessions())},
        {"requests", number(m.requests)},
        {"answered", number(m.answered)},
        {"timed_out", number(m.timed_out)},
        {"given_up", number(m.given_up)},
        {"late_answers", number(m.late_answers)},
        {"timer_handlers", number(m.timer_handlers)},
        {"pause_ms", r.paused().longest_ms()},
        {"pause_cpu_ms", r.paused().longest_cpu_ms()},
        {"together_took_ms", r.together_took_ms()},
        {"tick_ms", 0},
    };
    add(values, "idle", m.idle_late);
    add(values, "deadline", m.deadline_late);
    add(values, "together", m.together_late);
    add_costs(values, m);
    if constexpr (std::is_same_v<plain_timer<Timer>, wheel_timer>) {
        const auto& wheel = asio_wheel::use_wheel(io);
        values["tick_ms"] = milliseconds(wheel.options().tick);
        values["waits_left"] = number(wheel.pending());
    }
    return values;
}

template <class Timer>
void run(const relay_settings& s) {
    meters counted;
    asio::io_context io(1);
    relay<Timer> table(io, s, counted);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](error_code, int) { io.stop(); });
    std::printf("listening on 127.0.0.1:%d\n", table.port());
    std::fflush(stdout);
    io.run();
    print_result(summary(counted, table, io));
}

} // namespace

int main(int argc, char** argv) {
    relay_settings s;
    bool on_asio = false;
    bool moved = false;
    bool without = false;
    const command_line options(
        "session_server", "A UDP relay on loopback whose sessions have timeouts.",
        {{"--port", &s.port, "port for peers, 0 for any free one (default)", 0, 65535},
         {"--expected", &s.expected, "sessions to make place for (1000)", 1, 100000000},
         {"--idle", &s.idle, "seconds until a silent session ends (30)", 0.2, 3600},
         {"--deadline", &s.deadline, "seconds until a request times out (2)", 0.1, 3600},
         {"--plain", &s.plain, "one system call for each datagram"},
         {"--asio", &on_asio, "use boost::asio::steady_timer"},
         {"--postpone", &moved, "move idle timeouts with each datagram, by postpone()"},
         {"--none", &without, "no timeouts at all"}});
    options.parse(argc, argv);
    if (on_asio + moved + without > 1) {
        options.fail("--asio, --postpone and --none exclude each other");
    }
    try {
        if (without) {
            run<no_timer>(s);
        } else if (on_asio) {
            run<asio_timer>(s);
        } else if (moved) {
            run<postponed>(s);
        } else {
            run<wheel_timer>(s);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_server: %s\n", e.what());
        return 1;
    }
    return 0;
}
