// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A part of a program with timers of Asio without Boost. So that the test does not need that: the
// names of what it would have inside.

#include <chrono>

namespace asio {

template <class Clock>
struct wait_traits {};

namespace detail {

template <class Clock, class WaitTraits>
struct chrono_time_traits {};

template <class TimeTraits>
class deadline_timer_service {
public:
#ifndef _WIN32
    __attribute__((visibility("default"), noinline))
#endif
    static int
    waits() {
        return 0;
    }
};

template class deadline_timer_service<
    chrono_time_traits<std::chrono::steady_clock, wait_traits<std::chrono::steady_clock>>>;

} // namespace detail
} // namespace asio

#ifndef _WIN32
__attribute__((visibility("default")))
#endif
void wait_for_a_while() {
}
