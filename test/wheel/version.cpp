// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/version.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

BOOST_AUTO_TEST_SUITE(version, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(the_number_and_the_text_are_the_same_version) {
    std::istringstream text(ASIO_WHEEL_VERSION_STRING);
    int major = -1, minor = -1, patch = -1;
    char dot = 0, other_dot = 0;
    text >> major >> dot >> minor >> other_dot >> patch;
    BOOST_REQUIRE(text && text.eof());
    BOOST_TEST(std::string({dot, other_dot}) == "..");
    BOOST_TEST(ASIO_WHEEL_VERSION == major * 100000 + minor * 100 + patch);
}

BOOST_AUTO_TEST_SUITE_END()
