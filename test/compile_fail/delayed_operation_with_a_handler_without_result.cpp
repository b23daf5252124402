// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with an error_code and a result

#include <asio_wheel/delayed_operations.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <optional>

void delayed_operation_with_a_handler_without_result(
    asio_wheel::delayed_operations<int, int>& operations) {
    using namespace std::chrono_literals;
    const auto function = [] { return std::optional<int>(1); };
#ifdef ASIO_WHEEL_TEST_MISTAKE
    operations.async_wait({1, 2}, 1s, function, [](boost::system::error_code) {});
#else
    operations.async_wait({1, 2}, 1s, function, [](boost::system::error_code, int) {});
#endif
}
