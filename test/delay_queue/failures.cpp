// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Delay queues whose values, handlers and executors throw: only one pop fails, with an error. Also,
// how much is done in one turn.

#include <asio_wheel/delay_queue.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/errc.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::basic_delay_queue;
using asio_wheel::delay_queue;

// Records the results of pops: a number, or an error.
struct noting : virtual_world {

    void add(const std::string& what) { log.text += (log.text.empty() ? "" : " ") + what; }

    // Exceptions that leave the context are recorded too.
    void run_all() {
        for (bool more = true; more;) {
            more = false;
            try {
                poll();
            } catch (const std::exception& e) {
                add(std::string("thrown: ") + e.what());
                more = true;
            }
        }
    }
};

// Throws when it is moved for the n-th time from now on, if requested.
class fragile {
public:
    enum class what { memory, other };

    fragile() = default;
    explicit fragile(int n) : number(n) {}
    fragile(fragile&& other) : number(other.number), moves_(other.moves_), why_(other.why_) {
        if (moves_ != nullptr && --*moves_ == 0) {
            why_ == what::memory ? throw std::bad_alloc() : throw std::runtime_error("fragile");
        }
        other.number = -1;
        other.moves_ = nullptr;
    }
    fragile& operator=(fragile&&) = delete;

    [[nodiscard]] static fragile that_breaks(int n, int& moves, what why) {
        fragile f(n);
        f.moves_ = &moves;
        f.why_ = why;
        return f;
    }

    int number = 0;

private:
    int* moves_ = nullptr; // The number of moves that are left.
    what why_ = what::other;
};

// How an executor fails.
struct whims {
    int failures = 0; // How many times,
    bool memory = true;
    int executed = 0;
};

// An executor like an io_context's that can fail. Asio does not recognise it as the context's own.
template <class Inner = asio::io_context::executor_type>
class whimsical_executor {
public:
    whimsical_executor(whims& w, const Inner& inner) : inner_(inner), whims_(&w) {}

    template <class Function>
    void execute(Function function) const {
        if (whims_->failures > 0) {
            --whims_->failures;
            whims_->memory ? throw std::bad_alloc() : throw std::runtime_error("whim");
        }
        ++whims_->executed;
        inner_.execute(std::move(function));
    }

    template <class Property>
        requires asio::can_query_v<const Inner&, Property>
    [[nodiscard]] decltype(auto) query(const Property& p) const {
        return asio::query(inner_, p);
    }
    template <class Property>
        requires asio::can_require_v<const Inner&, Property>
    [[nodiscard]] auto require(const Property& p) const {
        using other = std::decay_t<decltype(asio::require(inner_, p))>;
        return whimsical_executor<other>(*whims_, asio::require(inner_, p));
    }

    friend bool operator==(const whimsical_executor& a, const whimsical_executor& b) noexcept {
        return a.whims_ == b.whims_ && a.inner_ == b.inner_;
    }
    friend bool operator!=(const whimsical_executor& a, const whimsical_executor& b) noexcept {
        return !(a == b);
    }

private:
    Inner inner_;
    whims* whims_;
};

// Its destructor uses the queue, also that of what was moved from.
struct acting {
    acting() = default;
    explicit acting(int n) : number(n) {}
    acting(const acting& other) : number(other.number) {}
    acting& operator=(const acting&) = delete;
    ~acting() {
        if (act) {
            act();
        }
    }

    int number = 0;
    std::function<void()> act;
};

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_failures, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_value_that_cannot_be_moved_fails_one_pop_and_stays, noting) {
    const auto note = [this](error_code ec, const fragile& value) {
        add(!ec                                            ? std::to_string(value.number)
            : ec == boost::system::errc::not_enough_memory ? "m"
                                                           : "x");
        BOOST_TEST((!ec || ec == boost::system::errc::not_enough_memory ||
                    ec == boost::system::errc::operation_not_supported));
    };
    for (const auto why : {fragile::what::memory, fragile::what::other}) {
        const std::string failed = why == fragile::what::memory ? "m" : "x";
        delay_queue<fragile> queue(ctx);
        int moves = 0;
        queue.push(1s, fragile::that_breaks(1, moves, why));
        queue.push(1s, fragile(2));
        queue.push(2s, fragile(3));
        queue.async_pop(note);
        queue.async_pop(note);
        moves = 1;
        BOOST_TEST(log_after(1s) == failed + " 2"); // The other pop gets the next value.
        BOOST_TEST(queue.size() == 2U);
        BOOST_TEST_REQUIRE(queue.peek() != nullptr); // It is still the first one.
        BOOST_TEST(queue.peek()->number == 1);
        queue.async_pop(note);
        BOOST_TEST(log_now() == "1");
        pass(1s);
        // The same for a pop that finds the element due.
        moves = 0;
        queue.push(-1h, fragile::that_breaks(0, moves, why));
        moves = 1;
        queue.async_pop(note);
        queue.async_pop(note);
        BOOST_TEST(log_now() == failed + " 0");
        queue.async_pop(note);
        BOOST_TEST(log_now() == "3");
        // As long as it cannot be moved, each pop for it fails.
        moves = 0;
        queue.push(1s, fragile::that_breaks(4, moves, why));
        for (int i = 0; i < 3; ++i) {
            queue.async_pop([&, i](error_code ec, const fragile&) {
                add(ec == asio_wheel::error::queue_closed ? "closed" : failed);
                moves = 1;
                if (i == 1) {
                    queue.clear();
                }
            });
        }
        queue.close();
        moves = 1;
        BOOST_TEST(log_after(1s) == failed + " " + failed + " closed");
    }
}

// After that, the handler owns it.
BOOST_FIXTURE_TEST_CASE(a_value_that_cannot_be_moved_to_its_handler_leaves_run, noting) {
    const auto strand = asio::make_strand(ctx);
    asio::io_context other;
    const auto alive = std::make_shared<int>();
    const auto note = [this, alive](error_code ec, const fragile& value) {
        add(ec ? "?" : std::to_string(value.number));
    };
    const auto check = [&](const auto& ex, asio::io_context& where) {
        const auto copies = alive.use_count();
        delay_queue<fragile> queue(ctx);
        int moves = 0;
        queue.push(1s, fragile::that_breaks(1, moves, fragile::what::other));
        queue.push(1s, fragile(2));
        queue.push(1s, fragile(3));
        moves = 2;
        for (int i = 0; i < 3; ++i) {
            queue.async_pop(asio::bind_executor(ex, note));
        }
        elapse(1s);
        run_all();
        for (bool more = true; more;) {
            more = false;
            try {
                where.restart();
                where.poll();
            } catch (const std::runtime_error& e) {
                add(std::string("thrown: ") + e.what());
                more = true;
            }
        }
        BOOST_TEST(take_log() == "thrown: fragile 2 3");
        BOOST_TEST(queue.empty());
        BOOST_TEST(alive.use_count() == copies);
    };
    check(ctx.get_executor(), ctx);
    check(strand, ctx);
    check(other.get_executor(), other);
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_throws_leaves_run_and_other_pops_go_on, noting) {
    const auto check = [this](delay_queue<int>& queue) {
        for (int i = 0; i < 3; ++i) {
            queue.async_pop([this](error_code, int value) {
                value == 2 ? throw std::runtime_error("two") : add(std::to_string(value));
            });
        }
        for (const int i : {1, 2, 3}) {
            queue.push(1s, i);
        }
        elapse(1s);
        run_all();
        BOOST_TEST(take_log() == "1 thrown: two 3");
    };
    delay_queue<int> on_context(ctx);
    check(on_context);
    delay_queue<int> on_strand(asio::make_strand(ctx));
    check(on_strand);
}

BOOST_FIXTURE_TEST_CASE(a_pop_is_sent_again_while_its_executor_has_no_memory, noting) {
    whims w;
    const whimsical_executor<> ex(w, ctx.get_executor());
    const auto note = [this](error_code ec, int value) {
        add(ec == aborted ? "!" : std::to_string(value));
    };
    delay_queue<int> queue(ctx);
    for (int i = 0; i < 3; ++i) {
        queue.async_pop(asio::bind_executor(ex, note));
        queue.push(i * 1ns, i);
    }
    w.failures = 7;
    pass(1s);
    auto order = take_log();
    std::sort(order.begin(), order.end());
    BOOST_TEST(order == "  012"); // All of them, once.
    BOOST_TEST(w.failures == 0);
    BOOST_TEST(w.executed == 3);
    // The same when the queue is destroyed.
    queue.async_pop(asio::bind_executor(ex, note));
    w.failures = 2;
    queue.cancel();
    BOOST_TEST(log_now() == "!");
}

// The queue itself uses an executor that fails.
BOOST_FIXTURE_TEST_CASE(a_queue_goes_on_when_its_executor_has_memory_again, noting) {
    whims w;
    basic_delay_queue<int, std::chrono::steady_clock, whimsical_executor<>> queue(
        whimsical_executor<>(w, ctx.get_executor()));
    for (int i = 0; i < 3; ++i) {
        queue.async_pop([this](error_code, int value) { add(std::to_string(value)); });
    }
    w.failures = 4;
    for (const int i : {1, 2, 3}) {
        queue.push(0s, i);
    }
    BOOST_TEST(log_now() == "1 2 3");
    BOOST_TEST(w.failures == 0);
}

BOOST_FIXTURE_TEST_CASE(what_an_executor_throws_leaves_run_and_fails_one_pop, noting) {
    whims w;
    w.memory = false;
    const auto alive = std::make_shared<int>();
    delay_queue<int> queue(ctx);
    for (int i = 0; i < 3; ++i) {
        queue.async_pop(asio::bind_executor(
            whimsical_executor<>(w, ctx.get_executor()),
            [this, alive](error_code, int value) { add(std::to_string(value)); }));
        queue.push(0s, i);
    }
    w.failures = 1;
    run_all();
    BOOST_TEST(take_log() == "thrown: whim 1 2");
    BOOST_TEST(alive.use_count() == 1); // No handler is left.
}

// Each completion is a turn of its own, on a strand too, and they come in order.
BOOST_FIXTURE_TEST_CASE(pops_of_a_strand_complete_one_by_one_in_order, noting) {
    const auto strand = asio::make_strand(ctx);
    for (const bool bound : {false, true}) {
        delay_queue<int> queue(strand);
        const auto note = [&](error_code, int value) {
            BOOST_TEST(strand.running_in_this_thread());
            add(std::to_string(value));
        };
        for (int i = 1; i <= 3; ++i) {
            if (bound) {
                queue.async_pop(asio::bind_executor(strand, note));
            } else {
                queue.async_pop(note);
            }
            queue.push(0s, i);
        }
        ctx.restart();
        for (std::string expected : {"1", "2", "3"}) {
            while (log.text.empty() && ctx.poll_one() != 0) {
            }
            BOOST_TEST(take_log() == expected);
        }
        poll();
    }
}

// A completion that has not arrived is destroyed with its context, and with the strand's.
BOOST_AUTO_TEST_CASE(pops_on_their_way_to_an_executor_end_with_its_context) {
    const auto alive = std::make_shared<int>();
    constexpr std::size_t all = 8;
    for (std::size_t turns = 0; turns <= all; ++turns) {
        std::optional<asio::io_context> other(std::in_place);
        std::optional<asio::io_context> ctx(std::in_place);
        std::optional<delay_queue<int>> queue(std::in_place, asio::make_strand(*ctx));
        for (int i = 0; i < 4; ++i) {
            queue->push(0s, i);
            const auto handler = [alive](error_code, int) {};
            switch (i) {
            case 0:
            case 1:
                queue->async_pop(handler);
                break;
            case 2:
                queue->async_pop(asio::bind_executor(asio::make_strand(*ctx), handler));
                break;
            default:
                queue->async_pop(asio::bind_executor(asio::make_strand(*other), handler));
            }
        }
        for (std::size_t i = 0; i < turns; ++i) {
            ctx->poll_one();
        }
        queue.reset();
        if (turns == all) { // One of them is queued there.
            BOOST_TEST(ctx->poll() == 0U);
            BOOST_TEST(alive.use_count() == 2);
            other.reset();
        }
        ctx.reset();
        other.reset();
        BOOST_TEST(alive.use_count() == 1);
    }
}

// P2: a slice is a turn.
BOOST_AUTO_TEST_CASE(many_pops_are_served_in_slices_and_others_have_turns_between) {
    constexpr std::size_t budget = 16, many = 1'000;
    virtual_world world({.budget = budget});
    delay_queue<std::size_t> queue(world.ctx);
    std::size_t popped = 0;
    for (std::size_t i = 0; i < many; ++i) {
        queue.async_pop([&, i](error_code, std::size_t value) {
            BOOST_TEST_REQUIRE(value == i);
            ++popped;
        });
        queue.push(1s, i);
    }
    std::size_t most = 0, turns = 0, before = many;
    const auto look = [&](const auto& self) -> void {
        most = std::max(most, before - queue.size());
        before = queue.size();
        ++turns;
        if (popped != many) {
            asio::post(world.ctx, [&self] { self(self); });
        }
    };
    world.elapse(1s);
    look(look);
    world.poll();
    BOOST_TEST(popped == many);
    BOOST_TEST(most <= budget);
    BOOST_TEST(turns >= many / budget);
}

// With AddressSanitizer, too.
BOOST_FIXTURE_TEST_CASE(the_destructor_of_a_value_may_do_everything_with_its_queue, virtual_world) {
    using queue_type = asio_wheel::delay_queue<acting>;
    const auto numbers_after = [this](auto what) {
        queue_type queue(ctx);
        for (int i = 1; i <= 200; ++i) {
            queue.push(i % 3 == 0 ? 0s : std::chrono::seconds(i), acting(i));
        }
        const auto key = queue.push(1h, acting(0));
        queue.find(key)->act = [&] { what(queue); };
        BOOST_TEST(queue.erase(key).has_value());
        std::vector<int> numbers;
        for (int i = 300; i < 305; ++i) {
            static_cast<void>(queue.push(0s, acting(i)));
        }
        while (const auto value = queue.try_pop()) {
            numbers.push_back(value->number);
        }
        BOOST_TEST(queue.size() == (numbers.size() == 5 ? 0U : 134U));
        return numbers.size();
    };
    BOOST_TEST(numbers_after([](queue_type& q) { q.clear(); }) == 5U);
    BOOST_TEST(numbers_after([](queue_type& q) { q.shrink_to_fit(); }) == 66U + 5U);
    BOOST_TEST(numbers_after([](queue_type& q) {
                   static_cast<void>(q.push(0s, acting(1)));
                   static_cast<void>(q.try_pop());
               }) == 66U + 5U);
}

BOOST_AUTO_TEST_SUITE_END()
