// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// Civil times without memory. operator new is made to fail.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/civil_time.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel;

/// Whether a rule has a next time, while there is no memory.
template <class Make>
bool has_next_without_memory(Make make) {
    const out_of_memory none;
    const auto rule = make();
    const auto copy = rule;
    const auto next = copy(std::chrono::system_clock::time_point());
    return next && copy(*next, *next) && copy == rule;
}

} // namespace

BOOST_AUTO_TEST_SUITE(civil_time_memory, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(rules_need_no_memory) {
    using std::chrono::last;
    using std::chrono::March;
    using std::chrono::Monday;
    BOOST_TEST(has_next_without_memory([] { return daily(3h + 30min); }));
    BOOST_TEST(has_next_without_memory([] { return daily(3h, utc, zone_changes::as_shown); }));
    BOOST_TEST(has_next_without_memory([] { return weekly({Monday}, 3h, fixed_offset(2h)); }));
    BOOST_TEST(has_next_without_memory([] { return monthly(Monday[last], 3h); }));
    BOOST_TEST(has_next_without_memory([] { return yearly(March / last, 3h, utc); }));
}

BOOST_AUTO_TEST_SUITE_END()
