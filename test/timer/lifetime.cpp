// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timers that are moved or destroyed, handlers that destroy them, and contexts that are destroyed
// first.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;

template <class Timer>
using with_io_executor =
    typename Timer::template rebind_executor<asio::io_context::executor_type>::other;

// A handler that calls a function when it is destroyed without having been called.
template <class Function>
class when_dropped {
public:
    explicit when_dropped(Function f) : f_(std::move(f)) {}
    when_dropped(when_dropped&& other) noexcept
        : f_(other.f_), armed_(std::exchange(other.armed_, false)) {}
    ~when_dropped() {
        if (armed_) {
            f_();
        }
    }
    void operator()(const error_code&) { armed_ = false; }

private:
    Function f_;
    bool armed_ = true;
};

// A service of a context, for objects that must be destroyed before it.
class younger_service : public asio::execution_context::service {
public:
    using key_type = younger_service;
    static inline asio::execution_context::id id;

    explicit younger_service(asio::execution_context& ctx) : service(ctx) { exists = true; }
    ~younger_service() override { exists = false; }

    static inline bool exists = false;
    static inline int checked = 0; // How many objects have ended.

private:
    void shutdown() noexcept override {}
};

struct check_exists {
    void operator()() const {
        BOOST_TEST(younger_service::exists, "the service of the object has ended");
        ++younger_service::checked;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_lifetime, *boost::unit_test::timeout(60))

// As an object does that arms its timer anew while it is stopped. Its context may be gone then.
BOOST_AUTO_TEST_CASE(a_timer_can_be_used_after_its_context_has_ended) {
    for (const bool moved : {false, true}) {
        auto ctx = std::make_unique<asio::io_context>();
        steady_timer fresh(*ctx), used(*ctx), waits(*ctx, 48h), moves(*ctx), spare(*ctx, 1h);
        if (moved) {
            use_wheel(*ctx).pause();
            use_wheel(*ctx).advance(24h);
        }
        used.async_wait([](error_code) {});
        waits.async_wait([](error_code) { BOOST_ERROR("it is called"); });
        ctx->poll();
        ctx.reset();
        for (steady_timer* t : {&fresh, &used, &waits}) {
            const auto now = std::chrono::steady_clock::now(); // The context's own time has ended.
            BOOST_TEST(t->expires_after(1h) == 0U);
            BOOST_TEST((t->expiry() >= now + 1h && t->expiry() < now + 2h));
            BOOST_TEST((t->remaining() > 0s && t->remaining() <= 1h));
            BOOST_TEST(t->postpone(2h) == 0U);
            BOOST_TEST((t->remaining() > 1h));
            BOOST_TEST(t->expires_at(now) == 0U);
            BOOST_TEST((t->remaining() == 0s));
            t->wait();
            BOOST_TEST(t->postpone_until(now + 1h) == 0U);
            BOOST_TEST(t->cancel() == 0U);
            BOOST_TEST(t->cancel_one() == 0U);
            steady_timer taken(std::move(*t));
            BOOST_TEST((taken.expiry() == now + 1h));
            moves = std::move(taken);
            BOOST_TEST((moves.remaining() > 0s));
        }
        asio::io_context next; // It may have the same address, and its wheel too.
        steady_timer t(next, 1h);
        t = std::move(spare);
    }
}

// The wheel of another context may have what is left of the first one, and its time may be moved.
BOOST_AUTO_TEST_CASE(a_timer_whose_context_has_ended_does_not_follow_the_time_of_another_one) {
    auto ended = std::make_unique<asio::io_context>();
    steady_timer t(*ended);
    ended.reset();
    asio::io_context ctx;
    auto& wheel = use_wheel(ctx);
    for (const bool paused : {true, false}) {
        wheel.pause();
        wheel.advance(24h);
        if (!paused) {
            wheel.resume();
        }
        t.expires_after(1ms);
        BOOST_TEST((t.expiry() < std::chrono::steady_clock::now() + 1h));
        t.wait();
        BOOST_TEST((t.remaining() == 0s));
    }
}

// A wheel that ends leaves nothing behind for the next one.
BOOST_AUTO_TEST_CASE(the_wheel_of_a_new_context_shows_the_time_of_its_clock) {
    for (int i = 0; i < 10; ++i) {
        asio::io_context a, b, c;
        for (asio::io_context* ctx : {&a, &b, &c}) {
            const auto before = std::chrono::steady_clock::now();
            auto& wheel = use_wheel(*ctx);
            const auto shown = wheel.now();
            BOOST_TEST((before <= shown && shown <= std::chrono::steady_clock::now()));
            BOOST_TEST(!wheel.paused());
            wheel.pause();
            wheel.advance(24h);
            if (ctx != &a) {
                wheel.resume();
            }
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(destroying_a_timer_aborts_its_waits_later, World, worlds) {
    World world;
    journal seen;
    {
        typename World::timer t(world.ctx, 1h);
        t.async_wait(seen.note(0));
        t.async_wait(seen.note(1));
    }
    BOOST_TEST(seen.take() == "");
    world.run();
    BOOST_TEST(seen.take() == "0! 1!");
}

// Asio completes it with success, the wheel as aborted, because the timer was destroyed.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_may_destroy_a_timer_that_is_due_too, World, worlds) {
    World world;
    journal seen;
    typename World::timer a(world.ctx, 1ms);
    auto b = std::make_unique<typename World::timer>(world.ctx, 2ms);
    a.async_wait([&](const error_code& ec) {
        seen.add("a", ec);
        b.reset();
    });
    b->async_wait(seen.note("b"));
    world.elapse(3ms);
    world.run();
    using asios = real_time<asio::steady_timer>;
    BOOST_TEST(seen.take() == (std::is_same_v<World, asios> ? "a b" : "a b!"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_may_destroy_its_own_timer, World, worlds) {
    World world;
    journal seen;
    auto t = std::make_unique<typename World::timer>(world.ctx, 1ms);
    t->async_wait([&](const error_code& ec) {
        seen.add("0", ec);
        t.reset();
    });
    t->async_wait(seen.note(1));
    world.elapse(3ms);
    world.run();
    BOOST_TEST(seen.size() == 2U);

    // The usual pattern: the handler holds the last reference to its objects.
    auto shared = std::make_shared<typename World::timer>(world.ctx, 1ms);
    const std::weak_ptr<typename World::timer> watch = shared;
    shared->async_wait([&seen, shared](const error_code& ec) { seen.add("owner", ec); });
    shared.reset();
    world.elapse(3ms);
    seen.take();
    world.run();
    BOOST_TEST(seen.take() == "owner");
    BOOST_TEST(watch.expired());
}

// A hundred timers of one slot, all destroyed by the first handler.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_may_destroy_all_timers_of_its_tick, World, worlds) {
    World world;
    std::vector<typename World::timer> all;
    std::size_t called = 0;
    const auto expiry = world.now() + 3ms;
    for (int i = 0; i < 100; ++i) {
        all.emplace_back(world.ctx, expiry);
        all.back().async_wait([&](const error_code&) {
            ++called;
            all.clear();
        });
    }
    world.elapse(4ms);
    world.run();
    BOOST_TEST(called == 100U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_end_of_a_context_destroys_handlers_uncalled, Timer, timers) {
    drained_context other;
    const auto alive = std::make_shared<int>();
    const auto handler = [alive](const error_code&) { BOOST_ERROR("called"); };
    asio::cancellation_signal signal;
    {
        asio::io_context ctx;
        Timer pending(ctx, 1h);
        pending.async_wait(handler);
        pending.async_wait(asio::bind_executor(other.ctx, handler));
        pending.async_wait(asio::bind_executor(asio::make_strand(ctx), handler));
        pending.async_wait(asio::bind_cancellation_slot(signal.slot(), handler));
        Timer due(ctx);
        due.async_wait(handler);
        due.async_wait(asio::bind_executor(other.ctx, handler));
        Timer cancelled(ctx, 1h);
        cancelled.async_wait(handler);
        BOOST_TEST(cancelled.cancel() == 1U);
        BOOST_TEST(alive.use_count() == 9);
    }
    BOOST_TEST(alive.use_count() == 2); // Those of `alive` and of the handler.
    other.run();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(handlers_of_expired_waits_are_destroyed_with_the_context, Timer,
                              timers) {
    const auto alive = std::make_shared<int>();
    {
        asio::io_context ctx;
        std::vector<Timer> due;
        for (int i = 0; i < 10; ++i) {
            due.emplace_back(ctx, 0s);
            due.back().async_wait([alive](const error_code&) {});
        }
        BOOST_TEST(run_one_handler(ctx, [&] { return alive.use_count() == 10; }) == 1U);
        BOOST_TEST(alive.use_count() == 10);
    }
    BOOST_TEST(alive.use_count() == 1);
}

// No lock is held, and nothing is lost: the waits that they start are destroyed in turn. Their
// objects live until the last of them is destroyed.
BOOST_AUTO_TEST_CASE_TEMPLATE(handlers_destroyed_with_the_context_may_do_anything, Timer, timers) {
    struct belongings {
        asio::io_context& ctx;
        std::shared_ptr<int> alive;
        int& dropped;
        Timer victim{ctx, 1h};
        Timer other{ctx, 1h};
        Timer due{ctx};
        std::optional<Timer> owned{std::in_place, ctx, 1h};

        void anything() {
            const auto wait = [a = alive](const error_code&) {};
            ++dropped;
            other.cancel();
            other.expires_after(1s);
            other.async_wait(wait);
            other.cancel_one();
            other.async_wait(wait);
            owned.reset();
            Timer fresh(ctx, 1s);
            fresh.async_wait(wait);
            Timer moved(std::move(fresh));
            moved.async_wait(wait);
            asio::post(ctx, [a = alive] {});
            if constexpr (std::is_same_v<Timer, steady_timer>) {
                static_cast<void>(other.postpone(1s));
                BOOST_TEST(use_wheel(ctx).stats().fired == 0U);
                static_cast<void>(use_wheel(ctx).drain());
            }
        }
    };
    const auto alive = std::make_shared<int>();
    int dropped = 0;
    {
        asio::io_context ctx;
        const std::shared_ptr<belongings> all(new belongings{ctx, alive, dropped});
        const auto handler = [&all] { return when_dropped([all] { all->anything(); }); };
        all->victim.async_wait(handler());
        all->victim.async_wait(handler());
        all->due.async_wait(handler());
        all->other.async_wait(handler());
        all->owned->async_wait([alive](const error_code&) {});
    }
    BOOST_TEST(dropped == 4);
    BOOST_TEST(alive.use_count() == 1);
}

// A handler in the context's queue is destroyed after the waits. The wait that its destructor
// starts is destroyed while the services of all objects still exist.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_that_starts_at_the_end_of_a_context_may_own_its_objects, Timer,
                              timers) {
    asio::cancellation_signal signal;
    const auto alive = std::make_shared<int>();
    {
        asio::io_context ctx;
        const Timer first(ctx); // The service of timers is older than the other one.
        asio::use_service<younger_service>(ctx);
        asio::post(ctx, [end = when_dropped([&] {
                             const auto object =
                                 std::make_shared<when_dropped<check_exists>>(check_exists());
                             const auto t = std::make_shared<Timer>(ctx, 1h);
                             t->async_wait([a = alive, object, t](const error_code&) {});
                             t->async_wait(asio::bind_cancellation_slot(
                                 signal.slot(), [a = alive, object](const error_code&) {}));
                         })] {});
    }
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(younger_service::checked == 1);
    younger_service::checked = 0;
    if constexpr (std::is_same_v<Timer, steady_timer>) {
        signal.emit(asio::cancellation_type::total);
    }
}

// Asio leaves this undefined.
BOOST_AUTO_TEST_CASE(a_timer_may_outlive_its_context) {
    auto ctx = std::make_unique<asio::io_context>();
    asio::cancellation_signal signal;
    steady_timer unused(*ctx);
    steady_timer pending(*ctx, 1h);
    steady_timer over(*ctx);
    steady_timer cancelled(*ctx, 1h);
    steady_timer parked(*ctx, 1h);
    steady_timer due(*ctx);
    steady_timer moved_from(*ctx, 1h);
    over.async_wait(ignore);
    ctx->poll();
    pending.async_wait(asio::bind_cancellation_slot(signal.slot(), ignore));
    cancelled.async_wait(ignore);
    cancelled.cancel();
    parked.async_wait(ignore);
    parked.expires_after(2h);
    due.async_wait(ignore);
    moved_from.async_wait(ignore);
    steady_timer moved_to(std::move(moved_from));
    ctx.reset();
    signal.emit(asio::cancellation_type::total);
    // Their destructors follow.
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_moves_with_its_timer, World, worlds) {
    World world;
    journal seen;
    typename World::timer a(world.ctx, 3ms);
    const auto expiry = a.expiry();
    a.async_wait(seen.note(0));
    a.async_wait(seen.note(1));
    typename World::timer b(std::move(a));
    BOOST_TEST((b.expiry() == expiry));
    BOOST_TEST((a.expiry() == typename World::timer::time_point()));
    BOOST_TEST(a.cancel() == 0U);
    typename World::timer c(world.ctx, 1h);
    c.async_wait(seen.note("c"));
    c = std::move(b);
    BOOST_TEST((c.expiry() == expiry));
    BOOST_TEST(b.cancel() == 0U);
    world.poll();
    world.pass(5ms);
    BOOST_TEST(seen.take() == "c! 0 1");

    // A moved-from timer works as a new one.
    a.async_wait(seen.note("a"));
    b.expires_after(1ms);
    b.async_wait(seen.note("b"));
    world.pass(3ms);
    BOOST_TEST(seen.take() == "a b");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_moved_to_itself_stays_what_it_is, World, worlds) {
    World world;
    journal seen;
    typename World::timer t(world.ctx, 1h);
    const auto expiry = t.expiry();
    t.async_wait(seen.note("t"));
    auto& same = t;
    t = std::move(same);
    world.poll();
    BOOST_TEST(seen.take() == "");
    BOOST_TEST((t.expiry() == expiry));
    BOOST_TEST(t.cancel() == 1U);
    world.poll();
    BOOST_TEST(seen.take() == "t!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_moved_timer_can_be_cancelled_and_moved_on, World, worlds) {
    World world;
    journal seen;
    typename World::timer a(world.ctx, 1h);
    a.async_wait(seen.note(0));
    typename World::timer b(std::move(a));
    b.async_wait(seen.note(1));
    typename World::timer c(std::move(b));
    BOOST_TEST(c.cancel_one() == 1U);
    BOOST_TEST(c.expires_after(1ms) == 1U);
    c.async_wait(seen.note(2));
    world.pass(3ms);
    BOOST_TEST(seen.take() == "0! 1! 2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_takes_over_another_contexts_wait, World, worlds) {
    World here;
    World there;
    journal seen;
    typename World::timer a(here.ctx, 1h);
    typename World::timer b(there.ctx, 1ms);
    a.async_wait(seen.note("a"));
    b.async_wait(seen.note("b"));
    const auto expiry = b.expiry();
    a = std::move(b);
    BOOST_TEST((a.expiry() == expiry));
    BOOST_TEST((a.get_executor() == asio::any_io_executor(there.ctx.get_executor())));
    here.run();
    BOOST_TEST(seen.take() == "a!");
    there.pass(3ms);
    BOOST_TEST(seen.take() == "b");
    a.async_wait(seen.note("a"));
    BOOST_TEST(here.poll() == 0U);
    there.poll();
    BOOST_TEST(seen.take() == "a");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_moves_to_a_timer_with_a_wider_executor, World, worlds) {
    World world;
    journal seen;
    with_io_executor<typename World::timer> narrow(world.ctx, 3ms);
    const auto expiry = narrow.expiry();
    narrow.async_wait(seen.note(0));
    typename World::timer wide(std::move(narrow));
    BOOST_TEST((wide.expiry() == expiry));
    wide.async_wait(seen.note(1));
    world.pass(5ms);
    BOOST_TEST(seen.take() == "0 1");

    narrow.expires_after(1ms);
    narrow.async_wait(seen.note(2));
    wide.expires_after(1h);
    wide.async_wait(seen.note("wide"));
    wide = std::move(narrow);
    world.pass(3ms);
    BOOST_TEST(seen.take() == "wide! 2");
}

BOOST_AUTO_TEST_CASE(a_growing_vector_of_pending_timers_keeps_all_deadlines) {
    virtual_world world;
    constexpr std::size_t count = 100'000;
    std::vector<timer> timers; // Without reserve().
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count; ++i) {
        timers.emplace_back(world.ctx, (count - i) * 1ms);
        timers.back().async_wait([&order, i](const error_code& ec) {
            BOOST_TEST(!ec);
            order.push_back(i);
        });
    }
    for (std::size_t passed = 1; passed <= count; passed += count / 100) {
        BOOST_TEST_REQUIRE(order.size() == passed - 1);
        world.pass(1ms);
        BOOST_TEST_REQUIRE(order.size() == passed);
        BOOST_TEST_REQUIRE(order.back() == count - passed);
        world.pass((count / 100 - 1) * 1ms);
    }
    BOOST_TEST(order.size() == count);
    BOOST_TEST(std::is_sorted(order.rbegin(), order.rend()));
}

BOOST_AUTO_TEST_CASE(a_due_wait_moves_with_its_timer) {
    virtual_world world;
    journal seen;
    timer a(world.ctx, 1s);
    a.async_wait(seen.note("a"));
    world.elapse(1s);
    timer b(std::move(a));
    BOOST_TEST(a.cancel() == 0U);
    BOOST_TEST(b.postpone(1s) == 1U);
    world.poll();
    BOOST_TEST(seen.take() == "");
    timer c(std::move(b));
    world.pass(1s);
    BOOST_TEST(seen.take() == "a");
    BOOST_TEST(c.cancel() == 0U);
}

// The place on the wheel that expires_after() keeps for the next wait.
BOOST_AUTO_TEST_CASE(a_timer_may_be_moved_between_a_new_expiry_and_the_next_wait) {
    virtual_world world;
    journal seen;
    timer a(world.ctx, 1s);
    a.async_wait(seen.note("old"));
    BOOST_TEST(a.expires_after(5s) == 1U);
    timer b(std::move(a));
    b.async_wait(seen.note("new"));
    {
        timer c(world.ctx, 2s);
        c.async_wait(seen.note("c"));
        c.expires_after(3s);
        a = std::move(c);
    }
    world.poll();
    BOOST_TEST(seen.take() == "old! c!");
    world.pass(4s);
    BOOST_TEST(seen.take() == "");
    world.pass(1s);
    BOOST_TEST(seen.take() == "new");
    a.async_wait(seen.note("a"));
    world.poll();
    BOOST_TEST(seen.take() == "a");
}

BOOST_AUTO_TEST_SUITE_END()
