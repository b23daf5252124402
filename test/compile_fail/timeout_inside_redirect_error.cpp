// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: put the adaptor inside, round the token: timeout(d, redirect_error(token, ec))

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>

void never(boost::asio::io_context& ctx, boost::system::error_code& ec) {
    using std::chrono::seconds;
    asio_wheel::async_sleep_for(
        ctx, seconds(5),
        boost::asio::redirect_error(asio_wheel::timeout(seconds(1), boost::asio::deferred), ec));
}
