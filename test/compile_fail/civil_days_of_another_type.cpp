// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the days are a function of a std::chrono::year_month_day

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void civil_days_of_another_type() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::on_days(std::chrono::Monday, 9h));
#else
    static_cast<void>(asio_wheel::on_days(asio_wheel::days_of_week(std::chrono::Monday), 9h));
#endif
}
