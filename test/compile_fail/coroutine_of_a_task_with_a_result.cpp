// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the coroutine of a task returns boost::asio::awaitable<void>

#include <asio_wheel/scheduler.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>

void coroutine_of_a_task_with_a_result(asio_wheel::scheduler& tasks) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    tasks.schedule_after(std::chrono::seconds(1),
                         []() -> boost::asio::awaitable<int> { co_return 1; });
#else
    tasks.schedule_after(std::chrono::seconds(1),
                         []() -> boost::asio::awaitable<void> { co_return; });
#endif
}
