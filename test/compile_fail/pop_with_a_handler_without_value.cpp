// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with an error_code and a value

#include <asio_wheel/delay_queue.hpp>

#include <boost/system/error_code.hpp>

void pop_with_a_handler_without_value(asio_wheel::delay_queue<int>& queue) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    queue.async_pop([](boost::system::error_code) {});
#else
    queue.async_pop([](boost::system::error_code, int) {});
#endif
}
