// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with an error_code and a heartbeat_event

#include <asio_wheel/heartbeat.hpp>

#include <boost/system/error_code.hpp>

void heartbeat_with_a_handler_of_a_timer(asio_wheel::heartbeat& pulse) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    pulse.async_next([](boost::system::error_code) {});
#else
    pulse.async_next([](boost::system::error_code, asio_wheel::heartbeat_event) {});
#endif
}
