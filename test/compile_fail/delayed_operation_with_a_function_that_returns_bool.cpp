// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the function of a delayed operation must return a std::optional<Result>

#include <asio_wheel/delayed_operations.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <optional>

void delayed_operation_with_a_function_that_returns_bool(
    asio_wheel::delayed_operations<int, int>& operations) {
    using namespace std::chrono_literals;
    const auto handler = [](boost::system::error_code, int) {};
#ifdef ASIO_WHEEL_TEST_MISTAKE
    operations.async_wait(1, 1s, [] { return true; }, handler);
#else
    operations.async_wait(1, 1s, [] { return std::optional<int>(1); }, handler);
#endif
}
