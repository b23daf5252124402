// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Whether a trial went as promised, or the machine had no time for it. No process, no clock and no
// output here. What a server promises is in the folder of its demo; test/demo/echo_server.cpp and
// test/demo/session_table.cpp try it with numbers that are made up.

#ifndef DEMO_CHECKS_HPP
#define DEMO_CHECKS_HPP

#include "outcome.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace demo {

/// What the demo exits with. 77 is the status by which test harnesses know a test that was skipped.
enum class trial_result { passed = 0, failed = 1, inconclusive = 77 };

inline trial_result worse(trial_result a, trial_result b) {
    for (const trial_result v : {trial_result::failed, trial_result::inconclusive}) {
        if (a == v || b == v) {
            return v;
        }
    }
    return trial_result::passed;
}

/// What holds of a trial. Some of it holds whatever the machine does, such as that nobody is closed
/// early. The rest holds only if the two processes get the processor when they need it.
struct check {
    bool passed;
    bool needs_time;
    std::string text;

    /// Whether it was broken, and no lateness of the machine explains that.
    bool failed(bool busy) const { return !passed && !(needs_time && busy); }
};

/// A machine that is later than this may have made the server late.
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

/// The worst of what the promises say of a trial.
inline trial_result evaluate(const std::vector<check>& checks, bool busy) {
    trial_result v = trial_result::passed;
    for (const check& p : checks) {
        v = worse(v, p.passed         ? trial_result::passed
                     : p.failed(busy) ? trial_result::failed
                                      : trial_result::inconclusive);
    }
    return v;
}

/// Collects promises: those that hold always, and those that hold where there was time.
struct check_list {
    std::vector<check> all;

    void always(bool passed, std::string what) { all.push_back({passed, false, std::move(what)}); }
    void unless_busy(bool passed, std::string what) {
        all.push_back({passed, true, std::move(what)});
    }

    /// What holds of every trial. False if there are no figures to look at.
    bool ended(const outcome& o) {
        always(o.end != ending::broken, "neither server nor load generator broke down");
        unless_busy(o.end != ending::out_of_time, "both ended in time");
        return o.end == ending::reported;
    }
};

} // namespace demo

#endif
