// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: without_caches

// Delayed operations, when each allocation and each move of a handler or a result fails once.

#include "support/each.hpp"
#include "support/failing.hpp"

#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/error.hpp>

#include "support/counting_allocator.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;

template <class Executor>
using operations_on = asio_wheel::basic_delayed_operations<int, std::size_t, world_clock, Executor>;
using operations = operations_on<asio::any_io_executor>;

constexpr auto late = asio_wheel::error::timed_out;

// What operations wait for. Once it is there, each gets a number of its own.
struct supply {
    bool is_there = false;
    std::size_t given = 0;

    [[nodiscard]] auto taker() {
        return [this]() -> std::optional<std::size_t> {
            return is_there ? std::optional(++given) : std::nullopt;
        };
    }
};

// The results that were given are those that handlers got. None is lost.
void close(world& w, const supply& s, std::initializer_list<const outcome*> all) {
    std::size_t got = 0;
    for (const outcome* const o : all) {
        got += o->calls != 0 && !o->ec ? 1 : 0;
    }
    w.check(s.given - got <= moves.failed_in_run, "a result is lost");
}

template <class Operations>
outcome& start(world& w, Operations& ops, supply& s, int key, const error_code& ec = success) {
    outcome& o = w.expect(ec);
    w.start(o, [&](auto h) { ops.async_wait({key, key + 1}, 9ms, s.taker(), std::move(h)); });
    return o;
}

// Runs a scenario of operations on the world's context, once for each failure.
template <class Scenario>
void each_failure_of_operations(Scenario scenario) {
    each_failure([&](world& w) {
        supply s;
        operations ops = w.call([&] { return operations(w.ctx()); });
        scenario(w, ops, s);
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(failing_delayed_operations)

FAILING_TEST_CASE(what_can_complete_at_the_start) {
    supply s{.is_there = true};
    operations ops = w.call([&] { return operations(w.ctx()); });
    outcome& a = start(w, ops, s, 1);
    outcome& b = start(w, ops, s, 2);
    w.check(s.given == (a.accepted ? 1U : 0U) + (b.accepted ? 1U : 0U),
            "a function is called for an operation that does not start");
    w.run();
    w.check(ops.pending() == 0 && ops.watched() == 0 && ops.keys() == 0, "something is left");
    close(w, s, {&a, &b});
}

TEST_CASE_FOR_EACH(what_a_check_completes, each_failure_of_operations, world& w, operations& ops,
                   supply& s) {
    outcome& a = start(w, ops, s, 1);
    outcome& b = start(w, ops, s, 1);
    outcome& c = start(w, ops, s, 2);
    w.check(ops.watched() == 2 * ops.pending(), "an operation that has not started is watched");
    w.pass(1);
    s.is_there = true;
    const std::size_t waiting = ops.pending();
    w.check(ops.check(2) == waiting, "a check does not complete what waits");
    w.run();
    w.check(ops.pending() == 0 && ops.watched() == 0 && ops.keys() == 0, "something is left");
    close(w, s, {&a, &b, &c});
}

TEST_CASE_FOR_EACH(deadlines, each_failure_of_operations, world& w, operations& ops, supply& s) {
    start(w, ops, s, 1, late);
    start(w, ops, s, 2, late);
    w.run();
    w.check(ops.pending() == 0 && ops.watched() == 0 && ops.keys() == 0, "something is left");
}

TEST_CASE_FOR_EACH(what_is_forced, each_failure_of_operations, world& w, operations& ops,
                   supply& s) {
    start(w, ops, s, 1, late);
    start(w, ops, s, 2, late);
    w.pass(1);
    const std::size_t waiting = ops.pending();
    w.check(ops.force() == waiting, "what is forced does not complete");
    w.run();
}

TEST_CASE_FOR_EACH(many_keys, each_failure_of_operations, world& w, operations& ops, supply& s) {
    for (int key = 0; key < 30; key += 2) { // More than there are buckets at first.
        start(w, ops, s, key, aborted);
    }
    w.check(ops.keys() == ops.watched(), "keys are left");
    w.pass(1);
    const std::size_t waiting = ops.pending();
    w.check(ops.cancel() == waiting, "cancel() miscounts");
    w.check(ops.keys() == 0, "a key is left");
    w.run();
}

BOOST_AUTO_TEST_CASE(operations_with_an_allocator) {
    allocations count;
    each_failure([&](world& w) {
        supply s;
        operations ops = w.call([&] { return operations(w.ctx()); });
        w.start(w.expect(late), [&](auto h) {
            ops.async_wait({1, 2}, 3ms, s.taker(),
                           asio::bind_allocator(counting_allocator<>(count), std::move(h)));
        });
        w.run();
    });
    BOOST_TEST(count.live == 0U);
}

FAILING_TEST_CASE(operations_of_a_strand) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    supply s;
    using type = operations_on<reliable_strand>;
    type ops = w.call([&] { return type(strand); });
    outcome& a = start(w, ops, s, 1);
    outcome& b = start(w, ops, s, 7, late);
    w.pass(1);
    s.is_there = true;
    ops.check(1);
    s.is_there = false;
    w.run();
    close(w, s, {&a, &b});
}

FAILING_TEST_CASE(operations_bound_to_other_executors) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    auto& other = w.other();
    supply s;
    operations ops = w.call([&] { return operations(w.ctx()); });
    outcome& a = w.expect();
    outcome& b = w.expect(late);
    w.start(a, [&](auto h) {
        ops.async_wait({1}, 9ms, s.taker(), asio::bind_executor(strand, std::move(h)));
    });
    w.start(b, [&](auto h) {
        ops.async_wait({2}, 9ms, s.taker(), asio::bind_executor(other, std::move(h)));
    });
    w.pass(1);
    s.is_there = true;
    ops.check(1);
    s.is_there = false;
    w.run();
    close(w, s, {&a, &b});
}

FAILING_TEST_CASE(operations_on_a_hidden_strand) {
    w.ends_without_memory = false;
    const auto strand = w.prepare([&] { return asio::make_strand(w.ctx()); });
    supply s;
    operations ops = w.call([&] { return operations(strand); });
    start(w, ops, s, 1, late);
    start(w, ops, s, 1, late);
    w.run();
}

FAILING_TEST_CASE(what_is_cancelled) {
    asio::cancellation_signal signal;
    supply s;
    operations ops = w.call([&] { return operations(w.ctx()); });
    outcome& o = w.expect(aborted);
    w.start(o, [&](auto h) {
        ops.async_wait({1, 2}, 9ms, s.taker(),
                       asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    });
    start(w, ops, s, 1, aborted);
    start(w, ops, s, 5, late);
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.poll();
    w.check(!o.waits(), "a signal does not end an operation");
    w.check(ops.cancel(2) <= 1, "cancel() miscounts");
    w.run();
}

FAILING_TEST_CASE(operations_when_their_object_ends) {
    supply s;
    {
        operations ops = w.call([&] { return operations(w.ctx()); });
        for (int key = 0; key < 3; ++key) {
            start(w, ops, s, key, aborted);
        }
        w.pass(1);
    }
    w.run();
}

TEST_CASE_FOR_EACH(operations_when_the_context_ends, each_failure_of_operations, world& w,
                   operations& ops, supply& s) {
    for (int key = 0; key < 3; ++key) {
        start(w, ops, s, key);
    }
    w.pass(1);
    w.end_context();
    w.check(ops.pending() == 0 && ops.keys() == 0, "something is left");
}

FAILING_TEST_CASE(results_that_can_not_be_moved) {
    using type = asio_wheel::basic_delayed_operations<int, value, world_clock>;
    type ops = w.call([&] { return type(w.ctx()); });
    bool is_there = false;
    const auto function = [&]() -> std::optional<value> {
        return is_there ? std::optional<value>(std::in_place, 1) : std::nullopt;
    };
    outcome& o = w.expect();
    w.start(o, [&](auto h) { ops.async_wait({1}, 9ms, function, std::move(h)); });
    w.pass(1);
    is_there = true;
    w.call([&] { return ops.check(1); }); // If a move fails there, it goes on waiting.
    w.run();
}

BOOST_AUTO_TEST_SUITE_END()
