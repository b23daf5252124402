// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs on a delay queue. Each value is handed out once, never early, in order, to the
// pop that has waited longest. Each pop completes once.

#include "support/delay_queue_episode.hpp"
#include "support/random_episodes.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(delay_queue_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(it_does_what_a_multimap_does) {
    asio_wheel::test::run_random_episodes<asio_wheel::test::delay_queue_episode>(1000);
}

BOOST_AUTO_TEST_SUITE_END()
