// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: For other results, give a mapping: timeout(d, each_error, token) for a parallel group

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

boost::asio::awaitable<void> timeout_of_an_operation_without_error(asio_wheel::steady_timer& a,
                                                                   asio_wheel::steady_timer& b) {
    using namespace boost::asio;
    using namespace std::chrono_literals;
    auto group = experimental::make_parallel_group(a.async_wait(deferred), b.async_wait(deferred));
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto token = asio_wheel::timeout(5s, use_awaitable);
#else
    const auto token = asio_wheel::timeout(5s, asio_wheel::each_error, use_awaitable);
#endif
    co_await group.async_wait(experimental::wait_for_all(), token);
}
