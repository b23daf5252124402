// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Test cases for some builds only.
//
//     BOOST_AUTO_TEST_CASE(a_name, *only_if(counting)) { … }
//
// Boost's own enable_if<> has no effect on a case that is named on the command line, or whose suite
// is.

#ifndef ASIO_WHEEL_TEST_SUPPORT_ONLY_IF_HPP
#define ASIO_WHEEL_TEST_SUPPORT_ONLY_IF_HPP

#include <boost/test/unit_test.hpp>

namespace asio_wheel::test {

/// A decorator. If the condition is false, the case is skipped, and the log says so.
inline boost::unit_test::decorator::precondition only_if(bool condition) {
    return boost::unit_test::decorator::precondition([condition](boost::unit_test::test_unit_id) {
        return boost::test_tools::assertion_result(condition);
    });
}

} // namespace asio_wheel::test

#endif
