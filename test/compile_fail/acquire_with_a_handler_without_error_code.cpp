// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with one error_code

#include <asio_wheel/rate_limiter.hpp>

#include <boost/system/error_code.hpp>

void acquire_with_a_handler_without_error_code(asio_wheel::rate_limiter& limiter) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    limiter.async_acquire(1, [] {});
#else
    limiter.async_acquire(1, [](boost::system::error_code) {});
#endif
}
