// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Intervals, idle timers, heartbeats, queues, delayed operations, rate limiters and schedulers are
// moved, while idle and with pending operations.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/rate_limiter.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/latch.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::heartbeat;
using asio_wheel::idle_timer;
using asio_wheel::interval;
using asio_wheel::scheduler;

constexpr auto period = 10s;

// For each kind of utility: how to create it, and how to start an operation that completes after a
// period: begin(utility, handler), or begin(utility, token...) for kinds with completion tokens.

struct intervals {
    using type = interval;

    static interval make(asio::io_context& ctx) { return interval(ctx, period); }

    template <class Utility, class... Token>
    static auto begin(Utility& ticks, Token&&... token) {
        return ticks.async_tick(std::forward<Token>(token)...);
    }
};

struct idle_timers {
    using type = idle_timer;

    static idle_timer make(asio::io_context& ctx) { return idle_timer(ctx, period); }

    template <class Utility, class... Token>
    static auto begin(Utility& idle, Token&&... token) {
        idle.touch();
        return idle.async_wait(std::forward<Token>(token)...);
    }
};

struct heartbeats {
    using type = heartbeat;

    static heartbeat make(asio::io_context& ctx) {
        return heartbeat(ctx, {.send_every = period, .dead_after = 1h});
    }

    template <class Utility, class... Token>
    static auto begin(Utility& pulse, Token&&... token) {
        return pulse.async_next(std::forward<Token>(token)...);
    }
};

struct queues {
    using type = asio_wheel::delay_queue<int>;

    static type make(asio::io_context& ctx) { return type(ctx); }

    template <class Utility, class... Token>
    static auto begin(Utility& queue, Token&&... token) {
        queue.push(period, 1);
        return queue.async_pop(std::forward<Token>(token)...);
    }
};

struct operations {
    using type = asio_wheel::delayed_operations<int, std::monostate>;

    static type make(asio::io_context& ctx) { return type(ctx); }

    // Completes at its deadline, without an error.
    template <class Utility, class... Token>
    static auto begin(Utility& waiting, Token&&... token) {
        using result = std::optional<std::monostate>;
        return waiting.async_wait(
            {1, 2}, period,
            [](asio_wheel::attempt which) {
                return which == asio_wheel::attempt::last ? result(std::in_place) : std::nullopt;
            },
            std::forward<Token>(token)...);
    }
};

struct limiters {
    using type = asio_wheel::rate_limiter;

    // A token in a period.
    static constexpr asio_wheel::rate_limiter_options options{.rate = {1, period}, .burst = 1};

    static type make(asio::io_context& ctx) { return type(ctx, options); }

    template <class Utility, class... Token>
    static auto begin(Utility& limiter, Token&&... token) {
        static_cast<void>(limiter.try_acquire());
        return limiter.async_acquire(1, std::forward<Token>(token)...);
    }
};

// A function that is destroyed without having been called reports to its handler that it was
// aborted.
template <class Handler>
class called_once {
public:
    explicit called_once(Handler handler)
        : handler_(std::make_unique<Handler>(std::move(handler))) {}
    called_once(called_once&&) = default;
    called_once& operator=(called_once&&) = delete;
    ~called_once() {
        if (handler_) {
            (*handler_)(aborted);
        }
    }

    void operator()() { (*std::exchange(handler_, nullptr))(success); }

private:
    std::unique_ptr<Handler> handler_;
};

struct schedulers {
    using type = scheduler;

    static scheduler make(asio::io_context& ctx) { return scheduler(ctx); }

    template <class Handler>
    static void begin(scheduler& tasks, Handler handler) {
        tasks.schedule_after(period, called_once(std::move(handler)));
    }
};

using kinds =
    std::tuple<intervals, idle_timers, heartbeats, queues, operations, limiters, schedulers>;
using kinds_with_tokens =
    std::tuple<intervals, idle_timers, heartbeats, queues, operations, limiters>;

template <class T>
constexpr bool moves_as_promised =
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
    std::is_nothrow_swappable_v<T> && !std::is_copy_constructible_v<T> &&
    !std::is_copy_assignable_v<T>;

static_assert(moves_as_promised<interval>);
static_assert(moves_as_promised<idle_timer>);
static_assert(moves_as_promised<heartbeat>);
static_assert(moves_as_promised<asio_wheel::delay_queue<int>>);
static_assert(moves_as_promised<asio_wheel::delayed_operations<int, int>>);
static_assert(moves_as_promised<scheduler>);

// A queue can be moved even if moving its values may throw.
struct value_that_may_throw {
    value_that_may_throw() = default;
    value_that_may_throw(value_that_may_throw&&) noexcept(false) {}
};
static_assert(moves_as_promised<asio_wheel::delay_queue<value_that_may_throw>>);

// Utilities of one kind, on a context in virtual time.
template <class Kind>
struct moving : virtual_world {
    using utility = typename Kind::type;

    [[nodiscard]] utility make() { return Kind::make(ctx); }

    // Writes `entry` when the operation has completed.
    [[nodiscard]] auto note(int entry) {
        return [this, entry](const error_code& ec = {}, const auto&...) {
            log.add(std::to_string(entry), ec);
        };
    }

    void start(utility& u, int entry) { Kind::begin(u, note(entry)); }

    [[nodiscard]] utility started(int entry) {
        utility u = make();
        start(u, entry);
        return u;
    }
};

// Owned as in a session.
template <class Utility>
struct session {
    std::string name;
    Utility owned;
};

} // namespace

BOOST_AUTO_TEST_SUITE(movable_utilities, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(a_factory_returns_one_that_is_waited_for, Kind, kinds) {
    moving<Kind> world;
    const auto open = [&](int entry) {
        auto u = world.started(entry);
        return session<typename Kind::type>{"s", std::move(u)};
    };
    const session first = open(1);
    world.elapse(1s);
    const session second = open(2);
    BOOST_TEST(world.log_after(period - 1s) == "1");
    BOOST_TEST(world.log_after(1s) == "2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_vector_grows_while_all_of_it_is_waited_for, Kind, kinds) {
    moving<Kind> world;
    std::vector<typename Kind::type> all;
    std::string expected;
    std::size_t reallocated = 0;
    for (int i = 0; i < 9; ++i) {
        reallocated += all.size() == all.capacity() ? 1 : 0;
        all.push_back(world.make());
        world.start(all.back(), i);
        expected += (i == 0 ? "" : " ") + std::to_string(i);
        world.elapse(10ms); // One after the other.
    }
    BOOST_TEST(reallocated > 2);
    BOOST_TEST(world.log_after(period) == expected);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_erased_from_a_vector_is_aborted_and_nothing_else, Kind,
                              kinds) {
    moving<Kind> world;
    std::vector<typename Kind::type> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(world.started(i));
        world.elapse(10ms);
    }
    all.erase(all.begin());
    BOOST_TEST(world.log_now() == "0!");
    BOOST_TEST(world.log_after(period) == "1 2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(swapping_two_changes_what_each_of_them_is, Kind, kinds) {
    moving<Kind> world;
    auto a = world.started(1);
    world.elapse(1s);
    auto b = world.started(2);
    std::swap(a, b);
    BOOST_TEST(world.log_after(period - 1s) == "1");
    a = world.make();
    BOOST_TEST(world.log_now() == "2!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(move_assignment_aborts_what_waited_there, Kind, kinds) {
    moving<Kind> world;
    auto a = world.started(1);
    auto b = world.started(2);
    a = std::move(b);
    BOOST_TEST(world.log_now() == "1!");
    BOOST_TEST(world.log_after(period) == "2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(self_move_assignment_changes_nothing, Kind, kinds) {
    moving<Kind> world;
    auto a = world.started(1);
    auto& same = a;
    a = std::move(same);
    BOOST_TEST(world.log_now() == "");
    BOOST_TEST(world.log_after(period) == "1");
    world.start(a, 2);
    BOOST_TEST(world.log_after(period) == "2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_moved_from_may_be_assigned_to, Kind, kinds) {
    moving<Kind> world;
    auto a = world.started(1);
    const auto b = std::move(a);
    a = world.started(2); // NOLINT(bugprone-use-after-move)
    world.pass(period);
    BOOST_TEST(world.log.size() == 2U);
}

// As the destructor of a connection does, even if the connection was moved.
BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_moved_from_may_be_cancelled, Kind, kinds_with_tokens) {
    moving<Kind> world;
    auto from = world.started(1);
    const auto to = std::move(from);
    BOOST_TEST(from.cancel() == 0U); // NOLINT(bugprone-use-after-move)
    BOOST_TEST(world.log_after(period) == "1");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_may_be_moved_by_its_own_handler, Kind, kinds) {
    moving<Kind> world;
    auto a = world.make();
    std::optional<typename Kind::type> b;
    Kind::begin(a, [&](const error_code& ec, const auto&...) {
        world.note(1)(ec);
        b.emplace(std::move(a));
        world.start(*b, 2);
    });
    BOOST_TEST(world.log_after(period) == "1");
    BOOST_TEST(world.log_after(period) == "2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_may_be_replaced_by_its_own_handler, Kind, kinds) {
    moving<Kind> world;
    auto a = world.make();
    Kind::begin(a, [&](const error_code& ec, const auto&...) {
        world.note(1)(ec);
        a = world.started(2);
    });
    BOOST_TEST(world.log_after(period) == "1");
    BOOST_TEST(world.log_after(period) == "2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_may_be_moved_when_it_is_due_and_was_not_delivered, Kind, kinds) {
    moving<Kind> world;
    auto a = world.started(1);
    world.elapse(period);
    const auto b = std::move(a);
    BOOST_TEST(world.log.take() == "");
    BOOST_TEST(world.log_now() == "1");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_that_is_due_and_was_not_delivered_can_be_aborted, Kind, kinds) {
    moving<Kind> world;
    auto a = world.started(1);
    world.elapse(period);
    a = world.make();
    BOOST_TEST(world.log_now() == "1!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_may_be_moved_when_its_context_has_ended, Kind, kinds) {
    std::optional<asio::io_context> ctx(std::in_place);
    std::size_t calls = 0;
    const auto count = [&calls](const error_code& ec = {}, const auto&...) { calls += ec ? 0 : 1; };
    auto a = Kind::make(*ctx);
    auto b = Kind::make(*ctx);
    auto at_rest = Kind::make(*ctx);
    Kind::begin(a, count);
    Kind::begin(b, count);
    ctx.reset();
    auto c = std::move(a);
    c = std::move(b);
    std::swap(c, at_rest);
    at_rest = std::move(c);
    BOOST_TEST(calls == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_cancellation_slot_goes_on_leading_to_what_waits, Kind,
                              kinds_with_tokens) {
    moving<Kind> world;
    asio::cancellation_signal signal;
    auto a = world.make();
    Kind::begin(a, asio::bind_cancellation_slot(signal.slot(), world.note(1)));
    auto b = std::move(a);
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(world.log_now() == "1!");
    world.start(b, 2);
    BOOST_TEST(world.log_after(period) == "2");
}

// The object is moved between the call and the start of the operation.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_deferred_operation_starts_where_the_object_is, Kind,
                              kinds_with_tokens) {
    using utility = typename asio::deferred_t::as_default_on_t<typename Kind::type>;
    static_assert(moves_as_promised<utility>);
    moving<Kind> world;
    const auto make = [&] {
        if constexpr (std::is_constructible_v<utility, asio::io_context&>) {
            return utility(world.ctx);
        } else if constexpr (std::is_same_v<Kind, heartbeats>) {
            return utility(world.ctx, {.send_every = period, .dead_after = 1h});
        } else if constexpr (std::is_same_v<Kind, limiters>) {
            return utility(world.ctx, limiters::options);
        } else {
            return utility(world.ctx, period);
        }
    };
    utility a = make();
    auto operation = Kind::begin(a);
    utility b = make();
    b = std::move(a);
    std::move(operation)(world.note(1));
    BOOST_TEST(world.log_after(period) == "1");
}

namespace {

template <class Kind, class Utility>
asio::awaitable<void> wait_twice(Utility& u, int& done) {
    static_cast<void>(co_await Kind::begin(u));
    ++done;
    static_cast<void>(co_await Kind::begin(u));
    ++done;
}

} // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(a_coroutine_waits_while_what_it_waits_for_is_moved_and_back, Kind,
                              kinds_with_tokens) {
    using utility = typename asio::use_awaitable_t<>::as_default_on_t<typename Kind::type>;
    static_assert(moves_as_promised<utility>);
    moving<Kind> world;
    std::vector<utility> all;
    if constexpr (std::is_constructible_v<utility, asio::io_context&>) {
        all.emplace_back(world.ctx);
    } else if constexpr (std::is_same_v<Kind, heartbeats>) {
        all.emplace_back(world.ctx,
                         asio_wheel::heartbeat_options{.send_every = period, .dead_after = 1h});
    } else if constexpr (std::is_same_v<Kind, limiters>) {
        all.emplace_back(world.ctx, limiters::options);
    } else {
        all.emplace_back(world.ctx, period);
    }
    int done = 0;
    asio::co_spawn(world.ctx, wait_twice<Kind>(all.front(), done), asio::detached);
    world.poll();
    utility elsewhere = std::move(all.front());
    world.elapse(1s);
    all.front() = std::move(elsewhere);
    world.pass(period - 1s);
    BOOST_TEST(done == 1);
    world.pass(period);
    BOOST_TEST(done == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_constant_one_tells_its_executor_also_after_a_move, Kind, kinds) {
    using utility = typename Kind::type;
    static_assert(std::is_same_v<decltype(std::declval<const utility&>().get_executor()),
                                 const typename utility::executor_type&>);
    static_assert(noexcept(std::declval<const utility&>().get_executor()));
    moving<Kind> world;
    auto a = world.make();
    const auto b = std::move(a);
    BOOST_TEST((b.get_executor() == world.ctx.get_executor()));
}

// State that follows the object still does so after a move.

BOOST_FIXTURE_TEST_CASE(an_interval_keeps_its_rate_when_it_is_moved, moving<intervals>) {
    interval a(ctx, period);
    elapse(25s);
    interval b = std::move(a);
    std::size_t taken = 0;
    b.async_tick([&](error_code, std::size_t periods) { taken = periods; });
    poll();
    BOOST_TEST(taken == 2U);
    BOOST_TEST((b.expiry() == now() + 5s));
    BOOST_TEST((b.period() == period));
}

BOOST_FIXTURE_TEST_CASE(an_idle_timer_knows_its_last_touch_and_its_scale_when_it_is_moved,
                        moving<idle_timers>) {
    auto a = started(1);
    elapse(4s);
    a.touch();
    elapse(1s);
    auto b = std::move(a);
    BOOST_TEST((b.idle_for() == 1s));
    asio_wheel::scale_idle_timers(wheel, 0.5); // 5 s are long enough.
    BOOST_TEST(log_after(4s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "1");
}

BOOST_FIXTURE_TEST_CASE(touches_after_a_move_count_and_the_old_place_does_not, virtual_world) {
    auto old_idle = std::make_unique<idle_timer>(ctx, period);
    auto old_pulse = std::make_unique<heartbeat>(
        ctx, asio_wheel::heartbeat_options{.send_every = period, .dead_after = period});
    old_idle->async_wait(log.note("idle"));
    old_pulse->async_next([&](error_code ec, auto) { log.add("pulse", ec); });
    std::optional<idle_timer> idle(std::move(*old_idle));
    heartbeat pulse(ctx, {.send_every = 1h, .dead_after = 1h});
    pulse = std::move(*old_pulse);
    old_idle.reset();
    old_pulse.reset();
    pass(4s);
    idle->touch();
    pulse.sent();
    pulse.received();
    BOOST_TEST(log_after(period - 1ns) == "");
    pass(1ns);
    BOOST_TEST(log.size() == 2U);
    log.take();

    idle->touch();
    idle->async_wait(log.note("idle"));
    idle_timer last(ctx, 1h);
    last = std::move(*idle);
    idle.reset();
    elapse(1s);
    last.touch();
    asio_wheel::scale_idle_timers(wheel, 0.5);
    BOOST_TEST(log_after(period / 2 - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "idle");
}

BOOST_FIXTURE_TEST_CASE(keys_go_on_leading_to_elements_of_a_queue_that_is_moved, moving<queues>) {
    auto a = make();
    const auto first = a.push(period, 1);
    const auto second = a.push(period, 2);
    auto b = std::move(a);
    BOOST_TEST((b.erase(first) == 1));
    BOOST_TEST(b.postpone(second, 0s));
    BOOST_TEST((b.try_pop() == 2));
}

BOOST_FIXTURE_TEST_CASE(handles_and_keys_go_on_leading_to_tasks_of_a_scheduler_that_is_moved,
                        moving<schedulers>) {
    auto a = make();
    const auto h = a.schedule_after(period, note(1));
    a.schedule_after("key", period, note(2));
    auto b = std::move(a);
    BOOST_TEST(b.pending() == 2U);
    h.cancel();
    b.schedule_after("key", period, note(3));
    BOOST_TEST(b.pending() == 1U);
    BOOST_TEST(log_after(period) == "3");
}

// Objects that a move assignment destroys may use the target, which has its new value already.

BOOST_FIXTURE_TEST_CASE(an_element_that_is_destroyed_by_move_assignment_finds_the_new_queue,
                        virtual_world) {
    using value = std::unique_ptr<int, std::function<void(int*)>>;
    asio_wheel::delay_queue<value> a(ctx);
    asio_wheel::delay_queue<value> b(ctx);
    int number = 0;
    a.push(period, value(&number, [&](int*) { a.push(period, value(&number, [](int*) {})); }));
    a = std::move(b);
    BOOST_TEST(a.size() == 1U);
    pass(period);
    BOOST_TEST(a.try_pop().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_task_that_is_destroyed_by_move_assignment_finds_the_new_scheduler,
                        moving<schedulers>) {
    auto a = make();
    auto b = make();
    a.schedule_after(1h,
                     called_once([&](const error_code&) { a.schedule_after(period, note(2)); }));
    a = std::move(b);
    BOOST_TEST(a.pending() == 1U);
    BOOST_TEST(log_after(period) == "2");
}

// Groups of schedulers.

BOOST_FIXTURE_TEST_CASE(a_group_works_on_when_its_scheduler_is_moved, moving<schedulers>) {
    auto a = make();
    scheduler::group session(a);
    session.schedule_after(period, note(1));
    const auto b = std::move(a);
    session.schedule_after(period, note(2));
    BOOST_TEST(b.pending() == 2U);
    BOOST_TEST(session.cancel() == 2U);
    BOOST_TEST(b.pending() == 0U);
    session.schedule_after("key", period, note(3));
    BOOST_TEST(log_after(period) == "3");
}

BOOST_FIXTURE_TEST_CASE(a_group_may_outlive_its_scheduler_and_schedules_no_more,
                        moving<schedulers>) {
    std::optional<scheduler> tasks(make());
    scheduler::group session(*tasks);
    session.schedule_after(period, note(1));
    tasks.reset();
    BOOST_CHECK_EXCEPTION(session.schedule_after(period, note(2)), boost::system::system_error,
                          [](const boost::system::system_error& e) {
                              return e.code() == asio_wheel::error::scheduler_stopped;
                          });
    BOOST_TEST(session.cancel() == 0U);
    BOOST_TEST(log_after(period) == "");
}

BOOST_FIXTURE_TEST_CASE(a_group_schedules_no_more_when_its_scheduler_was_assigned_to,
                        moving<schedulers>) {
    auto tasks = make();
    scheduler::group session(tasks);
    tasks = make();
    BOOST_CHECK_THROW(session.schedule_after(period, note(1)), boost::system::system_error);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(a_group_may_outlive_its_context) {
    std::optional<asio::io_context> ctx(std::in_place);
    std::optional<scheduler> tasks(std::in_place, *ctx);
    scheduler::group session(*tasks);
    const auto h = session.schedule_after(period, [] {});
    ctx.reset();
    tasks.reset();
    BOOST_TEST(h.is_cancelled());
    BOOST_TEST(session.cancel() == 0U);
}

// Another thread touches the object of a pending wait, before and after it is moved. During the
// move, no other thread uses it.
BOOST_AUTO_TEST_CASE(another_thread_may_touch_before_a_move_and_after_it) {
    virtual_world world;
    journal log;
    std::vector<idle_timer> idle;
    std::vector<heartbeat> pulse;
    idle.emplace_back(world.ctx, period);
    pulse.emplace_back(world.ctx,
                       asio_wheel::heartbeat_options{.send_every = period, .dead_after = period});
    const auto write = [&](error_code ec, const auto&...) { log.add("idle", ec); };
    idle.front().async_wait(write);
    pulse.front().async_next(write);

    constexpr int moves = 50;
    barrier both(2);
    std::thread other([&] {
        for (int i = 0; i < moves; ++i) {
            for (int n = 0; n < 20; ++n) {
                idle.front().touch();
                pulse.front().sent();
                pulse.front().received();
            }
            both.arrive_and_wait(); // All were touched at this time.
            both.arrive_and_wait(); // All were moved.
        }
    });
    for (int i = 0; i < moves; ++i) {
        world.poll(); // Concurrently.
        both.arrive_and_wait();
        world.pass(period - 1s);
        idle.reserve(idle.capacity() + 1);
        pulse.reserve(pulse.capacity() + 1);
        both.arrive_and_wait();
    }
    other.join();
    BOOST_TEST(log.take() == "");
    BOOST_TEST((idle.front().idle_for() == period - 1s));
    world.pass(1s);
    BOOST_TEST(log.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
