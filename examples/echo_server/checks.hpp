// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The checks of the echo server, by its own figures and by those of its clients.

#ifndef ECHO_CHECKS_HPP
#define ECHO_CHECKS_HPP

#include "../support/checks.hpp"
#include "../support/record.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace echo {

using namespace demo;

inline std::vector<check> checks(const outcome& o, int margin_ms) {
    check_list list;
    if (!list.ended(o, margin_ms)) {
        return list.all;
    }
    auto server = [&o](const char* name) { return figure(o.server, name); };
    auto clients = [&o](const char* name) { return figure(o.load, name); };
    auto alone = [&o](const char* name) { return figure(o.alone, name); };

    list.always(clients("early") == 0 && server("early_closes") == 0,
                text("no connection was closed early (earliest: %.2f ms after its deadline)",
                     clients("earliest_ms")));
    list.always(clients("wrong_replies") == 0,
                text("every answer was correct (%.0f wrong)", clients("wrong_replies")));
    list.unless_busy(clients("not_connected") == 0,
                     text("every connection was accepted (%.0f failed)", clients("not_connected")));
    const double missing = clients("requests") - clients("replies") - clients("cut_off");
    list.unless_busy(clients("replies") > 0 && missing == 0 && clients("ignored") == 0,
                     text("every timely line was answered (%.0f missing, %.0f cut off)", missing,
                          clients("ignored")));
    const double latest = server("tick_ms") + margin_ms;
    list.unless_busy(
        clients("late") == 0 && server("late_max_ms") <= latest,
        text("no connection was closed later than deadline + tick (%g ms) + margin (%d ms) "
             "(latest: %.2f ms)",
             server("tick_ms"), margin_ms, std::max(clients("latest_ms"), server("late_max_ms"))));
    list.unless_busy(clients("left_open") == 0,
                     text("every idle connection was closed (%.0f left)", clients("left_open")));
    list.unless_busy(clients("idle_closed") > 0 && clients("slow_loris_closed") > 0,
                     text("idle (%.0f) and slow-loris (%.0f) connections were closed",
                          clients("idle_closed"), clients("slow_loris_closed")));
    list.unless_busy(clients("closes") == server("idle_closes"),
                     text("server and clients saw the same closes (%.0f and %.0f)",
                          server("idle_closes"), clients("closes")));
    list.unless_busy(
        clients("left") > 0 && server("connections_left") == 0 && server("waits_left") == 0,
        text("nothing is left of %.0f abrupt disconnects (%.0f connections, %.0f waits)",
             clients("left"), server("connections_left"), server("waits_left")));
    const double early = alone("burst_early") + alone("spread_early");
    list.always(alone("busy_per_second") > 0 && early == 0,
                text("without a server: no wait expired early (%.0f)", early));
    list.unless_busy(alone("busy_p50_ms") <= 4 * alone("busy_turn_ms"),
                     text("on a busy loop, half of the waits are at most 4 turns of %.0f ms late "
                          "(%.2f ms)",
                          alone("busy_turn_ms"), alone("busy_p50_ms")));
    return list.all;
}

inline trial_result evaluate(const outcome& o, int margin_ms) {
    return demo::evaluate(checks(o, margin_ms), was_too_busy(o, margin_ms));
}

} // namespace echo

#endif
