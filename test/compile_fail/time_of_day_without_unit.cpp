// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a number has no unit and is no time of day. Write 3h, or 3h + 30min

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void time_of_day_without_unit() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::daily(3));
#else
    static_cast<void>(asio_wheel::daily(3h));
#endif
}
