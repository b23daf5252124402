// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: must be callable with an error_code and with references to all results of the operation

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>

void timeout_with_a_mapping_of_other_results(boost::asio::io_context& ctx) {
    using boost::system::error_code;
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    auto map = [](error_code why, int& result) { result = why.value(); };
#else
    auto map = [](error_code why, error_code& result) { result = why; };
#endif
    asio_wheel::async_sleep_for(ctx, 5s, asio_wheel::timeout(1s, map, [](error_code) {}));
}
