// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the operation keeps the handler, which can't be copied. Write std::move(handler)

#include <asio_wheel/steady_timer.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <memory>
#include <utility>

void wait_with_a_handler_that_can_not_be_copied(asio_wheel::steady_timer& timer) {
    using namespace std::chrono_literals;
    auto handler = [owned = std::make_unique<int>(1)](boost::system::error_code) {};
#ifdef ASIO_WHEEL_TEST_MISTAKE
    timer.async_wait(handler);
#else
    timer.async_wait(std::move(handler));
#endif
}
