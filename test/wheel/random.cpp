// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 600

// Compares the wheel with a std::multimap: a million random steps for each shape, in episodes with
// different preferences. Every result of the wheel is compared at once. The invariants are checked
// from time to time, and after a wrong result.
//
// ASIO_WHEEL_SEED=…     repeats a run, even of a single test case
//     ASIO_WHEEL_STEPS=…    steps for each shape, instead of a million

#include "support/seed.hpp"
#include "support/wheel_episode.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace {

using asio_wheel::test::episode;
using asio_wheel::test::random_numbers;

// Does `steps` steps in as many episodes as needed.
void run_shape(std::size_t slots, unsigned levels, std::uint64_t steps) {
    random_numbers random(asio_wheel::test::seed() ^ (slots << 8U) ^ levels);
    std::uint64_t done = 0;
    while (done < steps) {
        episode current(slots, levels, random);
        try {
            current.begin();
            const std::uint64_t end = std::min(steps, done + 1000 + random.below(20'000));
            do { // An episode may begin at the end of time.
                current.step();
                if (++done % 4096 == 0) {
                    current.audit();
                }
            } while (done < end && !current.at_the_end_of_time());
            current.finish();
        } catch (const std::logic_error& broken) {
            BOOST_ERROR("step " << done << ": not so: " << broken.what() << "\n  "
                                << current.last_notes());
            return;
        }
    }
}

// Every number of levels up to eight that fits into the 64 bits of a tick.
void run_slots(std::size_t slots) {
    const std::uint64_t seed = asio_wheel::test::seed();
    const std::uint64_t steps =
        asio_wheel::test::number_from_environment("ASIO_WHEEL_STEPS").value_or(1'000'000);
    const auto bits = static_cast<unsigned>(std::countr_zero(slots));
    for (unsigned levels = 1; levels <= 8 && levels * bits <= 64; ++levels) {
        BOOST_TEST_CONTEXT(slots << " slots, " << levels << " levels, " << steps << " steps; "
                                 << asio_wheel::test::seed_note(seed)) {
            run_shape(slots, levels, steps);
        }
    }
    BOOST_TEST(std::has_single_bit(slots));
}

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_random)

BOOST_AUTO_TEST_CASE(two_slots_agree_with_a_multimap) {
    run_slots(2);
}

BOOST_AUTO_TEST_CASE(four_slots_agree_with_a_multimap) {
    run_slots(4);
}

BOOST_AUTO_TEST_CASE(sixteen_slots_agree_with_a_multimap) {
    run_slots(16);
}

BOOST_AUTO_TEST_CASE(sixty_four_slots_agree_with_a_multimap) {
    run_slots(64);
}

BOOST_AUTO_TEST_CASE(two_hundred_and_fifty_six_slots_agree_with_a_multimap) {
    run_slots(256);
}

BOOST_AUTO_TEST_CASE(a_thousand_and_twenty_four_slots_agree_with_a_multimap) {
    run_slots(1024);
}

BOOST_AUTO_TEST_CASE(four_thousand_and_ninety_six_slots_agree_with_a_multimap) {
    run_slots(4096);
}

BOOST_AUTO_TEST_SUITE_END()
