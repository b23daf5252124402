// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: on_cancel is called by the thread that cancels. It is no coroutine

#include <asio_wheel/scheduler.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>

void on_cancel_that_is_a_coroutine(asio_wheel::scheduler& tasks) {
    const auto f = []() -> boost::asio::awaitable<void> { co_return; };
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto g = []() -> boost::asio::awaitable<void> { co_return; };
#else
    const auto g = [] {};
#endif
    tasks.schedule_after(std::chrono::seconds(1), asio_wheel::on_cancel(f, g));
}
