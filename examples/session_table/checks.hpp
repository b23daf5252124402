// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The checks of the relay, by its own figures and by those of its peers.

#ifndef SESSIONS_CHECKS_HPP
#define SESSIONS_CHECKS_HPP

#include "../support/checks.hpp"
#include "../support/record.hpp"

#include <algorithm>
#include <vector>

namespace sessions {

using namespace demo;

/// Returns how late the last of many sessions with the same deadline may end: 10 µs per session,
/// and the margin.
inline double together_margin_ms(double sessions, int margin_ms) {
    return margin_ms + sessions / 100;
}

inline std::vector<check> checks(const outcome& o, int margin_ms) {
    check_list list;
    if (!list.ended(o, margin_ms)) {
        return list.all;
    }
    auto server = [&o](const char* name) { return figure(o.server, name); };
    auto peers = [&o](const char* name) { return figure(o.load, name); };

    const double early = server("idle_early") + server("deadline_early") + server("together_early");
    list.always(early == 0 && peers("early") == 0,
                text("no timeout was early (%.0f in the relay, %.0f seen by peers)", early,
                     peers("early")));
    list.always(server("datagrams") > 0 && server("sessions_opened") > 0 && peers("together") > 0,
                text("%.0f datagrams were forwarded for %.0f sessions", server("datagrams"),
                     server("sessions_opened")));
    list.unless_busy(peers("lost") == 0 && server("dropped") == 0,
                     text("no datagram was lost (%.0f)", peers("lost") + server("dropped")));

    const double latest = server("tick_ms") + margin_ms;
    const double late = std::max(server("idle_max_ms"), server("deadline_max_ms"));
    list.unless_busy(
        late <= latest && peers("late") == 0,
        text("no timeout was later than tick (%g ms) + margin (%d ms): %.2f ms in the relay, %.0f "
             "seen by peers",
             server("tick_ms"), margin_ms, late, peers("late")));
    const double together = peers("together");
    list.unless_busy(server("together_count") == together &&
                         server("together_max_ms") <= together_margin_ms(together, margin_ms),
                     text("%.0f of %.0f sessions ended at the same moment, the last %.2f ms late",
                          server("together_count"), together, server("together_max_ms")));
    list.unless_busy(
        peers("found_there") > 0 && peers("found_gone") > 0,
        text("queries found %.0f sessions before their end and none of %.0f afterwards",
             peers("found_there"), peers("found_gone")));
    list.unless_busy(peers("requests") > 0 && peers("answered") > 0 && peers("timeouts") > 0 &&
                         peers("requests") == peers("answered") + peers("timeouts"),
                     text("each of %.0f requests was answered (%.0f) or timed out (%.0f)",
                          peers("requests"), peers("answered"), peers("timeouts")));
    list.unless_busy(server("made") > 0 && server("expired") == server("made") &&
                         server("sessions_left") == 0 && server("waits_left") == 0,
                     text("all sessions ended: %.0f of %.0f (%.0f waits left)", server("expired"),
                          server("made"), server("waits_left")));
    return list.all;
}

inline trial_result evaluate(const outcome& o, int margin_ms) {
    return demo::evaluate(checks(o, margin_ms), was_too_busy(o, margin_ms));
}

} // namespace sessions

#endif
