// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The names that nearly every test uses. A test gets them by `using namespace asio_wheel::test`.

#ifndef ASIO_WHEEL_TEST_SUPPORT_NAMES_HPP
#define ASIO_WHEEL_TEST_SUPPORT_NAMES_HPP

#include <boost/system/error_code.hpp>

#include <chrono>

namespace boost::asio {} // namespace boost::asio

namespace asio_wheel::test {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

} // namespace asio_wheel::test

#endif
