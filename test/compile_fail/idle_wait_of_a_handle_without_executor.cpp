// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: there is no executor to call the handler on. Write

#include <asio_wheel/scheduler.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

void idle_wait_of_a_handle_without_executor(boost::asio::io_context& ctx,
                                            const asio_wheel::task_handle& h) {
    const auto done = [](boost::system::error_code) {};
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(ctx);
    h.async_wait_idle(done);
#else
    h.async_wait_idle(boost::asio::bind_executor(ctx, done));
#endif
}
