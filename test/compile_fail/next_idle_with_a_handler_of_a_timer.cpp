// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with an error_code and a size_t

#include <asio_wheel/idle_timer.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>

void next_idle_with_a_handler_of_a_timer(asio_wheel::idle_timer& idle) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    idle.async_next_idle([](boost::system::error_code) {});
#else
    idle.async_next_idle([](boost::system::error_code, std::size_t) {});
#endif
}
