// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: which returns a pointer

#include <asio_wheel/civil_time.hpp>

#include <chrono>

namespace {
// As std::chrono::time_zone.
struct zone_of_a_library {
    zone_of_a_library() = default;
    zone_of_a_library(zone_of_a_library&&) = default;
    zone_of_a_library& operator=(zone_of_a_library&&) = default;

    [[nodiscard]] asio_wheel::zone_period get_info(std::chrono::sys_seconds) const { return {}; }
};
const zone_of_a_library zone;
} // namespace

void civil_time_with_a_reference_to_a_zone() {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(asio_wheel::daily(3h, zone));
#else
    static_cast<void>(asio_wheel::daily(3h, &zone));
#endif
}
