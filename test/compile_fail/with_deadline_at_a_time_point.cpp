// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: with_deadline() takes a duration from now, such as 5s

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>

void with_deadline_at_a_time_point(boost::asio::io_context& ctx,
                                   std::chrono::steady_clock::time_point t) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::with_deadline(ctx, t));
#else
    static_cast<void>(asio_wheel::with_deadline(ctx, t - asio_wheel::now(ctx)));
#endif
}
