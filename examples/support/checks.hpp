// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Evaluates the checks of a trial: passed, failed, or inconclusive because the machine was too
// busy. Uses no process, clock or output. Each demo has its own checks in its folder. Their tests,
// test/demo/echo_server.cpp and test/demo/session_table.cpp, use made-up numbers.

#ifndef DEMO_CHECKS_HPP
#define DEMO_CHECKS_HPP

#include "outcome.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace demo {

/// The values are the exit statuses of the demo. Test harnesses take 77 for a skipped test.
enum class trial_result { passed = 0, failed = 1, inconclusive = 77 };

inline trial_result worse(trial_result a, trial_result b) {
    for (const trial_result v : {trial_result::failed, trial_result::inconclusive}) {
        if (a == v || b == v) {
            return v;
        }
    }
    return trial_result::passed;
}

/// A check of a trial. Some checks must pass on any machine, for example that no connection is
/// closed early. The others can pass only if the two processes get a processor when they need it.
struct check {
    bool passed;
    bool needs_time;
    std::string text;

    /// Returns whether the check failed and a busy machine does not explain that.
    bool failed(bool busy) const { return !passed && !(needs_time && busy); }
};

/// A machine with a higher lateness may have delayed the server.
inline double max_machine_lateness_ms(int margin_ms) {
    return margin_ms / 5.0;
}

inline bool was_too_busy(const outcome& o, int margin_ms) {
    return o.machine.worst() > max_machine_lateness_ms(margin_ms);
}

template <class... Values>
std::string text(const char* format, Values... values) {
    char buffer[200];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
}

/// Returns the worst result of all checks.
inline trial_result evaluate(const std::vector<check>& checks, bool busy) {
    trial_result worst = trial_result::passed;
    for (const check& c : checks) {
        worst = worse(worst, c.passed         ? trial_result::passed
                             : c.failed(busy) ? trial_result::failed
                                              : trial_result::inconclusive);
    }
    return worst;
}

/// Collects checks: those for any machine, and those that a busy machine may fail.
struct check_list {
    std::vector<check> all;

    void always(bool passed, std::string what) { all.push_back({passed, false, std::move(what)}); }
    void unless_busy(bool passed, std::string what) {
        all.push_back({passed, true, std::move(what)});
    }

    /// Adds the checks that are common to all trials. Returns false if there are no figures to
    /// check. Clients that are late themselves prove nothing, and no server can fail by that.
    bool ended(const outcome& o, int margin_ms) {
        always(o.end != ending::crashed, "neither the server nor the load generator crashed");
        unless_busy(o.end != ending::out_of_time, "both ended in time");
        const double late = o.machine.clients_ms;
        const double most = max_machine_lateness_ms(margin_ms);
        unless_busy(late <= most, text("the clients themselves were at most %.0f ms late "
                                       "(%.2f ms)",
                                       most, late));
        return o.end == ending::reported;
    }
};

} // namespace demo

#endif
