// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Rate limiters.

#include <asio_wheel/error.hpp>
#include <asio_wheel/rate_limiter.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ratio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::rate_limiter;
using asio_wheel::token_rate;

const error_code closed = asio_wheel::error::limiter_closed;

// One token each 10 ms; five at once.
constexpr asio_wheel::rate_limiter_options hundred{.rate = {100, 1s}, .burst = 5};

// Each reading is a nanosecond later, if `passing` is set.
struct passing_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<passing_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept { return time_point(duration(time += passing ? 1 : 0)); }

    static inline rep time = 1'000'000'000;
    static inline bool passing = false;
};

// Counts seconds in 32 bits.
struct short_clock {
    using rep = std::int32_t;
    using period = std::ratio<1>;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<short_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept { return time_point(duration(1000)); }
};

struct limiter_world : virtual_world {
    rate_limiter limiter{ctx, hundred};

    void acquire(std::uint64_t n, int name) { limiter.async_acquire(n, log.note(name)); }
    void drain_bucket() { BOOST_TEST_REQUIRE(limiter.try_acquire(limiter.burst())); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(rate_limiter_, *boost::unit_test::timeout(120))

BOOST_FIXTURE_TEST_CASE(a_full_bucket_serves_at_once_but_not_inside_the_call, limiter_world) {
    BOOST_TEST(limiter.available() == 5);
    acquire(3, 1);
    acquire(2, 2);
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(limiter.available() == 0);
    BOOST_TEST(limiter.pending() == 0U);
    poll();
    BOOST_TEST(log.take() == "1 2");
}

BOOST_FIXTURE_TEST_CASE(tokens_come_at_the_rate_and_nobody_is_served_early, limiter_world) {
    drain_bucket();
    for (int i = 1; i <= 3; ++i) {
        acquire(1, i);
    }
    BOOST_TEST(limiter.pending() == 3U);
    pass(10ms - 1ns);
    BOOST_TEST(log.take() == "");
    pass(1ns);
    BOOST_TEST(log.take() == "1");
    pass(10ms);
    BOOST_TEST(log.take() == "2");
    pass(10ms);
    BOOST_TEST(log.take() == "3");
    BOOST_TEST(limiter.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_bucket_holds_no_more_than_the_burst, limiter_world) {
    pass(1h);
    BOOST_TEST(limiter.available() == 5);
    BOOST_TEST(limiter.try_acquire(5));
    BOOST_TEST(!limiter.try_acquire());
    pass(10ms);
    BOOST_TEST(limiter.try_acquire());
    BOOST_TEST(!limiter.try_acquire());
}

BOOST_FIXTURE_TEST_CASE(those_who_wait_are_served_in_order_also_if_later_ones_want_less,
                        limiter_world) {
    drain_bucket();
    acquire(5, 1);
    acquire(1, 2);
    pass(40ms);
    BOOST_TEST(log.take() == "");
    pass(10ms);
    BOOST_TEST(log.take() == "1");
    pass(10ms);
    BOOST_TEST(log.take() == "2");
}

BOOST_FIXTURE_TEST_CASE(try_acquire_overtakes_nobody, limiter_world) {
    BOOST_TEST(limiter.try_acquire(2));
    acquire(5, 1);
    BOOST_TEST(limiter.available() == 3);
    BOOST_TEST(!limiter.try_acquire());
    pass(20ms);
    BOOST_TEST(log.take() == "1");
    pass(10ms);
    BOOST_TEST(limiter.try_acquire());
}

BOOST_FIXTURE_TEST_CASE(more_than_the_burst_waits_for_a_full_bucket_and_is_paid_by_those_behind,
                        limiter_world) {
    BOOST_TEST(limiter.try_acquire(1));
    BOOST_TEST(!limiter.try_acquire(20));
    acquire(20, 1);
    acquire(1, 2);
    pass(10ms);
    BOOST_TEST(log.take() == "1");
    BOOST_TEST(limiter.available() == -15);
    pass(150ms);
    BOOST_TEST(log.take() == "");
    pass(10ms);
    BOOST_TEST(log.take() == "2");
}

BOOST_FIXTURE_TEST_CASE(no_tokens_are_always_there_unless_somebody_waits_or_there_is_a_debt,
                        limiter_world) {
    drain_bucket();
    BOOST_TEST(limiter.try_acquire(0));
    acquire(0, 1);
    poll();
    BOOST_TEST(log.take() == "1");
    acquire(1, 2);
    acquire(0, 3);
    BOOST_TEST(!limiter.try_acquire(0));
    pass(10ms);
    BOOST_TEST(log.take() == "2 3");
    pass(50ms);
    BOOST_TEST(limiter.try_acquire(6));
    BOOST_TEST(!limiter.try_acquire(0));
}

// 7 tokens in 3 seconds are no whole number of nanoseconds each.
BOOST_FIXTURE_TEST_CASE(nothing_drifts_in_a_million_steps, virtual_world) {
    rate_limiter limiter(ctx, {.rate = {7, 3s}, .burst = 2});
    BOOST_TEST(limiter.try_acquire(2));
    std::uint64_t taken = 0;
    const auto begin = now();
    constexpr auto step = 7'919'133ns;
    for (int i = 0; i < 1'000'000; ++i) {
        elapse(step);
        taken += limiter.try_acquire() ? 1 : 0;
    }
    // Each token is taken in the step in which it has come: none is lost.
    BOOST_TEST(taken == static_cast<std::uint64_t>((now() - begin) * 7 / 3s));
}

// A token each 0.3 ms, and one at most; but the wheel looks once in 10 ms.
BOOST_AUTO_TEST_CASE(tokens_that_come_while_somebody_waits_are_not_lost_by_lateness) {
    virtual_world world({.tick = 10ms});
    rate_limiter limiter(world.ctx, {.rate = {3, 1ms}, .burst = 1});
    journal log;
    BOOST_TEST(limiter.try_acquire());
    std::size_t served = 0;
    for (int i = 0; i < 30; ++i) {
        limiter.async_acquire(1, [&](error_code ec) { served += ec ? 0 : 1; });
    }
    world.pass(10ms);
    BOOST_TEST(served == 30U);
}

// ---- What it costs

BOOST_FIXTURE_TEST_CASE(while_nobody_waits_there_is_no_timer_and_no_work, virtual_world) {
    std::vector<rate_limiter> many;
    for (int i = 0; i < 1000; ++i) {
        many.emplace_back(ctx, hundred);
        BOOST_TEST_REQUIRE(many.back().try_acquire());
    }
    BOOST_TEST(wheel.pending() == 0U);
    poll();
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(wheel.stats().wake_ups == 0U);
}

static_assert(sizeof(rate_limiter) == sizeof(void*));
static_assert(sizeof(asio_wheel::detail::rate_limiter_impl<std::chrono::steady_clock,
                                                           asio::any_io_executor>) <= 200);

BOOST_FIXTURE_TEST_CASE(one_wait_on_the_wheel_is_for_all_who_wait, limiter_world) {
    drain_bucket();
    for (int i = 0; i < 100; ++i) {
        acquire(1, i);
    }
    BOOST_TEST(limiter.pending() == 100U);
    BOOST_TEST(wheel.pending() == 1U);
    pass(1s);
    BOOST_TEST(log.size() == 100U); // Each when its token was there.
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_acquire_is_one_allocation_freed_before_the_call, limiter_world) {
    allocations count;
    const auto counted = [&](int name) {
        return asio::bind_allocator(counting_allocator<>(count), [&, name](error_code ec) {
            BOOST_TEST(count.live == (name == 3 ? 0U : 1U));
            log.add(std::to_string(name), ec);
        });
    };
    drain_bucket();
    limiter.async_acquire(1, counted(2));
    limiter.async_acquire(1, counted(3));
    BOOST_TEST(count.live == 2U);
    pass(10ms);
    pass(10ms);
    BOOST_TEST(log.take() == "2 3");
    BOOST_TEST(count.total == 2U);
    count.refuse = true;
    BOOST_CHECK_THROW(limiter.async_acquire(1, counted(4)), std::bad_alloc);
    BOOST_TEST(limiter.pending() == 0U);
}

// ---- Ends

BOOST_FIXTURE_TEST_CASE(each_type_of_cancellation_ends_one_and_the_next_one_moves_up,
                        limiter_world) {
    using asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        pass(1s);
        drain_bucket();
        asio::cancellation_signal signal;
        limiter.async_acquire(5, asio::bind_cancellation_slot(signal.slot(), log.note(1)));
        acquire(1, 2);
        pass(10ms);
        signal.emit(cancellation_type::none);
        poll();
        BOOST_TEST(log.take() == "");
        signal.emit(type);
        BOOST_TEST(log.size() == 0U); // Not inside the signal.
        poll();
        BOOST_TEST(log.take() == "1! 2"); // There is a token for it.
        signal.emit(type);
        poll();
        BOOST_TEST(limiter.available() == 0);
    }
}

BOOST_FIXTURE_TEST_CASE(cancel_ends_all_who_wait_and_says_how_many, limiter_world) {
    acquire(5, 1); // It has its tokens already.
    acquire(1, 2);
    acquire(1, 3);
    BOOST_TEST(limiter.cancel() == 2U);
    BOOST_TEST(limiter.cancel() == 0U);
    poll();
    BOOST_TEST(log.take() == "1 2! 3!");
    BOOST_TEST(ctx.stopped());
    pass(10ms);
    BOOST_TEST(limiter.try_acquire()); // It goes on.
}

BOOST_FIXTURE_TEST_CASE(after_close_those_who_wait_are_served_and_others_refused, limiter_world) {
    drain_bucket();
    acquire(1, 1);
    limiter.close();
    BOOST_TEST(limiter.closed());
    std::optional<error_code> refused;
    limiter.async_acquire(1, [&](error_code ec) { refused = ec; });
    BOOST_TEST(!refused.has_value());
    poll();
    BOOST_TEST((refused == closed));
    pass(10ms);
    BOOST_TEST(log.take() == "1");
    pass(1s);
    BOOST_TEST(!limiter.try_acquire());
}

BOOST_FIXTURE_TEST_CASE(destroying_a_limiter_aborts_those_who_wait, virtual_world) {
    {
        rate_limiter limiter(ctx, {.rate = {1}, .burst = 1});
        limiter.async_acquire(1, log.note(1));
        limiter.async_acquire(1, log.note(2));
    }
    poll();
    BOOST_TEST(log.take() == "1 2!");
}

BOOST_AUTO_TEST_CASE(when_the_context_ends_those_who_wait_are_destroyed_uncalled) {
    const auto alive = std::make_shared<int>(1);
    auto ctx = std::make_unique<asio::io_context>();
    rate_limiter limiter(*ctx, {.rate = {1}, .burst = 1});
    for (int i = 0; i < 3; ++i) {
        limiter.async_acquire(1, [alive](error_code) { BOOST_ERROR("called"); });
    }
    BOOST_TEST(alive.use_count() == 4);
    ctx.reset();
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_limiter_may_be_used_after_the_end_of_its_context) {
    auto ctx = std::make_unique<asio::io_context>();
    rate_limiter limiter(*ctx, {.rate = {1, 1h}, .burst = 2});
    rate_limiter waited_for(*ctx, {.rate = {1, 1h}, .burst = 1});
    for (int i = 0; i < 3; ++i) {
        waited_for.async_acquire(1, [](error_code) {});
    }
    ctx.reset();
    BOOST_TEST(limiter.try_acquire());
    BOOST_TEST(limiter.available() == 1);
    limiter.rate({2, 1h});
    limiter.burst(5);
    BOOST_TEST(limiter.try_acquire());
    BOOST_TEST(!limiter.try_acquire());
    BOOST_TEST(waited_for.pending() == 0U);
    waited_for.burst(2);
    BOOST_TEST(!waited_for.try_acquire());
    BOOST_TEST(waited_for.cancel() == 0U);
}

// A session that ends emits a signal, as its destructor does.
BOOST_AUTO_TEST_CASE(when_the_context_ends_the_end_of_one_handler_may_cancel_another_operation) {
    struct session {
        ~session() {
            if (owns_limiter) {
                limiter.reset();
            }
            stop.emit(asio::cancellation_type::terminal);
            BOOST_TEST((owns_limiter || limiter->pending() == 0U));
        }
        std::shared_ptr<rate_limiter> limiter;
        asio::cancellation_signal stop;
        bool owns_limiter = false;
    };
    for (const bool owns_limiter : {true, false}) {
        std::shared_ptr<rate_limiter> kept;
        const auto alive = std::make_shared<int>();
        {
            asio::io_context ctx;
            auto owner = std::make_unique<session>();
            session& s = *owner;
            s.owns_limiter = owns_limiter;
            s.limiter = std::make_shared<rate_limiter>(
                ctx, asio_wheel::rate_limiter_options{.rate = {0}, .burst = 1});
            BOOST_TEST(s.limiter->try_acquire());
            if (!owns_limiter) {
                kept = s.limiter;
            }
            s.limiter->async_acquire(1, [owner = std::move(owner)](error_code) {});
            s.limiter->async_acquire(
                1, asio::bind_cancellation_slot(s.stop.slot(),
                                                [alive](error_code) { BOOST_ERROR("called"); }));
            BOOST_TEST(s.limiter->pending() == 2U);
        }
        BOOST_TEST(alive.use_count() == 1);
        BOOST_TEST((kept == nullptr || kept->pending() == 0U));
    }
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_own_the_limiter, virtual_world) {
    auto limiter = std::make_shared<rate_limiter>(ctx, hundred);
    BOOST_TEST(limiter->try_acquire(5));
    rate_limiter& l = *limiter;
    l.async_acquire(1, [owner = std::move(limiter), this](error_code ec) { log.add("1", ec); });
    pass(10ms);
    BOOST_TEST(log.take() == "1");
}

BOOST_FIXTURE_TEST_CASE(a_wheel_that_is_drained_ends_those_who_wait, limiter_world) {
    drain_bucket();
    std::vector<error_code> ends;
    for (int i = 0; i < 2; ++i) {
        limiter.async_acquire(1, [&](error_code ec) { ends.push_back(ec); });
    }
    static_cast<void>(wheel.drain());
    poll();
    BOOST_TEST_REQUIRE(ends.size() == 2U);
    for (const error_code& ec : ends) {
        BOOST_TEST((ec == asio_wheel::error::wheel_stopped));
    }
}

BOOST_AUTO_TEST_CASE(a_wheel_at_its_limit_refuses_those_who_would_wait) {
    virtual_time world({.max_pending = 1});
    timer blocker(world.ctx, 1h);
    blocker.async_wait(ignore);
    rate_limiter limiter(world.ctx, hundred);
    BOOST_TEST(limiter.try_acquire(5));
    std::optional<error_code> end;
    limiter.async_acquire(1, [&](error_code ec) { end = ec; });
    world.poll();
    BOOST_TEST((end == asio_wheel::error::too_many_pending));
    BOOST_TEST(limiter.pending() == 0U);
    blocker.cancel();
}

// ---- Changes

BOOST_FIXTURE_TEST_CASE(a_new_rate_holds_from_now_on_also_for_those_who_wait, limiter_world) {
    drain_bucket();
    acquire(2, 1);
    pass(15ms); // One and a half.
    limiter.rate({1000});
    BOOST_TEST((limiter.rate() == token_rate{1000, 1s}));
    BOOST_TEST(log.size() == 0U);
    poll();
    BOOST_TEST(log.take() == "");
    pass(499us);
    BOOST_TEST(log.take() == "");
    pass(1us);
    BOOST_TEST(log.take() == "1");
}

BOOST_AUTO_TEST_CASE(what_has_come_at_the_old_rate_is_given_however_many_wait_for_it) {
    virtual_time world({.budget = 2});
    rate_limiter limiter(world.ctx, hundred);
    BOOST_TEST_REQUIRE(limiter.try_acquire(5));
    for (int i = 1; i <= 6; ++i) {
        limiter.async_acquire(1, world.log.note(i));
    }
    world.elapse(50ms); // Five tokens, and the wheel has not come yet.
    limiter.rate({0});
    BOOST_TEST(world.log_now() == "1 2 3 4 5");
    limiter.rate({100});
    BOOST_TEST(world.log_after(10ms) == "6");
    // The same for the burst: two tokens are enough for each of them, as long as it is two.
    limiter.burst(2);
    for (int i = 1; i <= 5; ++i) {
        limiter.async_acquire(3, world.log.note(i));
    }
    world.elapse(140ms); // Two, and three for each of the others.
    limiter.burst(3);
    BOOST_TEST(world.log_now() == "1 2 3 4 5");
}

BOOST_FIXTURE_TEST_CASE(a_rate_of_zero_gives_nothing_until_it_is_changed, limiter_world) {
    drain_bucket();
    acquire(1, 1);
    limiter.rate({0});
    poll();
    pass(24h * 365);
    BOOST_TEST(log.take() == "");
    limiter.rate({1});
    poll();
    pass(1s);
    BOOST_TEST(log.take() == "1");
}

BOOST_FIXTURE_TEST_CASE(a_smaller_burst_serves_those_who_wanted_more_than_it, limiter_world) {
    BOOST_TEST(limiter.try_acquire(2));
    acquire(5, 1);
    limiter.burst(2);
    BOOST_TEST(limiter.burst() == 2U);
    BOOST_TEST(log.size() == 0U); // Not inside the call.
    poll();
    BOOST_TEST(log.take() == "1"); // The bucket is full.
    BOOST_TEST(limiter.available() == -3);
    pass(1h);
    BOOST_TEST(limiter.available() == 2);
}

BOOST_FIXTURE_TEST_CASE(a_larger_burst_has_room_for_tokens_that_come, limiter_world) {
    limiter.burst(8);
    BOOST_TEST(limiter.available() == 5);
    pass(20ms);
    BOOST_TEST(limiter.available() == 7);
    pass(1h);
    BOOST_TEST(limiter.available() == 8);
}

BOOST_FIXTURE_TEST_CASE(what_is_out_of_range_is_refused_by_name, limiter_world) {
    const auto refusal = [&](token_rate r, std::uint64_t burst) {
        return message_of([&] { rate_limiter(ctx, {.rate = r, .burst = burst}); });
    };
    BOOST_TEST(refusal({1, 0s}, 1).find("token_rate::per") != std::string::npos);
    BOOST_TEST(refusal({1, -1s}, 1).find("token_rate::per") != std::string::npos);
    BOOST_TEST(refusal({10'000'000'007, 1s}, 1).find("token_rate::tokens") != std::string::npos);
    BOOST_TEST(refusal({std::uint64_t(-1), 1ns}, 1).find("token_rate::tokens") !=
               std::string::npos);
    BOOST_TEST(refusal({1}, 0).find("rate_limiter_options::burst") != std::string::npos);
    BOOST_TEST(refusal({10'000'000'000, 1s}, std::uint64_t(-1)) == "nothing");
    BOOST_CHECK_THROW(limiter.rate({1, 0s}), std::invalid_argument);
    BOOST_CHECK_THROW(limiter.burst(0), std::invalid_argument);
    BOOST_TEST((limiter.rate() == hundred.rate));
    BOOST_TEST(limiter.burst() == hundred.burst);
}

// ---- Tokens, executors, clocks

BOOST_FIXTURE_TEST_CASE(any_token_of_asio_will_do, limiter_world) {
    const auto main = [&]() -> asio::awaitable<void> {
        for (int i = 0; i < 7; ++i) {
            co_await limiter.async_acquire(1, asio::use_awaitable);
            log.add(std::to_string(i));
        }
    };
    asio::co_spawn(ctx, main(), asio::detached);
    poll();
    BOOST_TEST(log.take() == "0 1 2 3 4");
    auto later = limiter.async_acquire(1, asio::deferred);
    pass(10ms);
    BOOST_TEST(log.take() == "5");
    std::move(later)(log.note("later"));
    pass(10ms);
    pass(10ms);
    BOOST_TEST(log.take() == "6 later");
}

BOOST_FIXTURE_TEST_CASE(on_a_strand_handlers_are_called_there_and_in_order, virtual_world) {
    const auto ours = std::make_shared<tracker>();
    asio_wheel::basic_rate_limiter<std::chrono::steady_clock, tracker_executor<>> limiter(
        track(ours, ctx), hundred);
    std::string order;
    for (int i = 0; i < 7; ++i) {
        limiter.async_acquire(1, [&, i](error_code ec) {
            BOOST_TEST(!ec);
            BOOST_TEST(ours->running_here());
            order += std::to_string(i);
        });
    }
    poll();
    BOOST_TEST(order == "01234");
    pass(10ms);
    pass(10ms);
    BOOST_TEST(order == "0123456");
    BOOST_TEST(ours->work() == 0U);
}

// Also if nobody waits any more, but handlers are still to be called.
BOOST_FIXTURE_TEST_CASE(on_a_strand_nobody_overtakes_those_that_were_served, virtual_world) {
    const auto strand = asio::make_strand(ctx);
    asio_wheel::basic_rate_limiter<std::chrono::steady_clock, asio::any_io_executor> limiter(
        strand, hundred);
    BOOST_TEST(limiter.try_acquire(5));
    std::string order;
    for (int i = 1; i <= 3; ++i) {
        limiter.async_acquire(1, [&, i](error_code) {
            order += std::to_string(i);
            if (i == 1) {
                limiter.async_acquire(1, [&](error_code) { order += '4'; });
                limiter.async_acquire(2, [&](error_code) { order += '5'; });
            }
        });
    }
    pass(50ms);
    BOOST_TEST(order == "1234");
    BOOST_TEST(limiter.pending() == 1U);
    BOOST_TEST(limiter.cancel() == 1U);
    poll();
    BOOST_TEST(order == "12345");
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(limiter.try_acquire(1));
}

BOOST_FIXTURE_TEST_CASE(a_handler_is_called_through_its_own_executor, limiter_world) {
    const auto ours = std::make_shared<tracker>();
    drain_bucket();
    limiter.async_acquire(1, asio::bind_executor(track(ours, ctx), [&](error_code ec) {
                              BOOST_TEST(ours->running_here());
                              log.add("1", ec);
                          }));
    BOOST_TEST(ours->work() != 0U);
    pass(10ms);
    BOOST_TEST(log.take() == "1");
    BOOST_TEST(ours->work() == 0U);
}

// The first one becomes due between two readings of the clock, wherever that is.
BOOST_AUTO_TEST_CASE(a_new_rate_does_not_hold_for_the_past_whatever_the_time_is) {
    for (int before = 0; before < 10; ++before) {
        asio::io_context ctx;
        passing_clock::passing = false;
        asio_wheel::basic_rate_limiter<passing_clock> limiter(
            ctx, {.rate = {1, 1h}, .burst = 1'000'000});
        BOOST_TEST(limiter.try_acquire(1'000'000));
        for (int i = 0; i < 100; ++i) {
            limiter.async_acquire(1, ignore);
        }
        passing_clock::time += std::chrono::nanoseconds(1h).count() - before;
        passing_clock::passing = true;
        limiter.rate({1'000'000, 1s});
        passing_clock::passing = false;
        for (int i = 0; i < 100; ++i) { // With io_uring, poll() returns only when time passes.
            ctx.poll_one();
        }
        BOOST_TEST(limiter.pending() >= 99U, before);
        limiter.cancel();
    }
}

BOOST_AUTO_TEST_CASE(a_limiter_may_be_on_the_wall_clock) {
    virtual_time_on<std::chrono::system_clock> world;
    asio_wheel::basic_rate_limiter<std::chrono::system_clock> limiter(world.ctx, hundred);
    journal log;
    BOOST_TEST(limiter.try_acquire(5));
    limiter.async_acquire(1, log.note(1));
    world.pass(11ms);
    BOOST_TEST(log.take() == "1");
}

// Of tokens that the clock cannot count up to, none comes. The time for them is not in the past.
BOOST_AUTO_TEST_CASE(on_a_clock_of_few_bits_what_never_comes_is_waited_for_once) {
    for (const token_rate rate :
         {token_rate{0}, token_rate{1, std::chrono::hours(24 * 365 * 100)}}) {
        asio::io_context ctx;
        asio_wheel::basic_rate_limiter<short_clock> limiter(ctx, {.rate = rate, .burst = 1});
        BOOST_TEST(limiter.try_acquire());
        limiter.async_acquire(1, [](error_code) { BOOST_ERROR("there are no more"); });
        for (int i = 0; i < 1000; ++i) {
            ctx.poll_one();
        }
        BOOST_TEST(limiter.pending() == 1U);
        BOOST_TEST(asio_wheel::use_wheel<short_clock>(ctx).stats().scheduled == 1U);
    }
}

BOOST_FIXTURE_TEST_CASE(a_limiter_may_be_moved_while_somebody_waits, limiter_world) {
    drain_bucket();
    acquire(1, 1);
    rate_limiter other = std::move(limiter);
    BOOST_TEST(limiter.cancel() == 0U);
    BOOST_CHECK_THROW(static_cast<void>(limiter.try_acquire()), std::logic_error);
    BOOST_TEST(other.pending() == 1U);
    pass(10ms);
    BOOST_TEST(log.take() == "1");
    other.async_acquire(1, log.note(2));
    other = rate_limiter(ctx, hundred);
    poll();
    BOOST_TEST(log.take() == "2!");
    BOOST_TEST(other.try_acquire(5));
}

BOOST_AUTO_TEST_CASE(on_threads_with_a_strand_all_are_served_once) {
    constexpr std::size_t many = 500;
    std::atomic<std::size_t> served{0};
    {
        asio::thread_pool pool(4);
        const auto strand = asio::make_strand(pool);
        rate_limiter limiter(strand, {.rate = {100, 1ms}, .burst = 10});
        asio::post(strand, [&] {
            for (std::size_t i = 0; i < many; ++i) {
                limiter.async_acquire(1, [&](error_code ec) { served += ec ? 0 : 1; });
            }
        });
        pool.join();
    }
    BOOST_TEST(served == many);
}

BOOST_AUTO_TEST_SUITE_END()
