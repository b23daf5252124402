// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a demo on both timers in turn, and says which is better in what.

#ifndef DEMO_COMPARE_HPP
#define DEMO_COMPARE_HPP

#include "checks.hpp"
#include "comparison.hpp"
#include "page.hpp"
#include "print_comparison.hpp"
#include "report.hpp"

#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace demo {

/// What is compared, and how often.
struct comparison_plan {
    int pairs;
    int margin_ms;
    std::span<const figure_row> rows;
    std::string title; ///< That of the page.
    std::string file;  ///< The page. Empty for none.
};

/// Calls `run(bool on_asio)`, which returns an outcome, for both timers in turn, and
/// `checks(outcome)`, whose failures it prints. Returns the exit status of the demo.
template <class Run, class Checks>
int compare(const comparison_plan& plan, Run run, Checks checks) {
    trial_result worst = trial_result::passed;
    const auto run_and_check = [&](bool on_asio, trial_result& result) {
        outcome o = run(on_asio);
        auto all = checks(o);
        result = worse(result, evaluate(all, was_too_busy(o, plan.margin_ms)));
        std::erase_if(all, [](const check& c) { return c.passed; });
        if (!all.empty()) {
            print_checks(o, all, plan.margin_ms);
        }
        return o;
    };
    std::vector<trial_pair> all;
    for (int i = 0; i < plan.pairs; ++i) {
        std::printf("\npair %d of %d\n", i + 1, plan.pairs);
        const bool asio_first = i % 2 == 1; // A machine that gets slower is unfair to none.
        trial_result result = trial_result::passed;
        outcome first = run_and_check(asio_first, result);
        outcome second = run_and_check(!asio_first, result);
        worst = worse(worst, result);
        if (asio_first) {
            std::swap(first, second);
        }
        all.push_back({std::move(first), std::move(second), result});
    }
    const comparison c(all, plan.rows);
    print_comparison(c);
    if (!plan.file.empty()) {
        write_page(plan.file, page(c, plan.title));
        std::printf("as a page: %s\n", plan.file.c_str());
    }
    if (worst == trial_result::failed) {
        return conclude(worst);
    }
    return static_cast<int>(c.result() == verdict::not_judged ? trial_result::inconclusive
                                                              : trial_result::passed);
}

} // namespace demo

#endif
