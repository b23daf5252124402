// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using asio_wheel::wheel_options;
using std::chrono::nanoseconds;

constexpr std::size_t most_slots = std::size_t{1} << 20;

void refuses(const wheel_options& options, const std::string& option, const std::string& value,
             const std::string& allowed) {
    BOOST_TEST_CONTEXT(option << " = " << value) {
        BOOST_CHECK_EXCEPTION(asio_wheel::validate(options), std::invalid_argument,
                              [&](const std::invalid_argument& refusal) {
                                  const std::string what = refusal.what();
                                  BOOST_TEST(what == "asio_wheel: wheel_options::" + option +
                                                         " is " + value + ", but must be " +
                                                         allowed);
                                  return true;
                              });
    }
}

void accepts(const wheel_options& options) {
    BOOST_TEST_CONTEXT("tick " << options.tick.count() << " ns, slots " << options.slots
                               << ", levels " << options.levels << ", budget " << options.budget) {
        BOOST_CHECK_NO_THROW(asio_wheel::validate(options));
    }
}

// The longest tick for which one turn of the wheel fits into the clock's range.
constexpr nanoseconds longest_tick(unsigned bits) {
    return nanoseconds(std::numeric_limits<std::int64_t>::max() >> bits);
}

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_options_)

BOOST_AUTO_TEST_CASE(the_defaults_are_as_documented_and_accepted) {
    const wheel_options options;
    BOOST_TEST(options.tick.count() == 1'000'000);
    BOOST_TEST(options.slots == 256U);
    BOOST_TEST(options.levels == 4U);
    BOOST_TEST(options.max_pending == 0U);
    BOOST_TEST(options.locking);
    BOOST_TEST((options.stall == 100ms));
    BOOST_TEST(options.budget == 256U);
    accepts(options);
    accepts({.tick = 10ms, .slots = 512, .levels = 1, .locking = false});
}

BOOST_AUTO_TEST_CASE(a_tick_must_be_greater_than_zero) {
    refuses({.tick = 0ns}, "tick", "0 ns", "greater than 0 ns");
    refuses({.tick = -1ns}, "tick", "-1 ns", "greater than 0 ns");
    refuses({.tick = nanoseconds::min()}, "tick", "-9223372036854775808 ns", "greater than 0 ns");
    accepts({.tick = 1ns});
}

BOOST_AUTO_TEST_CASE(a_turn_of_the_wheel_must_fit_the_clock) {
    refuses(
        {.tick = nanoseconds::max()}, "tick", "9223372036854775807 ns",
        "1 to 36028797018963967 ns with 256 slots, so that one turn of the wheel fits the clock");
    refuses(
        {.tick = longest_tick(8) + 1ns}, "tick", "36028797018963968 ns",
        "1 to 36028797018963967 ns with 256 slots, so that one turn of the wheel fits the clock");
    accepts({.tick = longest_tick(8)});

    // 200 slots become 256.
    refuses(
        {.tick = longest_tick(8) + 1ns, .slots = 200}, "tick", "36028797018963968 ns",
        "1 to 36028797018963967 ns with 200 slots, so that one turn of the wheel fits the clock");
    accepts({.tick = longest_tick(8), .slots = 200});

    refuses(
        {.tick = longest_tick(1) + 1ns, .slots = 2}, "tick", "4611686018427387904 ns",
        "1 to 4611686018427387903 ns with 2 slots, so that one turn of the wheel fits the clock");
    accepts({.tick = longest_tick(1), .slots = 2});

    refuses(
        {.tick = longest_tick(20) + 1ns, .slots = most_slots, .levels = 1}, "tick",
        "8796093022208 ns",
        "1 to 8796093022207 ns with 1048576 slots, so that one turn of the wheel fits the clock");
    accepts({.tick = longest_tick(20), .slots = most_slots, .levels = 1});
}

BOOST_AUTO_TEST_CASE(slots_must_be_one_to_2_to_the_20th) {
    refuses({.slots = 0}, "slots", "0", "1 to 1048576");
    refuses({.slots = most_slots + 1, .levels = 1}, "slots", "1048577", "1 to 1048576");
    refuses({.slots = std::numeric_limits<std::size_t>::max(), .levels = 1}, "slots",
            std::to_string(std::numeric_limits<std::size_t>::max()), "1 to 1048576");
    accepts({.slots = 1});
    accepts({.slots = 2});
    accepts({.slots = 3});
    accepts({.slots = most_slots, .levels = 1});
}

BOOST_AUTO_TEST_CASE(there_must_be_at_least_one_level) {
    refuses({.levels = 0}, "levels", "0", "1 to 8 with 256 slots");
    accepts({.levels = 1});
}

BOOST_AUTO_TEST_CASE(all_levels_together_must_fit_64_bits_of_ticks) {
    const auto limit = [](std::size_t slots, unsigned most) {
        accepts({.slots = slots, .levels = most});
        refuses({.slots = slots, .levels = most + 1}, "levels", std::to_string(most + 1),
                "1 to " + std::to_string(most) + " with " + std::to_string(slots) + " slots");
    };
    limit(1, 64); // One slot becomes two.
    limit(2, 64);
    limit(3, 32);
    limit(4, 32);
    limit(5, 21);
    limit(16, 16);
    limit(64, 10);
    limit(255, 8);
    limit(256, 8);
    limit(257, 7); // 257 slots become 512.
    limit(1024, 6);
    limit(4096, 5);
    limit(most_slots, 3);
    refuses({.levels = std::numeric_limits<unsigned>::max()}, "levels", "4294967295",
            "1 to 8 with 256 slots");
}

BOOST_AUTO_TEST_CASE(a_stall_must_not_be_negative) {
    refuses({.stall = -1ns}, "stall", "-1 ns", "0 ns or more");
    accepts({.stall = 0ns});
    accepts({.stall = std::chrono::nanoseconds::max()});
}

BOOST_AUTO_TEST_CASE(a_budget_must_be_1_to_65536) {
    refuses({.budget = 0}, "budget", "0", "1 to 65536");
    refuses({.budget = 65537}, "budget", "65537", "1 to 65536");
    refuses({.budget = std::numeric_limits<std::size_t>::max()}, "budget",
            std::to_string(std::numeric_limits<std::size_t>::max()), "1 to 65536");
    accepts({.budget = 1});
    accepts({.budget = 65536});
}

BOOST_AUTO_TEST_CASE(every_max_pending_is_accepted) {
    accepts({.max_pending = 0});
    accepts({.max_pending = 1});
    accepts({.max_pending = std::numeric_limits<std::size_t>::max()});
}

BOOST_AUTO_TEST_CASE(every_accepted_shape_can_be_built_and_keeps_its_promise) {
    struct shape {
        std::size_t slots;
        unsigned levels;
    };
    for (const auto [slots, levels] : {shape{1, 64}, shape{2, 64}, shape{3, 32}, shape{256, 8},
                                       shape{257, 7}, shape{4096, 5}, shape{most_slots, 1}}) {
        BOOST_TEST_CONTEXT(slots << " slots, " << levels << " levels") {
            asio_wheel::validate({.slots = slots, .levels = levels});
            struct alarm : asio_wheel::wheel_entry {};
            alarm first;
            alarm last;
            asio_wheel::wheel_entry* due[2] = {};
            asio_wheel::wheel wheel(slots, levels);
            wheel.insert(last, asio_wheel::last_tick);
            wheel.insert(first, 1);
            BOOST_TEST(wheel.next_expiry() == 1U);
            BOOST_TEST(wheel.advance(1, 100, due).expired == 1U);
            BOOST_TEST(due[0] == &first);
            BOOST_TEST(wheel.next_expiry() == asio_wheel::last_tick);
            BOOST_TEST(wheel.advance(asio_wheel::last_tick, 100, due).expired == 1U);
            BOOST_TEST(due[0] == &last);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
