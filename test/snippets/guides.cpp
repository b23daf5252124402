// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The code fragments of README and guides, compiled and run: a case for each. If the text describes
// their effect, the case checks it.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "snippets/support.hpp"
#include "support/manual_operation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/coro.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace snippets {

/// A key of a task.
struct user {
    int id;
    friend bool operator==(const user&, const user&) = default;
};

} // namespace snippets

template <>
struct std::hash<snippets::user> {
    std::size_t operator()(const snippets::user& u) const noexcept {
        return static_cast<std::size_t>(u.id);
    }
};

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_guides, *boost::unit_test::timeout(60))

namespace the_wheel {

struct session {
    explicit session(tcp::acceptor& acceptor)
        : socket(acceptor.accept()), idle(socket.get_executor(), 30s) {}

    void start() {
#include "docs/guide/wheel.md/idle_async_wait_this_boost.inc"
    }

    tcp::socket socket;
    asio_wheel::steady_timer idle;
};

BOOST_AUTO_TEST_CASE(wheel_options_are_what_make_wheel_was_given) {
    asio::io_context ctx;
#include "docs/guide/wheel.md/auto_wheel_asio_wheel_make_wheel.inc"
    BOOST_TEST((wheel.options().tick == 10ms));
    BOOST_TEST(&asio_wheel::use_wheel(ctx) == &wheel);
}

// A server with more connections than its wheel can hold: those without a timeout are closed at
// once, the others when they have been idle. None stays open without a timeout.
BOOST_AUTO_TEST_CASE(wheel_a_server_at_its_limit_leaves_no_connection_without_timeout) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.max_pending = 3});
    wheel.pause();
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::list<tcp::socket> clients;
    std::list<session> sessions;
    for (int i = 0; i < 5; ++i) {
        clients.emplace_back(ctx).connect(acceptor.local_endpoint());
        sessions.emplace_back(acceptor).start();
    }
    const auto open = [&] {
        std::string all;
        for (const session& s : sessions) {
            all += s.socket.is_open() ? '+' : '-';
        }
        return all;
    };
    BOOST_TEST(open() == "+++++");
    ctx.poll();
    BOOST_TEST(open() == "+++--");
    BOOST_TEST(wheel.stats().rejected == 2U);

    // Another connection can use a place that becomes free. A timeout that was cancelled closes
    // nothing.
    sessions.front().idle.cancel();
    clients.emplace_back(ctx).connect(acceptor.local_endpoint());
    sessions.emplace_back(acceptor).start();
    ctx.restart();
    ctx.poll();
    BOOST_TEST(open() == "+++--+");

    wheel.advance(30s + wheel.options().tick);
    ctx.restart();
    ctx.poll();
    BOOST_TEST_REQUIRE(open() == "+-----");
    for (tcp::socket& client : clients) {
        if (&client != &clients.front()) {
            char byte = 0;
            error_code ec;
            client.read_some(asio::buffer(&byte, 1), ec);
            BOOST_TEST((ec == asio::error::eof));
        }
    }
}

} // namespace the_wheel

namespace timeout {

using asio_wheel::timeout;

BOOST_FIXTURE_TEST_CASE(timeout_of_nested_deadlines_the_first_to_pass_tells, snippet_world) {
    std::optional<error_code> result;
    const auto token = [&](error_code ec) { result = ec; };
    const auto op = [&](auto t) { work_for(ctx.get_executor(), 1h, std::move(t)); };
#include "docs/guide/timeout.md/op_timeout_30s_my_error.inc"
    pass(2s - 1ms);
    BOOST_TEST(!result.has_value());
    pass(1ms);
    BOOST_TEST((result == make_error_code(my_error::peer_is_silent)));
}

asio::awaitable<void> of_a_group(asio::any_io_executor ex, std::array<error_code, 2>& results) {
    using asio::deferred;
    using asio::experimental::make_parallel_group;
    using asio::experimental::wait_for_all;
    using asio_wheel::each_error;
    const auto first = 1s;
    const auto second = 1h;
    const auto ask = [&](auto d, auto token) { return work_for(ex, d, token); };
#include "docs/guide/timeout.md/auto_group_make_parallel_group_ask.inc"
    BOOST_TEST(order[0] == 0U);
    results = {first_error, second_error};
}

BOOST_FIXTURE_TEST_CASE(timeout_of_a_group_keeps_what_was_in_time, snippet_world) {
    std::array<error_code, 2> results{asio::error::eof, asio::error::eof};
    begin(of_a_group(ctx.get_executor(), results));
    pass(2s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST(!results[0]);
    BOOST_TEST((results[1] == asio_wheel::error::timed_out));
}

BOOST_FIXTURE_TEST_CASE(timeout_of_a_result_for_not_in_time, snippet_world) {
    enum class health { good, bad };
    asio_wheel::test::manual_operation<health> operation(ctx.get_executor());
    operation.on_cancel = [&] { operation.complete(health::good); };
    const auto check_health = [&](auto token) { operation.start(std::move(token)); };
    std::optional<health> seen;
    const auto handler = [&](health h) { seen = h; };
#include "docs/guide/timeout.md/const_auto_assume_bad_boost.inc"
    pass(2s - 1ms);
    BOOST_TEST(!seen.has_value());
    pass(1ms);
    BOOST_TEST((seen == health::bad));
}

// Takes as many seconds as its name has letters.
asio::awaitable<std::string> download(std::string name) {
    const auto ex = co_await this_coro::executor;
    co_await work_for(ex, std::chrono::seconds(name.size()), use_awaitable);
    co_return name;
}

asio::awaitable<void> store(std::string text) {
    const auto ex = co_await this_coro::executor;
    co_await work_for(ex, std::chrono::seconds(text.size()), use_awaitable);
}

asio::awaitable<void> several_coroutines() {
    using asio_wheel::timeout_at;
    const auto ex = co_await this_coro::executor;
#include "docs/guide/timeout.md/const_auto_end_asio_wheel.inc"
}

// To load "index" takes five seconds, and so does to store it.
BOOST_FIXTURE_TEST_CASE(timeout_of_several_coroutines_by_one_point_of_time, snippet_world) {
    auto& wall = use_wheel<std::chrono::system_clock>(ctx);
    wall.pause();
    begin(several_coroutines());
    pass(5s);
    wall.advance(9s);
    poll();
    BOOST_TEST(!over);
    wall.advance(2s);
    poll();
    BOOST_TEST(over);
    BOOST_TEST((error == make_error_code(my_error::request_took_too_long)));
}

asio::experimental::coro<void()> a_coro(asio::io_context&, asio_wheel::steady_timer& timer) {
#include "docs/guide/timeout.md/co_await_timer_async_wait_timeout.inc"
}

BOOST_FIXTURE_TEST_CASE(timeout_throws_in_a_coro, snippet_world) {
    asio_wheel::steady_timer timer(ctx, 1h);
    auto c = a_coro(ctx, timer);
    std::exception_ptr thrown;
    c.async_resume([&](std::exception_ptr e) { thrown = std::move(e); });
    poll();
    pass(2s);
    BOOST_TEST_REQUIRE((thrown != nullptr));
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(thrown), boost::system::system_error,
                          [](const auto& e) { return e.code() == asio_wheel::error::timed_out; });
}

} // namespace timeout

namespace cancel_after {

BOOST_FIXTURE_TEST_CASE(cancel_after_on_a_timer_that_is_postponed, snippet_world) {
    using asio_wheel::cancel_after;
    snippets::connection c(ctx);
    tcp::socket& socket = c.socket;
    std::array<char, 8> memory{};
    const auto buffer = asio::buffer(memory);
    asio_wheel::steady_timer limit(ctx);
    std::optional<error_code> result;
    const auto handler = [&](error_code ec, std::size_t) { result = ec; };
#include "docs/guide/cancel_after.md/socket_async_read_some_buffer_cancel_after.inc"
    BOOST_TEST(waits == 1U);
    pass(10s - 1ms);
    BOOST_TEST(!result.has_value());
    pass(1ms);
    BOOST_TEST((result == asio::error::operation_aborted));
}

} // namespace cancel_after

namespace idle_timer {

BOOST_FIXTURE_TEST_CASE(idle_timer_shorter_periods_under_overload_close_what_was_idle_for_longer,
                        snippet_world) {
    asio_wheel::idle_timer longer(ctx, 2min);
    asio_wheel::idle_timer shorter(ctx, 2min);
    asio_wheel::test::journal seen;
    longer.async_wait(seen.note("longer"));
    shorter.async_wait(seen.note("shorter"));
    pass(20s);
    shorter.touch();
    pass(15s);
    const auto shown = [this] {
#include "docs/guide/idle_timer.md/asio_wheel_scale_idle_timers_ctx_0.inc"
    };
    shown();
    pass(1ms);
    BOOST_TEST(seen.take() == "longer");
    pass(14s);
    BOOST_TEST(seen.take().empty());
    pass(1s + 20ms); // The kernel's coarse clock may be some of its ticks behind.
    BOOST_TEST(seen.take() == "shorter");
}

BOOST_FIXTURE_TEST_CASE(idle_timer_many_at_one_moment_waits_60_to_72_s, snippet_world) {
    asio_wheel::test::journal seen;
#include "docs/guide/idle_timer.md/asio_wheel_idle_timer_idle_ctx.inc"
    idle.async_wait(seen.note("closed"));
    pass(60s - 1ns);
    BOOST_TEST(seen.take().empty());
    pass(12s + 1ns);
    BOOST_TEST(seen.take() == "closed");
}

} // namespace idle_timer

namespace scheduler {

using asio_wheel::missed;

int refreshed = 0, billed = 0, rung = 0, backups = 0, delivered = 0, returned = 0;
void refresh() {
    ++refreshed;
}
void send_bill() {
    ++billed;
}
void ring() {
    ++rung;
}
void backup() {
    ++backups;
}
void deliver() {
    ++delivered;
}
void return_to_sender() {
    ++returned;
}

BOOST_FIXTURE_TEST_CASE(scheduler_debounce_is_one_call_for_a_burst, snippet_world) {
    asio_wheel::scheduler tasks(ctx);
    int saved = 0;
    const auto save = [&] { ++saved; };
    for (int i = 0; i < 50; ++i) {
#include "docs/guide/scheduler.md/tasks_debounce_save_quiet.inc"
        pass(100ms);
    }
    BOOST_TEST(saved == 1);
}

BOOST_FIXTURE_TEST_CASE(scheduler_missed_calls_follow_their_rules, snippet_world) {
    asio_wheel::scheduler tasks(ctx);
#include "docs/guide/scheduler.md/tasks_schedule_at_fixed_rate_1min_1min.inc"
    elapse(10h + 30s); // The process was suspended.
    for (int i = 0; i < 20; ++i) {
        poll();
    }
    BOOST_TEST(refreshed == 1);
    BOOST_TEST(billed == 10);
    BOOST_TEST(rung == 0);
    elapse(48h); // Again.
    for (int i = 0; i < 60; ++i) {
        poll();
    }
    BOOST_TEST(refreshed == 2);
    BOOST_TEST(billed == 58);
    BOOST_TEST(rung == 0); // The calls of 24 and 48 h were missed.
    elapse(14h);
    poll();
    BOOST_TEST(rung == 1); // That of 72 h was not.
    tasks.stop().clear();
}

BOOST_FIXTURE_TEST_CASE(scheduler_a_call_lasts_until_its_coroutine_ends, snippet_world) {
    int reports = 0;
    const auto report = [&]() -> asio::awaitable<void> {
        ++reports;
        co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 25s,
                                             asio::use_awaitable);
    };
    asio_wheel::scheduler tasks(ctx);
#include "docs/guide/scheduler.md/tasks_schedule_at_fixed_rate_10s_10s.inc"
    for (int i = 0; i < 64; ++i) {
        elapse(1s);
        poll();
        poll();
    }
    BOOST_TEST(reports == 3); // At 10, 35 and 60 s.
    tasks.stop().clear();
    elapse(25s);
    poll();
    poll();
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(scheduler_keys_lead_to_their_tasks, snippet_world) {
    asio_wheel::scheduler tasks(ctx);
    std::optional<user> out;
    const auto log_out = [&](user u) { out = u; };
#include "docs/guide/scheduler.md/tasks_schedule_after_user_7.inc"
    BOOST_TEST(!tasks.is_pending("backup"));
    BOOST_TEST(tasks.is_pending(user{7}));
    pass(30min);
    BOOST_TEST((out == user{7}));
    BOOST_TEST(backups == 0);
}

BOOST_FIXTURE_TEST_CASE(scheduler_letters_are_delivered_or_returned, snippet_world) {
    asio_wheel::scheduler tasks(ctx);
    const auto send_two = [&tasks] {
#include "docs/guide/scheduler.md/struct_letter.inc"
    };
    send_two();
    pass(1h);
    BOOST_TEST(delivered == 2);
    send_two();
    for (const auto& orphan : tasks.stop()) {
        orphan.cancel();
    }
    BOOST_TEST(delivered == 2);
    BOOST_TEST(returned == 2);
}

BOOST_FIXTURE_TEST_CASE(scheduler_a_group_is_stopped_before_its_owner_ends, snippet_world) {
    asio_wheel::scheduler tasks(ctx);
    struct owning {
        explicit owning(asio_wheel::scheduler& s) : session(s) {}
        asio_wheel::scheduler::group session;
        int calls = 0;
    };
    auto owner = std::make_unique<owning>(tasks);
    asio_wheel::scheduler::group& session = owner->session;
    session.schedule_at_fixed_rate(1s, 1s, [&calls = owner->calls] { ++calls; });
    pass(1s);
    BOOST_TEST(owner->calls == 1);
#include "docs/guide/scheduler.md/session_async_stop_s_std.inc"
    BOOST_TEST(tasks.pending() == 0U);
    poll();
}

} // namespace scheduler

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
