// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: which must be an error_code or a std::exception_ptr

#include <asio_wheel/timeout.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

void never(boost::asio::io_context& ctx) {
    boost::asio::post(ctx, asio_wheel::timeout(std::chrono::seconds(5), [] {}));
}
