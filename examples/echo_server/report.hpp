// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the demo says in the end: the figures side by side, and whether they are as promised.

#ifndef ECHO_REPORT_HPP
#define ECHO_REPORT_HPP

#include "record.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace echo {

/// One server and its load, after the end.
struct outcome {
    std::string timer;     ///< Name of the timer type.
    bool complete = false; ///< Both processes ended well and reported.
    record server;
    record load;
};

inline double figure(const record& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}

inline void print_figures(const std::vector<outcome>& outcomes) {
    std::printf("\n%-42s", "");
    for (const outcome& o : outcomes) {
        std::printf(" %26s", o.timer.c_str());
    }
    auto row = [&](const char* title, int decimals, record outcome::* side, const char* name) {
        std::printf("\n%-42s", title);
        for (const outcome& o : outcomes) {
            if ((o.*side).contains(name)) {
                std::printf(" %26.*f", decimals, figure(o.*side, name));
            } else {
                std::printf(" %26s", "-");
            }
        }
    };
    row("connections accepted", 0, &outcome::server, "accepted");
    row("requests answered", 0, &outcome::load, "replies");
    row("requests/s", 0, &outcome::load, "replies_per_second");
    row("closed for idleness", 0, &outcome::server, "idle_closes");
    row("lateness of the close, p50 (ms)", 2, &outcome::server, "late_p50_ms");
    row("lateness of the close, p99 (ms)", 2, &outcome::server, "late_p99_ms");
    row("lateness of the close, max (ms)", 2, &outcome::server, "late_max_ms");
    row("the same seen by the clients, p99 (ms)", 2, &outcome::load, "seen_p99_ms");
    row("the same seen by the clients, max (ms)", 2, &outcome::load, "seen_max_ms");
    row("own delay of the clients, max (ms)", 2, &outcome::load, "own_delay_ms");
    row("lateness by the wheel's stats, p99 (ms)", 2, &outcome::server, "wheel_late_p99_ms");
    row("CPU seconds of the server", 2, &outcome::server, "cpu_seconds");
    row("wake-ups (voluntary context switches)", 0, &outcome::server, "wake_ups");
    row("wake-ups of the wheel, by its stats", 0, &outcome::server, "wheel_wake_ups");
    row("timer handlers run", 0, &outcome::server, "timer_handlers");
    row("peak memory of the server (MB)", 1, &outcome::server, "peak_megabytes");
    std::printf("\n");
}

/// Prints one line per promise; true if all of them were kept.
inline bool check(const outcome& o, int margin_ms) {
    bool all = true;
    std::printf("\nchecks, %s\n", o.timer.c_str());
    auto promise = [&all](bool kept, const char* format, auto... values) {
        all = all && kept;
        std::printf(kept ? "  ok      " : "  FAILED  ");
        std::printf(format, values...);
        std::printf("\n");
    };
    promise(o.complete, "%s ended in time and reported", "server and load generator");
    if (!o.complete) {
        return false;
    }
    auto server = [&o](const char* name) { return figure(o.server, name); };
    auto clients = [&o](const char* name) { return figure(o.load, name); };

    promise(clients("not_connected") == 0, "every connection was accepted (%.0f failed)",
            clients("not_connected"));
    const double missing = clients("requests") - clients("replies") - clients("cut_off");
    promise(clients("replies") > 0 && clients("wrong_replies") == 0 && missing == 0 &&
                clients("ignored") == 0,
            "every line in time was answered, and rightly (%.0f wrong, %.0f missing, %.0f cut off)",
            clients("wrong_replies"), missing, clients("ignored"));
    promise(clients("early") == 0 && server("early_closes") == 0,
            "nobody was closed early: the earliest %.2f ms after line + idle time",
            clients("earliest_ms"));
    const double latest = server("tick_ms") + margin_ms;
    promise(clients("late") == 0 && server("late_max_ms") <= latest,
            "nobody was closed later than deadline + tick (%g ms) + margin (%d ms): the latest "
            "%.2f ms",
            server("tick_ms"), margin_ms, std::max(clients("latest_ms"), server("late_max_ms")));
    promise(clients("left_open") == 0, "nobody was left open (%.0f left)", clients("left_open"));
    promise(clients("silent_closed") > 0 && clients("loris_closed") > 0,
            "who fell silent and who dawdled was closed: %.0f silent, %.0f slow-loris",
            clients("silent_closed"), clients("loris_closed"));
    promise(clients("closes") == server("idle_closes"),
            "server and clients saw the same closes (%.0f and %.0f)", server("idle_closes"),
            clients("closes"));
    promise(clients("left") > 0 && server("connections_left") == 0 && server("waits_left") == 0,
            "nothing stayed behind of %.0f that left without a word (%.0f connections, %.0f waits)",
            clients("left"), server("connections_left"), server("waits_left"));
    if (clients("cut_off") > clients("ignored")) {
        std::printf("  note    this machine was so busy that %.0f heartbeats came too late\n",
                    clients("cut_off") - clients("ignored"));
    }
    return all;
}

} // namespace echo

#endif
