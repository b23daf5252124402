// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What OpenVPN 3 expects of its timers: see test/clients/openvpn3. Their clock counts in 1/1024 s,
// is_steady is a function, and the time of day can be set.

#include <openvpn/time/asiotimersafe.hpp>

#include <sys/time.h>
#include <time.h>

#include <cstdlib>
#include <iostream>
#include <vector>

namespace {

long clock_set_by = 0; // Seconds.

void check(bool holds, const char* what) {
    if (!holds) {
        std::cerr << "failed: " << what << '\n';
        std::exit(1);
    }
}

} // namespace

// Time::now() of OpenVPN calls this.
extern "C" int gettimeofday(timeval* __restrict now, void* __restrict) noexcept {
    timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    now->tv_sec = ts.tv_sec + clock_set_by;
    now->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

namespace {

using openvpn::AsioTimer;
using openvpn::AsioTimerSafe;
using openvpn::Time;
using error_code = openvpn_io::error_code;

const auto a_moment = Time::Duration::milliseconds(20);
const auto an_hour = Time::Duration::seconds(3600);

void expires_in_order_and_never_early() {
    openvpn_io::io_context ctx;
    AsioTimer at(ctx), after(ctx);
    std::vector<int> order;
    const Time start = Time::now();
    at.expires_at(start + a_moment + a_moment);
    at.async_wait([&](const error_code& ec) {
        check(!ec && Time::now() >= start + a_moment + a_moment, "not before its time");
        order.push_back(2);
    });
    after.expires_after(a_moment);
    after.async_wait([&](const error_code& ec) {
        check(!ec && Time::now() >= start + a_moment, "not before its delay");
        order.push_back(1);
    });
    ctx.run();
    check(order == std::vector{1, 2}, "in the order of their expiries");
}

void setting_it_and_cancel_count_what_they_abort() {
    openvpn_io::io_context ctx;
    AsioTimer timer(ctx);
    int aborted = 0;
    const auto count = [&](const error_code& ec) {
        aborted += ec == openvpn_io::error::operation_aborted;
    };
    check(timer.expires_after(an_hour) == 0, "nothing to abort");
    timer.async_wait(count);
    timer.async_wait(count);
    check(timer.expires_at(Time::now() + an_hour) == 2, "setting it aborts two waits");
    timer.async_wait(count);
    check(timer.cancel() == 1, "cancel() aborts one");
    ctx.run();
    check(aborted == 3, "all see operation_aborted");
}

void a_safe_timer_that_is_cancelled_too_late_reports_it_all_the_same() {
    openvpn_io::io_context ctx;
    AsioTimerSafe timer(ctx);
    bool aborted = false;
    timer.expires_at(Time::now());
    timer.async_wait(
        [&](const error_code& ec) { aborted = ec == openvpn_io::error::operation_aborted; });
    timer.cancel();
    ctx.run();
    check(aborted, "operation_aborted");
}

// A timer that waits for the old time is not called; one that is set afterwards is.
void goes_on_when_the_clock_is_set_back() {
    openvpn_io::io_context ctx;
    AsioTimer before(ctx), timer(ctx);
    bool expired = false;
    before.expires_after(a_moment);
    before.async_wait([&](const error_code& ec) { check(bool(ec), "waits for the clock"); });
    ctx.poll();
    clock_set_by = -3600;
    timer.expires_after(a_moment + a_moment);
    timer.async_wait([&](const error_code& ec) {
        expired = !ec;
        before.cancel();
    });
    ctx.run();
    clock_set_by = 0;
    check(expired, "expires by the clock as it is now");
}

} // namespace

int main() {
    expires_in_order_and_never_early();
    setting_it_and_cancel_count_what_they_abort();
    a_safe_timer_that_is_cancelled_too_late_reports_it_all_the_same();
    goes_on_when_the_clock_is_set_back();
}
