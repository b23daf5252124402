// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs on one utility each, beside its model. Those of delay queues, delayed operations
// and schedulers are in their folders.

#include "support/idle_episode.hpp"
#include "support/interval_episode.hpp"
#include "support/random_episodes.hpp"
#include "support/timeout_episode.hpp"
#include "support/timeout_stream_episode.hpp"

#include <boost/test/unit_test.hpp>

using namespace asio_wheel::test;

BOOST_AUTO_TEST_SUITE(utilities_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(an_interval_does_what_its_model_does) {
    run_random_episodes<interval_episode>(1000);
}

BOOST_AUTO_TEST_CASE(an_idle_timer_does_what_its_model_does) {
    run_random_episodes<idle_timer_episode>(1000);
}

BOOST_AUTO_TEST_CASE(a_heartbeat_does_what_its_model_does) {
    run_random_episodes<heartbeat_episode>(1000);
}

BOOST_AUTO_TEST_CASE(operations_with_deadlines_do_what_their_model_does) {
    run_random_episodes<timeout_episode>(1000);
}

BOOST_AUTO_TEST_CASE(a_stream_with_deadlines_does_what_its_model_does) {
    run_random_episodes<timeout_stream_episode>(1000);
}

BOOST_AUTO_TEST_SUITE_END()
