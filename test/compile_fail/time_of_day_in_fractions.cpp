// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a time of day has whole seconds. Write 3h + 30min

#include <asio_wheel/civil_time.hpp>

#include <chrono>

void time_of_day_in_fractions() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::daily(3.5h));
#else
    static_cast<void>(asio_wheel::daily(3h + 30min));
#endif
}
