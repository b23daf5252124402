// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The wheel as a service of its context: how it is created, configured and destroyed.

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using namespace asio_wheel::test;
using asio_wheel::make_wheel;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;
using asio_wheel::wheel_options;
using service = asio_wheel::wheel_service<>;

static_assert(std::is_base_of_v<asio::execution_context::service, service>);
static_assert(std::is_base_of_v<service::key_type, service>);
static_assert(std::is_same_v<decltype(service::id), asio::execution_context::id>);
static_assert(std::is_constructible_v<service, asio::execution_context&>);
static_assert(std::is_constructible_v<service, asio::execution_context&, const wheel_options&>);
static_assert(!std::is_convertible_v<asio::io_context&, service>);
static_assert(std::is_same_v<service::clock_type, std::chrono::steady_clock>);

// Shuts down as an io_context does on Boost 1.82 and later, with any version.
struct context_ended_twice : asio::execution_context {
    ~context_ended_twice() {
        shutdown();
        shutdown();
    }
};

// A service with a timer that lives as long as the service.
class owner : public asio::execution_context::service {
public:
    using key_type = owner;
    static inline asio::execution_context::id id;

    explicit owner(asio::io_context& context) : service(context) {}

    void start(std::shared_ptr<int> alive) {
        timer_.emplace(static_cast<asio::io_context&>(context()), 1h);
        timer_->async_wait([alive](const error_code&) {});
    }

private:
    void shutdown() noexcept override {}

    std::optional<steady_timer> timer_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_service, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_context_has_one_wheel_for_each_clock, drained_context) {
    BOOST_TEST(!asio::has_service<service>(ctx));
    service& made_by_a_timer = *[this] {
        const steady_timer t(ctx);
        return &use_wheel(ctx);
    }();
    BOOST_TEST(asio::has_service<service>(ctx));
    BOOST_TEST(&asio::use_service<service>(ctx) == &made_by_a_timer);
    BOOST_TEST(&made_by_a_timer.context() == &ctx);
    const void* const other = &use_wheel<std::chrono::system_clock>(ctx);
    BOOST_TEST(other != static_cast<void*>(&made_by_a_timer));
}

BOOST_FIXTURE_TEST_CASE(a_wheel_is_as_it_was_made, drained_context) {
    service& wheel = make_wheel(ctx, {.tick = 10ms,
                                      .slots = 500,
                                      .levels = 2,
                                      .max_pending = 7,
                                      .locking = false,
                                      .budget = 99});
    BOOST_TEST(&use_wheel(ctx) == &wheel);
    BOOST_TEST((wheel.options().tick == 10ms));
    BOOST_TEST(wheel.options().slots == 500U);
    BOOST_TEST(wheel.options().levels == 2U);
    BOOST_TEST(wheel.options().max_pending == 7U);
    BOOST_TEST(!wheel.options().locking);
    BOOST_TEST(wheel.options().budget == 99U);
}

BOOST_FIXTURE_TEST_CASE(making_a_second_wheel_throws, drained_context) {
    service& wheel = make_wheel(ctx, {.tick = 10ms});
    BOOST_CHECK_THROW(make_wheel(ctx, {.tick = 20ms}), asio::service_already_exists);
    BOOST_CHECK_THROW(make_wheel(ctx, {.tick = 10ms}), asio::service_already_exists);
    BOOST_TEST(&use_wheel(ctx) == &wheel);
    BOOST_TEST((wheel.options().tick == 10ms));
    make_wheel<std::chrono::system_clock>(ctx, {.tick = 20ms});
}

BOOST_FIXTURE_TEST_CASE(making_a_wheel_after_the_first_timer_throws, drained_context) {
    const steady_timer t(ctx);
    BOOST_CHECK_THROW(make_wheel(ctx), asio::service_already_exists);
}

// The message in a log says what created the wheel, and what to change.
BOOST_FIXTURE_TEST_CASE(a_second_wheel_is_refused_in_words, drained_context) {
    const steady_timer t(ctx);
    const auto says_what_to_do = [](const asio::service_already_exists& e) {
        const std::string what = e.what();
        BOOST_TEST_INFO_SCOPE(what);
        for (const char* part : {"asio_wheel: this context already has a wheel for this clock",
                                 "The first timer", "use_wheel()", "Call make_wheel() before"}) {
            BOOST_TEST_CONTEXT("says: " << part) {
                BOOST_TEST(what.find(part) != what.npos);
            }
        }
        return dynamic_cast<const asio_wheel::wheel_already_exists*>(&e) != nullptr;
    };
    BOOST_CHECK_EXCEPTION(make_wheel(ctx), asio::service_already_exists, says_what_to_do);
}

BOOST_FIXTURE_TEST_CASE(a_wheel_that_cannot_be_made_leaves_room_for_another, drained_context) {
    BOOST_CHECK_THROW(make_wheel(ctx, {.tick = 0ms}), std::invalid_argument);
    BOOST_TEST(!asio::has_service<service>(ctx));
    make_wheel(ctx, {.tick = 10ms});
}

// The same for the loser if two threads create the context's first timers at once.
BOOST_FIXTURE_TEST_CASE(a_wheel_may_end_without_shutdown, drained_context) {
    {
        const service alone(ctx);
    }
    {
        const service alone(ctx, {.tick = 10ms});
    }
    BOOST_TEST(!asio::has_service<service>(ctx));
    run();
}

BOOST_AUTO_TEST_CASE(a_wheel_may_be_shut_down_twice) {
    const auto alive = std::make_shared<int>();
    {
        context_ended_twice ctx;
        use_wheel(ctx);
    }
    {
        // With some versions, Asio calls it twice.
        asio::io_context ctx;
        steady_timer t(ctx, 1h);
        t.async_wait([alive](const error_code&) {});
    }
    {
        asio::thread_pool pool(1);
        steady_timer t(pool, 1h);
        t.async_wait([alive](const error_code&) {});
        pool.stop();
    }
    BOOST_TEST(alive.use_count() == 1);
}

// A service that was created first and so is destroyed last.
BOOST_AUTO_TEST_CASE(handlers_destroyed_with_the_context_find_other_services_alive) {
    struct belongings {
        asio::ip::tcp::socket socket;
        asio::steady_timer asio_timer;
        asio_wheel::system_timer other_wheel;
        steady_timer same_wheel;
    };
    const auto alive = std::make_shared<int>();
    for (const bool wheel_first : {true, false}) {
        asio::io_context ctx;
        std::optional<steady_timer> t;
        if (wheel_first) {
            t.emplace(ctx, 1h);
        }
        auto owned = std::make_unique<belongings>(
            belongings{asio::ip::tcp::socket(ctx, asio::ip::tcp::v4()), asio::steady_timer(ctx, 1h),
                       asio_wheel::system_timer(ctx, 1h), steady_timer(ctx, 1h)});
        owned->asio_timer.async_wait([alive](const error_code&) {});
        owned->other_wheel.async_wait([alive](const error_code&) {});
        owned->same_wheel.async_wait([alive](const error_code&) {});
        if (!wheel_first) {
            t.emplace(ctx, 1h);
        }
        t->async_wait([alive, owned = std::move(owned)](const error_code&) {});
    }
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_service_may_own_a_timer) {
    const auto alive = std::make_shared<int>();
    for (const bool wheel_first : {true, false}) {
        asio::io_context ctx;
        if (wheel_first) {
            use_wheel(ctx);
        }
        asio::use_service<owner>(ctx).start(alive);
        ctx.poll();
    }
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(each_context_has_its_own_wheel) {
    virtual_time a;
    virtual_time b;
    journal seen;
    timer ta(a.ctx, 1s);
    timer tb(b.ctx, 1s);
    ta.async_wait(seen.note("a"));
    tb.async_wait(seen.note("b"));
    BOOST_TEST(&a.wheel != &b.wheel);
    a.pass(2s);
    b.poll();
    BOOST_TEST(seen.take() == "a");
    BOOST_TEST(a.wheel.pending() == 0U);
    BOOST_TEST(b.wheel.pending() == 1U);
    b.pass(2s);
    BOOST_TEST(seen.take() == "b");
}

// use_wheel() caches the last wheel of each thread.
BOOST_AUTO_TEST_CASE(a_context_in_the_place_of_another_has_its_own_wheel) {
    std::optional<asio::io_context> ctx;
    asio::io_context another;
    for (const std::size_t slots : {64U, 128U, 512U}) {
        ctx.emplace();
        auto& wheel = make_wheel(*ctx, {.slots = slots});
        for (int i = 0; i < 2; ++i) {
            BOOST_TEST(&use_wheel(*ctx) == &wheel);
            BOOST_TEST(&use_wheel(another) != &wheel);
            BOOST_TEST(&use_wheel<std::chrono::system_clock>(*ctx).context() == &*ctx);
        }
        BOOST_TEST(use_wheel(*ctx).options().slots == slots);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_context_for_one_thread_needs_no_lock, World, real_worlds) {
    for (const int hint :
         {1, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO}) {
        drained_context world(hint);
        if constexpr (std::is_same_v<typename World::timer, steady_timer>) {
            make_wheel(world.ctx, {.locking = false});
        }
        journal seen;
        typename World::timer a(world.ctx, 1ms);
        typename World::timer b(asio::make_strand(world.ctx), 1h);
        a.async_wait([&](const error_code& ec) {
            seen.add("a", ec);
            b.cancel();
            a.expires_after(1ms);
            a.async_wait(seen.note("again"));
        });
        b.async_wait(seen.note("b"));
        world.run();
        BOOST_TEST(seen.take() == "a b! again");
    }
}

// Asio's documentation says what to do; the wheel needs nothing more.
#if defined(__unix__) || defined(__APPLE__)
BOOST_TEST_DECORATOR(*only_if(!on_io_uring)) // There, no timer of Asio's does.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_survives_a_fork_on_both_sides, World, real_worlds) {
    World world;
    int fired = 0;
    typename World::timer soon(world.ctx, 30ms); // real time
    typename World::timer due(world.ctx);
    typename World::timer distant(world.ctx, 1h);
    soon.async_wait([&](const error_code& ec) {
        fired += ec ? 100 : 1;
        distant.cancel();
    });
    due.async_wait([&](const error_code& ec) { fired += ec ? 100 : 10; });
    distant.async_wait([&](const error_code& ec) { fired += ec == aborted ? 1000 : 1; });
    world.ctx.notify_fork(asio::execution_context::fork_prepare);
    const pid_t child = ::fork();
    BOOST_TEST_REQUIRE(child >= 0);
    if (child == 0) {
        world.ctx.notify_fork(asio::execution_context::fork_child);
        world.ctx.run_for(20s);
        ::_exit(fired == 1011 && world.ctx.stopped() ? 0 : 1);
    }
    world.ctx.notify_fork(asio::execution_context::fork_parent);
    world.ctx.run_for(20s);
    BOOST_TEST(fired == 1011);
    BOOST_TEST(world.ctx.stopped());
    int status = -1;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0, "the child saw something else");
}
#endif

BOOST_AUTO_TEST_CASE(a_context_without_a_lock_has_a_wheel_with_one_unless_it_is_made_without) {
    asio::io_context unsafe(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    BOOST_TEST(use_wheel(unsafe).options().locking);
    asio::io_context made(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    BOOST_TEST(!make_wheel(made, {.locking = false}).options().locking);
}

#if ASIO_WHEEL_HAS_ASIO_CONFIG
BOOST_AUTO_TEST_CASE(a_wheel_can_be_configured_with_its_context) {
    asio::io_context ctx(asio::config_from_string("wheel.tick_us=250\n"
                                                  "wheel.slots=64\n"
                                                  "wheel.levels=3\n"
                                                  "wheel.max_pending=5\n"
                                                  "wheel.locking=0\n"
                                                  "wheel.budget=17\n"
                                                  "wheel.stall_us=0\n"
                                                  "wheel.measure_handlers=1\n"));
    const steady_timer t(ctx);
    const wheel_options& options = use_wheel(ctx).options();
    BOOST_TEST((options.tick == 250us));
    BOOST_TEST(options.slots == 64U);
    BOOST_TEST(options.levels == 3U);
    BOOST_TEST(options.max_pending == 5U);
    BOOST_TEST(!options.locking);
    BOOST_TEST(options.budget == 17U);
    BOOST_TEST((options.stall == 0us));
    BOOST_TEST(options.measure_handlers);
}

BOOST_AUTO_TEST_CASE(a_wheel_locks_unless_it_is_configured_not_to) {
    asio::io_context plain;
    BOOST_TEST(use_wheel(plain).options().locking);
    asio::io_context unlocked(asio::config_from_string("scheduler.locking=0"));
    BOOST_TEST(use_wheel(unlocked).options().locking);
    asio::io_context both(asio::config_from_string("scheduler.locking=0\nwheel.locking=0"));
    BOOST_TEST(!use_wheel(both).options().locking);
}

BOOST_AUTO_TEST_CASE(two_ways_to_configure_a_wheel_must_agree) {
    const auto message = [](const char* option) {
        return [option](const std::invalid_argument& e) {
            const std::string text = e.what();
            BOOST_TEST_INFO(text);
            return text.find(option) != std::string::npos &&
                   text.find("wheel") != std::string::npos;
        };
    };
    asio::io_context ctx(asio::config_from_string("wheel.tick_us=250\nwheel.slots=64"));
    BOOST_CHECK_EXCEPTION(make_wheel(ctx), std::invalid_argument, message("tick"));
    BOOST_CHECK_EXCEPTION(make_wheel(ctx, {.tick = 250us, .slots = 65}), std::invalid_argument,
                          message("slots"));
    make_wheel(ctx, {.tick = 250us, .slots = 64, .levels = 2});
    BOOST_TEST(use_wheel(ctx).options().levels == 2U);
}

// It does not name the configuration, which says nothing.
BOOST_AUTO_TEST_CASE(an_unusable_option_of_the_program_is_named) {
    asio::io_context ctx(asio::config_from_string("wheel.slots=64"));
    BOOST_CHECK_EXCEPTION(make_wheel(ctx, {.slots = 64, .stall = -1ms}), std::invalid_argument,
                          [](const std::invalid_argument& e) {
                              const std::string text = e.what();
                              return text.find("wheel_options::stall") != std::string::npos;
                          });
}

BOOST_AUTO_TEST_CASE(unusable_configuration_is_refused) {
    for (const char* text : {"wheel.tick_us=0", "wheel.tick_us=-5", "wheel.slots=0",
                             "wheel.levels=0", "wheel.levels=99", "wheel.budget=0",
                             "wheel.stall_us=-1", "wheel.tick_us=9223372036854775807",
                             "wheel.tick_us=-18446744073709551", "wheel.slots=banana"}) {
        asio::io_context ctx{asio::config_from_string(text)};
        BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK_THROW(steady_timer{ctx}, std::exception);
            BOOST_TEST(!asio::has_service<service>(ctx));
        }
    }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
