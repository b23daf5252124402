// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: nobody starts the operation that this task returns

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>

void task_that_returns_an_operation_nobody_starts(asio_wheel::scheduler& tasks,
                                                  asio_wheel::steady_timer& timer) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    tasks.schedule_after(std::chrono::seconds(1),
                         [&timer] { return timer.async_wait(boost::asio::deferred); });
#else
    tasks.schedule_after(std::chrono::seconds(1),
                         [&timer] { return timer.async_wait(boost::asio::detached); });
#endif
}
