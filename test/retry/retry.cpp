// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Trying again.

#include <asio_wheel/error.hpp>
#include <asio_wheel/retry.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/tag.hpp>

#include "support/choices.hpp"
#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"
#include "support/seed.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::async_retry;
using asio_wheel::retry_options;
using asio_wheel::retry_pause;

const error_code refused = asio::error::connection_refused;
const error_code reset = asio::error::connection_reset;
const error_code late = asio_wheel::error::timed_out;

// What a try does.
struct attempt {
    error_code ec = {};
    std::string answer = {};
    std::chrono::nanoseconds takes = 0ns;
};

// An operation whose tries are written down; the last one goes on.
struct flaky {
    virtual_world& world;
    std::vector<attempt> script;
    std::size_t calls = 0;
    std::vector<std::chrono::milliseconds> starts = {}; // Since the world began.

    template <class Token>
    auto async_ask(Token&& token) {
        const attempt a = script[std::min(calls++, script.size() - 1)];
        starts.push_back(
            std::chrono::duration_cast<std::chrono::milliseconds>(world.now().time_since_epoch()));
        auto step = [this, a, begun = false](auto& self, error_code ec = {}) mutable {
            if (!std::exchange(begun, true)) {
                self.reset_cancellation_state(asio::enable_total_cancellation());
                asio_wheel::async_sleep_for(world.ctx, a.takes, std::move(self));
            } else {
                self.complete(ec ? ec : a.ec, a.answer);
            }
        };
        return asio::async_compose<Token, void(error_code, std::string)>( // Newer Asio moves it.
            std::move(step), token, world.ctx);
    }

    [[nodiscard]] auto operation() {
        return [this](auto token) { return async_ask(std::move(token)); };
    }

    // Between the starts of tries.
    [[nodiscard]] std::vector<std::chrono::milliseconds> gaps() const {
        std::vector<std::chrono::milliseconds> g;
        for (std::size_t i = 1; i < starts.size(); ++i) {
            g.push_back(starts[i] - starts[i - 1]);
        }
        return g;
    }
};

// Pauses of 100, 200, 400, 400 … ms.
constexpr asio_wheel::backoff_options doubling{.initial = 100ms, .max = 400ms, .jitter = 0};

struct retry_world : virtual_world {
    std::optional<error_code> result;
    std::string answer;
    std::size_t tries = 0;
    std::chrono::steady_clock::time_point begin = now();
    std::chrono::milliseconds took{};

    // A handler that keeps the results.
    [[nodiscard]] auto keep() {
        return [this](error_code ec, const std::string& a) {
            BOOST_TEST(!result.has_value()); // Once.
            result = ec;
            answer = a;
            took = std::chrono::duration_cast<std::chrono::milliseconds>(now() - begin);
        };
    }

    // Until there is a result, or nothing is pending.
    void live() {
        do {
            poll();
        } while (!result && wheel.advance_to_next() != 0);
    }

    [[nodiscard]] error_code take() {
        BOOST_TEST_REQUIRE(result.has_value());
        return std::exchange(result, std::nullopt).value();
    }
};

using gaps = std::vector<std::chrono::milliseconds>;

} // namespace

BOOST_AUTO_TEST_SUITE(retry_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(what_succeeds_is_tried_once, retry_world) {
    flaky op{*this, {{.answer = "yes"}}};
    async_retry(ctx, op.operation(), {.tries = &tries}, keep());
    BOOST_TEST(!result.has_value()); // Not inside the call.
    BOOST_TEST(tries == 1U);
    poll();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "yes");
    BOOST_TEST(op.calls == 1U);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_fails_is_tried_again_after_pauses_that_grow, retry_world) {
    flaky op{*this, {{refused}, {refused}, {refused}, {refused}, {success, "at last"}}};
    async_retry(ctx, op.operation(), {.pauses = doubling, .tries = &tries}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "at last");
    BOOST_TEST(tries == 5U);
    BOOST_TEST((op.gaps() == gaps{100ms, 200ms, 400ms, 400ms}));
}

BOOST_FIXTURE_TEST_CASE(after_the_last_try_its_results_are_reported, retry_world) {
    flaky op{*this, {{refused, "1"}, {reset, "2"}, {refused, "3"}}};
    async_retry(ctx, op.operation(), {.max_tries = 2, .pauses = doubling, .tries = &tries}, keep());
    live();
    BOOST_TEST(take() == reset);
    BOOST_TEST(answer == "2");
    BOOST_TEST(tries == 2U);
    BOOST_TEST(op.calls == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_try_that_takes_too_long_is_ended_and_tried_again, retry_world) {
    flaky op{*this, {{success, "slow", 1h}, {success, "fast", 10ms}}};
    async_retry(ctx, op.operation(), {.try_timeout = 2s, .pauses = doubling, .tries = &tries},
                keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "fast");
    BOOST_TEST(tries == 2U);
    BOOST_TEST((took == 2110ms));
}

BOOST_FIXTURE_TEST_CASE(the_last_try_that_takes_too_long_reports_timed_out, retry_world) {
    flaky op{*this, {{success, "slow", 1h}}};
    async_retry(ctx, op.operation(), {.max_tries = 2, .try_timeout = 2s, .pauses = doubling},
                keep());
    live();
    BOOST_TEST(take() == late);
    BOOST_TEST((took == 4100ms));
}

BOOST_FIXTURE_TEST_CASE(the_limit_of_all_ends_the_try_that_is_under_way, retry_world) {
    flaky op{*this, {{refused, "", 1s}, {success, "too late", 1h}}};
    async_retry(ctx, op.operation(),
                {.try_timeout = 10s, .timeout = 5s, .pauses = doubling, .tries = &tries}, keep());
    live();
    BOOST_TEST(take() == late);
    BOOST_TEST(tries == 2U);
    BOOST_TEST((took == 5000ms));
}

BOOST_FIXTURE_TEST_CASE(nobody_waits_for_a_try_that_would_begin_after_the_limit, retry_world) {
    flaky op{*this, {{refused, "first", 1s}, {refused, "second", 1s}}};
    // The tries end after 1 s and 2.1 s; the third one would begin after 2.3 s.
    async_retry(ctx, op.operation(), {.timeout = 2300ms, .pauses = doubling, .tries = &tries},
                keep());
    live();
    BOOST_TEST(take() == refused);
    BOOST_TEST(answer == "second");
    BOOST_TEST(tries == 2U);
    BOOST_TEST((took == 2100ms));
}

// A handler has blocked, or the machine was suspended.
BOOST_FIXTURE_TEST_CASE(no_try_begins_after_the_limit_if_the_pause_ends_late, retry_world) {
    flaky op{*this, {{refused, "first"}, {{}, "late"}}};
    async_retry(ctx, op.operation(), {.timeout = 150ms, .pauses = doubling, .tries = &tries},
                keep());
    poll();
    pass(0ms); // The first try has failed, and the pause of 100 ms has begun.
    wheel.advance(200ms);
    live();
    BOOST_TEST(take() == refused);
    BOOST_TEST(answer == "first");
    BOOST_TEST(tries == 1U);
    BOOST_TEST(op.calls == 1U);
}

BOOST_FIXTURE_TEST_CASE(by_default_what_was_cancelled_is_not_tried_again, retry_world) {
    flaky op{*this, {{aborted}}};
    async_retry(ctx, op.operation(), {}, keep());
    live();
    BOOST_TEST(take() == aborted);
    BOOST_TEST(op.calls == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_predicate_says_which_errors_are_worth_another_try, retry_world) {
    flaky op{*this, {{refused}, {reset}, {refused}}};
    const retry_options options{.pauses = doubling,
                                .retry_if = [](error_code ec) { return ec == refused; }};
    async_retry(ctx, op.operation(), options, keep());
    live();
    BOOST_TEST(take() == reset);
    BOOST_TEST(op.calls == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_predicate_may_look_at_all_results, retry_world) {
    flaky op{*this, {{refused, "again"}, {refused, "enough"}}};
    const auto again = [](const error_code&, const std::string& a) { return a == "again"; };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .retry_if = again}, keep());
    live();
    BOOST_TEST(take() == refused);
    BOOST_TEST(answer == "enough");
}

BOOST_FIXTURE_TEST_CASE(a_predicate_is_not_asked_about_success_or_the_last_try, retry_world) {
    flaky op{*this, {{refused}, {success}}};
    std::size_t asked = 0;
    const auto always = [&](error_code) { return ++asked != 0; };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .retry_if = always}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(asked == 1U);
    flaky other{*this, {{refused}}};
    async_retry(ctx, other.operation(), retry_options{.max_tries = 1, .retry_if = always}, keep());
    live();
    BOOST_TEST(take() == refused);
    BOOST_TEST(asked == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_hook_sees_each_failure_and_the_pause_that_follows, retry_world) {
    flaky op{*this, {{refused, "a"}, {reset, "b"}, {success}}};
    std::string told;
    const auto hook = [&](const retry_pause& p, const error_code& ec, const std::string& a) {
        told += std::to_string(p.tries) + a + std::to_string(p.pause / 1ms) +
                (ec == refused ? " refused " : " reset ");
    };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .on_retry = hook}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(told == "1a100 refused 2b200 reset ");
}

BOOST_FIXTURE_TEST_CASE(a_hook_may_change_the_pause, retry_world) {
    flaky op{*this, {{refused}, {refused}, {refused}, {success}}};
    const auto hook = [](retry_pause& p) {
        p.pause = p.tries == 1 ? 7s : p.tries == 2 ? 0s : std::chrono::nanoseconds(-1s);
    };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .on_retry = hook}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST((op.gaps() == gaps{7000ms, 0ms, 0ms}));
}

BOOST_FIXTURE_TEST_CASE(a_pause_that_a_hook_makes_too_long_is_not_begun, retry_world) {
    flaky op{*this, {{refused, "only"}}};
    std::string seen;
    const auto hook = [&](retry_pause& p, error_code ec) {
        seen = ec.message();
        p.pause = 1h;
    };
    async_retry(ctx, op.operation(),
                retry_options{.timeout = 1min, .pauses = doubling, .on_retry = hook}, keep());
    poll();
    BOOST_TEST(take() == refused);
    BOOST_TEST(seen == refused.message());
}

BOOST_FIXTURE_TEST_CASE(a_hook_is_not_called_if_there_is_no_other_try, retry_world) {
    std::size_t calls = 0;
    const auto hook = [&](retry_pause&) { ++calls; };
    flaky op{*this, {{refused}}};
    async_retry(ctx, op.operation(), retry_options{.max_tries = 1, .on_retry = hook}, keep());
    live();
    BOOST_TEST(take() == refused);
    async_retry(ctx, op.operation(),
                retry_options{.timeout = 100ms, .pauses = doubling, .on_retry = hook}, keep());
    live();
    BOOST_TEST(take() == refused);
    BOOST_TEST(calls == 0U);
}

BOOST_FIXTURE_TEST_CASE(each_type_of_cancellation_ends_a_pause_at_once, retry_world) {
    using asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        flaky op{*this, {{refused, "last"}}};
        asio::cancellation_signal signal;
        async_retry(ctx, op.operation(), {.pauses = doubling, .tries = &tries},
                    asio::bind_cancellation_slot(signal.slot(), keep()));
        poll();
        BOOST_TEST(wheel.pending() == 1U); // The pause.
        signal.emit(cancellation_type::none);
        poll();
        BOOST_TEST(!result.has_value());
        signal.emit(type);
        BOOST_TEST(!result.has_value()); // Not inside the signal.
        poll();
        BOOST_TEST(take() == aborted);
        BOOST_TEST(answer == "last");
        BOOST_TEST(tries == 1U);
        BOOST_TEST(wheel.pending() == 0U);
        signal.emit(type);
        poll();
        BOOST_TEST(op.calls == 1U);
    }
}

BOOST_FIXTURE_TEST_CASE(each_type_of_cancellation_ends_a_try_and_there_is_no_other, retry_world) {
    using asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        flaky op{*this, {{refused}, {success, "", 1h}}};
        asio::cancellation_signal signal;
        const retry_options always{.pauses = doubling, .retry_if = [](error_code) { return true; }};
        async_retry(ctx, op.operation(), always,
                    asio::bind_cancellation_slot(signal.slot(), keep()));
        poll();
        pass(100ms);
        BOOST_TEST(op.calls == 2U);
        signal.emit(type);
        poll();
        BOOST_TEST(take() == aborted);
        BOOST_TEST(op.calls == 2U);
        BOOST_TEST(wheel.pending() == 0U);
    }
}

BOOST_FIXTURE_TEST_CASE(a_try_that_has_failed_before_the_signal_is_the_last_one, retry_world) {
    flaky op{*this, {{refused, "", 1s}}};
    asio::cancellation_signal signal;
    async_retry(ctx, op.operation(), {}, asio::bind_cancellation_slot(signal.slot(), keep()));
    // An operation that does not notice the signal.
    flaky deaf{*this, {{refused}}};
    const auto unaware = [&](auto token) {
        return deaf.async_ask(
            asio::bind_cancellation_slot(asio::cancellation_slot(), std::move(token)));
    };
    asio::cancellation_signal other;
    std::optional<error_code> ended;
    async_retry(ctx, unaware, {},
                asio::bind_cancellation_slot(
                    other.slot(), [&](error_code ec, const std::string&) { ended = ec; }));
    other.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST((ended == refused));
    BOOST_TEST(deaf.calls == 1U);
    signal.emit(asio::cancellation_type::total);
    poll();
    BOOST_TEST(take() == aborted);
}

BOOST_FIXTURE_TEST_CASE(a_try_that_succeeds_in_spite_of_a_signal_is_a_success, retry_world) {
    flaky op{*this, {{success, "kept"}}};
    asio::cancellation_signal signal;
    const auto unaware = [&](auto token) {
        return op.async_ask(
            asio::bind_cancellation_slot(asio::cancellation_slot(), std::move(token)));
    };
    async_retry(ctx, unaware, {}, asio::bind_cancellation_slot(signal.slot(), keep()));
    signal.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "kept");
}

BOOST_FIXTURE_TEST_CASE(a_predicate_or_a_hook_may_cancel, retry_world) {
    asio::cancellation_signal signal;
    const auto stop = [&] { signal.emit(asio::cancellation_type::terminal); };
    flaky op{*this, {{refused}}};
    const auto predicate = [&](error_code) {
        stop();
        return true;
    };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .retry_if = predicate},
                asio::bind_cancellation_slot(signal.slot(), keep()));
    live();
    BOOST_TEST(take() == refused);
    const auto hook = [&](retry_pause&) { stop(); };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .on_retry = hook},
                asio::bind_cancellation_slot(signal.slot(), keep()));
    live();
    BOOST_TEST(take() == refused);
    BOOST_TEST(op.calls == 2U);
}

BOOST_FIXTURE_TEST_CASE(the_slot_of_a_try_that_is_over_may_be_used_again, retry_world) {
    flaky op{*this, {{refused, "", 1s}}};
    asio::cancellation_signal signal;
    async_retry(ctx, op.operation(), {.max_tries = 1},
                asio::bind_cancellation_slot(signal.slot(), keep()));
    live();
    BOOST_TEST(take() == refused);
    asio_wheel::async_sleep_for(ctx, 1h, asio::bind_cancellation_slot(signal.slot(), log.note(1)));
    signal.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(log.take() == "1!");
}

// ---- Kinds of operations

BOOST_FIXTURE_TEST_CASE(a_deferred_operation_is_tried_again, retry_world) {
    std::size_t calls = 0;
    const auto start = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, std::string)>(
            [&](auto handler) {
                const error_code ec = ++calls < 3 ? refused : success;
                asio::post(ctx, asio::append(std::move(handler), ec, "deferred"));
            },
            token);
    };
    async_retry(ctx, start(asio::deferred), {.pauses = doubling}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "deferred");
    BOOST_TEST(calls == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_function_that_returns_an_awaitable_is_spawned_for_each_try, retry_world) {
    flaky op{*this, {{refused}, {refused}, {success, "from a coroutine"}}};
    const auto job = [&]() -> asio::awaitable<std::string> {
        co_return co_await op.async_ask(asio::use_awaitable);
    };
    async_retry(ctx, job, {.pauses = doubling, .tries = &tries},
                [&](std::exception_ptr e, const std::string& a) {
                    BOOST_TEST((e == nullptr));
                    keep()({}, a);
                });
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "from a coroutine");
    BOOST_TEST(tries == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_takes_too_long_is_ended_and_tried_again, retry_world) {
    flaky op{*this, {{success, "", 1h}, {success, "fast"}}};
    const auto job = [&]() -> asio::awaitable<std::string> {
        co_return co_await op.async_ask(asio::use_awaitable);
    };
    async_retry(ctx, job, {.try_timeout = 1s, .pauses = doubling},
                [&](const std::exception_ptr&, const std::string& a) { keep()({}, a); });
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "fast");
}

BOOST_FIXTURE_TEST_CASE(a_predicate_may_take_the_code_of_an_exception, retry_world) {
    flaky op{*this, {{refused}, {reset}, {refused}}};
    const auto job = [&]() -> asio::awaitable<void> {
        static_cast<void>(co_await op.async_ask(asio::use_awaitable));
    };
    const auto if_refused = [](const error_code& ec) { return ec == refused; };
    std::exception_ptr thrown;
    async_retry(ctx, job, retry_options{.pauses = doubling, .retry_if = if_refused},
                [&](const std::exception_ptr& e) {
                    thrown = e;
                    result.emplace();
                });
    live();
    BOOST_TEST(op.calls == 2U);
    BOOST_TEST(refusal_of([&] { std::rethrow_exception(thrown); }) == reset);
}

BOOST_FIXTURE_TEST_CASE(such_a_predicate_is_not_asked_about_other_exceptions, retry_world) {
    std::size_t calls = 0;
    const auto job = [&]() -> asio::awaitable<void> {
        ++calls;
        throw std::logic_error("bad password");
        co_return;
    };
    const auto always = [](const error_code&) { return true; };
    std::exception_ptr thrown;
    const auto handler = [&](const std::exception_ptr& e) {
        thrown = e;
        result.emplace();
    };
    async_retry(ctx, job, retry_options{.pauses = doubling, .retry_if = always}, handler);
    live();
    BOOST_TEST(calls == 1U);
    BOOST_TEST(message_of<std::logic_error>([&] { std::rethrow_exception(thrown); }) ==
               "bad password");
    // By default, each exception is worth another try.
    result.reset();
    async_retry(ctx, job, {.max_tries = 2, .pauses = doubling}, handler);
    live();
    BOOST_TEST(calls == 3U);
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_can_only_be_moved_is_kept, retry_world) {
    flaky op{*this, {{refused}, {success, "moved"}}};
    auto start = [&op, owned = std::make_unique<int>(1)](auto token) {
        return op.async_ask(std::move(token));
    };
    async_retry(ctx, std::move(start), {.pauses = doubling}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "moved");
}

BOOST_FIXTURE_TEST_CASE(the_token_may_be_passed_on_without_being_moved, retry_world) {
    flaky op{*this, {{refused}, {success, "passed on"}}};
    const auto start = [&](auto token) { return op.async_ask(token); };
    async_retry(ctx, start, {.pauses = doubling}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "passed on");
}

BOOST_FIXTURE_TEST_CASE(a_retry_is_an_operation_that_can_be_tried_again, retry_world) {
    flaky op{*this, {{refused}, {refused}, {refused}, {success, "nested"}}};
    const auto inner = [&](auto token) {
        return async_retry(ctx, op.operation(), {.max_tries = 2, .pauses = doubling},
                           std::move(token));
    };
    async_retry(ctx, inner, {.max_tries = 2, .pauses = doubling, .tries = &tries}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "nested");
    BOOST_TEST(tries == 2U);
    BOOST_TEST(op.calls == 4U);
}

// ---- Tokens

BOOST_FIXTURE_TEST_CASE(any_token_will_do, retry_world) {
    flaky op{*this, {{refused}, {success, "yes"}}};
    auto future = async_retry(ctx, op.operation(), {.pauses = doubling}, asio::use_future);
    const auto main = [&]() -> asio::awaitable<void> {
        auto first = async_retry(ctx, op.operation(), {.pauses = doubling}, asio::use_awaitable);
        keep()({}, co_await std::move(first));
    };
    asio::co_spawn(ctx, main(), asio::detached);
    live();
    BOOST_TEST(take() == success);
    pass(1s);
    BOOST_TEST(future.get() == "yes");
    auto later = async_retry(ctx.get_executor(), op.operation(), {}, asio::deferred);
    BOOST_TEST(op.calls == 3U); // Nothing begins yet.
    std::move(later)(keep());
    live();
    BOOST_TEST(take() == success);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_is_cancelled_ends_its_retries, retry_world) {
    flaky op{*this, {{refused}}};
    asio::cancellation_signal signal;
    std::exception_ptr thrown;
    const auto main = [&]() -> asio::awaitable<void> {
        auto tried = async_retry(ctx, op.operation(), {.pauses = doubling}, asio::use_awaitable);
        static_cast<void>(co_await std::move(tried));
    };
    asio::co_spawn(
        ctx, main(),
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { thrown = e; }));
    poll();
    signal.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(refusal_of([&] { std::rethrow_exception(thrown); }) == aborted);
    BOOST_TEST(op.calls == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_timeout_round_it_reports_timed_out, retry_world) {
    flaky op{*this, {{refused}}};
    async_retry(ctx, op.operation(), {.pauses = doubling}, asio_wheel::timeout(250ms, keep()));
    live();
    BOOST_TEST(take() == late);
    BOOST_TEST((took == 250ms));
}

// ---- Executors, allocators and tags

BOOST_FIXTURE_TEST_CASE(all_is_called_through_the_executor_of_the_handler, retry_world) {
    const auto ours = std::make_shared<tracker>();
    flaky op{*this, {{refused}, {refused}, {success}}};
    std::size_t elsewhere = 0;
    const auto check = [&] { elsewhere += ours->running_here() ? 0 : 1; };
    const auto start = [&](auto token) {
        check();
        return op.async_ask(std::move(token));
    };
    const auto predicate = [&](error_code) {
        check();
        return true;
    };
    const auto hook = [&](retry_pause&) { check(); };
    async_retry(ctx, start,
                retry_options{.pauses = doubling, .retry_if = predicate, .on_retry = hook},
                asio::bind_executor(track(ours, ctx), [&](error_code ec, const std::string& a) {
                    check();
                    keep()(ec, a);
                }));
    BOOST_TEST(elsewhere == 1U); // The first try starts in the call.
    BOOST_TEST(ours->work() != 0U);
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(elsewhere == 1U);
    BOOST_TEST(ours->work() == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_executor_has_work_during_a_pause, retry_world) {
    const auto ours = std::make_shared<tracker>();
    flaky op{*this, {{refused}, {success}}};
    async_retry(track(ours, ctx), op.operation(), {.pauses = doubling}, keep());
    poll();
    BOOST_TEST(!result.has_value());
    BOOST_TEST(!ctx.stopped());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(ours->work() == 0U);
}

BOOST_FIXTURE_TEST_CASE(all_memory_of_the_allocator_is_free_when_the_handler_is_called,
                        retry_world) {
    allocations count;
    flaky op{*this, {{refused}, {refused}, {refused}, {success}}};
    std::size_t at_first_pause = 0;
    std::size_t at_last_pause = 0;
    const auto hook = [&](const retry_pause& p) {
        (p.tries == 1 ? at_first_pause : at_last_pause) = count.live;
    };
    async_retry(
        ctx, op.operation(), retry_options{.pauses = doubling, .on_retry = hook},
        asio::bind_allocator(counting_allocator<>(count), [&](error_code ec, const std::string& a) {
            BOOST_TEST(count.live == 0U);
            keep()(ec, a);
        }));
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(at_first_pause == 1U);
    BOOST_TEST(at_last_pause == 2U); // That of the pauses is kept.
}

BOOST_FIXTURE_TEST_CASE(tries_and_pauses_have_the_tag_of_the_handler, retry_world) {
    flaky op{*this, {{refused, "", 1s}}};
    async_retry(ctx, op.operation(), {.max_tries = 2, .pauses = doubling},
                asio_wheel::tag("import", keep()));
    const auto tagged = [&] {
        std::size_t n = 0;
        wheel.for_each_pending(
            [&](const asio_wheel::pending_wait& w) { n += w.tag == "import" ? 1 : 0; });
        return n;
    };
    BOOST_TEST(tagged() != 0U);
    pass(1s);
    BOOST_TEST(tagged() == 1U);
    live();
    BOOST_TEST(take() == refused);
}

// ---- Ends

BOOST_FIXTURE_TEST_CASE(when_the_context_ends_handlers_are_destroyed_uncalled, retry_world) {
    const auto alive = std::make_shared<int>(1);
    for (const auto takes : {0h, 1h}) {
        auto other = std::make_unique<virtual_world>();
        flaky op{*other, {{refused, "", takes}}};
        async_retry(other->ctx, op.operation(), {.pauses = doubling},
                    [alive, this](error_code, const std::string&) { result.emplace(); });
        other->poll();
        BOOST_TEST(alive.use_count() == 2);
        // drained_context checks for work; so it is ended in a way that leaves none.
        static_cast<void>(other->wheel.drain());
        other->poll();
        BOOST_TEST(alive.use_count() == 1);
    }
    asio::io_context* ctx2 = nullptr;
    {
        asio::io_context short_lived;
        ctx2 = &short_lived;
        const auto never = [&](auto token) {
            return asio_wheel::async_sleep_for(*ctx2, 1h, std::move(token));
        };
        async_retry(short_lived, never, {}, [alive](error_code) { BOOST_ERROR("called"); });
        const auto fails = [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) { asio::post(*ctx2, asio::append(std::move(handler), refused)); },
                token);
        };
        async_retry(short_lived, fails, {.pauses = {.initial = 1h, .max = 1h}},
                    [alive](error_code) { BOOST_ERROR("called"); });
        short_lived.poll();
        BOOST_TEST(alive.use_count() == 3);
    }
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_pause_that_is_drained_says_that_the_wheel_has_stopped, retry_world) {
    flaky op{*this, {{refused, "last"}}};
    async_retry(ctx, op.operation(), {.pauses = doubling}, keep());
    poll();
    static_cast<void>(wheel.drain());
    poll();
    BOOST_TEST((take() == asio_wheel::error::wheel_stopped));
    BOOST_TEST(answer == "last");
}

// Without limits, a try needs no place on the wheel.
BOOST_AUTO_TEST_CASE(a_try_goes_on_though_the_wheel_is_at_its_limit) {
    virtual_time world({.max_pending = 1});
    timer blocker(world.ctx, 1h);
    blocker.async_wait(ignore);
    asio::steady_timer native(world.ctx, std::chrono::hours(1));
    std::optional<error_code> result;
    async_retry(
        world.ctx, [&](auto token) { return native.async_wait(std::move(token)); }, {},
        [&](error_code ec) { result = ec; });
    world.poll();
    BOOST_TEST(!result);
    native.cancel();
    while (!result && world.ctx.run_one() != 0) {
    }
    BOOST_TEST((result == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(a_wheel_at_its_limit_ends_the_retries) {
    virtual_time world({.max_pending = 1});
    bool first = true;
    std::unique_ptr<timer> blocker;
    const auto fails = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto handler) {
                const error_code ec = std::exchange(first, false) ? refused : success;
                asio::post(world.ctx, asio::append(std::move(handler), ec));
            },
            token);
    };
    std::optional<error_code> result;
    const auto hook = [&](retry_pause&) {
        blocker = std::make_unique<timer>(world.ctx, 1h);
        blocker->async_wait(ignore);
    };
    async_retry(world.ctx, fails, retry_options{.pauses = doubling, .on_retry = hook},
                [&](error_code ec) { result = ec; });
    world.poll();
    BOOST_TEST((result == asio_wheel::error::too_many_pending));
    blocker.reset();
}

// ---- Exceptions

BOOST_FIXTURE_TEST_CASE(what_the_first_call_throws_leaves_async_retry, retry_world) {
    const auto alive = std::make_shared<int>(1);
    flaky op{*this, {{success}}};
    const auto throwing = [&](auto token) {
        if (op.calls == 0) {
            throw std::runtime_error("no");
        }
        return op.async_ask(std::move(token));
    };
    BOOST_CHECK_THROW(async_retry(ctx, throwing, {}, [alive](error_code, const std::string&) {}),
                      std::runtime_error);
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_a_later_call_throws_leaves_run, retry_world) {
    const auto alive = std::make_shared<int>(1);
    flaky op{*this, {{refused}}};
    const auto throwing = [&](auto token) {
        if (op.calls == 1) {
            throw std::runtime_error("no");
        }
        return op.async_ask(std::move(token));
    };
    async_retry(ctx, throwing, {.pauses = doubling},
                [alive](error_code, const std::string&) { BOOST_ERROR("called"); });
    poll();
    wheel.advance(100ms);
    BOOST_CHECK_THROW(poll(), std::runtime_error);
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(what_predicates_and_hooks_throw_leaves_run, retry_world) {
    const auto alive = std::make_shared<int>(1);
    flaky op{*this, {{refused}}};
    const auto handler = [alive](error_code, const std::string&) { BOOST_ERROR("called"); };
    const auto predicate = [](error_code) -> bool { throw std::runtime_error("no"); };
    async_retry(ctx, op.operation(), retry_options{.retry_if = predicate}, handler);
    BOOST_CHECK_THROW(poll(), std::runtime_error);
    const auto hook = [](retry_pause&) { throw std::runtime_error("no"); };
    async_retry(ctx, op.operation(), retry_options{.on_retry = hook}, handler);
    BOOST_CHECK_THROW(poll(), std::runtime_error);
    BOOST_TEST(alive.use_count() == 2); // That of `handler`.
}

BOOST_FIXTURE_TEST_CASE(a_later_try_without_memory_has_failed_and_is_tried_again, retry_world) {
    flaky op{*this, {{refused}, {success, "in the end"}}};
    std::size_t calls = 0;
    const auto start = [&](auto token) {
        if (++calls == 2) {
            throw std::bad_alloc();
        }
        return op.async_ask(std::move(token));
    };
    std::vector<error_code> seen;
    const auto hook = [&](retry_pause&, error_code ec) { seen.push_back(ec); };
    async_retry(ctx, start, retry_options{.pauses = doubling, .on_retry = hook, .tries = &tries},
                keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "in the end");
    BOOST_TEST(tries == 3U);
    BOOST_TEST_REQUIRE(seen.size() == 2U);
    BOOST_TEST((seen[1] == boost::system::errc::not_enough_memory));
}

BOOST_FIXTURE_TEST_CASE(without_memory_for_a_pause_the_operation_ends, retry_world) {
    allocations count;
    flaky op{*this, {{refused, "last"}}};
    const auto hook = [&](retry_pause&) { count.refuse = true; };
    async_retry(ctx, op.operation(), retry_options{.pauses = doubling, .on_retry = hook},
                asio::bind_allocator(counting_allocator<>(count), keep()));
    poll();
    BOOST_TEST((take() == boost::system::errc::not_enough_memory));
    BOOST_TEST(answer == "last");
    BOOST_TEST(count.live == 0U);
}

BOOST_FIXTURE_TEST_CASE(bad_options_throw_at_the_call, retry_world) {
    flaky op{*this, {{refused}}};
    BOOST_TEST(message_of([&] {
                   async_retry(ctx, op.operation(), {.pauses = {.jitter = 2}}, keep());
               }).find("backoff_options::jitter") != std::string::npos);
    BOOST_TEST(op.calls == 0U);
}

// ---- Operations that complete where one would not expect it

// Completes inside the function that starts it, from the second try on.
BOOST_FIXTURE_TEST_CASE(a_later_try_may_complete_inside_its_start, retry_world) {
    std::size_t calls = 0;
    const auto hasty = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, std::string)>(
            [&](auto handler) {
                if (++calls == 1) {
                    asio::post(ctx, asio::append(std::move(handler), refused, "posted"));
                } else {
                    std::move(handler)(calls < 4 ? refused : success, "inside");
                }
            },
            token);
    };
    async_retry(ctx, hasty, {.pauses = doubling}, keep());
    live();
    BOOST_TEST(take() == success);
    BOOST_TEST(answer == "inside");
    BOOST_TEST(calls == 4U);
}

/// Copies and moves need memory. So many times, there is some.
struct heavy {
    static inline std::optional<int> lasts;
    std::string text;

    explicit heavy(std::string t) : text(std::move(t)) {}
    heavy(const heavy& other) : text((take(), other.text)) {}
    heavy(heavy&& other) : text((take(), other.text)) {} // NOLINT: it may throw.
    heavy& operator=(const heavy&) = delete;
    heavy& operator=(heavy&&) = delete;
    ~heavy() { text = "destroyed"; }

private:
    static void take() {
        if (lasts && (*lasts)-- == 0) {
            lasts.reset();
            throw std::bad_alloc();
        }
    }
};

BOOST_FIXTURE_TEST_CASE(a_later_try_without_memory_for_its_result_has_failed, retry_world) {
    int failed = 0;
    for (bool has_memory = false; !has_memory;) {
        std::size_t calls = 0;
        const auto hasty = [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code, heavy)>(
                [&](auto handler) {
                    if (++calls == 1) {
                        asio::post(ctx, [h = std::move(handler)]() mutable {
                            std::move(h)(refused, heavy("first"));
                        });
                    } else {
                        heavy::lasts = failed;
                        std::move(handler)(success, heavy("second"));
                        heavy::lasts.reset();
                    }
                },
                token);
        };
        async_retry(ctx, hasty, {.max_tries = 2, .pauses = doubling},
                    [&](error_code ec, const heavy& value) {
                        result = ec;
                        answer = value.text;
                    });
        live();
        has_memory = !take();
        BOOST_TEST(answer == (has_memory ? "second" : "first"));
        BOOST_TEST(calls == 2U);
        failed += has_memory ? 0 : 1;
    }
    BOOST_TEST(failed != 0);
}

// Keeps its handler, and completes inside its cancellation.
template <class Handler>
struct ends_inside {
    std::shared_ptr<std::optional<Handler>> handler;

    void operator()(asio::cancellation_type) {
        Handler h(std::move(**handler));
        handler->reset();
        std::move(h)(aborted, "inside");
    }
};

BOOST_FIXTURE_TEST_CASE(a_try_may_complete_inside_its_cancellation, retry_world) {
    const auto alive = std::make_shared<int>(1);
    const auto start = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, std::string)>(
            [&](auto handler) {
                using type = decltype(handler);
                auto slot = asio::get_associated_cancellation_slot(handler);
                const auto kept = std::make_shared<std::optional<type>>(std::move(handler));
                slot.assign(ends_inside<type>{kept});
            },
            token);
    };
    asio::cancellation_signal signal;
    async_retry(
        ctx, start, {},
        asio::bind_cancellation_slot(
            signal.slot(), [&, alive](error_code ec, const std::string& a) { keep()(ec, a); }));
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(take() == aborted);
    BOOST_TEST(answer == "inside");
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(what_a_handler_throws_inside_a_cancellation_leaves_emit, retry_world) {
    const auto alive = std::make_shared<int>(1);
    manual_operation<error_code> op(ctx.get_executor());
    op.on_cancel = [&] { op.complete_inline(aborted); };
    asio::cancellation_signal signal;
    async_retry(
        ctx, [&](auto token) { return op.start(std::move(token)); }, {},
        asio::bind_cancellation_slot(signal.slot(),
                                     [alive](error_code) { throw std::runtime_error("no"); }));
    BOOST_CHECK_THROW(signal.emit(asio::cancellation_type::terminal), std::runtime_error);
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_try_goes_on_if_its_cancellation_throws, retry_world) {
    manual_operation<error_code> op(ctx.get_executor());
    op.on_cancel = [] { throw std::bad_alloc(); };
    asio::cancellation_signal signal;
    async_retry(
        ctx, [&](auto token) { return op.start(std::move(token)); }, {},
        asio::bind_cancellation_slot(signal.slot(), log.note(1)));
    BOOST_CHECK_THROW(signal.emit(asio::cancellation_type::terminal), std::bad_alloc);
    op.complete(refused);
    poll();
    BOOST_TEST(log.take() ==
               "1(Connection refused)"); // It was cancelled, so there is no other one.
}

// ---- Random retries, beside a model

struct expectation {
    error_code ec;
    std::size_t tries = 0;
    std::chrono::milliseconds took{};
};

// As documented. No two times are equal: those of tries and pauses are multiples of 4 ms, that of a
// try is limited to 4 n + 2 ms, that of all to 4 n + 1 ms, and the signal comes after 4 n + 3 ms.
expectation predicted(const std::vector<attempt>& script, std::size_t max_tries,
                      std::chrono::milliseconds try_limit, std::chrono::milliseconds end,
                      std::chrono::milliseconds signal) {
    std::chrono::milliseconds t{};
    std::chrono::milliseconds pause = 100ms;
    for (std::size_t n = 1;; ++n) {
        const attempt& a = script[std::min(n, script.size()) - 1];
        const auto over = t + std::chrono::duration_cast<std::chrono::milliseconds>(a.takes);
        const auto limit = std::min(t + try_limit, end);
        if (signal < std::min(over, limit)) {
            return {aborted, n, signal};
        }
        const error_code ec = over < limit ? a.ec : late;
        t = std::min(over, limit);
        if (!ec || n == max_tries || t + pause >= end) {
            return {ec, n, t};
        }
        if (signal < t + pause) {
            return {aborted, n, signal};
        }
        t += pause;
        pause = std::min<std::chrono::milliseconds>(2 * pause, 400ms);
    }
}

BOOST_AUTO_TEST_CASE(random_retries_do_what_their_model_does) {
    random_numbers random(seed());
    const auto some = [&](std::uint64_t most, int remainder) {
        return std::chrono::milliseconds(static_cast<int>(random.below(most)) * 4 + remainder);
    };
    for (int i = 0; i < 500; ++i) {
        retry_world world;
        const auto kind = [&] { return std::vector{refused, reset, success}[random.below(3)]; };
        flaky op{world, {}};
        for (std::size_t n = 1 + random.below(6); n != 0; --n) {
            op.script.push_back({random.once_in(3) ? kind() : refused, "", some(40, 0)});
        }
        const std::size_t max_tries = 1 + random.below(8);
        const auto try_limit = random.once_in(2) ? 1h : some(40, 2);
        const auto end = random.once_in(2) ? 1h : some(400, 1);
        const auto signal_at = random.once_in(2) ? 2h : some(400, 3);
        const expectation e = predicted(op.script, max_tries, try_limit, end, signal_at);
        asio::cancellation_signal signal;
        async_retry(world.ctx, op.operation(),
                    {.max_tries = max_tries,
                     .try_timeout = try_limit,
                     .timeout = end,
                     .pauses = doubling,
                     .tries = &world.tries},
                    asio::bind_cancellation_slot(signal.slot(), world.keep()));
        asio_wheel::async_sleep_for(world.ctx, signal_at, [&](error_code) {
            signal.emit(asio::cancellation_type::terminal);
        });
        world.live();
        BOOST_TEST(world.take() == e.ec);
        BOOST_TEST(world.tries == e.tries);
        BOOST_TEST((world.took == e.took));
        world.pass(3h);
    }
}

// ---- Threads

BOOST_AUTO_TEST_CASE(on_several_threads_each_retry_completes_once) {
    constexpr std::size_t many = 300;
    std::atomic<std::size_t> completed{0};
    std::atomic<std::size_t> calls{0};
    {
        asio::thread_pool pool(4);
        const auto start = [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    const error_code ec = ++calls % 3 == 0 ? success : refused;
                    asio::post(pool, asio::append(std::move(handler), ec));
                },
                token);
        };
        for (std::size_t i = 0; i < many; ++i) {
            async_retry(pool, start, {.pauses = {.initial = 1us, .max = 1us}},
                        [&](error_code ec) { completed += ec ? 0 : 1; });
        }
        pool.join();
    }
    BOOST_TEST(completed == many);
}

BOOST_AUTO_TEST_SUITE_END()
