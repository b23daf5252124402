// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a number is no day of the week. Write std::chrono::Monday

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void weekly_on_a_number() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::weekly(1, 9h));
#else
    static_cast<void>(asio_wheel::weekly(std::chrono::Monday, 9h));
#endif
}
