// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with an error_code and a size_t

#include <asio_wheel/interval.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>

void tick_with_a_handler_of_a_timer(asio_wheel::interval& every) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    every.async_tick([](boost::system::error_code) {});
#else
    every.async_tick([](boost::system::error_code, std::size_t) {});
#endif
}
