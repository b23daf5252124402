// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Growing pauses.

#include <asio_wheel/backoff.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using asio_wheel::backoff;
using asio_wheel::backoff_options;
using std::chrono::nanoseconds;

std::string refusal_of(const backoff_options& options) {
    try {
        const backoff pauses(options);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "nothing";
}

} // namespace

BOOST_AUTO_TEST_SUITE(backoff_)

BOOST_AUTO_TEST_CASE(pauses_grow_by_the_factor_up_to_the_limit) {
    backoff pauses({.initial = 100ms, .max = 1s, .factor = 3, .jitter = 0});
    for (const auto expected : {100ms, 300ms, 900ms, 1000ms, 1000ms}) {
        BOOST_TEST((pauses.next() == expected));
    }
    BOOST_TEST(pauses.attempts() == 5U);
}

BOOST_AUTO_TEST_CASE(reset_begins_anew) {
    backoff pauses({.initial = 100ms, .jitter = 0});
    static_cast<void>(pauses.next());
    static_cast<void>(pauses.next());
    pauses.reset();
    BOOST_TEST(pauses.attempts() == 0U);
    BOOST_TEST((pauses.next() == 100ms));
    BOOST_TEST((pauses.next() == 200ms));
}

BOOST_AUTO_TEST_CASE(a_factor_of_one_keeps_the_pause) {
    backoff pauses({.initial = 100ms, .factor = 1, .jitter = 0});
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST((pauses.next() == 100ms));
    }
}

BOOST_AUTO_TEST_CASE(the_largest_values_do_not_overflow) {
    backoff pauses({.initial = 1ns,
                    .max = nanoseconds::max(),
                    .factor = std::numeric_limits<double>::max(),
                    .jitter = 1});
    for (int i = 0; i < 10; ++i) {
        const auto pause = pauses.next();
        BOOST_TEST((pause > 0ns));
    }
    backoff endless({.factor = std::numeric_limits<double>::infinity(), .jitter = 0});
    static_cast<void>(endless.next());
    BOOST_TEST((endless.next() == 60s));
}

BOOST_AUTO_TEST_CASE(jitter_takes_up_to_its_share_and_never_all) {
    auto least = 1000ms, most = 0ms;
    backoff pauses({.initial = 1s, .max = 1s, .jitter = 0.5});
    for (int i = 0; i < 10'000; ++i) {
        const auto pause = pauses.next();
        BOOST_TEST_REQUIRE((pause > 500ms && pause <= 1s));
        least = std::min(least, std::chrono::floor<std::chrono::milliseconds>(pause));
        most = std::max(most, std::chrono::floor<std::chrono::milliseconds>(pause));
    }
    BOOST_TEST((least < 510ms)); // One in 10^87 runs would not.
    BOOST_TEST((most > 990ms));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
    BOOST_TEST(refusal_of({.initial = 0ns}) ==
               "asio_wheel: backoff_options::initial is 0 ns, but must be greater than 0 ns");
    BOOST_TEST(refusal_of({.initial = 5ns, .max = 4ns}) ==
               "asio_wheel: backoff_options::max is 4 ns, but must be at least initial, 5 ns");
    BOOST_TEST(refusal_of({.factor = 0.5}) ==
               "asio_wheel: backoff_options::factor is 0.500000, but must be 1 or more");
    BOOST_TEST(refusal_of({.jitter = -0.1}) ==
               "asio_wheel: backoff_options::jitter is -0.100000, but must be 0 to 1");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    BOOST_TEST(refusal_of({.factor = nan}) != "nothing");
    BOOST_TEST(refusal_of({.jitter = nan}) != "nothing");
    BOOST_TEST(refusal_of({}) == "nothing");
}

BOOST_AUTO_TEST_SUITE_END()
