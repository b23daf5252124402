// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The code in the comments of the headers, compiled and run: a case for each block, or for several
// related ones. If a comment describes the effect, the case checks it.

#include <asio_wheel.hpp>

#include "snippets/support.hpp"
#include "support/manual_operation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_category.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <iostream>
#include <optional>
#include <queue>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_headers, *boost::unit_test::timeout(60))

namespace backoff {

int attempts = 0;

asio::awaitable<bool> connect() {
    co_return ++attempts == 4;
}

asio::awaitable<void> shown() {
    const auto ex = co_await this_coro::executor;
#include "include/asio_wheel/backoff.hpp/asio_wheel_backoff_pauses_initial.inc"
}

BOOST_FIXTURE_TEST_CASE(backoff_before_the_next_attempt, snippet_world) {
    begin(shown());
    BOOST_TEST(attempts == 1);
    pass(100ms + 200ms + 400ms + 3 * wheel.options().tick);
    while (!over && wheel.advance_to_next() != 0) {
        poll();
    }
    BOOST_TEST(over);
    BOOST_TEST(attempts == 4);
}

} // namespace backoff

namespace retry {

asio::awaitable<void> shown(tcp::socket& socket, tcp::endpoint peer) { // It outlives the call.
    const auto ex = co_await this_coro::executor;
#include "include/asio_wheel/retry.hpp/const_auto_connect_auto.inc"
}

BOOST_FIXTURE_TEST_CASE(connecting_at_the_first_try, snippet_world) {
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket socket(ctx);
    begin(shown(socket, acceptor.local_endpoint()));
    while (!over) {
        ctx.run_one();
    }
    BOOST_TEST(error == error_code());
    BOOST_TEST(socket.is_open());
}

#ifdef __linux__ // Elsewhere a full queue may refuse.
BOOST_FIXTURE_TEST_CASE(connecting_again_after_a_try_that_has_taken_too_long, snippet_world) {
    tcp::acceptor acceptor(ctx, tcp::v4());
    acceptor.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    acceptor.listen(0);
    tcp::socket first(ctx);
    first.connect(acceptor.local_endpoint()); // Nobody else is let in, until it is accepted.
    tcp::socket socket(ctx);
    begin(shown(socket, acceptor.local_endpoint()));
    pass(2s);
    BOOST_TEST(!over);
    const tcp::socket accepted = acceptor.accept();
    pass(100ms);
    for (const auto end = steady_clock::now() + 20s; !over && steady_clock::now() < end;) {
        ctx.run_one_for(10ms);
    }
    BOOST_TEST(over);
    BOOST_TEST(error == error_code());
    while (wheel.advance_to_next() != 0) {
        poll();
    }
}
#endif

BOOST_AUTO_TEST_CASE(options_with_a_predicate) {
#include "include/asio_wheel/retry.hpp/const_auto_if_refused_error_code.inc"
    BOOST_TEST(options.retry_if(asio::error::connection_refused));
    BOOST_TEST(!options.retry_if(asio::error::connection_reset));
}

} // namespace retry

namespace rate_limiter {

asio::awaitable<void> shown(asio::io_context& ctx) {
#include "include/asio_wheel/rate_limiter.hpp/asio_wheel_rate_limiter_limiter_ctx.inc"
}

BOOST_FIXTURE_TEST_CASE(taking_a_token, snippet_world) {
    begin(shown(ctx));
    BOOST_TEST(over);
    BOOST_TEST(error == error_code());
}

} // namespace rate_limiter

namespace basic_waitable_timer {

asio::awaitable<void> shown() {
#include "include/asio_wheel/basic_waitable_timer.hpp/asio_wheel_steady_timer_timer_co_await.inc"
}

BOOST_FIXTURE_TEST_CASE(basic_waitable_timer_in_a_coroutine, snippet_world) {
    begin(shown());
    pass(30s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
}

} // namespace basic_waitable_timer

namespace boottime {

BOOST_AUTO_TEST_CASE(boottime_timers_and_schedulers) {
    asio::io_context ctx;
    auto& wheel = use_wheel<asio_wheel::boottime_clock>(ctx);
    wheel.pause();
    int called = 0;
    const auto handler = [&called](error_code ec) { called += ec ? 100 : 1; };
#include "include/asio_wheel/boottime_clock.hpp/using_asio_wheel_boottime_clock.inc"
#include "include/asio_wheel/boottime_timer.hpp/asio_wheel_boottime_timer_lease_ctx.inc"
    tasks.schedule_after(8h, [&called] { called += 10; });
    wheel.advance(8h); // The machine was suspended.
    ctx.poll();
    BOOST_TEST(called == 11);
}

} // namespace boottime

namespace cancel_after {

using asio_wheel::cancel_after;

BOOST_FIXTURE_TEST_CASE(cancel_after_round_a_handler, snippet_world) {
    snippets::connection c(ctx);
    tcp::socket& socket = c.socket;
    std::array<char, 8> memory{};
    const auto buffer = asio::buffer(memory);
    std::optional<error_code> result;
    const auto handler = [&](error_code ec, std::size_t) { result = ec; };
#include "include/asio_wheel/cancel_after.hpp/socket_async_read_some_buffer_asio_wheel.inc"
    pass(5s - 1ms);
    BOOST_TEST(!result.has_value());
    pass(1ms);
    BOOST_TEST((result == asio::error::operation_aborted));
}

// A socket that can be connected twice.
asio::awaitable<void> shown(asio::ip::udp::socket& socket, asio::ip::udp::endpoint peer) {
#include "include/asio_wheel/cancel_after.hpp/co_await_socket_async_connect_peer.inc"
}

BOOST_FIXTURE_TEST_CASE(cancel_after_round_a_token_or_alone, snippet_world) {
    const asio::ip::udp::endpoint any(asio::ip::address_v4::loopback(), 0);
    asio::ip::udp::socket socket(ctx, any.protocol());
    asio::ip::udp::socket peer(ctx, any);
    begin(shown(socket, peer.local_endpoint()));
    BOOST_TEST(over);
    BOOST_TEST(!error);
}

struct unanswered_socket {
    asio::any_io_executor ex;

    [[nodiscard]] asio::any_io_executor get_executor() const { return ex; }

    template <class Token>
    void async_connect(int, Token&& token) const {
        work_for(ex, 1h, std::forward<Token>(token));
    }
};

BOOST_FIXTURE_TEST_CASE(cancel_after_on_a_timer_of_the_users, snippet_world) {
    const unanswered_socket socket{ctx.get_executor()};
    const int peer = 0;
    std::optional<error_code> result;
    const auto handler = [&](error_code ec) { result = ec; };
#include "include/asio_wheel/cancel_after.hpp/asio_wheel_steady_timer_limit_socket.inc"
    pass(2s - 1ms);
    BOOST_TEST(!result.has_value());
    pass(1ms);
    BOOST_TEST((result == asio::error::operation_aborted));
}

} // namespace cancel_after

namespace deadline {

asio::awaitable<void> shown(bool& asked) {
#include "include/asio_wheel/deadline.hpp/const_auto_ex_co_await.inc"
    BOOST_TEST((left <= 5s));
#include "include/asio_wheel/deadline.hpp/if_asio_wheel_remaining_time_ex.inc"
    asked = true;
}

BOOST_FIXTURE_TEST_CASE(deadline_of_a_coroutine, snippet_world) {
    const auto ex = ctx.get_executor();
    using asio_wheel::timeout;
    bool asked = false;
    const auto session = [&] { return shown(asked); };
    bool ended = false;
    const auto token = [&](const std::exception_ptr& e) { ended = e == nullptr; };
#include "include/asio_wheel/deadline.hpp/const_auto_limited_asio_wheel.inc"
    poll();
    BOOST_TEST(asked);
    BOOST_TEST(ended);
    const auto too_short = asio_wheel::with_deadline(ctx, 49ms);
    asked = false;
    asio::co_spawn(too_short, session(), token);
    poll();
    BOOST_TEST(!asked);
}

} // namespace deadline

namespace delay_queue {

struct job {
    int number = 0;
};

asio::awaitable<void> shown(asio::io_context& ctx, job j, int& number) {
#include "include/asio_wheel/delay_queue.hpp/asio_wheel_delay_queue_job_jobs.inc"
    number = next.number;
}

BOOST_FIXTURE_TEST_CASE(delay_queue_gives_what_was_pushed_in_time, snippet_world) {
    int number = 0;
    begin(shown(ctx, job{42}, number));
    pass(30s - 1ms);
    BOOST_TEST(!over);
    pass(3ms);
    BOOST_TEST(over);
    BOOST_TEST(number == 42);
}

} // namespace delay_queue

namespace delayed_operations {

using topic = std::string;
using batch = std::string;

asio::awaitable<void> shown(asio::io_context& ctx, const batch& log, batch& got) {
    const topic news = "news";
    const topic sports = "sports";
#include "include/asio_wheel/delayed_operations.hpp/asio_wheel_delayed_operations_topic_batch.inc"
    got = b;
}

BOOST_FIXTURE_TEST_CASE(delayed_operations_wait_until_there_is_enough, snippet_world) {
    batch so_far = "too short";
    batch got;
    begin(shown(ctx, so_far, got));
    so_far += " until now";
    pass(500ms - 1ms);
    BOOST_TEST(!over);
    pass(3ms);
    BOOST_TEST(over);
    BOOST_TEST(got == so_far);
}

} // namespace delayed_operations

namespace handler_group {

using boost::system::error_code;

struct owner {
    int ended = 0;
    void on_timeout(error_code) { ++ended; }
    void run(asio_wheel::steady_timer& timer) {
#include "include/asio_wheel/handler_group.hpp/asio_wheel_handler_group_handlers.inc"
        BOOST_TEST(ended == 1);
    }
};

BOOST_AUTO_TEST_CASE(handler_group_no_handler_runs_after_wait_idle) {
    asio::thread_pool pool(1);
    asio_wheel::steady_timer timer(pool, 1h);
    owner().run(timer);
    pool.join();
}

asio::awaitable<void> wait(asio_wheel::steady_timer& timer, asio_wheel::handler_group handlers) {
    using asio::use_awaitable;
#include "include/asio_wheel/handler_group.hpp/timer_cancel.inc"
}

BOOST_FIXTURE_TEST_CASE(handler_group_goes_with_any_operation, snippet_world) {
    using asio::bind_executor;
    snippets::connection c(ctx);
    tcp::socket& socket = c.socket;
    std::array<char, 1> bytes{};
    const auto buffer = asio::buffer(bytes);
    const auto strand = asio::make_strand(ctx);
    const asio_wheel::handler_group handlers;
    const auto handler = [](error_code, std::size_t) {};
    const auto read = [&] {
#include "include/asio_wheel/handler_group.hpp/socket_async_read_some_buffer_handlers.inc"
    };
    read();
    asio_wheel::steady_timer timer(ctx, 1h);
    timer.async_wait(handlers([](error_code) {}));
    begin(wait(timer, handlers));
    BOOST_TEST(!over); // The read is pending.
    socket.close();
    while (!over) {
        poll();
    }
    BOOST_TEST(handlers.pending() == 0U);
}

} // namespace handler_group

namespace heartbeat {

asio::awaitable<void> keep_alive(asio::io_context& ctx, tcp::socket& socket,
                                 std::queue<std::string>& outbox) {
    const std::string ping = "ping";
#include "include/asio_wheel/heartbeat.hpp/asio_wheel_heartbeat_pulse_ctx.inc"
}

BOOST_FIXTURE_TEST_CASE(heartbeat_asks_for_pings_and_closes, snippet_world) {
    snippets::connection c(ctx);
    std::queue<std::string> outbox;
    begin(keep_alive(ctx, c.socket, outbox));
    pass(10s + 20ms);
    BOOST_TEST(outbox.size() == 1U);
    while (!over && wheel.advance_to_next() != 0) {
        poll();
    }
    BOOST_TEST(over);
    BOOST_TEST(!c.socket.is_open());
}

} // namespace heartbeat

namespace idle_timer {

using boost::system::error_code;

BOOST_FIXTURE_TEST_CASE(idle_timer_closes_a_socket, snippet_world) {
    snippets::connection c(ctx);
    tcp::socket& socket = c.socket;
#include "include/asio_wheel/idle_timer.hpp/asio_wheel_idle_timer_idle_ctx.inc"
    // The last line of the block was a touch. The kernel's coarse clock may be a few ticks behind.
    pass(29s);
    BOOST_TEST(socket.is_open());
    pass(1s + 20ms);
    BOOST_TEST(!socket.is_open());
}

asio::awaitable<void> ask_the_peer(asio_wheel::idle_timer& idle, std::queue<std::string>& outbox,
                                   tcp::socket& socket) {
    const std::string ping = "ping";
#include "include/asio_wheel/idle_timer.hpp/while_co_await_idle_async_next_idle.inc"
}

BOOST_FIXTURE_TEST_CASE(idle_timer_asks_twice_and_closes_after_the_third_period, snippet_world) {
    asio_wheel::idle_timer idle(ctx, 10s);
    std::queue<std::string> outbox;
    tcp::socket socket(ctx, tcp::v4());
    begin(ask_the_peer(idle, outbox, socket));
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(socket.is_open());
        pass(10s);
    }
    BOOST_TEST(!socket.is_open());
    BOOST_TEST(outbox.size() == 2U);
}

} // namespace idle_timer

namespace interval {

asio::awaitable<void> shown(asio::io_context& ctx) {
#include "include/asio_wheel/interval.hpp/asio_wheel_interval_every_second_ctx.inc"
}

BOOST_AUTO_TEST_CASE(interval_ticks_for_ever) {
    asio::io_context ctx; // Destroyed with the interval's pending wait.
    auto& wheel = use_wheel(ctx);
    wheel.pause();
    const auto start = wheel.now();
    asio::co_spawn(ctx, shown(ctx), [](std::exception_ptr) { BOOST_ERROR("it ends"); });
    for (int second = 1; second <= 3; ++second) {
        ctx.poll();
        BOOST_TEST(wheel.advance_to_next() == 1U);
        BOOST_TEST((wheel.now() - start >= second * 1s));
        BOOST_TEST((wheel.now() - start <= second * 1s + wheel.options().tick));
    }
}

} // namespace interval

namespace scheduler {

int reminders = 0;

void remind() {
    ++reminders;
}

BOOST_FIXTURE_TEST_CASE(scheduler_forgets_what_was_cancelled, snippet_world) {
#include "include/asio_wheel/scheduler.hpp/asio_wheel_scheduler_tasks_ctx.inc"
    BOOST_TEST(reminder.is_cancelled());
    pass(1min);
    BOOST_TEST(reminders == 0);
}

BOOST_FIXTURE_TEST_CASE(scheduler_debounces_events_and_visits_its_tasks, snippet_world) {
    using asio_wheel::task_handle;
    struct {
        int saved = 0;
        void save() { ++saved; }
    } file;
    asio_wheel::scheduler tasks(ctx);
    const auto event = [&] {
#include "include/asio_wheel/detail/scheduler/task_scheduling.hpp/tasks_debounce_save_quiet.inc"
    };
    event();
    event();
    tasks.schedule_at_fixed_rate(1h, 1h, [] {});
    int repeated = 0;
#include "include/asio_wheel/scheduler.hpp/tasks_for_each_const_task_handle.inc"
    BOOST_TEST(repeated == 1);
    pass(500ms);
    BOOST_TEST(file.saved == 1);
}

BOOST_FIXTURE_TEST_CASE(scheduler_tells_a_letter_that_it_was_cancelled, snippet_world) {
    using asio_wheel::on_cancel;
    std::string told;
    const auto deliver = [&told] { told += "delivered "; };
    const auto return_to_sender = [&told] { told += "returned "; };
    asio_wheel::scheduler tasks(ctx);
    const auto send = [&] {
#include "include/asio_wheel/scheduler.hpp/tasks_schedule_after_30s_on_cancel.inc"
    };
    send();
    pass(30s);
    BOOST_TEST(told == "delivered ");
    send();
    static_cast<void>(tasks.stop().front().cancel());
    BOOST_TEST(told == "delivered returned ");
}

} // namespace scheduler

namespace sleep {

asio::awaitable<void> in_one_line() {
    const auto ex = co_await this_coro::executor;
#include "include/asio_wheel/sleep.hpp/co_await_asio_wheel_async_sleep_for_ex.inc"
}

asio::awaitable<void> on_the_coroutines_executor() {
#include "include/asio_wheel/sleep.hpp/co_await_asio_wheel_async_sleep_for_co_await.inc"
}

BOOST_FIXTURE_TEST_CASE(sleep_for_a_while, snippet_world) {
    begin(in_one_line());
    pass(5s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    begin(on_the_coroutines_executor());
    pass(100ms - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
}

BOOST_FIXTURE_TEST_CASE(sleep_until_a_time_from_now, snippet_world) {
    pass(1h); // The clock does not show it.
    bool slept = false;
    const auto token = [&](boost::system::error_code) { slept = true; };
#include "include/asio_wheel/wheel_service.hpp/asio_wheel_async_sleep_until_ctx_asio_wheel.inc"
    pass(1min - 1ms);
    BOOST_TEST(!slept);
    pass(1ms);
    BOOST_TEST(slept);
}

BOOST_FIXTURE_TEST_CASE(sleep_until_a_time, snippet_world) {
#include "include/asio_wheel/sleep.hpp/const_auto_end_asio_wheel.inc"
    pass(1min - 1ms);
    BOOST_TEST(wheel.pending() == 1U);
    pass(1ms);
    BOOST_TEST(wheel.pending() == 0U);
}

} // namespace sleep

namespace stats {

BOOST_FIXTURE_TEST_CASE(stats_of_the_last_minute, snippet_world) {
    const auto expire = [this] {
        asio_wheel::steady_timer timer(ctx, 10ms);
        timer.async_wait([](error_code) {});
        pass(1min);
    };
    expire();
    const auto before = wheel.stats();
    expire();
    const auto now = wheel.stats();
#include "include/asio_wheel/stats.hpp/const_asio_wheel_lateness_histogram_of_last_minute.inc"
#include "include/asio_wheel/stats.hpp/const_asio_wheel_wheel_stats_last_minute.inc"
    BOOST_TEST(of_last_minute.count() == 1U);
    BOOST_TEST(last_minute.fired == 1U);
}

BOOST_FIXTURE_TEST_CASE(openmetrics_of_two_wheels, snippet_world) {
    asio::io_context front, back;
    std::ostringstream out;
    {
#include "include/asio_wheel/openmetrics.hpp/asio_wheel_to_openmetrics_out_asio_wheel.inc"
    }
    {
#include "include/asio_wheel/openmetrics.hpp/asio_wheel_to_openmetrics_out_context.inc"
    }
    BOOST_TEST(out.str().find("asio_wheel_pending 0\n") != std::string::npos);
    BOOST_TEST(out.str().find("asio_wheel_pending{context=\"back\"} 0\n") != std::string::npos);
}

} // namespace stats

namespace timeout {

using asio::experimental::wait_for_all;
using asio_wheel::each_error;
using asio_wheel::timeout;
using asio_wheel::timeout_at;

// A slow peer.
struct slow_socket {
    asio::any_io_executor ex;
    steady_clock::duration each;

    [[nodiscard]] asio::any_io_executor get_executor() const { return ex; }

    template <class Token>
    auto async_connect(int, Token&& token) {
        return work_for(ex, each, std::forward<Token>(token));
    }
};

template <class Token>
auto request(slow_socket& socket, Token&& token) {
    return work_for(socket.ex, socket.each, std::forward<Token>(token));
}

template <class Token>
auto async_read(slow_socket& socket, int, Token&& token) {
    return work_for(socket.ex, socket.each, std::forward<Token>(token));
}

asio::awaitable<void> connecting(slow_socket& socket) {
    const int peer = 0;
#include "include/asio_wheel/timeout.hpp/co_await_socket_async_connect_peer.inc"
}

asio::awaitable<void> with_an_error_of_its_own(slow_socket& socket) {
#include "include/asio_wheel/timeout.hpp/co_await_request_socket_timeout.inc"
}

asio::awaitable<void> one_deadline_for_two_steps(slow_socket& socket) {
    const int header = 0;
    const int body = 0;
#include "include/asio_wheel/timeout.hpp/const_auto_end_asio_wheel.inc"
}

BOOST_FIXTURE_TEST_CASE(timeout_throws_timed_out, snippet_world) {
    slow_socket socket{ctx.get_executor(), 1h};
    begin(connecting(socket));
    pass(2s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

BOOST_FIXTURE_TEST_CASE(timeout_throws_an_error_of_the_users, snippet_world) {
    slow_socket socket{ctx.get_executor(), 1h};
    begin(with_an_error_of_its_own(socket));
    pass(30s);
    BOOST_TEST(over);
    BOOST_TEST((error == make_error_code(my_error::request_took_too_long)));
}

// The time point is that of the real clock, and paused time is slightly behind it.
BOOST_FIXTURE_TEST_CASE(timeout_one_deadline_for_two_steps, snippet_world) {
    slow_socket socket{ctx.get_executor(), 6s};
    begin(one_deadline_for_two_steps(socket));
    pass(6s);
    BOOST_TEST(!over);
    while (!over && wheel.advance_to_next() != 0) {
        poll();
    }
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

asio::awaitable<std::string> download(std::string url) {
    const auto ex = co_await this_coro::executor;
    co_await work_for(ex, url == "slow" ? 1h : 1s, use_awaitable);
    co_return "<html>";
}

asio::awaitable<void> of_a_coroutine(std::string url, std::size_t& length) {
    const auto ex = co_await this_coro::executor;
#include "include/asio_wheel/timeout.hpp/const_auto_page_co_await.inc"
    length = page.size();
}

BOOST_FIXTURE_TEST_CASE(timeout_of_a_coroutine, snippet_world) {
    std::size_t length = 0;
    begin(of_a_coroutine("fast", length));
    pass(1s);
    BOOST_TEST(over);
    BOOST_TEST(length == 6U);
    begin(of_a_coroutine("slow", length));
    pass(10s);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

BOOST_FIXTURE_TEST_CASE(timeout_with_a_mapping, snippet_world) {
    asio_wheel::test::manual_operation<std::string> operation(ctx.get_executor());
    operation.on_cancel = [&] { operation.complete("interrupted"); };
    const auto ask = [&](int, auto t) { operation.start(std::move(t)); };
    const int peer = 0;
    std::string result;
    const auto token = [&](const std::string& answer) { result = answer; };
#include "include/asio_wheel/timeout.hpp/const_auto_no_answer_error_code.inc"
    pass(2s - 1ms);
    BOOST_TEST(result.empty());
    pass(1ms);
    BOOST_TEST(result == "none");
}

template <class Group>
asio::awaitable<void> of_a_group(Group group, std::array<error_code, 2>& results) {
#include "include/asio_wheel/timeout.hpp/const_auto_token_timeout.inc"
    BOOST_TEST(order[0] == 0U);
    results = {a, b};
}

BOOST_FIXTURE_TEST_CASE(timeout_of_a_parallel_group, snippet_world) {
    const auto sleep = [this](auto d) {
        return asio_wheel::async_sleep_for(ctx, d, asio::deferred);
    };
    std::array<error_code, 2> results{asio::error::eof, asio::error::eof};
    begin(of_a_group(asio::experimental::make_parallel_group(sleep(1s), sleep(1h)), results));
    pass(2s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST(!results[0]);
    BOOST_TEST((results[1] == asio_wheel::error::timed_out));
}

} // namespace timeout

namespace wheel {

BOOST_AUTO_TEST_CASE(wheel_expires_an_entry) {
#include "include/asio_wheel/wheel.hpp/struct_lease_asio_wheel_wheel_entry.inc"
    BOOST_TEST(expired == 1U);
    BOOST_TEST(!more);
    BOOST_TEST(due[0] == &a);
}

} // namespace wheel

namespace wheel_options {

BOOST_AUTO_TEST_CASE(wheel_options_by_their_names) {
    using asio_wheel::make_wheel;
    asio::io_context ctx;
#include "include/asio_wheel/wheel_options.hpp/auto_wheel_asio_wheel_make_wheel.inc"
    BOOST_TEST((wheel.options().tick == 10ms));
    BOOST_TEST(wheel.options().slots == 512U);
    BOOST_TEST(wheel.options().levels == 1U);
}

} // namespace wheel_options

namespace wheel_service {

BOOST_AUTO_TEST_CASE(wheel_service_made_and_asked_for_its_statistics) {
#include "include/asio_wheel/wheel_service.hpp/boost_asio_io_context_ctx.inc"
    BOOST_TEST((wheel.options().tick == 10ms));
    BOOST_TEST(wheel.options().max_pending == 1'000'000U);
    BOOST_TEST(stats.pending == 0U);
}

BOOST_FIXTURE_TEST_CASE(wheel_service_visits_the_waits, snippet_world) {
    asio_wheel::steady_timer timer(ctx, 1s);
    timer.async_wait([](error_code) {});
    int overdue = 0;
#include "include/asio_wheel/wheel_service.hpp/wheel_for_each_pending_const_asio_wheel.inc"
    BOOST_TEST(overdue == 0);
    timer.cancel();
}

BOOST_FIXTURE_TEST_CASE(wheel_service_prints_a_report, snippet_world) {
#include "include/asio_wheel/pending.hpp/std_cout_asio_wheel_use_wheel.inc"
}

BOOST_FIXTURE_TEST_CASE(wheel_service_tells_why_waits_were_late, snippet_world) {
#include "include/asio_wheel/lateness.hpp/std_cout_asio_wheel_use_wheel.inc"
#include "include/asio_wheel/wheel_service.hpp/if_wheel_lateness_cause.inc"
    BOOST_TEST((wheel.lateness().cause() == asio_wheel::lateness_cause::none));
}

BOOST_AUTO_TEST_CASE(wheel_service_tells_what_was_measured_by_tag) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.measure_handlers = true});
    wheel.pause();
    asio_wheel::steady_timer timer(ctx, 1s);
    timer.async_wait(asio_wheel::tag("slow", [&](error_code) { wheel.advance(20us); }));
    wheel.advance(1s);
    ctx.poll();
    std::ostringstream printed;
    std::streambuf* const before = std::cout.rdbuf(printed.rdbuf());
#include "include/asio_wheel/wheel_service.hpp/for_const_asio_wheel_tag_stats.inc"
    std::cout.rdbuf(before);
    BOOST_TEST(printed.str() == "slow: up to 20 us\n");
}

BOOST_FIXTURE_TEST_CASE(counts_by_kind_of_idle_timers, snippet_world) {
#include "include/asio_wheel/wait_kind.hpp/const_auto_closed_asio_wheel.inc"
    BOOST_TEST(closed == 0U);
}

BOOST_FIXTURE_TEST_CASE(tag_names_waits, snippet_world) {
    asio_wheel::steady_timer timer(ctx, 1ms);
#include "include/asio_wheel/tag.hpp/timer_async_wait_asio_wheel_tag.inc"
    const auto wait = [&]() -> asio::awaitable<void> {
#include "include/asio_wheel/tag.hpp/co_await_timer_async_wait_asio_wheel.inc"
#include "include/asio_wheel/tag.hpp/co_await_timer_async_wait_asio_wheel_2.inc"
    };
    begin(wait());
    pass(1ms);
    BOOST_TEST(over);
}

// At any position within a tick.
BOOST_AUTO_TEST_CASE(wheel_service_advances_by_a_month_and_calls_the_handler) {
    int called = 0;
    for (int i = 0; i < 100; ++i) {
        asio::io_context ctx;
        auto& wheel = use_wheel(ctx);
        asio_wheel::steady_timer timer(ctx);
        const auto handler = [&called](error_code ec) { called += ec ? 0 : 1; };
#include "include/asio_wheel/wheel_service.hpp/wheel_pause.inc"
    }
    BOOST_TEST(called == 100);
}

bool memory_is_short() {
    return true;
}

BOOST_FIXTURE_TEST_CASE(idle_timer_closes_what_was_idle_for_longer, snippet_world) {
    using asio_wheel::scale_idle_timers;
    asio_wheel::idle_timer idle(ctx, 2min);
    asio_wheel::idle_timer busy(ctx, 2min);
    bool closed = false;
    bool too_much = false;
    idle.async_wait([&](error_code ec) { closed = !ec; });
    busy.async_wait([&](error_code ec) { too_much = !ec; });
    pass(20s);
    busy.touch();
    pass(20s);
    BOOST_TEST(!closed);
#include "include/asio_wheel/idle_timer.hpp/if_memory_is_short_scale_idle_timers_ctx.inc"
    pass(1ms);
    BOOST_TEST(closed);
    BOOST_TEST(!too_much);
    busy.cancel();
    poll(); // Its handler uses local variables.
}

} // namespace wheel_service

namespace virtual_time {

BOOST_AUTO_TEST_CASE(virtual_time_runs_a_handler_at_its_time) {
    asio::io_context ctx;
    asio_wheel::steady_timer timer(ctx);
    std::optional<std::chrono::nanoseconds> called;
#include "include/asio_wheel/virtual_time.hpp/asio_wheel_virtual_time_time_ctx.inc"
    BOOST_TEST(!called);
    timer.expires_after(10s);
    timer.async_wait([&](error_code) { called = time.elapsed() - 30s; });
    time.advance(30s);
    BOOST_TEST((called == 10s));
}

BOOST_AUTO_TEST_CASE(virtual_time_calls_a_handler_after_a_day) {
    bool called = false;
    const auto handler = [&](error_code ec) { called = !ec; };
#include "include/asio_wheel/virtual_time.hpp/boost_asio_io_context_ctx.inc"
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(virtual_time_runs_until_a_client_is_connected) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    struct connecting {
        explicit connecting(asio::io_context& ctx) : socket(ctx) {}
        [[nodiscard]] bool connected() const { return done; }
        tcp::socket socket;
        bool done = false;
    } client(ctx);
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    client.socket.async_connect(acceptor.local_endpoint(),
                                [&](error_code ec) { client.done = !ec; });
#include "include/asio_wheel/virtual_time.hpp/time_run_until_return_client.inc"
    BOOST_TEST(client.done);
}

} // namespace virtual_time

// --- version.hpp --------------------------------------------------------------------------------

#include "include/asio_wheel/version.hpp/if_asio_wheel_version_200.inc"

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
