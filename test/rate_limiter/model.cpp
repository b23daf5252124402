// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs on a rate limiter, beside its model; and the arithmetic of its bucket.

#include <asio_wheel/detail/rate_limiter/token_bucket.hpp>

#include "support/random_episodes.hpp"
#include "support/rate_limiter_episode.hpp"
#include "support/seed.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace {

using asio_wheel::detail::scaled_part;
using asio_wheel::detail::token_bucket;

} // namespace

BOOST_AUTO_TEST_SUITE(rate_limiter_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(a_rate_limiter_does_what_its_model_does) {
    asio_wheel::test::run_random_episodes<asio_wheel::test::rate_limiter_episode>(1000);
}

// A bucket that is empty has its tokens exactly when until() says, and not one unit before.
BOOST_AUTO_TEST_CASE(until_is_the_first_time_at_which_the_tokens_are_there) {
    asio_wheel::test::random_numbers random(asio_wheel::test::seed());
    for (int i = 0; i < 20'000; ++i) {
        const auto some = [&](unsigned bits) {
            return static_cast<std::int64_t>(1 + random.magnitude(bits));
        };
        const std::int64_t gain = some(30);
        const std::int64_t per = some(31);
        const std::int64_t burst = some(28);
        BOOST_TEST_REQUIRE(token_bucket::is_rate(gain, per));
        token_bucket bucket(gain, per, burst, 0);
        bucket.take(some(28));
        bucket.advance(some(35));
        const std::int64_t n = some(28);
        const std::int64_t units = bucket.until(n);
        BOOST_TEST_REQUIRE((units == 0) == bucket.has(n));
        if (units != 0) {
            token_bucket before = bucket;
            before.advance(bucket.at() + units - 1);
            bucket.advance(bucket.at() + units);
            BOOST_TEST_REQUIRE(!before.has(n));
            BOOST_TEST_REQUIRE(bucket.has(n));
        }
    }
}

BOOST_AUTO_TEST_CASE(how_often_one_looks_makes_no_difference) {
    asio_wheel::test::random_numbers random(asio_wheel::test::seed());
    for (int i = 0; i < 1000; ++i) {
        const auto gain = static_cast<std::int64_t>(1 + random.magnitude(20));
        const auto per = static_cast<std::int64_t>(1 + random.magnitude(20));
        token_bucket often(gain, per, token_bucket::max_tokens, 0);
        often.take(token_bucket::max_tokens);
        token_bucket once = often;
        std::int64_t now = 0;
        for (int k = 0; k < 50; ++k) {
            now += static_cast<std::int64_t>(random.magnitude(12));
            often.advance(now);
        }
        once.advance(now);
        BOOST_TEST_REQUIRE(often.level() == once.level());
        BOOST_TEST_REQUIRE(often.until(often.level() + 1) == once.until(once.level() + 1));
    }
}

BOOST_AUTO_TEST_CASE(the_largest_numbers_do_not_overflow) {
    constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    // From the beginning of time to its end, one token in the longest time.
    token_bucket slow(1, token_bucket::max / 4, 10, first);
    slow.take(10);
    BOOST_TEST(slow.until(10) == token_bucket::never);
    slow.advance(last);
    BOOST_TEST(slow.level() == 8);
    // Many tokens in one unit, and the largest debt.
    token_bucket fast(token_bucket::max - 1, 1, token_bucket::max_tokens, first);
    fast.take(token_bucket::max_tokens);
    BOOST_TEST(fast.until(token_bucket::max_tokens) == 1);
    fast.burst(1);
    fast.take(0);
    fast.advance(last);
    BOOST_TEST(fast.level() == 1);
    fast.take(token_bucket::max_tokens);
    BOOST_TEST(fast.level() == 1 - token_bucket::max_tokens);
    fast.burst(token_bucket::max_tokens);
    BOOST_TEST(fast.until(token_bucket::max_tokens) == 1);
    fast.rate(0, 1);
    BOOST_TEST(fast.until(1) == token_bucket::never);
    // What is no rate.
    BOOST_TEST(!token_bucket::is_rate(-1, 1));
    BOOST_TEST(!token_bucket::is_rate(1, 0));
    BOOST_TEST(!token_bucket::is_rate(last, 2));
    BOOST_TEST(token_bucket::is_rate(last - 1, 1));
    BOOST_TEST(!token_bucket::is_rate(last, 1));
    BOOST_TEST(!token_bucket::is_rate(1, last / 2));
    BOOST_TEST(token_bucket::is_rate(10'000'000'000, 1'000'000'000));
}

// Those who take the next tokens lose no part of one, also if the bucket has room for one only.
BOOST_AUTO_TEST_CASE(what_is_taken_when_it_comes_is_exactly_what_comes) {
    token_bucket bucket(3, 1'000'000, 1, 0);
    bucket.take(1);
    for (int i = 0; i < 3000; ++i) {
        bucket.take_next(1);
    }
    BOOST_TEST(bucket.at() == 1'000'000'000);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_set_back_gives_nothing_and_goes_on) {
    token_bucket bucket(1, 10, 5, 1000);
    bucket.take(5);
    bucket.advance(1009);
    bucket.advance(500);
    BOOST_TEST(bucket.level() == 0);
    BOOST_TEST(bucket.until(1) == 1); // What had come stays.
    bucket.advance(501);
    BOOST_TEST(bucket.level() == 1);
}

BOOST_AUTO_TEST_CASE(a_part_of_a_token_is_scaled_exactly) {
    asio_wheel::test::random_numbers random(asio_wheel::test::seed());
    for (int i = 0; i < 20'000; ++i) {
        const auto c = static_cast<std::int64_t>(1 + random.magnitude(61));
        const auto a = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(c)));
        const auto b = static_cast<std::int64_t>(random.magnitude(63));
        const boost::multiprecision::cpp_int exact = boost::multiprecision::cpp_int(a) * b / c;
        BOOST_TEST_REQUIRE(scaled_part(a, b, c) == exact.convert_to<std::int64_t>());
    }
}

BOOST_AUTO_TEST_SUITE_END()
