// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: put the adaptor inside, round the token: timeout(d, redirect_error(token, ec))

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

void timeout_inside_redirect_error(boost::asio::io_context& ctx, boost::system::error_code& ec) {
    using std::chrono::seconds;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(
        ctx, seconds(5),
        boost::asio::redirect_error(asio_wheel::timeout(seconds(1), boost::asio::use_awaitable),
                                    ec));
#else
    asio_wheel::async_sleep_for(
        ctx, seconds(5),
        asio_wheel::timeout(seconds(1),
                            boost::asio::redirect_error(boost::asio::use_awaitable, ec)));
#endif
}
