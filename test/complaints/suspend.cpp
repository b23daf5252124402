// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "After the laptop was asleep for eight hours, the timer of one hour still waits."
//
//   chriskohlhoff/asio 503, 504      requests for a boottime_timer
//
// On Linux, std::chrono::steady_clock is CLOCK_MONOTONIC, which stands still while the machine is
// suspended. CLOCK_BOOTTIME continues. A test cannot suspend the machine, so it uses two clocks
// that differ in the same way: only one of them continues while the machine sleeps.
//
// Asio's timers and ours both accept a user's clock, and behave alike. A timer of the system that
// counts CLOCK_MONOTONIC wakes the context. So the wait traits must define how often the clock is
// read. After a resume, waits are late by no more than that. boottime_timer needs no such polling
// on Linux.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/boottime_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

namespace {

using namespace asio_wheel::test;

using monotonic = manual_clock<struct monotonic_tag>;
using boottime = manual_clock<struct boottime_tag>;

void elapse(std::chrono::nanoseconds d) {
    monotonic::advance(d);
    boottime::advance(d);
}

void suspend(std::chrono::nanoseconds d) {
    boottime::advance(d);
}

struct asios {
    template <class Clock>
    using timer = asio::basic_waitable_timer<Clock, impatient<Clock>>;
};

struct ours {
    template <class Clock>
    using timer = asio_wheel::basic_waitable_timer<Clock, impatient<Clock>>;
};

template <class Kind>
std::string sleep_for_eight_hours() {
    drained_context world;
    journal log;
    typename Kind::template timer<monotonic> by_monotonic(world.ctx, 1h);
    typename Kind::template timer<boottime> by_boottime(world.ctx, 1h);
    by_monotonic.async_wait(log.note("monotonic"));
    by_boottime.async_wait(log.note("boottime"));
    elapse(30min);
    look(world.ctx);
    BOOST_TEST(log.size() == 0U);
    suspend(8h);
    look(world.ctx);
    log.add("resumed");
    elapse(30min - 1ns);
    look(world.ctx);
    log.add("half an hour");
    elapse(1ns);
    look(world.ctx);
    return log.take();
}

constexpr auto expected = "boottime resumed half an hour monotonic";

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_suspend)

BOOST_AUTO_TEST_CASE(asio_a_monotonic_clock_does_not_know_of_a_suspend) {
    BOOST_TEST(sleep_for_eight_hours<asios>() == expected);
}

BOOST_AUTO_TEST_CASE(ours_a_monotonic_clock_does_not_know_of_a_suspend_either) {
    BOOST_TEST(sleep_for_eight_hours<ours>() == expected);
}

// What wakes the context up after a real resume is the test of fault_suspend.
BOOST_AUTO_TEST_CASE(ours_a_boottime_timer_counts_the_suspend) {
    drained_context world;
    journal log;
    auto& steady = asio_wheel::use_wheel(world.ctx);
    auto& boot = asio_wheel::use_wheel<asio_wheel::boottime_clock>(world.ctx);
    steady.pause();
    boot.pause();
    asio_wheel::steady_timer by_monotonic(world.ctx, 1h);
    asio_wheel::boottime_timer by_boottime(world.ctx, 1h);
    by_monotonic.async_wait(log.note("monotonic"));
    by_boottime.async_wait(log.note("boottime"));
    boot.advance(8h); // A suspend.
    world.poll();
    log.add("resumed");
    boot.advance(1h);
    steady.advance(1h);
    BOOST_TEST(world.log_now(log) == "boottime resumed monotonic");
}

// real time, because this is a test of the clock.
BOOST_AUTO_TEST_CASE(ours_a_boottime_timer_waits_by_the_systems_clock) {
    drained_context world;
    journal log;
    asio_wheel::boottime_timer soon(world.ctx, 5ms);
    asio_wheel::boottime_timer later(world.ctx, 1h);
    soon.async_wait([&](const boost::system::error_code& ec) {
        BOOST_TEST((asio_wheel::boottime_clock::now() >= soon.expiry()));
        log.add("soon", ec);
        later.cancel();
    });
    later.async_wait(log.note("later"));
    world.run();
    BOOST_TEST(log.take() == "soon later!");
}

BOOST_AUTO_TEST_SUITE_END()
