// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/metrics.hpp>
#include <asio_wheel/stats.hpp>

#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace {

using asio_wheel::lateness_histogram;
using std::chrono::nanoseconds;

constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();

// Shares that a double represents exactly, and whose product with a count is exact, so that the
// rank is certain.
constexpr std::int64_t parts = 64;
constexpr double share(std::int64_t part) {
    return static_cast<double>(part) / static_cast<double>(parts);
}

// Returns the value of rank ceil(part / parts * n), at least 1, of sorted values.
std::int64_t exact_quantile(const std::vector<std::int64_t>& sorted, std::int64_t part) {
    const auto size = static_cast<std::int64_t>(sorted.size());
    const std::int64_t rank = std::max<std::int64_t>((size * part + parts - 1) / parts, 1);
    return sorted[static_cast<std::size_t>(rank - 1)];
}

// Checks that a value is at most 12.5 % above the true value, and never below.
void check_quantile(const lateness_histogram& histogram, double q, std::int64_t exact) {
    const std::int64_t found = histogram.quantile(q).count();
    BOOST_TEST(found >= exact, "quantile(" << q << ") = " << found << " is below " << exact);
    BOOST_TEST(found - exact <= exact / 8,
               "quantile(" << q << ") = " << found << " is too far above " << exact);
}

static_assert(std::is_nothrow_default_constructible_v<lateness_histogram>);
static_assert(noexcept(std::declval<lateness_histogram&>().add(std::declval<nanoseconds>())));
static_assert(noexcept(std::declval<const lateness_histogram&>().quantile(0.5)));

} // namespace

BOOST_AUTO_TEST_SUITE(lateness_histogram_)

BOOST_AUTO_TEST_CASE(an_empty_histogram_gives_zero_everywhere) {
    const lateness_histogram histogram;
    BOOST_TEST(histogram.count() == 0U);
    BOOST_TEST(histogram.max().count() == 0);
    for (const double q : {-1.0, 0.0, 0.5, 1.0, 2.0}) {
        BOOST_TEST(histogram.quantile(q).count() == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_lone_value_is_every_quantile_exactly) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{15}, std::int64_t{16}, std::int64_t{17},
          std::int64_t{1'000'001}, std::int64_t{3'600'000'000'001}, longest - 1, longest}) {
        lateness_histogram histogram;
        histogram.add(nanoseconds(value));
        BOOST_TEST(histogram.count() == 1U);
        BOOST_TEST(histogram.max().count() == value);
        for (const double q : {0.0, 0.001, 0.5, 0.999, 1.0}) {
            BOOST_TEST(histogram.quantile(q).count() == value);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_negative_lateness_counts_as_zero) {
    lateness_histogram histogram;
    histogram.add(nanoseconds(-1));
    histogram.add(nanoseconds::min());
    BOOST_TEST(histogram.count() == 2U);
    BOOST_TEST(histogram.max().count() == 0);
    BOOST_TEST(histogram.quantile(1).count() == 0);
}

BOOST_AUTO_TEST_CASE(values_below_16_are_exact) {
    lateness_histogram histogram;
    for (std::int64_t value = 0; value < 16; ++value) {
        histogram.add(nanoseconds(value));
    }
    histogram.add(nanoseconds(longest)); // So that the maximum does not hide an error.
    for (int value = 0; value < 16; ++value) {
        const double q = (value + 1) / 17.0 - 0.001; // Well inside the value's share.
        BOOST_TEST(histogram.quantile(q).count() == value);
    }
}

BOOST_AUTO_TEST_CASE(the_maximum_is_exact_whatever_else_was_counted) {
    std::mt19937_64 random(asio_wheel::test::seed());
    lateness_histogram histogram;
    std::int64_t largest = 0;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        const auto value = static_cast<std::int64_t>((random() >> 1) >> (random() % 63));
        histogram.add(nanoseconds(value));
        largest = std::max(largest, value);
        BOOST_REQUIRE_EQUAL(histogram.max().count(), largest);
        BOOST_REQUIRE_EQUAL(histogram.quantile(1).count(), largest);
        BOOST_REQUIRE_EQUAL(histogram.count(), i);
    }
}

BOOST_AUTO_TEST_CASE(the_error_is_at_most_an_eighth_at_every_edge_of_every_cell) {
    for (unsigned power = 0; power < 63; ++power) {
        const std::int64_t octave = std::int64_t{1} << power;
        const std::int64_t cell = std::max<std::int64_t>(octave / 8, 1);
        for (std::int64_t edge = octave; edge - octave < octave; edge += cell) {
            for (const std::int64_t value : {edge - 1, edge, edge + (cell - 1)}) {
                lateness_histogram histogram;
                histogram.add(nanoseconds(value));
                histogram.add(nanoseconds(longest)); // So that the maximum does not hide an error.
                check_quantile(histogram, 0.5, value);
            }
            if (edge > longest - cell) {
                break; // The last cell.
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(every_quantile_of_a_random_sample_is_at_most_an_eighth_too_large) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int round = 0; round < 300; ++round) {
        lateness_histogram histogram;
        std::vector<std::int64_t> values(1 + random() % 500);
        const std::uint64_t magnitudes = 1 + random() % 63;
        for (std::int64_t& value : values) {
            value = static_cast<std::int64_t>((random() >> 1) >> (63 - random() % magnitudes));
            histogram.add(nanoseconds(value));
        }
        std::sort(values.begin(), values.end());
        for (std::int64_t part = 0; part <= parts; ++part) {
            check_quantile(histogram, share(part), exact_quantile(values, part));
        }
    }
}

BOOST_AUTO_TEST_CASE(quantiles_never_fall_and_never_pass_the_maximum) {
    std::mt19937_64 random(asio_wheel::test::seed());
    lateness_histogram histogram;
    for (int i = 0; i < 10'000; ++i) {
        histogram.add(nanoseconds(static_cast<std::int64_t>((random() >> 1) >> (random() % 63))));
    }
    nanoseconds before(0);
    for (int thousandth = 0; thousandth <= 1000; ++thousandth) {
        const nanoseconds quantile = histogram.quantile(thousandth / 1000.0);
        BOOST_TEST(quantile.count() >= before.count());
        BOOST_TEST(quantile.count() <= histogram.max().count());
        before = quantile;
    }
    BOOST_TEST(before.count() == histogram.max().count());
}

BOOST_AUTO_TEST_CASE(a_share_outside_0_to_1_is_clamped) {
    lateness_histogram histogram;
    for (const std::int64_t value : {3, 7, 1'000'000}) {
        histogram.add(nanoseconds(value));
    }
    BOOST_TEST(histogram.quantile(0).count() == 3);
    BOOST_TEST(histogram.quantile(-0.5).count() == 3);
    BOOST_TEST(histogram.quantile(-std::numeric_limits<double>::infinity()).count() == 3);
    BOOST_TEST(histogram.quantile(1).count() == 1'000'000);
    BOOST_TEST(histogram.quantile(1.5).count() == 1'000'000);
    BOOST_TEST(histogram.quantile(std::numeric_limits<double>::infinity()).count() == 1'000'000);
}

BOOST_AUTO_TEST_CASE(the_outlier_in_a_thousand_shows_at_p999_and_not_at_p99) {
    lateness_histogram histogram;
    for (int i = 0; i < 998; ++i) {
        histogram.add(std::chrono::microseconds(50));
    }
    histogram.add(std::chrono::milliseconds(4));
    histogram.add(std::chrono::milliseconds(4));
    check_quantile(histogram, 0.5, 50'000);
    check_quantile(histogram, 0.99, 50'000);
    check_quantile(histogram, 0.999, 4'000'000);
    BOOST_TEST(histogram.max().count() == 4'000'000);
}

BOOST_AUTO_TEST_CASE(long_values_weigh_more_in_quantiles_of_the_sum) {
    lateness_histogram histogram;
    BOOST_TEST(histogram.quantile_of_sum(.5).count() == 0);
    histogram.add(nanoseconds(0));
    BOOST_TEST(histogram.quantile_of_sum(1).count() == 0);
    for (int i = 0; i < 9996; ++i) {
        histogram.add(std::chrono::microseconds(10)); // 0.1 s.
    }
    for (int i = 0; i < 4; ++i) {
        histogram.add(std::chrono::milliseconds(80)); // 0.32 s.
    }
    check_quantile(histogram, .99, 10'000);
    const auto is_near = [&](double q, std::int64_t exact) {
        const std::int64_t found = histogram.quantile_of_sum(q).count();
        BOOST_TEST(found >= exact);
        BOOST_TEST(found - exact <= exact / 8);
    };
    is_near(.2, 10'000);
    is_near(.3, 80'000'000);
    is_near(.99, 80'000'000);
    BOOST_TEST(histogram.quantile_of_sum(5).count() == 80'000'000);
    is_near(-1, 10'000);
    histogram.add(nanoseconds(longest));
    histogram.add(nanoseconds(longest));
    BOOST_TEST(histogram.quantile_of_sum(.01).count() == longest);
}

BOOST_AUTO_TEST_CASE(the_sum_is_exact_and_ends_at_the_longest_time) {
    lateness_histogram histogram;
    BOOST_TEST(histogram.sum().count() == 0);
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-5}, std::int64_t{17}, std::int64_t{1'000'000'007}}) {
        histogram.add(nanoseconds(value));
    }
    BOOST_TEST(histogram.sum().count() == 1'000'000'024);
    histogram.add(nanoseconds(longest - 1'000'000'024));
    BOOST_TEST(histogram.sum().count() == longest);
    histogram.add(nanoseconds(longest));
    BOOST_TEST(histogram.sum().count() == longest);
    BOOST_TEST(histogram.count() == 6U);
}

// All values are in the buckets, and only those that have a value are listed.
BOOST_AUTO_TEST_CASE(buckets_and_counts_up_to_a_limit_agree_with_the_values) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int round = 0; round < 100; ++round) {
        lateness_histogram histogram;
        std::vector<std::int64_t> values(random() % 200);
        for (std::int64_t& value : values) {
            value = static_cast<std::int64_t>((random() >> 1) >> (random() % 63));
            histogram.add(nanoseconds(value));
        }
        const auto not_above = [&values](std::int64_t limit) {
            return static_cast<std::uint64_t>(
                std::count_if(values.begin(), values.end(),
                              [limit](std::int64_t value) { return value <= limit; }));
        };
        std::uint64_t before = 0;
        for (const auto& [up_to, count] : histogram.buckets()) {
            BOOST_TEST_REQUIRE(count != 0U);
            BOOST_TEST_REQUIRE(not_above(up_to.count()) == before + count);
            BOOST_TEST_REQUIRE(histogram.count_up_to(up_to) == before + count);
            BOOST_TEST_REQUIRE(histogram.count_up_to(up_to - nanoseconds(1)) == before);
            before += count;
        }
        BOOST_TEST(before == values.size());
        for (unsigned power = 0; power < 63; ++power) {
            const std::int64_t limit = (std::int64_t{1} << power) - 1;
            BOOST_TEST(histogram.count_up_to(nanoseconds(limit)) == not_above(limit));
        }
        BOOST_TEST(histogram.count_up_to(nanoseconds(longest)) == values.size());
        BOOST_TEST(histogram.count_up_to(nanoseconds(-1)) == 0U);
    }
}

BOOST_AUTO_TEST_CASE(the_difference_of_two_snapshots_is_what_was_counted_in_between) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int round = 0; round < 100; ++round) {
        lateness_histogram all;
        lateness_histogram second_half;
        const auto add = [&](std::uint64_t values, bool second) {
            for (std::uint64_t i = 0; i < values; ++i) {
                // The sum must not end at the longest time.
                const nanoseconds value(static_cast<std::int64_t>(random() >> 20 >> random() % 44));
                all.add(value);
                if (second) {
                    second_half.add(value);
                }
            }
        };
        add(random() % 100, false);
        const lateness_histogram before = all;
        add(random() % 100, true);
        const lateness_histogram difference = all - before;
        BOOST_TEST((difference.buckets() == second_half.buckets()));
        BOOST_TEST(difference.count() == second_half.count());
        BOOST_TEST(difference.sum().count() == second_half.sum().count());
        const std::int64_t max = second_half.max().count();
        BOOST_TEST(difference.max().count() >= max);
        BOOST_TEST(difference.max().count() - max <= max / 8);
        BOOST_TEST((all - all == lateness_histogram() - lateness_histogram()));
    }
}

BOOST_AUTO_TEST_CASE(a_histogram_takes_no_more_than_4_kb) {
    BOOST_TEST(sizeof(lateness_histogram) <= 4096U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(wheel_stats_)

BOOST_AUTO_TEST_CASE(everything_starts_at_zero) {
    const asio_wheel::wheel_stats stats;
    for (const std::uint64_t count :
         {stats.pending, stats.peak_pending, stats.scheduled, stats.fired, stats.cancelled,
          stats.dropped, stats.postponed, stats.rejected, stats.cascaded, stats.wake_ups,
          stats.spurious_wake_ups, stats.stalls, stats.lateness.count(), stats.loop_lag.count(),
          stats.handler_delay.count()}) {
        BOOST_TEST(count == 0U);
    }
    BOOST_TEST(stats.stalled.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_difference_has_what_was_done_in_between_and_what_is_pending_now) {
    asio_wheel::wheel_stats before;
    before.pending = 100;
    before.peak_pending = 200;
    for (std::uint64_t* const count :
         {&before.scheduled, &before.fired, &before.cancelled, &before.dropped, &before.postponed,
          &before.rejected, &before.cascaded, &before.wake_ups, &before.spurious_wake_ups,
          &before.stalls}) {
        *count = 50;
    }
    before.stalled = nanoseconds(50);
    for (lateness_histogram* const h :
         {&before.lateness, &before.loop_lag, &before.handler_delay}) {
        h->add(nanoseconds(50));
    }
    asio_wheel::wheel_stats now = before;
    now.pending = 7;
    now.peak_pending = 300;
    std::uint64_t more = 0;
    for (std::uint64_t* const count :
         {&now.scheduled, &now.fired, &now.cancelled, &now.dropped, &now.postponed, &now.rejected,
          &now.cascaded, &now.wake_ups, &now.spurious_wake_ups, &now.stalls}) {
        *count += ++more;
    }
    now.stalled += nanoseconds(10);
    now.lateness.add(nanoseconds(11));
    now.loop_lag.add(nanoseconds(12));
    now.handler_delay.add(nanoseconds(13));
    const asio_wheel::wheel_stats between = now - before;
    BOOST_TEST(between.pending == 7U);
    BOOST_TEST(between.peak_pending == 300U);
    std::uint64_t expected = 0;
    for (const std::uint64_t count :
         {between.scheduled, between.fired, between.cancelled, between.dropped, between.postponed,
          between.rejected, between.cascaded, between.wake_ups, between.spurious_wake_ups,
          between.stalls}) {
        BOOST_TEST(count == ++expected);
    }
    BOOST_TEST(between.stalled.count() == 10);
    BOOST_TEST(between.lateness.sum().count() == 11);
    BOOST_TEST(between.loop_lag.sum().count() == 12);
    BOOST_TEST(between.handler_delay.sum().count() == 13);
}

// In their order, without a gap. So none is there twice, and each new member must be added.
BOOST_AUTO_TEST_CASE(every_member_is_in_the_table_of_metrics) {
    const asio_wheel::wheel_stats stats;
    const auto address_of = [](const auto& object) {
        return reinterpret_cast<std::uintptr_t>(std::addressof(object));
    };
    std::uintptr_t next = address_of(stats);
    for (const asio_wheel::detail::metric& m : asio_wheel::detail::metrics) {
        std::visit(
            [&](auto member) {
                BOOST_TEST(address_of(stats.*member) == next,
                           "a member is missing before " << m.name);
                next = address_of(stats.*member) + sizeof(stats.*member);
            },
            m.member);
    }
    BOOST_TEST(next == address_of(stats) + sizeof stats, "a member is missing at the end");
}

BOOST_AUTO_TEST_SUITE_END()
