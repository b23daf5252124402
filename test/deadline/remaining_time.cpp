// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The remaining time of handlers: deadlines of operations, nested ones, and what they cost.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/deadline.hpp>
#include <asio_wheel/retry.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_after;
using asio_wheel::cancel_at;
using asio_wheel::remaining_time;
using asio_wheel::timeout;
using asio_wheel::timeout_at;
using std::chrono::nanoseconds;

constexpr nanoseconds none = nanoseconds::max();

struct fixture : virtual_time {
    // An operation that completes when the test says so, and can be asked until then.
    template <class Token>
    void start(Token&& token) {
        asio::async_initiate<Token, void(error_code)>(initiation{this}, token);
    }

    void complete() {
        end();
        end = nullptr;
        ask = nullptr;
    }

    nanoseconds at_start{-1};
    std::function<nanoseconds()> ask;
    std::function<void()> end;

    ~fixture() {
        if (end) {
            complete();
        }
    }

private:
    struct initiation {
        using executor_type = asio::io_context::executor_type;
        [[nodiscard]] executor_type get_executor() const noexcept {
            return self->ctx.get_executor();
        }

        template <class Handler>
        void operator()(Handler handler) const {
            self->at_start = remaining_time(handler);
            const auto kept = std::make_shared<Handler>(std::move(handler));
            self->ask = [kept] { return remaining_time(*kept); };
            self->end = [kept] { std::move (*kept)(error_code()); };
        }

        fixture* self;
    };
};

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_remaining_time)

BOOST_FIXTURE_TEST_CASE(without_a_deadline_it_is_the_longest_time, fixture) {
    start(ignore);
    BOOST_TEST((at_start == none));
    complete();
    start(asio::bind_executor(ctx, ignore));
    BOOST_TEST((at_start == none));
    BOOST_TEST((remaining_time(ctx.get_executor()) == none));
    BOOST_TEST((remaining_time(asio::any_io_executor(ctx.get_executor())) == none));
    BOOST_TEST((remaining_time(asio::any_io_executor()) == none));
    BOOST_TEST((remaining_time(asio::system_executor()) == none));
    static_assert(noexcept(remaining_time(ignore)));
}

BOOST_FIXTURE_TEST_CASE(a_handler_has_what_is_left_of_its_deadline, fixture) {
    const auto check = [this](auto&& token) {
        start(std::forward<decltype(token)>(token));
        BOOST_TEST((at_start == 5s));
        elapse(2s);
        BOOST_TEST((ask() == 3s));
        elapse(2s + 1ns);
        BOOST_TEST((ask() == 1s - 1ns));
        complete();
    };
    check(timeout(5s, ignore));
    check(timeout_at(now() + 5s, ignore));
    check(cancel_after(5s, ignore));
    check(cancel_at(now() + 5s, ignore));
    check(timeout(5s, asio::cancellation_type::total, error_code(), ignore));
    check(timeout(5s)(ignore));
}

BOOST_FIXTURE_TEST_CASE(when_the_deadline_has_passed_nothing_is_left, fixture) {
    start(timeout(5s, ignore));
    pass(5s);
    BOOST_TEST((ask() == 0s));
    pass(1h);
    BOOST_TEST((ask() == 0s));
    complete();
    start(timeout(-1s, ignore));
    BOOST_TEST((at_start == 0s));
}

BOOST_FIXTURE_TEST_CASE(of_nested_deadlines_the_earlier_one_is_told, fixture) {
    for (const auto& [outer, inner] : {std::pair(2s, 10s), std::pair(10s, 2s)}) {
        start(timeout(outer, timeout(inner, ignore)));
        BOOST_TEST((at_start == 2s));
        elapse(1s);
        BOOST_TEST((ask() == 1s));
        complete();
        start(cancel_after(outer, timeout_at(now() + inner, cancel_after(5s, ignore))));
        BOOST_TEST((at_start == 2s));
        complete();
    }
}

BOOST_FIXTURE_TEST_CASE(an_infinite_deadline_is_none, fixture) {
    start(timeout(nanoseconds::max(), ignore));
    BOOST_TEST((at_start == none));
    complete();
    start(timeout(std::chrono::duration<double>(std::numeric_limits<double>::infinity()), ignore));
    BOOST_TEST((at_start == none));
    complete();
    start(timeout(std::chrono::hours::max(), timeout(1s, ignore)));
    BOOST_TEST((at_start == 1s));
    complete();
    // So the remaining time may be given on in each case.
    start(timeout(remaining_time(ignore), ignore));
    BOOST_TEST((at_start == none));
}

BOOST_AUTO_TEST_CASE(a_deadline_is_measured_by_its_own_clock) {
    using wall_clock = std::chrono::system_clock;
    fixture world;
    auto& wall = asio_wheel::make_wheel<wall_clock>(world.ctx);
    wall.pause();
    world.start(timeout_at(wall.now() + 5s, timeout(10s, ignore)));
    BOOST_TEST((world.at_start == 5s));
    wall.advance(1s);
    BOOST_TEST((world.ask() == 4s));
    world.elapse(7s);
    BOOST_TEST((world.ask() == 3s));
    world.complete();
    wall.advance(24h);
    world.pass(24h);
}

BOOST_FIXTURE_TEST_CASE(a_timer_of_the_users_tells_nothing, fixture) {
    timer t(ctx);
    start(timeout(t, 5s, ignore));
    BOOST_TEST((at_start == none));
    BOOST_TEST((t.remaining() == 5s));
    complete();
    start(timeout(t, 5s, timeout(10s, ignore)));
    BOOST_TEST((at_start == 10s));
}

// A handler that has a deadline without timeout().
struct handler_with_a_deadline {
    using remaining_time_type = nanoseconds;
    [[nodiscard]] static nanoseconds get_remaining_time() noexcept { return 3s; }
    void operator()(error_code) const {}
};

BOOST_FIXTURE_TEST_CASE(a_handler_may_have_a_deadline_by_itself, fixture) {
    start(handler_with_a_deadline());
    BOOST_TEST((at_start == 3s));
    complete();
    start(asio::bind_executor(ctx, handler_with_a_deadline()));
    BOOST_TEST((at_start == 3s));
    complete();
    start(timeout(5s, handler_with_a_deadline()));
    BOOST_TEST((at_start == 3s));
    complete();
    start(timeout(2s, handler_with_a_deadline()));
    BOOST_TEST((at_start == 2s));
    using asio_wheel::associated_remaining_time;
    static_assert(
        std::is_same_v<associated_remaining_time<handler_with_a_deadline>::type, nanoseconds>);
    static_assert(std::is_same_v<associated_remaining_time<int>::type, asio_wheel::no_deadline>);
    static_assert(std::is_same_v<associated_remaining_time<int, long>::type, long>);
}

BOOST_FIXTURE_TEST_CASE(a_try_has_what_is_left_of_each_limit, fixture) {
    const asio_wheel::retry_options<> options{
        .try_timeout = 4s, .timeout = 10s, .pauses = {.initial = 1s, .max = 1s, .jitter = 0}};
    std::vector<nanoseconds> left;
    const auto operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto handler) {
                left.push_back(remaining_time(handler));
                const auto answer = std::make_shared<timer>(ctx, 3s);
                answer->async_wait([answer, h = std::move(handler)](error_code) mutable {
                    std::move(h)(error_code(asio::error::connection_refused));
                });
            },
            token);
    };
    asio_wheel::async_retry(ctx, operation, options, timeout(9s, ignore));
    for (int i = 0; i < 10; ++i) {
        pass(1s);
    }
    // Tries begin after 0, 4 and 8 s. The third one has what is left of the timeout round all.
    BOOST_TEST_REQUIRE(left.size() == 3U);
    BOOST_TEST((left[0] == 4s));
    BOOST_TEST((left[1] == 4s));
    BOOST_TEST((left[2] == 1s));
    pass(10s);
}

// Nested deadlines in any order, at any time of their lives.
BOOST_FIXTURE_TEST_CASE(it_is_the_least_of_any_deadlines, fixture) {
    std::mt19937_64 random(seed());
    std::uniform_int_distribution<int> length(-10, 1000);
    for (int i = 0; i < 300; ++i) {
        const auto begin = now();
        const nanoseconds a(length(random));
        const nanoseconds b(length(random));
        const nanoseconds c(length(random));
        start(timeout(a, cancel_at(now() + b, timeout(c, ignore))));
        for (int step = 0; step < 5; ++step) {
            const nanoseconds passed = now() - begin;
            const nanoseconds left = std::min({a, b, c}) - passed;
            BOOST_TEST((ask() == std::max(left, nanoseconds(0))));
            elapse(nanoseconds(length(random) / 4 + 10));
        }
        complete();
        poll();
    }
}

BOOST_AUTO_TEST_CASE(a_deadline_that_nobody_asks_for_costs_nothing) {
    using namespace asio_wheel::detail;
    struct handler {
        void* data;
        void operator()(error_code) {}
    };
    using core_type =
        wheel_core<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>>;
    // The handler and a pointer to the deadline; and the deadline is its timer, where it waits.
    using cancelled = timed_handler<deadline<core_type>, handler, keep_result, void(error_code)>;
    BOOST_TEST(sizeof(cancelled) == sizeof(handler) + sizeof(void*));
    struct parts : spare_timer, deadline_base<deadline<core_type>> {
        timer_state timer;
        core_type* wheel;
    };
    BOOST_TEST(sizeof(deadline<core_type>) == sizeof(parts));
    BOOST_TEST(sizeof(asio_wheel::deadline_executor) == 2 * sizeof(void*));
}

BOOST_AUTO_TEST_SUITE_END()
