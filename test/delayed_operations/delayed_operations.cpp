// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Delayed operations, one promise after the other.

#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/refusals.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using asio_wheel::attempt;
using asio_wheel::delayed_operations;
using boost::system::error_code;
using asio_error = asio_wheel::error;

using operations = delayed_operations<std::string, int>;
using maybe = std::optional<int>;

// Topics with some bytes in each; operations that want some; and what became of them.
struct polling : virtual_world {
    operations waiting{ctx};
    std::map<std::string, int> bytes;
    std::string story;
    int calls = 0;

    using virtual_world::virtual_world;

    void append(const std::string& topic, int n) { bytes[topic] += n; }

    // Completes with what a topic has, if that is `least` or more.
    [[nodiscard]] auto at_least(int least, std::string topic = "a") {
        return [this, least, topic] {
            ++calls;
            const int n = bytes[topic];
            return n >= least ? maybe(n) : std::nullopt;
        };
    }
    // At the last attempt, with what there is.
    [[nodiscard]] auto at_least_or_what_there_is(int least, std::string topic = "a") {
        return [this, least, topic](attempt which) {
            ++calls;
            const int n = bytes[topic];
            return n >= least || which == attempt::last ? maybe(n) : std::nullopt;
        };
    }

    // Writes down what it was given.
    [[nodiscard]] auto note(std::string name = "") {
        return [this, name](error_code ec, int n) {
            story += story.empty() ? "" : " ";
            story += name + (!ec                               ? std::to_string(n)
                             : ec == aborted                   ? "!"
                             : ec == asio_error::timed_out     ? "late"
                             : ec == asio_error::wheel_stopped ? "stopped"
                                                               : ec.message());
        };
    }
    [[nodiscard]] std::string told() {
        poll();
        return std::exchange(story, {});
    }

    void expect_nothing_left() {
        BOOST_TEST(waiting.pending() == 0U);
        BOOST_TEST(waiting.watched() == 0U);
        BOOST_TEST(waiting.keys() == 0U);
    }
};

constexpr auto never = []() -> maybe { return std::nullopt; };

// Counts how often keys are compared.
struct counted_equal {
    std::size_t* calls;
    bool operator()(std::uint64_t a, std::uint64_t b) const {
        ++*calls;
        return a == b;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(delayed_operations_, *boost::unit_test::timeout(60))

// ---- What completes an operation

BOOST_FIXTURE_TEST_CASE(what_can_complete_at_the_start_does_so_by_a_post, polling) {
    append("a", 5);
    waiting.async_wait({"a"}, 10s, at_least(5), note());
    BOOST_TEST(story == ""); // Not from inside.
    expect_nothing_left();
    BOOST_TEST(told() == "5");
    BOOST_TEST(calls == 1);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_check_completes_what_can_and_says_how_many, polling) {
    for (const int least : {3, 1, 2, 9}) {
        waiting.async_wait("a", 10s, at_least(least), note());
    }
    BOOST_TEST(waiting.check("a") == 0U);
    append("a", 3);
    BOOST_TEST(waiting.check("a") == 3U);
    BOOST_TEST(story == ""); // Not from inside.
    BOOST_TEST(told() == "3 3 3");
    BOOST_TEST(waiting.pending() == 1U);
    append("a", 6);
    BOOST_TEST(waiting.check("a") == 1U);
    BOOST_TEST(told() == "9");
    expect_nothing_left();
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_check_calls_the_functions_that_watch_its_key_and_no_others, polling) {
    waiting.async_wait({"a", "b"}, 10s, at_least(1), note());
    waiting.async_wait({"b", "c"}, 10s, at_least(1), note());
    waiting.async_wait({"c"}, 10s, at_least(1), note());
    for (const auto& [key, expected] : std::map<std::string, int>{{"a", 1}, {"b", 2}, {"d", 0}}) {
        calls = 0;
        BOOST_TEST(waiting.check(key) == 0U);
        BOOST_TEST(calls == expected);
    }
    waiting.cancel();
    poll();
}

BOOST_FIXTURE_TEST_CASE(operations_are_tried_in_the_order_in_which_they_started, polling) {
    for (const char* const name : {"1:", "2:", "3:"}) {
        waiting.async_wait({"a", "b"}, 10s, at_least(1), note(name));
    }
    waiting.check("a"); // What is tried keeps its place.
    waiting.async_wait({"b", "a"}, 10s, at_least(1), note("4:"));
    append("a", 1);
    BOOST_TEST(waiting.check("b") == 4U);
    BOOST_TEST(told() == "1:1 2:1 3:1 4:1");
}

BOOST_FIXTURE_TEST_CASE(an_operation_completes_once_for_all_of_its_keys, polling) {
    waiting.async_wait({"a", "b", "c"}, 10s, at_least(1), note());
    append("a", 1);
    BOOST_TEST(waiting.check("c") == 1U);
    BOOST_TEST(waiting.check("a") == 0U);
    BOOST_TEST(waiting.check("b") == 0U);
    expect_nothing_left();
    pass(1h);
    BOOST_TEST(told() == "1");
}

BOOST_FIXTURE_TEST_CASE(at_the_deadline_the_function_can_give_what_there_is, polling) {
    waiting.async_wait({"a", "b"}, 10s, at_least_or_what_there_is(5), note());
    append("a", 2);
    BOOST_TEST(waiting.check("a") == 0U);
    pass(10s - 1ns);
    BOOST_TEST(told() == "");
    pass(1ns);
    BOOST_TEST(told() == "2"); // Without an error.
    BOOST_TEST(calls == 3);
    expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(a_function_without_argument_is_called_at_the_deadline_too, polling) {
    waiting.async_wait("a", 10s, at_least(1), note());
    append("a", 1); // Nobody checks.
    pass(10s);
    BOOST_TEST(told() == "1");
}

BOOST_FIXTURE_TEST_CASE(an_operation_times_out_if_there_is_nothing_at_the_deadline, polling) {
    waiting.async_wait({"a", "b"}, 10s, at_least(1), note());
    pass(10s);
    BOOST_TEST(told() == "late");
    expect_nothing_left();
    error_code result;
    waiting.async_wait("a", 1s, never, [&](error_code ec, int) { result = ec; });
    pass(1s);
    BOOST_TEST((result == boost::system::errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_deadline_may_be_a_time_and_may_have_passed, polling) {
    waiting.async_wait_until({"a"}, now() + 10s, never, note("1:"));
    waiting.async_wait_until({"a"}, now() - 10s, never, note("2:"));
    BOOST_TEST(story == "");
    BOOST_TEST(told() == "2:late");
    waiting.async_wait("a", 0s, never, note("3:"));
    BOOST_TEST(told() == "3:late");
    waiting.async_wait("a", -1h, at_least_or_what_there_is(1), note("4:"));
    BOOST_TEST(told() == "4:0");
    pass(10s);
    BOOST_TEST(told() == "1:late");
    waiting.async_wait("a", std::chrono::hours::max(), never, note());
    waiting.async_wait("a", std::chrono::duration<double>(INFINITY), never, note());
    pass(1000h);
    BOOST_TEST(told() == "");
    BOOST_TEST(waiting.cancel() == 2U);
    BOOST_TEST(told() == "! !");
}

BOOST_FIXTURE_TEST_CASE(until_the_handler_is_called_a_check_wins_over_the_deadline, polling) {
    waiting.async_wait("a", 10s, at_least_or_what_there_is(5), note());
    elapse(10s); // Its deadline has come, and nobody has run the context.
    append("a", 7);
    BOOST_TEST(waiting.check("a") == 1U);
    append("a", 7);
    BOOST_TEST(told() == "7");
    BOOST_TEST(calls == 2);
}

BOOST_FIXTURE_TEST_CASE(what_is_forced_completes_as_at_its_deadline, polling) {
    waiting.async_wait({"a", "b"}, 10s, at_least_or_what_there_is(5), note("1:"));
    waiting.async_wait({"a"}, 10s, at_least(5), note("2:"));
    waiting.async_wait({"b"}, 10s, at_least_or_what_there_is(5), note("3:"));
    append("a", 2);
    BOOST_TEST(waiting.force("a") == 2U);
    BOOST_TEST(story == ""); // Not from inside.
    BOOST_TEST(told() == "1:2 2:late");
    waiting.async_wait({"c"}, 10s, never, note("4:"));
    BOOST_TEST(waiting.force("d") == 0U);
    BOOST_TEST(waiting.force() == 2U);
    BOOST_TEST(told() == "3:2 4:late");
    expect_nothing_left();
    BOOST_TEST(waiting.force() == 0U);
}

// ---- Cancellation

BOOST_FIXTURE_TEST_CASE(what_watches_a_key_can_be_cancelled_and_so_can_everything, polling) {
    waiting.async_wait({"a", "b"}, 10s, never, note("1:"));
    waiting.async_wait({"b"}, 10s, never, note("2:"));
    waiting.async_wait({"c"}, 10s, never, note("3:"));
    BOOST_TEST(waiting.cancel("d") == 0U);
    BOOST_TEST(waiting.cancel("a") == 1U);
    BOOST_TEST(story == ""); // Not from inside.
    BOOST_TEST(waiting.watched("b") == 1U);
    BOOST_TEST(told() == "1:!");
    BOOST_TEST(waiting.cancel() == 2U);
    expect_nothing_left();
    BOOST_TEST(waiting.cancel() == 0U);
    BOOST_TEST(told() == "2:! 3:!");
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_is_due_can_be_cancelled_until_it_is_called, polling) {
    waiting.async_wait("a", 10s, never, note());
    elapse(10s);
    BOOST_TEST(waiting.cancel("a") == 1U);
    BOOST_TEST(told() == "!");
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_slot_aborts_an_operation_until_it_completes, polling) {
    using asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        asio::cancellation_signal signal;
        waiting.async_wait({"a", "b"}, 10s, never,
                           asio::bind_cancellation_slot(signal.slot(), note()));
        signal.emit(cancellation_type::none);
        BOOST_TEST(waiting.pending() == 1U);
        signal.emit(type);
        expect_nothing_left();
        signal.emit(type);
        BOOST_TEST(told() == "!");
        signal.emit(type); // It is over.
    }
    asio::cancellation_signal signal;
    waiting.async_wait("a", 10s, at_least(1), asio::bind_cancellation_slot(signal.slot(), note()));
    append("a", 1);
    BOOST_TEST(waiting.check("a") == 1U);
    signal.emit(cancellation_type::terminal); // Too late.
    BOOST_TEST(told() == "1");
}

BOOST_FIXTURE_TEST_CASE(a_slot_may_end_or_serve_another_operation_first, polling) {
    asio::cancellation_signal signal;
    waiting.async_wait("a", 10s, never, asio::bind_cancellation_slot(signal.slot(), note("1:")));
    waiting.async_wait("a", 10s, never, asio::bind_cancellation_slot(signal.slot(), note("2:")));
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST(told() == "2:!");
    {
        asio::cancellation_signal shorter;
        waiting.async_wait("a", 9s, never,
                           asio::bind_cancellation_slot(shorter.slot(), note("3:")));
    }
    pass(10s);
    BOOST_TEST(told() == "3:late 1:late");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_object_aborts_what_waits) {
    polling world;
    {
        operations waiting(world.ctx);
        waiting.async_wait({"a", "b"}, 10s, never, world.note());
    }
    BOOST_TEST(world.story == "");
    BOOST_TEST(world.told() == "!");
}

// ---- Refusals

BOOST_FIXTURE_TEST_CASE(what_the_wheel_refuses_ends_with_its_error, virtual_time) {
    polling world(asio_wheel::wheel_options{.max_pending = 1});
    world.append("b", 1);
    world.waiting.async_wait("a", 10s, never, world.note("1:"));
    error_code refused;
    world.waiting.async_wait("a", 10s, never, [&](error_code ec, int) { refused = ec; });
    world.waiting.async_wait("b", 10s, world.at_least(1, "b"),
                             world.note("3:")); // It need not wait.
    BOOST_TEST(world.told() == "3:1");
    BOOST_TEST((refused == asio_error::too_many_pending));
    BOOST_TEST(world.waiting.pending() == 1U);
    world.waiting.cancel();
    BOOST_TEST(world.told() == "1:!");
}

BOOST_FIXTURE_TEST_CASE(a_wheel_that_is_drained_ends_what_waits, polling) {
    waiting.async_wait("a", 10s, at_least_or_what_there_is(1), note());
    BOOST_TEST(wheel.drain().size() == 1U);
    BOOST_TEST(told() == "stopped");
    expect_nothing_left();
    append("a", 1);
    waiting.async_wait("a", 10s, at_least(2), note("1:"));
    waiting.async_wait("a", 10s, at_least(1), note("2:"));
    BOOST_TEST(told() == "1:stopped 2:1");
}

BOOST_FIXTURE_TEST_CASE(an_operation_without_keys_or_with_a_timeout_that_is_no_number_is_refused,
                        polling) {
    const std::vector<std::string> none;
    BOOST_TEST(message_of([&] { waiting.async_wait(none, 10s, never, note()); }) ==
               "asio_wheel: a delayed operation watches at least one key");
    constexpr std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_TEST(message_of([&] { waiting.async_wait("a", nan, never, note()); }) ==
               "asio_wheel: the timeout of a delayed operation is not a number (NaN)");
    expect_nothing_left();
    BOOST_TEST(told() == "");
}

// ---- Counts and keys

BOOST_FIXTURE_TEST_CASE(what_waits_and_what_is_watched_is_counted, polling) {
    waiting.async_wait({"a", "b"}, 10s, never, note());
    waiting.async_wait({"b", "c"}, 20s, never, note());
    BOOST_TEST(waiting.pending() == 2U);
    BOOST_TEST(waiting.watched() == 4U);
    BOOST_TEST(waiting.keys() == 3U);
    BOOST_TEST(waiting.watched("a") == 1U);
    BOOST_TEST(waiting.watched("b") == 2U);
    BOOST_TEST(waiting.watched("d") == 0U);
    pass(10s);
    BOOST_TEST(waiting.pending() == 1U);
    BOOST_TEST(waiting.watched() == 2U);
    BOOST_TEST(waiting.keys() == 2U);
    pass(10s);
    expect_nothing_left();
    BOOST_TEST(told() == "late late");
}

BOOST_FIXTURE_TEST_CASE(a_key_that_is_given_twice_is_watched_once, polling) {
    waiting.async_wait({"a", "b", "a", "a"}, 10s, at_least(1), note());
    BOOST_TEST(waiting.watched() == 2U);
    calls = 0;
    waiting.check("a");
    BOOST_TEST(calls == 1);
    BOOST_TEST(waiting.cancel("a") == 1U);
    BOOST_TEST(told() == "!");
}

BOOST_FIXTURE_TEST_CASE(keys_may_be_one_or_some_or_a_range, polling) {
    const std::string one = "a";
    const std::vector<std::string> some{"a", "b", "c"};
    std::array<std::string, 2> two{"a", "b"};
    const std::list<std::string> listed{"a", "b"};
    const std::set<std::string> sorted{"a", "b"};
    const std::array<const char*, 2> words{"a", "b"};
    std::size_t n = 0;
    const auto watch = [&](std::size_t expected, auto&& keys) {
        waiting.async_wait(std::forward<decltype(keys)>(keys), 10s, never, note());
        BOOST_TEST(waiting.watched() == (n += expected));
    };
    watch(1, one);
    watch(1, std::string("a"));
    watch(1, "a");
    watch(3, some);
    watch(3, std::vector<std::string>(some));
    watch(2, two);
    watch(2, listed);
    watch(2, sorted);
    watch(2, words);
    watch(2, std::span(some).subspan(1));
    waiting.async_wait({one, "b", "c", "d", "e", "f", "g", "h"}, 10s, never, note());
    BOOST_TEST(waiting.watched() == (n += 8));
    BOOST_TEST(waiting.keys() == 8U);
    BOOST_TEST(waiting.watched("a") == 10U);
    BOOST_TEST(waiting.cancel() == 11U);
    poll();
}

BOOST_FIXTURE_TEST_CASE(many_keys_are_found_again, polling) {
    delayed_operations<int, int> numbers(ctx);
    int done = 0;
    std::vector<bool> ready(1000);
    for (int i = 0; i != 1000; ++i) {
        numbers.async_wait(
            {i, i + 1}, 10s,
            [&ready, i] { return ready[static_cast<std::size_t>(i)] ? maybe(i) : std::nullopt; },
            [&done, i](error_code ec, int n) { done += !ec && n == i ? 1 : 0; });
        BOOST_TEST_REQUIRE(numbers.keys() == static_cast<std::size_t>(i) + 2);
    }
    for (int i = 999; i >= 0; --i) {
        ready[static_cast<std::size_t>(i)] = true;
        BOOST_TEST_REQUIRE(numbers.check(i) == 1U);
        BOOST_TEST_REQUIRE(numbers.keys() == static_cast<std::size_t>(i == 0 ? 0 : i + 1));
    }
    poll();
    BOOST_TEST(done == 1000);
}

// std::hash of a number is the number. So these were all in one bucket of a table whose number of
// buckets is one of two primes.
BOOST_FIXTURE_TEST_CASE(keys_that_are_chosen_to_have_one_bucket_are_spread, virtual_world) {
    constexpr std::size_t count = 2000;
    constexpr std::uint64_t primes = std::uint64_t{3079} * 6151;
    std::size_t comparisons = 0;
    asio_wheel::delayed_operations<std::uint64_t, int, std::hash<std::uint64_t>, counted_equal>
        waiting(ctx, {}, counted_equal{&comparisons});
    for (std::uint64_t i = 0; i != count; ++i) {
        waiting.async_wait(i * primes, 1h, [] { return maybe(); }, [](error_code, int) {});
    }
    BOOST_TEST(comparisons < 5 * count);
    waiting.cancel();
    poll();
}

BOOST_FIXTURE_TEST_CASE(keys_may_have_a_hash_and_an_equality_of_their_own, polling) {
    struct partition {
        std::string topic;
        int number;
    };
    struct hash {
        std::size_t operator()(const partition& p) const {
            return std::hash<std::string>()(p.topic) + static_cast<std::size_t>(p.number);
        }
    };
    struct equal {
        bool operator()(const partition& a, const partition& b) const {
            return a.topic == b.topic && a.number == b.number;
        }
    };
    delayed_operations<partition, int, hash, equal> fetches(ctx);
    fetches.async_wait({{"news", 1}, {"news", 2}}, 10s, at_least(1), note());
    append("a", 1);
    BOOST_TEST(fetches.check({"news", 3}) == 0U);
    BOOST_TEST(fetches.check({"news", 2}) == 1U);
    BOOST_TEST(told() == "1");
}

// ---- Results, tokens, executors

BOOST_FIXTURE_TEST_CASE(results_need_not_be_copied, polling) {
    delayed_operations<int, std::unique_ptr<int>> waiting_for(ctx);
    int got = 0;
    waiting_for.async_wait(
        1, 10s, [n = std::make_unique<int>(7)]() mutable { return std::optional(std::move(n)); },
        [&](error_code, std::unique_ptr<int> n) { got = *n; });
    poll();
    BOOST_TEST(got == 7);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_gets_the_result_or_an_exception, polling) {
    const auto consumer = [](polling& w) -> asio::awaitable<void> {
        const auto enough = w.at_least(2);
        const int n = co_await w.waiting.async_wait({"a", "b"}, 10s, enough, asio::use_awaitable);
        w.note("1:")({}, n);
        const std::string c = "c";
        auto later = w.waiting.async_wait({c, c + "d"}, 10s, enough, asio::use_awaitable);
        const int m = co_await std::move(later);
        w.note("2:")({}, m);
        constexpr auto token = asio::as_tuple(asio::use_awaitable);
        const auto [ec, none] = co_await w.waiting.async_wait("e", 10s, never, token);
        w.note("3:")(ec, none);
        try {
            co_await w.waiting.async_wait("e", 10s, never, asio::use_awaitable);
        } catch (const boost::system::system_error& e) {
            w.note("4:")(e.code(), 0);
        }
    };
    asio::co_spawn(ctx, consumer(*this), asio::detached);
    poll();
    BOOST_TEST(waiting.watched() == 2U);
    append("a", 2);
    BOOST_TEST(waiting.check("b") == 1U);
    BOOST_TEST(told() == "1:2 2:2");
    pass(10s);
    pass(10s);
    BOOST_TEST(told() == "3:late 4:late");
}

BOOST_FIXTURE_TEST_CASE(any_token_will_do, polling) {
    auto future = waiting.async_wait("a", 10s, at_least(1), asio::use_future);
    auto deferred = waiting.async_wait({"a", "b"}, 10s, at_least(1), asio::deferred);
    BOOST_TEST(waiting.watched() == 1U); // It has not started.
    std::move(deferred)(note("deferred:"));
    BOOST_TEST(waiting.watched() == 3U);
    waiting.async_wait("a", 10s, never, asio_wheel::timeout(3s, asio::bind_executor(ctx, note())));
    append("a", 1);
    waiting.check("a");
    BOOST_TEST(told() == "deferred:1");
    BOOST_TEST(future.get() == 1);
    pass(3s);
    BOOST_TEST(told() == "late");
    expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(handlers_are_called_on_their_executors, polling) {
    const auto strand = asio::make_strand(ctx);
    drained_context other;
    const auto other_strand = asio::make_strand(other.ctx);
    const auto watch = [&](auto ex, auto is_there, const char* name) {
        waiting.async_wait("a", 10s, at_least(1),
                           asio::bind_executor(ex, [=, this](error_code ec, int n) {
                               BOOST_TEST(is_there());
                               note(name)(ec, n);
                           }));
    };
    watch(strand, [=] { return strand.running_in_this_thread(); }, "1:");
    watch(
        other.ctx.get_executor(),
        [=, ex = other.ctx.get_executor()] { return ex.running_in_this_thread(); }, "2:");
    watch(other_strand, [=] { return other_strand.running_in_this_thread(); }, "3:");
    watch(
        asio::any_io_executor(other_strand), [=] { return other_strand.running_in_this_thread(); },
        "4:");
    watch(
        ctx.get_executor(), [=, ex = ctx.get_executor()] { return ex.running_in_this_thread(); },
        "5:");
    append("a", 1);
    BOOST_TEST(waiting.check("a") == 5U);
    BOOST_TEST(told() == "5:1 1:1"); // A hop takes another turn of the context.
    BOOST_TEST(!other.ctx.stopped());
    other.run();
    BOOST_TEST(told() == "2:1 3:1 4:1");
}

BOOST_FIXTURE_TEST_CASE(operations_on_a_strand_use_it_for_functions_and_handlers, polling) {
    const auto strand = asio::make_strand(ctx);
    operations on_strand(strand);
    const auto function = [&](attempt which) {
        BOOST_TEST((which == attempt::ordinary || strand.running_in_this_thread()));
        return maybe();
    };
    for (int i = 0; i < 3; ++i) {
        on_strand.async_wait("a", 10s, function, [&](error_code ec, int n) {
            BOOST_TEST(strand.running_in_this_thread());
            note()(ec, n);
        });
    }
    on_strand.async_wait("b", 10s, function, asio::bind_executor(strand, note("same:")));
    on_strand.async_wait("b", 10s, function, asio::bind_executor(ctx, note("context:")));
    BOOST_TEST(on_strand.cancel("a") == 3U);
    BOOST_TEST(told() == "! ! !");
    pass(10s);
    BOOST_TEST(told() == "same:late context:late");
    BOOST_TEST((on_strand.get_executor() == asio::any_io_executor(strand)));
}

BOOST_FIXTURE_TEST_CASE(an_operation_is_one_allocation_freed_before_its_handler_is_called,
                        polling) {
    const auto strand = asio::make_strand(ctx);
    const auto run = [&](operations& object, auto handler_executor) {
        allocations count;
        std::size_t live = 9;
        const auto handler = [&](error_code, int) { live = count.live; };
        object.async_wait({"a", "b", "c"}, 10s, at_least(1),
                          asio::bind_allocator(counting_allocator<>(count),
                                               asio::bind_executor(handler_executor, handler)));
        BOOST_TEST(count.live == 1U);
        append("a", 1);
        object.check("b");
        poll();
        BOOST_TEST(live == 0U);
        BOOST_TEST(count.total == 1U);
        bytes.clear();
    };
    operations on_strand(strand);
    run(waiting, ctx.get_executor());
    run(waiting, strand);
    run(on_strand, strand);
    run(on_strand, ctx.get_executor());
    asio_wheel::basic_delayed_operations<std::string, int, std::chrono::steady_clock,
                                         asio::io_context::executor_type>
        native(ctx);
    allocations count;
    native.async_wait("a", 1s, never, asio::bind_allocator(counting_allocator<>(count), note()));
    pass(1s);
    BOOST_TEST(count.total == 1U);
    BOOST_TEST(count.live == 0U);
    BOOST_TEST(told() == "late");
}

BOOST_FIXTURE_TEST_CASE(the_function_is_destroyed_before_the_handler_is_called, polling) {
    const auto watched = std::make_shared<int>();
    long uses = 0;
    waiting.async_wait(
        "a", 1s, [watched]() -> maybe { return std::nullopt; },
        [&](error_code, int) { uses = watched.use_count(); });
    BOOST_TEST(watched.use_count() == 2);
    pass(1s);
    BOOST_TEST(uses == 1);
}

BOOST_FIXTURE_TEST_CASE(what_waits_keeps_the_context_running_and_nothing_else_does, polling) {
    BOOST_TEST(poll() == 0U);
    BOOST_TEST(ctx.stopped());
    waiting.async_wait("a", 10s, never, note());
    poll();
    BOOST_TEST(!ctx.stopped());
    waiting.cancel();
    poll();
    BOOST_TEST(ctx.stopped());
}

// ---- What functions may do

BOOST_FIXTURE_TEST_CASE(a_function_that_checks_its_own_key_is_called_again, polling) {
    int called = 0;
    const auto function = [&]() -> maybe {
        if (++called == 2) {
            append("a", 1);
            BOOST_TEST(waiting.check("a") == 0U);
        }
        return bytes["a"] != 0 && called > 2 ? maybe(called) : std::nullopt;
    };
    waiting.async_wait("a", 10s, function, note());
    BOOST_TEST(called == 1);
    BOOST_TEST(waiting.check("a") == 1U);
    BOOST_TEST(called == 3);
    BOOST_TEST(told() == "3");

    called = 1; // The same in its first attempt.
    bytes.clear();
    waiting.async_wait("a", 10s, function, note());
    BOOST_TEST(told() == "3");
    expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(a_function_may_check_other_keys_and_complete_other_operations, polling) {
    waiting.async_wait({"a", "b"}, 10s, at_least(1), note("1:"));
    waiting.async_wait(
        "b", 10s,
        [&]() -> maybe {
            if (bytes["b"] != 0) {
                append("a", 1);
                BOOST_TEST(waiting.check("a") == 2U); // With the last of these.
                return 1;
            }
            return std::nullopt;
        },
        note("2:"));
    waiting.async_wait({"b", "a"}, 10s, at_least(1), note("3:"));
    append("b", 1);
    BOOST_TEST(waiting.check("b") == 1U);
    BOOST_TEST(told() == "1:1 3:1 2:1");
    expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(a_function_may_start_operations_which_its_check_does_not_try, polling) {
    int started = 0;
    waiting.async_wait(
        "a", 10s,
        [&]() -> maybe {
            if (bytes["a"] != 0 && started++ < 3) {
                waiting.async_wait("a", 20s, at_least(99), note("new:"));
            }
            return std::nullopt;
        },
        note("1:"));
    waiting.async_wait("a", 10s, at_least(1), note("2:"));
    append("a", 1);
    calls = 0;
    BOOST_TEST(waiting.check("a") == 1U);
    BOOST_TEST(calls == 2); // The start of the new one, and the second.
    BOOST_TEST(told() == "2:1");
    BOOST_TEST(waiting.watched("a") == 2U);
    pass(10s);
    BOOST_TEST(told() == "1:late");
    BOOST_TEST(waiting.cancel() == 2U); // Its last attempt has started one, too.
    BOOST_TEST(told() == "new:! new:!");
}

BOOST_FIXTURE_TEST_CASE(a_function_that_cancels_its_own_operation_ends_it, polling) {
    const auto cancelling = [&](maybe result) {
        return [this, result, n = 0]() mutable -> maybe {
            if (n++ == 0) {
                return std::nullopt;
            }
            BOOST_TEST(waiting.cancel("a") == 1U);
            BOOST_TEST(waiting.cancel("a") == 0U); // Once.
            BOOST_TEST(waiting.check("a") == 0U);
            return result;
        };
    };
    const auto tell = [&](error_code ec, int n) {
        story += (ec == aborted ? "!" : "?") + std::to_string(n);
    };
    waiting.async_wait("a", 10s, cancelling(std::nullopt), tell);
    BOOST_TEST(waiting.check("a") == 0U);
    BOOST_TEST(told() == "!0");
    waiting.async_wait("a", 10s, cancelling(7), tell); // Its value is not lost.
    BOOST_TEST(waiting.check("a") == 0U);
    BOOST_TEST(told() == "!7");
    waiting.async_wait("a", 10s, cancelling(7), tell); // At the deadline.
    pass(10s);
    BOOST_TEST(told() == "!7");
    asio::cancellation_signal signal; // By its slot, in its first attempt.
    waiting.async_wait(
        "a", 10s,
        [&]() -> maybe {
            signal.emit(asio::cancellation_type::terminal);
            return std::nullopt;
        },
        asio::bind_cancellation_slot(signal.slot(), tell));
    BOOST_TEST(told() == "!0");
    expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(a_function_may_cancel_others_before_their_turn, polling) {
    bool cancel = false;
    waiting.async_wait("a", 10s, never, note("1:"));
    waiting.async_wait(
        "a", 10s,
        [&]() -> maybe {
            if (!cancel) {
                return std::nullopt;
            }
            BOOST_TEST(waiting.cancel() == 3U); // Itself, too.
            return std::nullopt;
        },
        note("2:"));
    waiting.async_wait("a", 10s, at_least(1), note("3:"));
    cancel = true;
    append("a", 1);
    calls = 0;
    BOOST_TEST(waiting.check("a") == 0U);
    BOOST_TEST(calls == 0);
    expect_nothing_left();
    BOOST_TEST(told() == "1:! 3:! 2:!");
}

BOOST_FIXTURE_TEST_CASE(a_function_that_forces_its_own_operation_makes_this_its_last_attempt,
                        polling) {
    std::string attempts;
    const auto function = [&](attempt which) -> maybe {
        attempts += which == attempt::last ? 'l' : 'o';
        if (attempts == "oo") {
            BOOST_TEST(waiting.force("a") == 0U); // It completes when this has returned.
        }
        return std::nullopt;
    };
    waiting.async_wait("a", 10s, function, note());
    BOOST_TEST(waiting.check("a") == 1U);
    BOOST_TEST(attempts == "ool");
    BOOST_TEST(told() == "late");
}

// ---- Exceptions

BOOST_FIXTURE_TEST_CASE(a_function_that_throws_at_the_start_starts_nothing, polling) {
    struct failure {};
    const auto handler = std::make_shared<int>();
    const auto function = []() -> maybe { throw failure(); };
    BOOST_CHECK_THROW(waiting.async_wait({"a", "b"}, 10s, function,
                                         [handler](error_code, int) { BOOST_TEST(false); }),
                      failure);
    expect_nothing_left();
    poll();
    BOOST_TEST(handler.use_count() == 1);
    const auto cancelled = [&]() -> maybe {
        waiting.cancel();
        throw failure();
    };
    BOOST_CHECK_THROW(
        waiting.async_wait("a", 0s, cancelled, [](error_code, int) { BOOST_TEST(false); }),
        failure);
    expect_nothing_left();
    poll();
}

BOOST_FIXTURE_TEST_CASE(after_an_exception_in_a_check_the_others_are_tried_and_it_goes_on_waiting,
                        polling) {
    bool fail = false;
    const auto failing = [&](const char* what) {
        return [&, what](attempt which) -> maybe {
            if (fail) {
                throw std::runtime_error(what);
            }
            return which == attempt::last ? maybe(9) : std::nullopt;
        };
    };
    waiting.async_wait("a", 10s, failing("first"), note("1:"));
    waiting.async_wait("a", 10s, at_least(1), note("2:"));
    waiting.async_wait("a", 10s, failing("second"), note("3:"));
    waiting.async_wait("a", 10s, at_least(1), note("4:"));
    append("a", 1);
    fail = true;
    BOOST_TEST(message_of<std::runtime_error>([&] { waiting.check("a"); }) == "first");
    BOOST_TEST(told() == "2:1 4:1");
    BOOST_TEST(waiting.pending() == 2U);
    BOOST_TEST(message_of<std::runtime_error>([&] { waiting.force("a"); }) == "first");
    BOOST_TEST(told() == "1:late 3:late");
    expect_nothing_left();
    BOOST_TEST(waiting.check("a") == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_exception_at_the_deadline_leaves_run_and_the_operation_times_out,
                        polling) {
    waiting.async_wait(
        "a", 10s,
        [](attempt which) -> maybe {
            if (which == attempt::last) {
                throw std::runtime_error("last");
            }
            return std::nullopt;
        },
        note());
    BOOST_TEST(message_of<std::runtime_error>([&] { pass(10s); }) == "last");
    BOOST_TEST(told() == "late");
    expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(a_function_that_forces_its_own_operation_and_throws_ends_it, polling) {
    bool fail = false;
    const auto function = [&]() -> maybe {
        if (fail) {
            waiting.force("a");
            throw std::runtime_error("forced");
        }
        return std::nullopt;
    };
    waiting.async_wait("a", 10s, function, note());
    fail = true;
    BOOST_TEST(message_of<std::runtime_error>([&] { waiting.check("a"); }) == "forced");
    expect_nothing_left();
    BOOST_TEST(told() == "late");
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_throws_leaves_run_and_others_are_not_affected, polling) {
    waiting.async_wait("a", 10s, at_least(1),
                       [](error_code, int) { throw std::runtime_error("x"); });
    waiting.async_wait("a", 10s, at_least(1), note());
    append("a", 1);
    BOOST_TEST(waiting.check("a") == 2U);
    BOOST_TEST(message_of<std::runtime_error>([&] { poll(); }) == "x");
    BOOST_TEST(told() == "1");
}

BOOST_FIXTURE_TEST_CASE(a_result_that_can_not_be_moved_ends_its_handler_uncalled, polling) {
    struct heavy {
        int moves = 0;
        heavy() = default;
        heavy(heavy&& other) : moves(other.moves + 1) {
            if (moves == limit()) {
                throw std::runtime_error("too heavy");
            }
        }
        static int& limit() {
            static int n = 0;
            return n;
        }
    };
    delayed_operations<int, heavy> objects(ctx);
    const auto handler = std::make_shared<int>();
    const auto start = [&](int limit) {
        heavy::limit() = limit;
        objects.async_wait(
            1, 10s, [] { return std::optional<heavy>(std::in_place); },
            [handler](error_code, const heavy&) { BOOST_TEST(false); });
    };
    BOOST_TEST(message_of<std::runtime_error>([&] { start(1); }) == "too heavy");
    poll();
    BOOST_TEST(handler.use_count() == 1);
    start(2);
    BOOST_TEST(message_of<std::runtime_error>([&] { poll(); }) == "too heavy");
    BOOST_TEST(handler.use_count() == 1);
    BOOST_TEST(objects.pending() == 0U);
}

// ---- Lifetimes

BOOST_FIXTURE_TEST_CASE(an_object_moves_while_operations_wait, polling) {
    operations other(ctx);
    asio::cancellation_signal signal;
    waiting.async_wait("a", 10s, at_least(1), note("1:"));
    waiting.async_wait("b", 10s, never, asio::bind_cancellation_slot(signal.slot(), note("2:")));
    other.async_wait("a", 10s, never, note("3:"));
    other = std::move(waiting);
    BOOST_TEST(told() == "3:!");
    BOOST_TEST(waiting.cancel() == 0U);
    BOOST_TEST(waiting.cancel("a") == 0U);
    signal.emit(asio::cancellation_type::total);
    append("a", 1);
    BOOST_TEST(other.check("a") == 1U);
    BOOST_TEST(told() == "2:! 1:1");
    operations third(std::move(other));
    third.async_wait("a", 10s, never, note("4:"));
    BOOST_TEST(third.pending() == 1U);
    pass(10s);
    BOOST_TEST(told() == "4:late");
    other = std::move(third); // One that was moved from can be assigned to.
    BOOST_TEST(other.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(what_waits_when_the_context_ends_is_destroyed_without_a_call) {
    const auto handler = std::make_shared<int>();
    const auto note = [handler](error_code, int) { BOOST_TEST(false); };
    auto ctx = std::make_unique<asio::io_context>();
    asio_wheel::use_wheel(*ctx).pause();
    operations waiting(*ctx);
    asio::cancellation_signal signal;
    waiting.async_wait({"a", "b"}, 10s, never, asio::bind_cancellation_slot(signal.slot(), note));
    waiting.async_wait({"b"}, 0s, never, note);
    waiting.async_wait({"c"}, 10s, [] { return maybe(1); }, note);
    waiting.async_wait({"c"}, 10s, never, asio::bind_executor(asio::make_strand(*ctx), note));
    waiting.cancel("c");
    BOOST_TEST(waiting.pending() == 2U);
    BOOST_TEST(handler.use_count() == 6);
    ctx.reset();
    BOOST_TEST(handler.use_count() == 2);
    BOOST_TEST(waiting.pending() == 0U);
    BOOST_TEST(waiting.watched() == 0U);
    BOOST_TEST(waiting.check("a") == 0U);
    BOOST_TEST(waiting.cancel() == 0U);
    signal.emit(asio::cancellation_type::total);
}

BOOST_AUTO_TEST_CASE(handlers_may_own_the_object_when_the_context_ends) {
    auto ctx = std::make_unique<asio::io_context>();
    asio_wheel::use_wheel(*ctx).pause();
    auto waiting = std::make_shared<operations>(*ctx);
    const std::weak_ptr<operations> watched = waiting;
    for (int i = 0; i < 3; ++i) {
        waiting->async_wait({"a", "b"}, 10s, never, [waiting](error_code, int) {});
    }
    waiting.reset();
    BOOST_TEST(!watched.expired());
    ctx.reset();
    BOOST_TEST(watched.expired());
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_destroy_the_object_and_start_operations, polling) {
    auto own = std::make_unique<operations>(ctx);
    own->async_wait("a", 10s, at_least(1), [&](error_code ec, int n) {
        note("1:")(ec, n);
        own->async_wait("b", 10s, never, note("2:"));
        own.reset();
    });
    append("a", 1);
    own->check("a");
    BOOST_TEST(told() == "1:1 2:!");
}

BOOST_AUTO_TEST_SUITE_END()
