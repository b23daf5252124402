// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs on delayed operations. Each operation completes once, with what the model says,
// when the model says so.

#include "support/delayed_operations_episode.hpp"
#include "support/random_episodes.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(delayed_operations_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(they_do_what_a_list_of_wishes_does) {
    asio_wheel::test::run_random_episodes<asio_wheel::test::delayed_operations_episode>(1000);
}

BOOST_AUTO_TEST_SUITE_END()
