// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: std::chrono::last, std::chrono::Monday[1]

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void monthly_on_each_monday() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::monthly(std::chrono::Monday, 9h));
#else
    static_cast<void>(asio_wheel::monthly(std::chrono::Monday[1], 9h));
#endif
}
