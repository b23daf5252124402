// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: It is std::chrono::December / 24

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void yearly_on_a_day_of_a_month() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::yearly(24d, 9h));
#else
    static_cast<void>(asio_wheel::yearly(std::chrono::December / 24, 9h));
#endif
}
