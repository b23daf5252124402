// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this is no time zone. Write std::chrono::locate_zone(

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void civil_time_with_the_name_of_a_zone() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::daily(3h, "UTC"));
#else
    static_cast<void>(asio_wheel::daily(3h, asio_wheel::utc));
#endif
}
