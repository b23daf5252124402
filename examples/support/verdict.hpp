// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Whether a trial went as promised, or the machine had no time for it. No process, no clock and no
// output here: test/demo_verdict.cpp tries it with numbers that are made up.

#ifndef DEMO_VERDICT_HPP
#define DEMO_VERDICT_HPP

#include "record.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace demo {

/// What was seen of the machine, each as the longest of its kind, in milliseconds.
struct machine_lateness {
    double clients_ms = 0;   ///< The load generator, in looking at its sockets.
    double bystander_ms = 0; ///< A process that does nothing but sleep: the demo itself.
    double starved_ms = 0;   ///< A process waited for a processor so long in one second.

    double worst() const { return std::max({clients_ms, bystander_ms, starved_ms}); }
};

/// How the two processes of a trial came to their end.
enum class ending {
    reported,    ///< Both said what they found.
    out_of_time, ///< They were still running long after their time.
    broken       ///< One of them crashed, or gave up.
};

/// One server and its load, after the end.
struct outcome {
    std::string timer; ///< Name of the timer type.
    ending end = ending::broken;
    record server;
    record load;
    machine_lateness machine;
};

inline double figure(const record& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}

/// What the demo exits with. 77 is the status by which test harnesses know a test that was skipped.
enum class verdict { passed = 0, failed = 1, too_busy = 77 };

inline verdict worse(verdict a, verdict b) {
    for (const verdict v : {verdict::failed, verdict::too_busy}) {
        if (a == v || b == v) {
            return v;
        }
    }
    return verdict::passed;
}

/// What holds of a trial. Some of it holds whatever the machine does, such as that nobody is closed
/// early. The rest holds only if the two processes get the processor when they need it.
struct promise {
    bool kept;
    bool needs_time;
    std::string text;

    /// Whether it was broken, and no lateness of the machine explains that.
    bool broken(bool busy) const { return !kept && !(needs_time && busy); }
};

/// A machine that is later than this may have made the server late.
inline double most_lateness_of_machine(int margin_ms) {
    return margin_ms / 5.0;
}

inline bool was_too_busy(const outcome& o, int margin_ms) {
    return o.machine.worst() > most_lateness_of_machine(margin_ms);
}

template <class... Values>
std::string text(const char* format, Values... values) {
    char buffer[200];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
}

inline std::vector<promise> promises(const outcome& o, int margin_ms) {
    std::vector<promise> all;
    auto always = [&all](bool kept, std::string what) {
        all.push_back({kept, false, std::move(what)});
    };
    auto given_time = [&all](bool kept, std::string what) {
        all.push_back({kept, true, std::move(what)});
    };
    always(o.end != ending::broken, "neither server nor load generator broke down");
    given_time(o.end != ending::out_of_time, "both ended in time");
    if (o.end != ending::reported) {
        return all;
    }
    auto server = [&o](const char* name) { return figure(o.server, name); };
    auto clients = [&o](const char* name) { return figure(o.load, name); };

    always(clients("early") == 0 && server("early_closes") == 0,
           text("nobody was closed early: the earliest %.2f ms after line + idle time",
                clients("earliest_ms")));
    always(clients("wrong_replies") == 0,
           text("every answer was right (%.0f wrong)", clients("wrong_replies")));
    given_time(clients("not_connected") == 0,
               text("every connection was accepted (%.0f failed)", clients("not_connected")));
    const double missing = clients("requests") - clients("replies") - clients("cut_off");
    given_time(clients("replies") > 0 && missing == 0 && clients("ignored") == 0,
               text("every line in time was answered (%.0f missing, %.0f cut off)", missing,
                    clients("ignored")));
    const double latest = server("tick_ms") + margin_ms;
    given_time(
        clients("late") == 0 && server("late_max_ms") <= latest,
        text("nobody was closed later than deadline + tick (%g ms) + margin (%d ms): the latest "
             "%.2f ms",
             server("tick_ms"), margin_ms, std::max(clients("latest_ms"), server("late_max_ms"))));
    given_time(clients("left_open") == 0,
               text("nobody was left open (%.0f left)", clients("left_open")));
    given_time(clients("silent_closed") > 0 && clients("loris_closed") > 0,
               text("who fell silent and who dawdled was closed: %.0f silent, %.0f slow-loris",
                    clients("silent_closed"), clients("loris_closed")));
    given_time(clients("closes") == server("idle_closes"),
               text("server and clients saw the same closes (%.0f and %.0f)", server("idle_closes"),
                    clients("closes")));
    given_time(
        clients("left") > 0 && server("connections_left") == 0 && server("waits_left") == 0,
        text(
            "nothing stayed behind of %.0f that left without a word (%.0f connections, %.0f waits)",
            clients("left"), server("connections_left"), server("waits_left")));
    return all;
}

inline verdict judge(const outcome& o, int margin_ms) {
    const bool busy = was_too_busy(o, margin_ms);
    verdict v = verdict::passed;
    for (const promise& p : promises(o, margin_ms)) {
        v = worse(v, p.kept           ? verdict::passed
                     : p.broken(busy) ? verdict::failed
                                      : verdict::too_busy);
    }
    return v;
}

} // namespace demo

#endif
