// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with one error_code

#include <asio_wheel/scheduler.hpp>

#include <boost/system/error_code.hpp>

void stop_of_a_group_with_a_handler_without_error_code(asio_wheel::scheduler::group& session) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    session.async_stop([] {});
#else
    session.async_stop([](boost::system::error_code) {});
#endif
}
