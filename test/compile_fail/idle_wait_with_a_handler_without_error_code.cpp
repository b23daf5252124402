// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with one error_code

#include <asio_wheel/idle_timer.hpp>

#include <boost/system/error_code.hpp>

void idle_wait_with_a_handler_without_error_code(asio_wheel::idle_timer& idle) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    idle.async_wait([] {});
#else
    idle.async_wait([](boost::system::error_code) {});
#endif
}
