// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: these are times of the wall clock. Write asio_wheel::system_scheduler

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/scheduler.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>

void civil_time_on_the_steady_clock(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::scheduler tasks(ctx);
    tasks.schedule(asio_wheel::daily(3h), [] {});
#else
    asio_wheel::system_scheduler tasks(ctx);
    tasks.schedule(asio_wheel::daily(3h), [] {});
#endif
}
