// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: without_caches

// Sleeps, deadlines, intervals, idle timers, heartbeats and backoff while each allocation and each
// move of a handler fails once.

#include "support/failing.hpp"
#include "support/names.hpp"

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/rate_limiter.hpp>
#include <asio_wheel/retry.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/counting_allocator.hpp"
#include "support/manual_operation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace asio_wheel::test;
using enum failing;

using asio_wheel::async_sleep_for;
using asio_wheel::async_sleep_until;
using asio_wheel::cancel_after;
using asio_wheel::cancel_at;
using asio_wheel::timeout;
using asio_wheel::timeout_at;

using interval = asio_wheel::basic_interval<world_clock>;
using idle_timer = asio_wheel::basic_idle_timer<world_clock>;
using heartbeat = asio_wheel::basic_heartbeat<world_clock>;

// An operation that should end with `ec`. Without memory for its deadline, it is cancelled and
// reports that.
outcome& expect_with_deadline(world& w, const error_code& ec) {
    outcome& o = w.expect(ec);
    o.otherwise = no_memory;
    return o;
}

auto after(std::chrono::nanoseconds d) {
    return world_clock::now() + d;
}

} // namespace

BOOST_AUTO_TEST_SUITE(failing_utilities)

// ---- Sleeps

FAILING_TEST_CASE(sleeping) {
    w.start(w.expect(), [&](auto h) { async_sleep_until(w.ctx(), after(5ms), std::move(h)); });
    w.start(w.expect(),
            [&](auto h) { async_sleep_until(w.ctx().get_executor(), after(3ms), std::move(h)); });
    w.start(w.expect(), [&](auto h) { async_sleep_until(w.ctx(), after(-3ms), h); });
    w.run();
}

FAILING_TEST_CASE(sleeping_by_the_steady_clock) {
    w.steady();
    w.start(w.expect(), [&](auto h) { async_sleep_for(w.ctx(), 5ms, std::move(h)); });
    w.start(w.expect(), [&](auto h) {
        async_sleep_for(w.ctx().get_executor(), 3ms, asio::deferred)(std::move(h));
    });
    w.run();
}

BOOST_AUTO_TEST_CASE(sleeping_with_an_allocator) {
    allocations count;
    each_failure([&](world& w) {
        w.start(w.expect(), [&](auto h) {
            async_sleep_until(w.ctx(), after(3ms),
                              asio::bind_allocator(counting_allocator<>(count), std::move(h)));
        });
        w.run();
    });
    BOOST_TEST(count.live == 0U);
}

FAILING_TEST_CASE(sleeping_on_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.strand();
    w.start(w.expect(), [&](auto h) { async_sleep_until(strand, after(3ms), std::move(h)); });
    w.start(w.expect(), [&](auto h) {
        async_sleep_until(w.ctx(), after(3ms), asio::bind_executor(strand, std::move(h)));
    });
    w.run();
}

FAILING_TEST_CASE(a_sleep_that_is_cancelled) {
    asio::cancellation_signal signal;
    const auto sleep = [&](auto h) {
        async_sleep_until(w.ctx(), after(30ms),
                          asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    };
    outcome& o = w.expect(aborted);
    w.start(o, sleep);
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.poll();
    w.check(!o.waits(), "a signal has not ended its sleep");
    w.start(w.expect(aborted), sleep); // In the same slot.
    w.pass(1);
    signal.emit(asio::cancellation_type::partial);
    w.run();
}

FAILING_TEST_CASE(sleeping_when_the_context_ends) {
    w.start(w.expect(), [&](auto h) { async_sleep_until(w.ctx(), after(3ms), std::move(h)); });
    w.start(w.expect(), [&](auto h) { async_sleep_until(w.strand(), after(3ms), std::move(h)); });
    w.end_context();
}

// ---- Deadlines

constexpr auto timed_out = asio_wheel::error::timed_out;

FAILING_TEST_CASE(an_operation_that_meets_its_deadline) {
    w.start(expect_with_deadline(w, success), [&](auto h) {
        async_sleep_until(w.ctx(), after(3ms), timeout_at(after(8ms), std::move(h)));
    });
    w.start(w.expect(), [&](auto h) { async_sleep_until(w.ctx(), after(9ms), std::move(h)); });
    w.run();
}

FAILING_TEST_CASE(an_operation_that_misses_its_deadline) {
    w.start(expect_with_deadline(w, timed_out), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms), timeout_at(after(3ms), std::move(h)));
    });
    w.start(expect_with_deadline(w, aborted), [&](auto h) {
        async_sleep_until(
            w.ctx(), after(80ms),
            timeout_at(after(5ms), make_error_code(asio::error::operation_aborted), std::move(h)));
    });
    w.run();
}

FAILING_TEST_CASE(an_operation_that_is_cancelled_at_a_time) {
    w.start(w.expect(aborted), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms), cancel_at(after(3ms), std::move(h)));
    });
    outcome& o = w.expect();
    o.otherwise = aborted;
    w.start(o, [&](auto h) {
        async_sleep_until(w.ctx(), after(3ms),
                          cancel_at(after(5ms), asio::cancellation_type::total, std::move(h)));
    });
    w.run();
}

FAILING_TEST_CASE(deadlines_by_the_steady_clock) {
    w.steady();
    w.start(expect_with_deadline(w, timed_out),
            [&](auto h) { async_sleep_for(w.ctx(), 80ms, timeout(3ms, std::move(h))); });
    w.start(w.expect(aborted),
            [&](auto h) { async_sleep_for(w.ctx(), 80ms, cancel_after(4ms, std::move(h))); });
    w.run();
}

FAILING_TEST_CASE(deadlines_without_a_token) {
    w.start(expect_with_deadline(w, timed_out), [&](auto h) { // Deferred.
        async_sleep_until(w.ctx(), after(80ms), timeout_at(after(3ms)))(std::move(h));
    });
    w.start(w.expect(aborted), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms), cancel_at(after(4ms))(std::move(h)));
    });
    w.run();
}

// With and without a clock of its own, a cancellation type, an error and a token.
FAILING_TEST_CASE(each_form_of_a_deadline) {
    using asio::cancellation_type;
    w.steady();
    const error_code refused = asio::error::connection_refused;
    const auto sleep = [&](const error_code& ec, auto with_deadline) {
        w.start(expect_with_deadline(w, ec), [&](auto h) { with_deadline(std::move(h)); });
    };
    sleep(timed_out, [&](auto h) {
        async_sleep_for(w.ctx(), 80ms, timeout(3ms, cancellation_type::total, std::move(h)));
    });
    sleep(refused,
          [&](auto h) { async_sleep_for(w.ctx(), 80ms, timeout(3ms, refused, std::move(h))); });
    sleep(timed_out, [&](auto h) { async_sleep_for(w.ctx(), 80ms, timeout(3ms))(std::move(h)); });
    sleep(refused,
          [&](auto h) { async_sleep_for(w.ctx(), 80ms, timeout(3ms, refused))(std::move(h)); });
    sleep(timed_out, [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms),
                          timeout_at(after(3ms), cancellation_type::partial, std::move(h)));
    });
    sleep(refused, [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms), timeout_at(after(3ms), refused))(std::move(h));
    });
    sleep(aborted, [&](auto h) {
        async_sleep_for(w.ctx(), 80ms, cancel_after(3ms, cancellation_type::total, std::move(h)));
    });
    sleep(aborted,
          [&](auto h) { async_sleep_for(w.ctx(), 80ms, cancel_after(3ms))(std::move(h)); });
    w.run();
}

BOOST_AUTO_TEST_CASE(deadlines_with_an_allocator) {
    allocations count;
    each_failure([&](world& w) {
        w.start(expect_with_deadline(w, timed_out), [&](auto h) {
            async_sleep_until(
                w.ctx(), after(80ms),
                timeout_at(after(3ms),
                           asio::bind_allocator(counting_allocator<>(count), std::move(h))));
        });
        w.run();
    });
    BOOST_TEST(count.live == 0U);
}

FAILING_TEST_CASE(deadlines_on_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.strand();
    w.start(expect_with_deadline(w, timed_out), [&](auto h) {
        async_sleep_until(strand, after(80ms), timeout_at(after(3ms), std::move(h)));
    });
    w.start(expect_with_deadline(w, timed_out), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms),
                          timeout_at(after(4ms), asio::bind_executor(strand, std::move(h))));
    });
    w.start(expect_with_deadline(w, success), [&](auto h) {
        async_sleep_until(w.ctx(), after(4ms),
                          timeout_at(after(20ms), asio::bind_executor(strand, std::move(h))));
    });
    w.run();
}

FAILING_TEST_CASE(a_deadline_in_a_deadline) {
    w.start(expect_with_deadline(w, timed_out), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms),
                          timeout_at(after(9ms), timeout_at(after(3ms), std::move(h))));
    });
    w.run();
}

FAILING_TEST_CASE(an_operation_that_is_cancelled_before_its_deadline) {
    asio::cancellation_signal signal;
    outcome& o = expect_with_deadline(w, aborted);
    w.start(o, [&](auto h) {
        async_sleep_until(
            w.ctx(), after(80ms),
            timeout_at(after(9ms), asio::bind_cancellation_slot(signal.slot(), std::move(h))));
    });
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.poll();
    w.check(!o.waits(), "a signal has not ended its operation");
    w.run();
}

// An operation that has reserved the memory for its cancellation and completion.
class other_operation {
public:
    explicit other_operation(world& w) : world_(w), operation_(w.ctx().get_executor()) {
        operation_.on_cancel = [this] { complete(aborted); };
    }

    template <class Token>
    auto start(Token&& token) {
        return operation_.start(std::forward<Token>(token));
    }
    [[nodiscard]] bool pending() const { return operation_.pending(); }
    void complete(const error_code& ec) {
        world_.prepare(
            [&] { asio::post(world_.ctx(), [this, ec] { operation_.complete_inline(ec, 7); }); });
    }

private:
    world& world_;
    manual_operation<error_code, std::size_t> operation_;
};

FAILING_TEST_CASE(a_deadline_of_somebody_elses_operation) {
    other_operation late = w.prepare([&] { return other_operation(w); });
    other_operation early = w.prepare([&] { return other_operation(w); });
    outcome& o = expect_with_deadline(w, timed_out);
    w.start(o, [&](auto h) { late.start(timeout_at(after(5ms), std::move(h))); });
    outcome& in_time = expect_with_deadline(w, success);
    w.start(in_time, [&](auto h) { early.start(timeout_at(after(5ms), std::move(h))); });
    w.pass(1);
    if (early.pending()) {
        early.complete(success);
    }
    w.run();
    w.check(o.calls == 0 || o.more == 7, "what the operation has done is lost");
}

FAILING_TEST_CASE(deadlines_when_the_context_ends) {
    w.start(expect_with_deadline(w, success), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms), timeout_at(after(9ms), std::move(h)));
    });
    w.start(expect_with_deadline(w, success), [&](auto h) {
        async_sleep_until(w.strand(), after(80ms), timeout_at(after(9ms), std::move(h)));
    });
    w.pass(1);
    w.end_context();
}

// The deadline is rejected then, too: the operation is cancelled.
FAILING_TEST_CASE(deadlines_when_the_wheel_is_drained) {
    w.start(expect_with_deadline(w, asio_wheel::error::wheel_stopped), [&](auto h) {
        async_sleep_until(w.ctx(), after(80ms), timeout_at(after(9ms), std::move(h)));
    });
    w.pass(1);
    w.prepare([&] { return asio_wheel::use_wheel<world_clock>(w.ctx()).drain(); });
    w.run();
}

// co_spawn() with such a token has no scenario: the behaviour of a coroutine without memory is up
// to Asio (see a_coroutine_goes_on_without_memory in timers.cpp).

// ---- Intervals

outcome& tick(world& w, interval& i, const error_code& ec = success) {
    outcome& o = w.expect(ec);
    w.start(o, [&](auto h) { i.async_tick(std::move(h)); });
    return o;
}

BOOST_AUTO_TEST_CASE(ticks) {
    for (const bool fixed_delay : {false, true}) {
        for (const auto missed : {asio_wheel::missed::coalesce, asio_wheel::missed::catch_up,
                                  asio_wheel::missed::skip}) {
            each_failure([=](world& w) {
                interval i = w.call([&] {
                    return interval(w.ctx(), 3ms, {.missed = missed, .fixed_delay = fixed_delay});
                });
                tick(w, i);
                w.run();
                tick(w, i);
                w.run();
                w.pass(8);
                tick(w, i);
                w.run();
            });
        }
    }
}

FAILING_TEST_CASE(a_tick_is_taken_once) {
    interval i = w.call([&] { return interval(w.ctx(), 2ms); });
    const auto begin = i.expiry() - i.period();
    std::size_t periods = 0;
    for (int n = 0; n < 3; ++n) {
        const outcome& o = tick(w, i);
        w.run();
        periods += o.more;
        w.check(begin + (periods + 1) * i.period() == i.expiry(), "a period is lost");
    }
}

FAILING_TEST_CASE(moving_the_ticks) {
    interval i = w.call([&] { return interval(w.ctx(), 20ms, {.first = 1ms, .jitter = 0.05}); });
    tick(w, i);
    w.run();
    tick(w, i);
    w.pass(1);
    w.call([&] { i.period(4ms); });
    w.run();
    tick(w, i);
    w.call([&] { i.reset(); });
    w.run();
    tick(w, i);
    w.call([&] { i.reset_at(after(2ms)); });
    w.run();
}

FAILING_TEST_CASE(ticks_on_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.strand();
    asio_wheel::basic_interval<world_clock, reliable_strand> i = w.call(
        [&] { return asio_wheel::basic_interval<world_clock, reliable_strand>(strand, 3ms); });
    w.start(w.expect(), [&](auto h) { i.async_tick(std::move(h)); });
    w.run();
}

FAILING_TEST_CASE(cancelling_a_tick) {
    asio::cancellation_signal signal;
    interval i = w.call([&] { return interval(w.ctx(), 3ms); });
    outcome& o = tick(w, i, aborted);
    w.pass(1);
    i.cancel();
    w.poll();
    w.check(!o.waits(), "cancel() does not end a tick");
    w.start(w.expect(aborted), [&](auto h) {
        i.async_tick(asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    });
    w.pass(0);
    signal.emit(asio::cancellation_type::terminal);
    w.run();
    tick(w, i);
    w.run();
}

FAILING_TEST_CASE(a_tick_that_takes_the_place_of_another) {
    interval i = w.call([&] { return interval(w.ctx(), 3ms); });
    outcome& first = tick(w, i);
    const auto expiry = i.expiry();
    if (tick(w, i).accepted) {
        first.expected = aborted;
    }
    w.check(i.expiry() == expiry, "a tick that is refused moves the interval");
    w.run();
}

FAILING_TEST_CASE(destroying_an_interval) {
    {
        interval i = w.call([&] { return interval(w.ctx(), 3ms); });
        tick(w, i, aborted);
        w.pass(1);
    }
    w.run();
}

// ---- Idle timers

outcome& wait(world& w, idle_timer& t, const error_code& ec = success) {
    outcome& o = w.expect(ec);
    w.start(o, [&](auto h) { t.async_wait(std::move(h)); });
    return o;
}

FAILING_TEST_CASE(being_idle) {
    idle_timer t = w.call([&] { return idle_timer(w.ctx(), 3ms); });
    wait(w, t);
    w.run();
    wait(w, t); // It has been idle for long enough.
    w.run();
}

FAILING_TEST_CASE(being_touched_while_it_waits) {
    idle_timer t = w.call([&] { return idle_timer(w.ctx(), 3ms); });
    outcome& o = wait(w, t);
    w.pass(2);
    t.touch();
    w.pass(2);
    w.check(o.calls == 0, "an idle timer is early");
    t.touch();
    w.run();
}

FAILING_TEST_CASE(being_touched_on_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    allocations count;
    const auto strand = w.strand();
    using strand_timer = asio_wheel::basic_idle_timer<world_clock, reliable_strand>;
    strand_timer t = w.call([&] { return strand_timer(strand, 3ms); });
    w.start(w.expect(), [&](auto h) {
        t.async_wait(asio::bind_allocator(counting_allocator<>(count), std::move(h)));
    });
    w.pass(2);
    t.touch();
    w.run();
    w.check(count.live == 0, "memory is left");
}

// See a_timer_on_a_large_executor in timers.cpp.
FAILING_TEST_CASE(being_touched_on_a_large_executor) {
    w.ends_without_memory = false;
    const asio::any_io_executor large = w.large();
    idle_timer t = w.call([&] { return idle_timer(large, 3ms); });
    outcome& o = wait(w, t);
    o.otherwise = no_memory; // There was no memory to start the wait again,
    o.or_else = aborted;     // or to queue it on its executor.
    w.pass(2);
    t.touch();
    w.run();
}

FAILING_TEST_CASE(scaling) {
    auto& wheel = w.call(
        [&]() -> auto& { return asio_wheel::make_wheel<world_clock>(w.ctx(), {.budget = 2}); });
    std::array<std::optional<idle_timer>, 5> all;
    for (auto& t : all) {
        w.call([&] { t.emplace(w.ctx(), 40ms); });
        wait(w, *t);
    }
    w.pass(1);
    w.call([&] { asio_wheel::scale_idle_timers(wheel, 0.25); });
    w.pass(2);
    all[0]->touch();
    w.call([&] { all[1]->period(20ms); });
    w.run();
    w.call([&] { asio_wheel::scale_idle_timers(wheel, 1); });
    wait(w, *all[0]);
    w.run();
}

FAILING_TEST_CASE(cancelling_an_idle_timer) {
    asio::cancellation_signal signal;
    idle_timer t = w.call([&] { return idle_timer(w.ctx(), 30ms); });
    wait(w, t, aborted);
    w.pass(1);
    t.cancel();
    w.run();
    w.start(w.expect(aborted), [&](auto h) {
        t.async_wait(asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    });
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.run();
}

FAILING_TEST_CASE(an_idle_wait_that_takes_the_place_of_another) {
    idle_timer t = w.call([&] { return idle_timer(w.ctx(), 3ms); });
    outcome& first = wait(w, t);
    if (wait(w, t).accepted) {
        first.expected = aborted;
    }
    w.run();
}

FAILING_TEST_CASE(destroying_an_idle_timer) {
    {
        idle_timer t = w.call([&] { return idle_timer(w.ctx(), 3ms); });
        wait(w, t, aborted);
        w.pass(1);
    }
    w.run();
}

// ---- Heartbeats

outcome& next(world& w, heartbeat& b, const error_code& ec = success) {
    outcome& o = w.expect(ec);
    w.start(o, [&](auto h) { b.async_next(std::move(h)); });
    return o;
}

FAILING_TEST_CASE(beating) {
    heartbeat b =
        w.call([&] { return heartbeat(w.ctx(), {.send_every = 3ms, .dead_after = 10ms}); });
    next(w, b);
    w.run();
    next(w, b);
    w.pass(1);
    b.sent();
    b.received();
    w.run();
    w.pass(10);
    next(w, b);
    w.run();
    b.sent();
    b.received();
    next(w, b, aborted);
    w.pass(1);
    b.cancel();
    w.run();
}

FAILING_TEST_CASE(beating_on_a_large_executor) {
    w.ends_without_memory = false;
    const asio::any_io_executor large = w.large();
    heartbeat b = w.call([&] { return heartbeat(large, {.send_every = 3ms, .dead_after = 10ms}); });
    outcome& o = next(w, b);
    o.otherwise = no_memory;
    o.or_else = aborted;
    w.pass(2);
    b.sent();
    w.run();
}

FAILING_TEST_CASE(a_beat_that_takes_the_place_of_another) {
    heartbeat b =
        w.call([&] { return heartbeat(w.ctx(), {.send_every = 3ms, .dead_after = 10ms}); });
    outcome& first = next(w, b);
    if (next(w, b).accepted) {
        first.expected = aborted;
    }
    w.run();
}

// ---- Trying again

// Each try takes too long.
template <class Handler>
void try_three_times(world& w, Handler handler) {
    const auto slow = [&w](auto token) { return async_sleep_for(w.ctx(), 1h, std::move(token)); };
    asio_wheel::async_retry(w.ctx(), slow,
                            {.max_tries = 3, .try_timeout = 3ms, .pauses = {.initial = 5ms}},
                            std::move(handler));
}

BOOST_AUTO_TEST_CASE(trying_again) {
    each_failure([](world& w) {
        w.steady();
        outcome& o = expect_with_deadline(w, asio_wheel::error::timed_out);
        w.start(o, [&](auto h) { try_three_times(w, std::move(h)); });
        w.run();
    });
}

BOOST_AUTO_TEST_CASE(trying_again_with_an_allocator) {
    allocations count;
    each_failure([&](world& w) {
        w.steady();
        outcome& o = expect_with_deadline(w, asio_wheel::error::timed_out);
        w.start(o, [&](auto h) {
            try_three_times(w, asio::bind_allocator(counting_allocator<>(count), std::move(h)));
        });
        w.run();
    });
    BOOST_TEST(count.live == 0U);
}

BOOST_AUTO_TEST_CASE(cancelling_what_is_tried_again) {
    each_failure([](world& w) {
        w.steady();
        asio::cancellation_signal signal;
        for (const int when : {1, 5}) { // In the first try; in the first pause.
            outcome& o = expect_with_deadline(w, aborted);
            w.start(o, [&](auto h) {
                try_three_times(w, asio::bind_cancellation_slot(signal.slot(), std::move(h)));
            });
            w.pass(when);
            signal.emit(asio::cancellation_type::terminal);
            w.run();
        }
    });
}

// ---- Rate limiters

using limiter = asio_wheel::basic_rate_limiter<world_clock>;

// Without memory for the first wait, there is no operation.
outcome& acquire(world& w, limiter& l, const error_code& ec = success) {
    outcome& o = w.expect(ec);
    w.start(o, [&](auto h) { l.async_acquire(2, std::move(h)); });
    return o;
}

BOOST_AUTO_TEST_CASE(acquiring) {
    each_failure([](world& w) {
        limiter l = w.call([&] { return limiter(w.ctx(), {.rate = {1, 3ms}, .burst = 2}); });
        acquire(w, l); // At once.
        acquire(w, l);
        acquire(w, l);
        w.pass(3);
        w.call([&] { l.rate({1, 2ms}); });
        w.run();
        acquire(w, l);
        w.run();
    });
}

BOOST_AUTO_TEST_CASE(acquiring_on_a_strand) {
    each_failure([](world& w) {
        w.ends_without_memory = false;
        const auto strand = w.strand();
        asio_wheel::basic_rate_limiter<world_clock, reliable_strand> l = w.call([&] {
            return asio_wheel::basic_rate_limiter<world_clock, reliable_strand>(
                strand, {.rate = {1, 3ms}, .burst = 2});
        });
        for (int i = 0; i < 3; ++i) {
            w.start(w.expect(), [&](auto h) { l.async_acquire(2, std::move(h)); });
        }
        w.run();
    });
}

// What cannot be started is destroyed with its handler, and then nothing may use the limiter.
BOOST_AUTO_TEST_CASE(acquiring_by_a_handler_that_owns_the_limiter) {
    each_failure([](world& w) {
        w.start(w.expect(), [&](auto h) {
            auto l = std::make_unique<limiter>(
                w.ctx(), asio_wheel::rate_limiter_options{.rate = {1, 3ms}, .burst = 1});
            limiter& used = *l;
            static_cast<void>(used.try_acquire());
            used.async_acquire(1, [h = std::move(h), l = std::move(l)](error_code ec) mutable {
                std::move(h)(ec);
            });
        });
        w.run();
    });
}

BOOST_AUTO_TEST_CASE(cancelling_those_who_wait_for_tokens) {
    each_failure([](world& w) {
        asio::cancellation_signal signal;
        limiter l = w.call([&] { return limiter(w.ctx(), {.rate = {1, 30ms}, .burst = 2}); });
        acquire(w, l);
        w.start(w.expect(aborted), [&](auto h) {
            l.async_acquire(2, asio::bind_cancellation_slot(signal.slot(), std::move(h)));
        });
        acquire(w, l, aborted);
        w.pass(1);
        signal.emit(asio::cancellation_type::terminal);
        w.pass(1);
        l.cancel();
        w.run();
    });
}

// ---- Error messages need memory, too

// Calls f(), which rejects its arguments, until it can report that.
template <class F>
void refuses(world& w, F f) {
    const bool told = w.call([&] {
        try {
            f();
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    });
    w.check(told, "bad arguments are taken");
}

BOOST_AUTO_TEST_CASE(refusing_bad_arguments) {
    each_failure(
        [](world& w) {
            refuses(w, [] { asio_wheel::backoff({.initial = 0ns}); });
            refuses(w, [] { asio_wheel::backoff({.max = 1ns}); });
            refuses(w, [] { asio_wheel::backoff({.factor = 0.5}); });
            refuses(w, [] { asio_wheel::backoff({.jitter = 2}); });
            refuses(w, [&] { interval(w.ctx(), 0ns); });
            refuses(w, [&] { interval(w.ctx(), 1ms, {.first = -1ns}); });
            refuses(w, [&] { interval(w.ctx(), 1ms, {.jitter = 2}); });
            refuses(w, [&] { idle_timer(w.ctx(), 0ns); });
            refuses(w, [&] { heartbeat(w.ctx(), {.send_every = 0ns, .dead_after = 1ns}); });
            refuses(w, [&] { asio_wheel::make_wheel<world_clock>(w.other(), {.slots = 0}); });
            refuses(w, [&] {
                asio_wheel::scale_idle_timers(asio_wheel::use_wheel<world_clock>(w.ctx()), 2);
            });
            asio_wheel::backoff pauses = w.call([] { return asio_wheel::backoff(); });
            w.check(w.call([&] { return pauses.next(); }) > 0ns, "a pause is none");
            pauses.reset();
        },
        {one_move});
}

BOOST_AUTO_TEST_SUITE_END()
