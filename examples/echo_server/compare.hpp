// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs the demo on both timers in turn, and says which is better in what.

#ifndef ECHO_COMPARE_HPP
#define ECHO_COMPARE_HPP

#include "../support/checks.hpp"
#include "../support/comparison.hpp"
#include "../support/page.hpp"
#include "../support/print_comparison.hpp"
#include "../support/report.hpp"
#include "checks.hpp"
#include "demo_trial.hpp"
#include "figures.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace echo {

/// Runs a trial and prints the checks that have not passed.
inline outcome run_and_check(const demo_settings& s, const char* argv0, bool on_asio) {
    outcome o = run(s, argv0, on_asio);
    auto all = checks(o, s.margin_ms);
    std::erase_if(all, [](const check& c) { return c.passed; });
    if (!all.empty()) {
        print_checks(o, all, s.margin_ms);
    }
    return o;
}

/// Returns the exit status of the demo. Writes a page to the file, unless its name is empty.
inline int compare(demo_settings s, const char* argv0, int pairs, const std::string& file) {
    s.quiet = true;
    std::vector<trial_pair> all;
    trial_result worst = trial_result::passed;
    for (int i = 0; i < pairs; ++i) {
        std::printf("\npair %d of %d\n", i + 1, pairs);
        const bool asio_first = i % 2 == 1; // A machine that gets slower is unfair to none.
        outcome first = run_and_check(s, argv0, asio_first);
        outcome second = run_and_check(s, argv0, !asio_first);
        const trial_result result =
            worse(evaluate(first, s.margin_ms), evaluate(second, s.margin_ms));
        worst = worse(worst, result);
        if (asio_first) {
            std::swap(first, second);
        }
        all.push_back({std::move(first), std::move(second), result});
    }
    const comparison c(all, figures);
    print_comparison(c);
    if (!file.empty()) {
        write_page(file, page(c, text("%d connections with an idle timeout of %g s, %g s in each "
                                      "run; and the timers alone",
                                      s.connections, s.idle, s.seconds)));
        std::printf("as a page: %s\n", file.c_str());
    }
    if (worst == trial_result::failed) {
        return conclude(worst);
    }
    return static_cast<int>(c.result() == verdict::not_judged ? trial_result::inconclusive
                                                              : trial_result::passed);
}

} // namespace echo

#endif
