// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the demo of the session table evaluates a trial: with made-up numbers, for quiet and busy
// machines.

#include "../examples/session_table/checks.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using demo::ending;
using demo::outcome;
using demo::trial_result;

constexpr int margin_ms = 250; // So 50 ms of lateness make a machine too busy to judge the relay.

// A trial that passes all checks.
outcome good() {
    return {.timer = "some timer",
            .end = ending::reported,
            .server = {{"tick_ms", 1},
                       {"datagrams", 5000},
                       {"sessions_opened", 1000},
                       {"idle_max_ms", 3},
                       {"deadline_max_ms", 3},
                       {"together_count", 100},
                       {"together_max_ms", 5},
                       {"made", 1010},
                       {"expired", 1010}},
            .load = {{"requests", 400},
                     {"answered", 397},
                     {"timeouts", 3},
                     {"found_there", 50},
                     {"found_gone", 60},
                     {"together", 100}},
            .machine = {.clients_ms = 2, .idle_process_ms = 1, .cpu_wait_ms = 10}};
}

outcome server(const std::string& name, double value) {
    outcome o = good();
    o.server[name] = value;
    return o;
}

outcome peers(const std::string& name, double value) {
    outcome o = good();
    o.load[name] = value;
    return o;
}

outcome on_busy_machine(outcome o) {
    o.machine.idle_process_ms = 300;
    return o;
}

trial_result evaluate(const outcome& o) {
    return sessions::evaluate(o, margin_ms);
}

// What a busy machine may do to a correct relay.
const outcome slow_outcomes[] = {server("idle_max_ms", 252),
                                 server("deadline_max_ms", 252),
                                 server("together_max_ms", 252),
                                 server("together_count", 99),
                                 server("expired", 1009),
                                 server("sessions_left", 1),
                                 server("waits_left", 1),
                                 server("dropped", 1),
                                 peers("lost", 1),
                                 peers("late", 1),
                                 peers("found_there", 0),
                                 peers("found_gone", 0),
                                 peers("answered", 396),
                                 peers("timeouts", 0)};

outcome with_late_peers(outcome o) {
    o.machine.clients_ms = 300;
    return o;
}

// What no machine explains.
const outcome wrong_outcomes[] = {server("idle_early", 1), server("deadline_early", 1),
                                  server("together_early", 1), peers("early", 1),
                                  server("datagrams", 0)};

} // namespace

BOOST_AUTO_TEST_SUITE(demo_session_table, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(sessions_that_ended_as_promised_pass_also_on_a_busy_machine) {
    BOOST_TEST((evaluate(good()) == trial_result::passed));
    BOOST_TEST((evaluate(on_busy_machine(good())) == trial_result::passed));
    BOOST_TEST((evaluate(with_late_peers(good())) == trial_result::inconclusive));
}

BOOST_AUTO_TEST_CASE(sessions_that_end_late_are_a_failure_only_on_a_quiet_machine) {
    for (const outcome& o : slow_outcomes) {
        BOOST_TEST((evaluate(o) == trial_result::failed));
        BOOST_TEST((evaluate(on_busy_machine(o)) == trial_result::inconclusive));
    }
}

BOOST_AUTO_TEST_CASE(sessions_that_end_early_are_a_failure_on_any_machine) {
    for (const outcome& o : wrong_outcomes) {
        BOOST_TEST((evaluate(o) == trial_result::failed));
        BOOST_TEST((evaluate(on_busy_machine(o)) == trial_result::failed));
    }
}

BOOST_AUTO_TEST_CASE(many_sessions_that_end_together_may_take_ten_microseconds_each) {
    outcome o = server("together_count", 100'000);
    o.load["together"] = 100'000;
    o.server["together_max_ms"] = 1250;
    BOOST_TEST((evaluate(o) == trial_result::passed));
    o.server["together_max_ms"] = 1251;
    BOOST_TEST((evaluate(o) == trial_result::failed));
}

BOOST_AUTO_TEST_CASE(a_relay_that_reports_nothing_is_a_failure) {
    outcome o = good();
    o.load.clear();
    BOOST_TEST((evaluate(o) == trial_result::failed));
    o = good();
    o.server.clear();
    BOOST_TEST((evaluate(o) == trial_result::failed));
    o.end = ending::crashed;
    BOOST_TEST((evaluate(on_busy_machine(o)) == trial_result::failed));
}

BOOST_AUTO_TEST_SUITE_END()
