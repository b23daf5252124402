// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: write timeout(d, as_tuple(token)), not as_tuple(timeout(d, token))

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>

void never(boost::asio::io_context& ctx) {
    using std::chrono::seconds;
    asio_wheel::async_sleep_for(ctx, seconds(5),
                                boost::asio::as_tuple(asio_wheel::timeout(seconds(1))));
}
