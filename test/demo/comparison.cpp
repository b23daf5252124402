// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the demo compares two timers: with numbers that it has measured, and with made-up ones.

#include "../examples/support/comparison.hpp"
#include "../examples/echo_server/figures.hpp"
#include "../examples/session_table/figures.hpp"
#include "../examples/support/page.hpp"
#include "../examples/support/words.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace {

using demo::better;
using demo::comparison;
using demo::figure_row;
using demo::judge;
using demo::outcome;
using demo::samples;
using demo::trial_pair;
using demo::trial_result;
using demo::verdict;

// Measured by the demo on a busy machine, five runs of each timer in turn: the longest pause when
// 10,000 waits expire at once, and the lateness on a busy loop. In milliseconds.
const samples pause_ours{41.55, 15.21, 16.72, 58.74, 14.73};
const samples pause_theirs{309.20, 264.24, 319.27, 312.40, 262.04};
const samples busy_ours{81.17, 96.97, 86.03, 73.74, 78.07};
const samples busy_theirs{71.95, 92.27, 72.56, 69.99, 78.00};

const figure_row rows[] = {{"pause (ms)", 1, &outcome::alone, "pause", better::less},
                           {"requests/s", 0, &outcome::load, "requests", better::more},
                           {"lateness (ms)", 2, &outcome::server, "late", better::less},
                           {"connections", 0, &outcome::server, "connections"},
                           {"only ours", 0, &outcome::server, "wheel", better::less}};

outcome trial(double pause, double requests, double late) {
    return {.timer = "some timer",
            .end = demo::ending::reported,
            .server = {{"late", late}, {"connections", 7}},
            .load = {{"requests", requests}},
            .alone = {{"pause", pause}},
            .machine = {}};
}

// Pairs in which ours pauses for less, requests are the same but for noise, and ours is later by
// `later` times.
std::vector<trial_pair> pairs(std::size_t n, double later) {
    std::vector<trial_pair> all;
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = static_cast<double>(i % 3);
        all.push_back({trial(pause_ours[i % 5], 1000 + x, later * (0.6 + x / 100)),
                       trial(pause_theirs[i % 5], 1001 - x, 0.6 + x / 100), trial_result::passed});
        all.back().ours.server["wheel"] = 1;
    }
    return all;
}

verdict result_of(const comparison& c, const std::string& name) {
    return std::ranges::find(c.figures(), name, [](const auto& f) { return f.row->name; })->result;
}

bool contains(const std::string& all, const std::string& part) {
    return all.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(demo_comparison, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(a_figure_is_better_or_worse_if_every_run_of_one_timer_is) {
    BOOST_TEST((judge(better::less, pause_ours, pause_theirs) == verdict::better));
    BOOST_TEST((judge(better::less, pause_theirs, pause_ours) == verdict::worse));
    BOOST_TEST((judge(better::more, pause_ours, pause_theirs) == verdict::worse));
    BOOST_TEST((judge(better::more, pause_theirs, pause_ours) == verdict::better));
}

// One run of the other timer is enough, however far apart the medians are.
BOOST_AUTO_TEST_CASE(a_figure_whose_runs_overlap_is_within_noise) {
    samples with_one_good_run = pause_theirs;
    with_one_good_run[2] = 16;
    BOOST_TEST((judge(better::less, pause_ours, with_one_good_run) == verdict::within_noise));
    BOOST_TEST((judge(better::less, with_one_good_run, pause_ours) == verdict::within_noise));
    BOOST_TEST((judge(better::less, pause_ours, pause_ours) == verdict::within_noise));
    BOOST_TEST((judge(better::less, busy_ours, busy_theirs) == verdict::within_noise));
}

BOOST_AUTO_TEST_CASE(a_difference_of_a_twentieth_is_within_noise_however_regular_it_is) {
    BOOST_TEST(
        (judge(better::less, {95, 95, 95, 95}, {100, 100, 100, 100}) == verdict::within_noise));
    BOOST_TEST((judge(better::less, {94, 94, 94, 94}, {100, 100, 100, 100}) == verdict::better));
    BOOST_TEST((judge(better::less, {0, 0, 0, 0}, {0, 0, 0, 0}) == verdict::within_noise));
    BOOST_TEST((judge(better::less, {0, 0, 0, 0}, {3, 3, 3, 3}) == verdict::better));
}

BOOST_AUTO_TEST_CASE(fewer_than_four_runs_of_each_are_not_judged) {
    BOOST_TEST((judge(better::less, {1, 1, 1}, {9, 9, 9, 9}) == verdict::not_judged));
    BOOST_TEST((judge(better::less, {1, 1, 1, 1}, {9, 9, 9}) == verdict::not_judged));
    BOOST_TEST((judge(better::less, {1, 1, 1, 1}, {9, 9, 9, 9}) == verdict::better));
    BOOST_TEST((judge(better::less, {}, {}) == verdict::not_judged));
}

BOOST_AUTO_TEST_CASE(the_median_is_the_middle_one_or_between_the_middle_two) {
    BOOST_TEST(demo::median({}) == 0);
    BOOST_TEST(demo::median({3, 1, 2}) == 2);
    BOOST_TEST(demo::median({4, 1, 3, 2}) == 2.5);
    BOOST_TEST(demo::spread({90, 100, 120}) == 0.3);
    BOOST_TEST(demo::spread({0, 0}) == 0);
}

BOOST_AUTO_TEST_CASE(each_figure_has_a_verdict_and_so_has_the_whole) {
    const comparison c(pairs(5, 1), rows);
    BOOST_TEST((result_of(c, "pause") == verdict::better));
    BOOST_TEST((result_of(c, "requests") == verdict::within_noise));
    BOOST_TEST((result_of(c, "late") == verdict::within_noise));
    BOOST_TEST((result_of(c, "connections") == verdict::not_judged));
    BOOST_TEST((result_of(c, "wheel") == verdict::not_judged), "Asio has no such figure");
    BOOST_TEST((c.result() == verdict::better));
    BOOST_TEST(demo::words(c) == "better (figures: 1 better, 0 worse, 2 within noise; 5 of 5 "
                                 "pairs of runs)");
    BOOST_TEST(demo::words(c.figures()[0]) == "better, 18.5 times");
    BOOST_TEST(demo::words(c.figures()[1]) == "within noise");
    BOOST_TEST(demo::words(c.figures()[3]) == "");
}

BOOST_AUTO_TEST_CASE(the_whole_is_mixed_if_some_figures_are_worse) {
    const comparison c(pairs(5, 2), rows);
    BOOST_TEST((result_of(c, "late") == verdict::worse));
    BOOST_TEST((c.result() == verdict::mixed));
    BOOST_TEST(demo::words(c).starts_with("better in some figures, worse in others ("));
    BOOST_TEST((comparison(pairs(5, 2), {&rows[2], 1}).result() == verdict::worse));
    BOOST_TEST((comparison(pairs(5, 1), {&rows[1], 1}).result() == verdict::within_noise));
}

BOOST_AUTO_TEST_CASE(a_pair_whose_clients_were_late_does_not_count) {
    auto all = pairs(5, 1);
    all[1].checks = trial_result::inconclusive;
    all[1].theirs.machine.clients_ms = 3600;
    all[1].ours.alone["pause"] = 900; // It would be within noise.
    const comparison c(all, rows);
    BOOST_TEST(c.counted() == 4U);
    BOOST_TEST((c.result() == verdict::better));
    BOOST_TEST(contains(demo::words(c), "4 of 5 pairs of runs"));
}

BOOST_AUTO_TEST_CASE(nothing_is_judged_if_clients_were_late_in_most_pairs) {
    auto all = pairs(5, 1);
    for (const std::size_t i : {1U, 3U}) {
        all[i].checks = trial_result::inconclusive;
        all[i].ours.machine.clients_ms = 3600;
    }
    const comparison c(all, rows);
    BOOST_TEST((c.result() == verdict::not_judged));
    for (const auto& f : c.figures()) {
        BOOST_TEST((f.result == verdict::not_judged));
    }
    BOOST_TEST(demo::words(c) == "not judged: only 3 of 5 pairs of runs passed all checks, and 4 "
                                 "are needed; the clients themselves were up to 3600 ms late");
}

BOOST_AUTO_TEST_CASE(the_page_shows_each_figure_that_both_have_with_its_verdict) {
    const std::string page = demo::page(comparison(pairs(5, 2), rows), "7 connections");
    for (const char* part :
         {"7 connections", "better in some figures, worse in others", "<h2>pause (ms)</h2>",
          "better, 18.5 times", "<b>16.7</b>", "<b>309.2</b>", "<h2>requests/s</h2>",
          "within noise", "worse, 2 times", "prefers-color-scheme: dark", "width=device-width"}) {
        BOOST_TEST(contains(page, part), part);
    }
    BOOST_TEST(!contains(page, "only ours"));
    // The largest value is as long as the whole bar.
    BOOST_TEST(contains(page, "<u style=\"left:82.07%;width:17.93%\"></u></span><b>309.2</b>"));
}

BOOST_AUTO_TEST_CASE(what_timers_change_is_in_the_first_rows) {
    const auto check = [](std::span<const figure_row> rows,
                          std::initializer_list<const char*> first) {
        for (std::size_t i = 0; i < first.size(); ++i) {
            BOOST_TEST(rows[i].name == std::data(first)[i]);
        }
        for (const figure_row& row : rows) {
            BOOST_TEST(std::string(row.title).size() <= 46U, row.title << " is too wide");
        }
    };
    check(echo::figures, {"burst_pause_ms", "burst_last_ms", "busy_p50_ms"});
    check(sessions::figures,
          {"pause_ms", "pause_cpu_ms", "longest_answer_ms", "bytes_per_session"});
}

BOOST_AUTO_TEST_SUITE_END()
