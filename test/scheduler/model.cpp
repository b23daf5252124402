// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs of schedulers, compared with a model.

#include "support/random_episodes.hpp"
#include "support/scheduler_episode.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(scheduler_model)

// Schedule, cancel, keys, groups, stop, adopt, close, throw and repeat, also inside tasks.
BOOST_AUTO_TEST_CASE(random_programs_do_what_a_model_does) {
    asio_wheel::test::run_random_episodes<asio_wheel::test::scheduler_episode<>>(200);
}

BOOST_AUTO_TEST_SUITE_END()
