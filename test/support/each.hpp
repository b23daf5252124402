// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A case that runs several times: for each shape of a wheel, with each failure.

#ifndef ASIO_WHEEL_TEST_SUPPORT_EACH_HPP
#define ASIO_WHEEL_TEST_SUPPORT_EACH_HPP

#include <boost/test/unit_test.hpp>

/// A case that each(body) runs. The parameters of its body follow:
///
///     TEST_CASE_FOR_EACH(a_new_wheel_is_empty, with_wheels, wheel& w) {
///         BOOST_TEST(w.empty());
///     }
#define TEST_CASE_FOR_EACH(name, each, ...)                                                        \
    static void name##_once(__VA_ARGS__);                                                          \
    BOOST_AUTO_TEST_CASE(name) {                                                                   \
        each(&name##_once);                                                                        \
    }                                                                                              \
    static void name##_once([[maybe_unused]] __VA_ARGS__)

#endif
