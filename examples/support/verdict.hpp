// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Whether a trial went as promised, or the machine had no time for it. No process, no clock and no
// output here. What a server promises is in the folder of its demo; test/demo/verdict.cpp and
// test/demo/sessions_verdict.cpp try it with numbers that are made up.

#ifndef DEMO_VERDICT_HPP
#define DEMO_VERDICT_HPP

#include "outcome.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace demo {

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

/// The worst of what the promises say of a trial.
inline verdict judge(const std::vector<promise>& promises, bool busy) {
    verdict v = verdict::passed;
    for (const promise& p : promises) {
        v = worse(v, p.kept           ? verdict::passed
                     : p.broken(busy) ? verdict::failed
                                      : verdict::too_busy);
    }
    return v;
}

/// Collects promises: those that hold always, and those that hold where there was time.
struct promise_list {
    std::vector<promise> all;

    void always(bool kept, std::string what) { all.push_back({kept, false, std::move(what)}); }
    void given_time(bool kept, std::string what) { all.push_back({kept, true, std::move(what)}); }

    /// What holds of every trial. False if there are no figures to look at.
    bool ended(const outcome& o) {
        always(o.end != ending::broken, "neither server nor load generator broke down");
        given_time(o.end != ending::out_of_time, "both ended in time");
        return o.end == ending::reported;
    }
};

} // namespace demo

#endif
