// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: It is std::chrono::day(15), std::chrono::last

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void monthly_on_a_number() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::monthly(15, 9h));
#else
    static_cast<void>(asio_wheel::monthly(std::chrono::day(15), 9h));
#endif
}
