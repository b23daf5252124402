// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: write timeout(d, as_tuple(token)), not as_tuple(timeout(d, token))

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>

void timeout_inside_as_tuple(boost::asio::io_context& ctx) {
    using std::chrono::seconds;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(ctx, seconds(5),
                                boost::asio::as_tuple(asio_wheel::timeout(seconds(1))));
#else
    const auto token = boost::asio::as_tuple(boost::asio::deferred);
    asio_wheel::async_sleep_for(ctx, seconds(5), asio_wheel::timeout(seconds(1), token));
#endif
}
