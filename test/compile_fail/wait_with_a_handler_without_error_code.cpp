// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with one error_code

#include <asio_wheel/steady_timer.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>

void wait_with_a_handler_without_error_code(asio_wheel::steady_timer& timer) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    timer.async_wait([] {});
#else
    timer.async_wait([](boost::system::error_code) {});
#endif
}
