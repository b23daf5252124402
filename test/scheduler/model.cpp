// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs of schedulers, compared with a model.

#include <asio_wheel/scheduler.hpp>

#include "support/scheduler_model.hpp"
#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <random>

using namespace asio_wheel::test;

BOOST_AUTO_TEST_SUITE(scheduler_model_)

// Schedule, cancel, keys, groups, stop, adopt, close, throw and repeat, also inside tasks.
BOOST_AUTO_TEST_CASE(random_programs_do_what_a_model_does) {
    const std::uint64_t seed = asio_wheel::test::seed();
    BOOST_TEST_INFO_SCOPE(seed_note(seed));
    std::mt19937_64 seeds(seed);
    std::size_t calls = 0;
    std::size_t tasks = 0;
    for (int program = 0; program != 200; ++program) {
        BOOST_TEST_INFO_SCOPE("program " << program);
        scheduler_model<> model(seeds());
        for (int step = 0; step != 500; ++step) {
            BOOST_TEST_INFO_SCOPE("step " << step);
            BOOST_TEST_REQUIRE(model.step() == "");
        }
        BOOST_TEST_REQUIRE(model.finish() == "");
        calls += model.calls();
        tasks += model.tasks();
    }
    BOOST_TEST(tasks > 10'000U);
    BOOST_TEST(calls > tasks / 4);
}

BOOST_AUTO_TEST_SUITE_END()
