// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A part of a program that waits on one of Asio's timers, and on one that is not replaced.

#define BOOST_CHRONO_HEADER_ONLY

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/chrono/duration.hpp>
#include <boost/chrono/system_clocks.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstdint>
#include <ratio>

#ifdef CLOCK_WITH_ARGUMENTS
template <class Rep, int PerSecond>
struct tick_clock {
    using rep = Rep;
    using period = std::ratio<1, PerSecond>;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<tick_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        return time_point(std::chrono::duration_cast<duration>(
            std::chrono::steady_clock::now().time_since_epoch()));
    }
};
using part_clock = tick_clock<std::int64_t, 1000>;
#else
using part_clock = std::chrono::steady_clock;
#endif

#ifndef _WIN32
__attribute__((visibility("default")))
#endif
void wait_for_a_while() {
    boost::asio::io_context ctx;
    boost::asio::basic_waitable_timer<part_clock> timer(ctx, std::chrono::milliseconds(1));
    timer.async_wait([](const boost::system::error_code&) {});
    boost::asio::basic_waitable_timer<boost::chrono::steady_clock> other(
        ctx, boost::chrono::milliseconds(1));
    other.async_wait([](const boost::system::error_code&) {});
    ctx.run();
}
