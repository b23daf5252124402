// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: is not a constant expression

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>

#include <boost/system/error_code.hpp>

#include <string>

void tag_that_is_no_constant(asio_wheel::steady_timer& timer, const std::string& name) {
    const auto handler = [](boost::system::error_code) {};
#ifdef ASIO_WHEEL_TEST_MISTAKE
    timer.async_wait(asio_wheel::tag(name.c_str(), handler));
#else
    static_cast<void>(name);
    timer.async_wait(asio_wheel::tag("session idle", handler));
#endif
}
