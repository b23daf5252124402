// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: without_caches

// Delay queues while each allocation and each move of a handler or a value fails once.

#include "support/each.hpp"
#include "support/failing.hpp"
#include "support/names.hpp"

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/counting_allocator.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace {

using namespace asio_wheel::test;
using enum failing;

template <class Executor>
using queue_on = asio_wheel::basic_delay_queue<value, world_clock, Executor>;
using queue = queue_on<asio::any_io_executor>;

constexpr auto closed = asio_wheel::error::queue_closed;

// The values that were pushed, and those that were taken.
class ledger {
public:
    explicit ledger(world& w) : world_(w) {}

    // Pushes value number `n`. Returns false if there was no memory.
    template <class Queue>
    bool push(Queue& q, std::size_t n, std::chrono::nanoseconds delay) {
        value v(n);
        try {
            world_.call([&] {
                try {
                    keys_[n] = q.push(delay, std::move(v));
                } catch (...) {
                    world_.check(v == n, "a push has thrown, but the value is gone");
                    throw;
                }
            });
        } catch (const std::bad_alloc&) {
            return false;
        }
        in_.set(n);
        return true;
    }

    [[nodiscard]] bool is_in(std::size_t n) const { return in_[n]; }
    [[nodiscard]] const queue::key& key(std::size_t n) const { return keys_[n]; }

    template <class Queue>
    outcome& pop(Queue& q, const error_code& ec = success) {
        outcome& o = world_.expect(ec);
        world_.start(o, [&](auto h) { q.async_pop(std::move(h)); });
        return took(o);
    }

    // `o` belongs to a pop. If its value cannot be moved, the pop fails, and the value stays.
    outcome& took(outcome& o) {
        if (world_.what() == one_move) {
            o.otherwise = make_error_code(boost::system::errc::operation_not_supported);
        }
        pops_[count_++] = &o;
        return o;
    }
    void took(const std::optional<value>& v) {
        if (v) {
            out(*v);
        }
    }

    // The pending pops should end with `ec`.
    void give_up(const error_code& ec) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (pops_[i]->waits()) {
                pops_[i]->expected = ec;
            }
        }
    }

    // Each pushed value was taken once, or is still there.
    template <class Queue>
    void close(const Queue& q) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (pops_[i]->calls != 0 && !pops_[i]->ec) {
                out(pops_[i]->more);
            }
        }
        q.for_each([&](const auto&, const value& v, const auto&) { out(v); });
        const std::size_t lost = in_.count() - out_.count();
        world_.check(lost <= moves.failed_in_run, "a value is lost");
    }

private:
    void out(std::size_t n) {
        world_.check(n < in_.size() && in_[n], "a value comes out that was not put in");
        world_.check(n >= out_.size() || !out_[n], "a value comes out twice");
        if (n < out_.size()) {
            out_.set(n);
        }
    }

    world& world_;
    std::bitset<32> in_, out_;
    std::array<queue::key, 32> keys_{};
    std::array<outcome*, 32> pops_{};
    std::size_t count_ = 0;
};

// Runs a scenario of a queue on the world's context, once for each failure.
template <class Scenario>
void each_failure_of_a_queue(Scenario scenario) {
    each_failure([&](world& w) {
        queue q = w.call([&] { return queue(w.ctx()); });
        ledger all(w);
        scenario(w, q, all);
        w.run();
        all.close(q);
    });
}

// Time passes, there is memory again, and the queue ends.
template <class Queue>
void end_with_memory(world& w, Queue& q, ledger& all) {
    w.pass(5);
    w.end_shortage();
    w.pass(1);
    all.give_up(aborted);
    q.cancel();
    w.run();
    all.close(q);
}

} // namespace

BOOST_AUTO_TEST_SUITE(failing_queue)

// ---- Values

FAILING_TEST_CASE(pushing_and_taking) {
    queue q = w.call([&] { return queue(w.ctx()); });
    ledger all(w);
    for (std::size_t n = 1; n < 20; ++n) {
        all.push(q, n, (n % 3) * 1ms - 1ms);
    }
    w.pass(3);
    const std::size_t size = q.size();
    for (std::size_t left = size; left != 0; --left) {
        all.took(w.call([&] { return q.try_pop(); }));
    }
    w.check(q.empty(), "a queue is not empty");
    all.close(q);
}

FAILING_TEST_CASE(pushing_a_copy) {
    queue q = w.call([&] { return queue(w.ctx()); });
    const value v(1);
    w.call([&] { return q.push(1ms, v); });
    w.call([&] { return q.push_at(world_clock::now() + 1ms, v); });
    w.check(q.size() == 2, "a value is lost");
    w.check(v == 1, "a value is gone that was copied");
}

FAILING_TEST_CASE(erasing_and_moving) {
    queue q = w.call([&] { return queue(w.ctx()); });
    ledger all(w);
    for (std::size_t n = 1; n < 6; ++n) {
        all.push(q, n, n * 1ms);
    }
    w.pass(2);
    if (all.is_in(1)) { // It is due,
        all.took(w.call([&] { return q.erase(all.key(1)); }));
        w.check(!q.erase(all.key(1)), "a value is erased twice");
    }
    if (all.is_in(4)) { // or not.
        all.took(w.call([&] { return q.erase(all.key(4)); }));
    }
    if (all.is_in(5)) {
        w.check(w.call([&] { return q.postpone(all.key(5), -1ms); }), "a value is gone");
        const value* const first = w.call([&] { return q.peek(); });
        w.check(first != nullptr && *first == 5, "peek() shows the wrong value");
    }
    w.check(q.empty() || w.call([&] { return q.peek_expiry(); }).has_value(),
            "a queue has values but no expiry");
    all.took(w.call([&] { return q.try_pop(); }));
    all.close(q);
    w.call([&] { q.clear(); });
    w.check(q.empty() && value::live == 0, "clear() leaves values");
}

FAILING_TEST_CASE(a_push_that_is_refused) {
    queue q = w.call([&] { return queue(w.ctx(), {.max_pending = 1}); });
    w.call([&] { return q.push(1ms, value(1)); });
    const auto refusal = [&] {
        return w.call([&]() -> error_code {
            try {
                q.push(1ms, value(2));
            } catch (const boost::system::system_error& e) {
                return e.code();
            }
            return success;
        });
    };
    w.check(refusal() == asio_wheel::error::queue_full, "a full queue takes a value");
    q.close();
    w.check(refusal() == closed, "a closed queue takes a value");
    w.check(q.size() == 1, "a value is lost");
}

// ---- Pops

TEST_CASE_FOR_EACH(a_pop_that_waits, each_failure_of_a_queue, world&, queue& q, ledger& all) {
    all.push(q, 1, 3ms);
    all.push(q, 2, 5ms);
    if (all.is_in(1) && all.is_in(2)) {
        all.pop(q);
        all.pop(q);
    }
}

TEST_CASE_FOR_EACH(a_pop_of_what_is_there, each_failure_of_a_queue, world&, queue& q, ledger& all) {
    all.push(q, 1, -3ms);
    all.push(q, 2, -3ms);
    if (all.is_in(1) && all.is_in(2)) {
        all.pop(q);
        all.pop(q);
    }
}

TEST_CASE_FOR_EACH(a_push_for_a_pop_that_waits, each_failure_of_a_queue, world& w, queue& q,
                   ledger& all) {
    all.pop(q);
    all.pop(q);
    all.pop(q);
    all.push(q, 1, 9ms);
    all.push(q, 2, 3ms); // Earlier.
    w.pass(1);
    all.push(q, 3, -1ms);
    all.push(q, 4, 2ms);
    w.pass(12);
    all.give_up(aborted); // Some values may not have been accepted.
    q.cancel();
}

TEST_CASE_FOR_EACH(many_pops_at_once, each_failure_of_a_queue, world& w, queue& q, ledger& all) {
    for (std::size_t n = 1; n < 8; ++n) {
        all.pop(q);
    }
    for (std::size_t n = 1; n < 7; ++n) {
        all.push(q, n, 3ms);
    }
    w.pass(5);
    w.check(q.empty() || moves.failed_in_run != 0, "pops leave values that are due");
    all.give_up(aborted);
    q.cancel();
}

TEST_CASE_FOR_EACH(moving_what_is_waited_for, each_failure_of_a_queue, world& w, queue& q,
                   ledger& all) {
    all.pop(q);
    all.push(q, 1, 3ms);
    all.push(q, 2, 9ms);
    w.pass(1);
    if (all.is_in(1)) {
        w.check(w.call([&] { return q.postpone(all.key(1), 20ms); }), "a value is gone");
    }
    if (all.is_in(2)) {
        w.check(w.call([&] { return q.postpone(all.key(2), 1ms); }), "a value is gone");
    }
    w.pass(30);
    all.give_up(aborted);
    q.cancel();
}

BOOST_AUTO_TEST_CASE(pops_with_an_allocator) {
    allocations count;
    each_failure_of_a_queue([&](world& w, queue& q, ledger& all) {
        w.start(all.took(w.expect()), [&](auto h) {
            q.async_pop(asio::bind_allocator(counting_allocator<>(count), std::move(h)));
        });
        all.push(q, 1, 3ms);
        w.pass(5);
        all.give_up(aborted);
        q.cancel();
    });
    BOOST_TEST(count.live == 0U);
}

FAILING_TEST_CASE(pops_of_a_strand) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    queue_on<reliable_strand> q = w.call([&] { return queue_on<reliable_strand>(strand); });
    ledger all(w);
    all.pop(q);
    all.pop(q);
    all.push(q, 1, 3ms);
    all.push(q, 2, 3ms);
    end_with_memory(w, q, all);
}

FAILING_TEST_CASE(pops_bound_to_other_executors) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    auto& other = w.other();
    queue q = w.call([&] { return queue(w.ctx()); });
    ledger all(w);
    w.start(all.took(w.expect()),
            [&](auto h) { q.async_pop(asio::bind_executor(strand, std::move(h))); });
    w.start(all.took(w.expect()),
            [&](auto h) { q.async_pop(asio::bind_executor(other, std::move(h))); });
    all.push(q, 1, 3ms);
    all.push(q, 2, 3ms);
    end_with_memory(w, q, all);
}

FAILING_TEST_CASE(pops_on_a_hidden_strand) {
    w.ends_without_memory = false;
    const auto strand = w.prepare([&] { return asio::make_strand(w.ctx()); });
    queue q = w.call([&] { return queue(strand); });
    ledger all(w);
    all.pop(q);
    all.push(q, 1, 3ms);
    end_with_memory(w, q, all);
}

// ---- The ends of a pop

FAILING_TEST_CASE(a_pop_that_is_cancelled) {
    asio::cancellation_signal signal;
    queue q = w.call([&] { return queue(w.ctx()); });
    ledger all(w);
    outcome& o = all.took(w.expect(aborted));
    w.start(
        o, [&](auto h) { q.async_pop(asio::bind_cancellation_slot(signal.slot(), std::move(h))); });
    all.pop(q);
    all.push(q, 1, 3ms);
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.poll();
    w.check(!o.waits(), "a signal does not end a pop");
    w.pass(5);
    all.give_up(aborted);
    w.check(q.cancel() <= 1, "cancel() miscounts");
    w.run();
    all.close(q);
}

TEST_CASE_FOR_EACH(pops_when_the_queue_is_closed, each_failure_of_a_queue, world& w, queue& q,
                   ledger& all) {
    all.pop(q);
    outcome& second = all.pop(q, closed); // There is at most one value.
    if (w.what() == one_move) {
        second.or_else = success; // It gets the value that cannot be moved into the first one.
    }
    all.push(q, 1, 3ms);
    w.pass(1);
    if (!all.is_in(1)) {
        all.give_up(closed);
    }
    q.close();
    w.pass(5);
    if (q.empty()) {
        all.pop(q, closed);
    }
}

TEST_CASE_FOR_EACH(pops_when_a_closed_queue_is_cleared, each_failure_of_a_queue, world& w, queue& q,
                   ledger& all) {
    all.pop(q);
    w.call([&] { return q.push(30ms, value(1)); });
    w.pass(1);
    q.close();
    all.give_up(closed);
    q.clear();
}

FAILING_TEST_CASE(pops_when_the_queue_ends) {
    {
        queue q = w.call([&] { return queue(w.ctx()); });
        for (int i = 0; i < 3; ++i) {
            w.start(w.expect(aborted), [&](auto h) { q.async_pop(std::move(h)); });
        }
        w.call([&] { return q.push(30ms, value(1)); });
        w.pass(1);
    }
    w.run();
}

FAILING_TEST_CASE(pops_when_the_context_ends) {
    queue q = w.call([&] { return queue(w.ctx()); });
    const auto pop = [&](auto h) { q.async_pop(std::move(h)); };
    w.start(w.expect(), pop);
    w.start(w.expect(), pop);
    w.call([&] { return q.push(30ms, value(1)); });
    w.pass(1);
    w.end_context();
}

TEST_CASE_FOR_EACH(pops_when_the_wheel_is_drained, each_failure_of_a_queue, world& w, queue& q,
                   ledger& all) {
    all.pop(q, asio_wheel::error::wheel_stopped);
    all.pop(q, asio_wheel::error::wheel_stopped);
    all.push(q, 1, 30ms);
    w.pass(1);
    w.prepare([&] { return asio_wheel::use_wheel<world_clock>(w.ctx()).drain(); });
}

TEST_CASE_FOR_EACH(pops_with_deadlines, each_failure_of_a_queue, world& w, queue& q, ledger& all) {
    const auto start = [&](const error_code& ec) -> outcome& {
        outcome& o = all.took(w.expect(ec));
        if (w.what() != one_move) {
            o.otherwise = no_memory;
        }
        w.start(o, [&](auto h) {
            q.async_pop(asio_wheel::timeout_at(world_clock::now() + 5ms, std::move(h)));
        });
        return o;
    };
    start(success);
    start(asio_wheel::error::timed_out).or_else = success; // If the first one has failed.
    all.push(q, 1, 3ms);
    w.pass(4);
    all.give_up(asio_wheel::error::timed_out);
}

BOOST_AUTO_TEST_SUITE_END()
