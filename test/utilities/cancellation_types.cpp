// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which types of cancellation abort an operation: for all operations the same as for Asio's timers.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

namespace {

using namespace asio_wheel::test;
using asio::cancellation_type;
using asio_wheel::heartbeat;
using asio_wheel::idle_timer;
using asio_wheel::interval;
using asio_wheel::scheduler;

// For each kind of operation: an object, and begin(handler), which starts one for an hour.

template <class Timer>
struct timer_of {
    Timer t;
    explicit timer_of(asio::io_context& ctx) : t(ctx, 1h) {}
    template <class Handler>
    void begin(Handler handler) {
        t.async_wait(std::move(handler));
    }
};
using asios_timer = timer_of<asio::steady_timer>;
using our_timer = timer_of<asio_wheel::steady_timer>;

struct sleeping {
    asio::io_context& context;
    explicit sleeping(asio::io_context& ctx) : context(ctx) {}
    template <class Handler>
    void begin(Handler handler) {
        asio_wheel::async_sleep_for(context, 1h, std::move(handler));
    }
};

struct tick {
    interval ticks;
    explicit tick(asio::io_context& ctx) : ticks(ctx, 1h) {}
    template <class Handler>
    void begin(Handler handler) {
        ticks.async_tick(std::move(handler));
    }
};

struct idle_period {
    idle_timer idle;
    explicit idle_period(asio::io_context& ctx) : idle(ctx, 1h) {}
    template <class Handler>
    void begin(Handler handler) {
        idle.async_wait(std::move(handler));
    }
};

struct beat {
    heartbeat pulse;
    explicit beat(asio::io_context& ctx) : pulse(ctx, {.send_every = 1h, .dead_after = 2h}) {}
    template <class Handler>
    void begin(Handler handler) {
        pulse.async_next(std::move(handler));
    }
};

struct pop {
    asio_wheel::delay_queue<int> queue;
    explicit pop(asio::io_context& ctx) : queue(ctx) {}
    template <class Handler>
    void begin(Handler handler) {
        queue.async_pop(std::move(handler));
    }
};

struct pop_of_an_entry : pop {
    using pop::pop;
    template <class Handler>
    void begin(Handler handler) {
        queue.async_pop_entry(std::move(handler));
    }
};

struct delayed_operation {
    asio_wheel::delayed_operations<int, std::monostate> operations;
    explicit delayed_operation(asio::io_context& ctx) : operations(ctx) {}
    template <class Handler>
    void begin(Handler handler) {
        operations.async_wait(
            1, 1h, [] { return std::optional<std::monostate>(); }, std::move(handler));
    }
};

struct busy {
    scheduler tasks;
    scheduler::group some{tasks};
    asio_wheel::task_handle one = some.schedule_after(1h, [] {});
    explicit busy(asio::io_context& ctx) : tasks(ctx) {}
};
struct idle_scheduler : busy {
    using busy::busy;
    template <class Handler>
    void begin(Handler handler) {
        tasks.async_wait_idle(std::move(handler));
    }
};
struct idle_group : busy {
    using busy::busy;
    template <class Handler>
    void begin(Handler handler) {
        some.async_wait_idle(std::move(handler));
    }
};
struct idle_task : busy {
    using busy::busy;
    template <class Handler>
    void begin(Handler handler) {
        one.async_wait_idle(asio::bind_executor(tasks.get_executor(), std::move(handler)));
    }
};

using kinds = std::tuple<asios_timer, our_timer, sleeping, tick, idle_period, beat, pop,
                         pop_of_an_entry, delayed_operation, idle_scheduler, idle_group, idle_task>;

// Whether a signal of this type aborts an operation. If it does not, one of type terminal follows.
template <class Kind>
[[nodiscard]] bool is_aborted_by(cancellation_type type) {
    virtual_world world;
    Kind object(world.ctx);
    std::optional<error_code> ended;
    asio::cancellation_signal signal;
    object.begin(
        asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, auto&&...) { ended = ec; }));
    signal.emit(type);
    world.poll();
    BOOST_TEST((!ended || *ended == asio::error::operation_aborted));
    const bool aborted = ended.has_value();
    signal.emit(cancellation_type::terminal);
    world.poll();
    BOOST_TEST(ended.has_value());
    return aborted;
}

constexpr auto undefined = static_cast<cancellation_type>(8); // A bit that has no meaning.

} // namespace

BOOST_AUTO_TEST_SUITE(cancellation_types, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(terminal_partial_and_total_abort_an_operation_and_nothing_else_does,
                              Kind, kinds) {
    BOOST_TEST(is_aborted_by<Kind>(cancellation_type::terminal));
    BOOST_TEST(is_aborted_by<Kind>(cancellation_type::partial));
    BOOST_TEST(is_aborted_by<Kind>(cancellation_type::total));
    BOOST_TEST(is_aborted_by<Kind>(cancellation_type::total | undefined));
    BOOST_TEST(is_aborted_by<Kind>(cancellation_type::all));
    BOOST_TEST(!is_aborted_by<Kind>(cancellation_type::none));
    BOOST_TEST(!is_aborted_by<Kind>(undefined));
}

BOOST_AUTO_TEST_SUITE_END()
