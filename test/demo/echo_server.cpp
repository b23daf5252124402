// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the demo of the echo server evaluates a trial: with made-up numbers, for quiet and busy
// machines.

#include "../examples/echo_server/checks.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using demo::ending;
using demo::machine_lateness;
using demo::outcome;
using demo::trial_result;

constexpr int margin_ms = 250; // So 50 ms of lateness make a machine too busy to judge the server.

// A trial that passes all checks.
outcome good() {
    return {.timer = "some timer",
            .end = ending::reported,
            .server = {{"tick_ms", 1}, {"late_max_ms", 3}, {"idle_closes", 7}},
            .load = {{"requests", 100},
                     {"replies", 98},
                     {"cut_off", 2},
                     {"latest_ms", 4},
                     {"earliest_ms", 0.1},
                     {"idle_closed", 4},
                     {"slow_loris_closed", 3},
                     {"closes", 7},
                     {"left", 5}},
            .alone = {{"busy_turn_ms", 20}, {"busy_p50_ms", 19}, {"busy_per_second", 15'000}},
            .machine = {.clients_ms = 2, .idle_process_ms = 1, .cpu_wait_ms = 10}};
}

// The same with one of the server's figures changed.
outcome server(const std::string& name, double value) {
    outcome o = good();
    o.server[name] = value;
    return o;
}

outcome clients(const std::string& name, double value) {
    outcome o = good();
    o.load[name] = value;
    return o;
}

outcome alone(const std::string& name, double value) {
    outcome o = good();
    o.alone[name] = value;
    return o;
}

outcome on(machine_lateness machine, outcome o) {
    o.machine = machine;
    return o;
}

// Each kind of lateness alone makes a machine busy.
constexpr machine_lateness busy_machines[] = {
    {.clients_ms = 1700}, {.idle_process_ms = 300}, {.cpu_wait_ms = 400}};

// What a busy machine may do to a correct server.
const outcome slow_outcomes[] = {
    server("late_max_ms", 1700), clients("late", 1),        clients("ignored", 3),
    clients("replies", 0),       clients("requests", 101),  clients("not_connected", 2),
    clients("left_open", 1),     clients("idle_closed", 0), clients("slow_loris_closed", 0),
    clients("closes", 6),        clients("left", 0),        server("connections_left", 1),
    server("waits_left", 1),     alone("busy_p50_ms", 81)};

// What no machine explains.
const outcome wrong_outcomes[] = {clients("early", 1),         server("early_closes", 1),
                                  clients("wrong_replies", 1), alone("burst_early", 1),
                                  alone("spread_early", 1),    alone("busy_per_second", 0)};

} // namespace

BOOST_AUTO_TEST_SUITE(demo_echo_server, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(a_trial_that_went_as_promised_passes_also_on_a_busy_machine) {
    BOOST_TEST((echo::evaluate(good(), margin_ms) == trial_result::passed));
    for (machine_lateness busy : busy_machines) {
        busy.clients_ms = 0;
        BOOST_TEST((echo::evaluate(on(busy, good()), margin_ms) == trial_result::passed));
    }
}

// Such clients would not have noticed anything.
BOOST_AUTO_TEST_CASE(nothing_passes_whose_clients_were_late_themselves) {
    for (const double ms : {50.1, 3600.}) {
        BOOST_TEST((echo::evaluate(on({.clients_ms = ms}, good()), margin_ms) ==
                    trial_result::inconclusive));
    }
    BOOST_TEST((echo::evaluate(on({.clients_ms = 50}, good()), margin_ms) == trial_result::passed));
}

// A wheel whose capacity is a number of waits for each turn gets later and later.
BOOST_AUTO_TEST_CASE(a_busy_loop_that_holds_back_waits_is_a_failure) {
    BOOST_TEST((echo::evaluate(alone("busy_p50_ms", 80), margin_ms) == trial_result::passed));
    BOOST_TEST((echo::evaluate(alone("busy_p50_ms", 400), margin_ms) == trial_result::failed));
}

BOOST_AUTO_TEST_CASE(lateness_is_a_failure_on_a_quiet_machine) {
    for (const outcome& o : slow_outcomes) {
        BOOST_TEST((echo::evaluate(o, margin_ms) == trial_result::failed));
    }
}

BOOST_AUTO_TEST_CASE(lateness_is_not_judged_on_a_busy_machine) {
    for (const machine_lateness& busy : busy_machines) {
        for (const outcome& o : slow_outcomes) {
            BOOST_TEST((echo::evaluate(on(busy, o), margin_ms) == trial_result::inconclusive));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_no_machine_explains_is_a_failure_on_any) {
    for (const outcome& o : wrong_outcomes) {
        BOOST_TEST((echo::evaluate(o, margin_ms) == trial_result::failed));
        for (const machine_lateness& busy : busy_machines) {
            BOOST_TEST((echo::evaluate(on(busy, o), margin_ms) == trial_result::failed));
            outcome late_too = on(busy, o);
            late_too.server["late_max_ms"] = 1700;
            BOOST_TEST((echo::evaluate(late_too, margin_ms) == trial_result::failed));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_crash_is_a_failure_and_a_trial_without_end_only_on_a_quiet_machine) {
    outcome o = good();
    o.end = ending::crashed;
    BOOST_TEST((echo::evaluate(o, margin_ms) == trial_result::failed));
    BOOST_TEST((echo::evaluate(on(busy_machines[0], o), margin_ms) == trial_result::failed));
    o.end = ending::out_of_time;
    BOOST_TEST((echo::evaluate(o, margin_ms) == trial_result::failed));
    BOOST_TEST((echo::evaluate(on(busy_machines[2], o), margin_ms) == trial_result::inconclusive));
}

// A missing figure counts as zero, and must not look like a success.
BOOST_AUTO_TEST_CASE(a_report_without_figures_is_a_failure) {
    outcome o = good();
    o.load.clear();
    BOOST_TEST((echo::evaluate(o, margin_ms) == trial_result::failed));
    o = good();
    o.alone.clear();
    BOOST_TEST((echo::evaluate(o, margin_ms) == trial_result::failed));
}

BOOST_AUTO_TEST_CASE(a_machine_is_too_busy_when_it_is_later_than_a_fifth_of_the_margin) {
    const outcome late = server("late_max_ms", 252);
    BOOST_TEST(
        (echo::evaluate(on({.idle_process_ms = 50}, late), margin_ms) == trial_result::failed));
    BOOST_TEST((echo::evaluate(on({.idle_process_ms = 50.1}, late), margin_ms) ==
                trial_result::inconclusive));
    BOOST_TEST((echo::evaluate(server("late_max_ms", 251), margin_ms) == trial_result::passed));
}

BOOST_AUTO_TEST_CASE(of_two_trials_the_worse_one_decides) {
    using enum trial_result;
    for (const trial_result v : {passed, inconclusive, failed}) {
        BOOST_TEST((demo::worse(v, v) == v));
        BOOST_TEST((demo::worse(v, passed) == v));
        BOOST_TEST((demo::worse(passed, v) == v));
        BOOST_TEST((demo::worse(v, failed) == failed));
        BOOST_TEST((demo::worse(failed, v) == failed));
    }
    BOOST_TEST(static_cast<int>(inconclusive) == 77); // "Skipped", for CTest and others.
}

BOOST_AUTO_TEST_SUITE_END()
