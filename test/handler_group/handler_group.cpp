// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Groups of handlers: waiting until none of them runs any more.

#include <asio_wheel/handler_group.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::handler_group;
using asio_wheel::steady_timer;

struct grouped : virtual_world {
    handler_group handlers;

    // Notes when the group is idle.
    void wait() { handlers.async_wait_idle(asio::bind_executor(ctx, log.note("idle"))); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(handler_groups, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_handler_belongs_to_the_group_from_start_to_end, grouped) {
    steady_timer t(ctx, 1s);
    BOOST_TEST(handlers.pending() == 0U);
    t.async_wait(handlers([this](error_code ec) {
        log.add("called", ec);
        BOOST_TEST(handlers.pending() == 1U);
    }));
    BOOST_TEST(handlers.pending() == 1U);
    wait();
    pass(1s - 1ns);
    BOOST_TEST(log.take() == "");
    pass(1ns);
    BOOST_TEST(log.take() == "called idle");
    BOOST_TEST(handlers.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_handler_belongs_to_it_until_it_was_called, grouped) {
    steady_timer t(ctx, 1h);
    t.async_wait(handlers(log.note("timer")));
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(!handlers.wait_idle(0s)); // Cancelled, but not called yet.
    wait();
    poll();
    BOOST_TEST(log.take() == "timer! idle");
    BOOST_TEST(handlers.wait_idle(0s));
}

BOOST_FIXTURE_TEST_CASE(a_group_without_handlers_is_idle_at_once_but_completes_as_if_posted,
                        grouped) {
    handlers.wait_idle();
    wait();
    BOOST_TEST(log.take() == "");
    poll();
    BOOST_TEST(log.take() == "idle");
}

BOOST_FIXTURE_TEST_CASE(what_starts_meanwhile_is_waited_for_too, grouped) {
    steady_timer t(ctx, 1s);
    t.async_wait(handlers([&](error_code) {
        log.add("first");
        t.expires_after(1s);
        t.async_wait(handlers(log.note("second")));
    }));
    wait();
    pass(1s);
    BOOST_TEST(log.take() == "first");
    pass(1s);
    BOOST_TEST(log.take() == "second idle");
}

// What a handler owns may be what the group's owner wants to destroy.
BOOST_FIXTURE_TEST_CASE(the_group_is_idle_when_the_handler_is_destroyed_not_before, grouped) {
    steady_timer t(ctx, 1s);
    auto owned = std::shared_ptr<int>(new int(1), [this](const int* p) {
        delete p;
        BOOST_TEST(handlers.pending() == 1U);
        log.add("destroyed");
    });
    t.async_wait(handlers([owned = std::move(owned)](error_code) {}));
    wait();
    pass(1s);
    BOOST_TEST(log.take() == "destroyed idle");
}

BOOST_AUTO_TEST_CASE(a_handler_that_its_context_destroys_leaves_the_group) {
    const handler_group handlers;
    {
        asio::io_context ctx;
        steady_timer t(ctx, 1h);
        t.async_wait(handlers([](error_code) { BOOST_TEST(false, "it is not called"); }));
        BOOST_TEST(handlers.pending() == 1U);
    }
    BOOST_TEST(handlers.pending() == 0U);
    handlers.wait_idle();
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_throws_leaves_the_group, grouped) {
    asio::post(ctx, handlers([] { throw std::runtime_error("it throws"); }));
    BOOST_CHECK_THROW(poll(), std::runtime_error);
    BOOST_TEST(handlers.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_does_not_start_leaves_the_group, grouped) {
    asio_wheel::make_wheel<std::chrono::system_clock>(ctx, {.max_pending = 1});
    asio_wheel::basic_waitable_timer<std::chrono::system_clock> first(ctx, 1h);
    first.async_wait(handlers([](error_code) {}));
    asio_wheel::basic_waitable_timer<std::chrono::system_clock> refused(ctx, 1h);
    refused.async_wait(handlers(log.note("refused")));
    poll();
    BOOST_TEST(log.size() == 1U);
    BOOST_TEST(handlers.pending() == 1U);
    first.cancel();
    poll();
    BOOST_TEST(handlers.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(asios_own_operations_and_others_belong_to_it_as_well, grouped) {
    asio::steady_timer t(ctx, 0s);
    t.async_wait(handlers(log.note("timer")));
    asio::post(ctx, handlers(log.note("post")));
    std::future<void> future = asio::post(ctx, handlers(asio::use_future));
    BOOST_TEST(handlers.pending() == 3U);
    ctx.restart();
    while (handlers.pending() != 0) {
        ctx.run_one();
    }
    future.get();
    BOOST_TEST(log.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(what_is_associated_with_a_handler_stays_associated, grouped) {
    const auto strand = asio::make_strand(ctx);
    asio::cancellation_signal signal;
    steady_timer t(ctx, 1h);
    t.async_wait(handlers(asio_wheel::tag(
        "grouped",
        asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(strand, [&](error_code ec) {
                                         BOOST_TEST(strand.running_in_this_thread());
                                         log.add("timer", ec);
                                     })))));
    std::string tags;
    wheel.for_each_pending([&](const asio_wheel::pending_wait& w) { tags += w.tag; });
    BOOST_TEST(tags == "grouped");
    signal.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(log.take() == "timer!");
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_waits_for_a_group_with_deadlines_inside, grouped) {
    steady_timer t(ctx, 1h);
    const auto use = [&]() -> asio::awaitable<void> {
        try {
            co_await t.async_wait(asio_wheel::timeout(1s, handlers(asio::use_awaitable)));
        } catch (const boost::system::system_error& e) {
            log.add("timed out",
                    e.code() == asio_wheel::error::timed_out ? error_code() : e.code());
        }
    };
    const auto wait_for_it = [&]() -> asio::awaitable<void> {
        co_await handlers.async_wait_idle(asio::use_awaitable);
        log.add("idle");
    };
    asio::co_spawn(ctx, use, asio::detached);
    poll();
    asio::co_spawn(ctx, wait_for_it, asio::detached);
    pass(1s);
    BOOST_TEST(log.take() == "timed out idle");
}

BOOST_FIXTURE_TEST_CASE(a_wait_for_a_group_can_be_cancelled, grouped) {
    asio::cancellation_signal signal;
    steady_timer t(ctx, 1h);
    t.async_wait(handlers([](error_code) {}));
    handlers.async_wait_idle(
        asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(ctx, log.note("wait"))));
    signal.emit(asio::cancellation_type::total);
    poll();
    BOOST_TEST(log.take() == "wait!");
    BOOST_TEST(handlers.pending() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_waits_for_itself_is_told, grouped) {
    asio::post(ctx, handlers([this] {
                   try {
                       handlers.wait_idle();
                   } catch (const boost::system::system_error& e) {
                       log.add(e.code() == boost::system::errc::resource_deadlock_would_occur
                                   ? "deadlock"
                                   : e.what());
                   }
               }));
    poll();
    BOOST_TEST(log.take() == "deadlock");
}

// A session that waits for its handlers when it ends, and whose last owner is one of them.
BOOST_AUTO_TEST_CASE(so_is_what_a_handler_owns_that_is_never_called) {
    struct session {
        handler_group handlers;
        bool& told;
        ~session() {
            try {
                handlers.wait_idle();
            } catch (const boost::system::system_error& e) {
                told = e.code() == boost::system::errc::resource_deadlock_would_occur;
            }
        }
    };
    bool told = false;
    {
        asio::io_context ctx;
        std::shared_ptr<session> s(new session{handler_group(), told});
        handler_group& handlers = s->handlers;
        asio::post(ctx, handlers([owner = std::move(s)] {}));
    }
    BOOST_TEST(told);
}

BOOST_FIXTURE_TEST_CASE(a_copy_is_the_same_group_and_handlers_may_outlive_it, grouped) {
    steady_timer t(ctx, 1s);
    {
        handler_group copy;
        copy = handlers;
        const handler_group moved(std::move(copy));
        t.async_wait(moved(log.note("timer")));
        BOOST_TEST(copy.pending() == 1U); // NOLINT(bugprone-use-after-move): it is a copy.
    }
    BOOST_TEST(handlers.pending() == 1U);
    std::optional<handler_group> other(std::in_place);
    t.async_wait((*other)(log.note("other")));
    other.reset();
    pass(1s);
    BOOST_TEST(log.take() == "timer other");
}

// A member that is const is copied when the handler is moved. So the copy that was called does not
// own it alone.
BOOST_FIXTURE_TEST_CASE(a_handler_with_a_const_member_belongs_to_the_group_until_it_is_destroyed,
                        grouped) {
    struct session {
        ~session() { left = handlers.pending(); }
        handler_group& handlers;
        std::size_t& left;
    };
    std::size_t left = 0;
    steady_timer t(ctx, 1s);
    {
        const auto self = std::make_shared<session>(handlers, left);
        t.async_wait(handlers([self](error_code) {}));
    }
    pass(1s);
    BOOST_TEST(left == 1U);
    BOOST_TEST(handlers.pending() == 0U);
}

// The reason to have it: what handlers on other threads use can be destroyed.
BOOST_AUTO_TEST_CASE(after_cancel_and_wait_idle_no_thread_runs_the_handler) {
    asio::thread_pool pool(3);
    for (int round = 0; round < 200; ++round) {
        auto used = std::make_unique<int>(0);
        handler_group handlers;
        std::vector<std::unique_ptr<steady_timer>> timers;
        for (int i = 0; i < 8; ++i) {
            timers.push_back(std::make_unique<steady_timer>(asio::make_strand(pool), 0ms));
            timers.back()->async_wait(handlers([p = used.get(), i](error_code) {
                if (i == 0) {
                    ++*p;
                }
            }));
        }
        for (const auto& t : timers) {
            asio::post(t->get_executor(), handlers([&own = *t] { own.cancel(); }));
        }
        handlers.wait_idle();
        used.reset(); // With a handler under way, sanitizers would see it.
    }
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
