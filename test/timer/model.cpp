// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 200

// Random programs of timers on two contexts, and on a core without Asio, beside their sequential
// models. Handlers do the same random operations as the program itself.

#include "support/core_episode.hpp"
#include "support/random_episodes.hpp"
#include "support/service_episode.hpp"

#include <boost/test/unit_test.hpp>

namespace {

struct crowded_service_episode : asio_wheel::test::service_episode {
    explicit crowded_service_episode(asio_wheel::test::bytes& in) : service_episode(in, 20'000) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_model, *boost::unit_test::timeout(180))

BOOST_AUTO_TEST_CASE(timers_do_what_a_multimap_says) {
    asio_wheel::test::run_random_episodes<asio_wheel::test::service_episode>(1000);
}

BOOST_AUTO_TEST_CASE(timers_do_the_same_among_very_many) {
    asio_wheel::test::run_random_episodes<crowded_service_episode>(20);
}

BOOST_AUTO_TEST_CASE(a_core_does_what_its_model_does) {
    asio_wheel::test::run_random_episodes<asio_wheel::test::core_episode>(2000);
}

BOOST_AUTO_TEST_SUITE_END()
