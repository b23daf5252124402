// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// tag(): names for waits, and what forwards them.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

using namespace asio_wheel::test;
using asio_wheel::pending_wait;
using asio_wheel::tag;
using asio_wheel::wait_tag;

constexpr auto ignore_all = [](auto&&...) {};

struct world : virtual_time {
    /// The tags of all waits that are pending, sorted; "-" for those without.
    std::string tags() {
        std::multiset<std::string_view> found;
        wheel.for_each_pending(
            [&](const pending_wait& w) { found.insert(w.tag.empty() ? "-" : w.tag); });
        std::string text;
        for (const std::string_view t : found) {
            text += (text.empty() ? "" : " ") + std::string(t);
        }
        return text;
    }

    ~world() { pass(24h); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(service_tags)

BOOST_FIXTURE_TEST_CASE(a_wait_has_the_tag_of_its_handler, world) {
    timer t(ctx, 1s);
    t.async_wait(tag("a", log.note(1)));
    t.async_wait(log.note(2));
    BOOST_TEST(tags() == "- a");
    BOOST_TEST(log_after(1s) == "1 2");
    BOOST_TEST(tags() == "");
}

BOOST_FIXTURE_TEST_CASE(a_tag_has_the_place_where_it_was_written, world) {
    timer t(ctx, 1s);
    t.async_wait(tag("a", ignore));
    const unsigned line = std::source_location::current().line() - 1;
    wheel.for_each_pending([&](const pending_wait& w) {
        BOOST_TEST(w.place.line() == line);
        BOOST_TEST(std::string_view(w.place.file_name()).ends_with("tags.cpp"));
    });
    static constexpr wait_tag later("b");
    const unsigned line_of_later = std::source_location::current().line() - 1;
    t.expires_after(1s);
    t.async_wait(tag(later, ignore));
    wheel.for_each_pending([&](const pending_wait& w) {
        BOOST_TEST(w.tag == "b");
        BOOST_TEST(w.place.line() == line_of_later);
    });
}

BOOST_FIXTURE_TEST_CASE(a_tag_in_a_coroutine_has_the_place_where_it_was_written, world) {
    unsigned line = 0;
    const auto coroutine = [&]() -> asio::awaitable<void> {
        timer t(co_await asio::this_coro::executor, 1s);
        line = std::source_location::current().line() + 1;
        co_await t.async_wait(tag("awaited", asio::use_awaitable));
    };
    asio::co_spawn(ctx, coroutine(), asio::detached);
    poll();
    int waits = 0;
    wheel.for_each_pending([&](const pending_wait& w) {
        ++waits;
        BOOST_TEST(w.place.line() == line);
        BOOST_TEST(std::string_view(w.place.file_name()).ends_with("tags.cpp"));
    });
    BOOST_TEST(waits == 1);
}

BOOST_FIXTURE_TEST_CASE(without_a_tag_there_is_no_place, world) {
    timer t(ctx, 1s);
    t.async_wait(ignore);
    wheel.for_each_pending([&](const pending_wait& w) {
        BOOST_TEST(w.tag.empty());
        BOOST_TEST(w.place.line() == 0U);
    });
}

BOOST_FIXTURE_TEST_CASE(adaptors_round_a_tag_forward_it, world) {
    timer t(ctx, 1s);
    const auto strand = asio::make_strand(ctx);
    asio::cancellation_signal signal;
    t.async_wait(asio::bind_executor(strand, tag("executor", ignore)));
    t.async_wait(asio::bind_cancellation_slot(signal.slot(), tag("slot", ignore)));
    t.async_wait(asio::bind_allocator(std::allocator<void>(), tag("allocator", ignore)));
    t.async_wait(asio::as_tuple(tag("tuple", ignore_all)));
    error_code ec;
    t.async_wait(asio::redirect_error(tag("redirected", [] {}), ec));
    t.async_wait(asio::append(tag("appended", ignore_all), 7));
    t.async_wait(asio::deferred([](error_code) { return asio::deferred.values(); }))(
        tag("deferred", [] {}));
    BOOST_TEST(tags() == "allocator appended deferred executor redirected slot tuple");
    signal.emit(asio::cancellation_type::terminal); // The wait has its slot still.
    BOOST_TEST(tags() == "allocator appended deferred executor redirected tuple");
    pass(1s); // While the results live.
}

BOOST_FIXTURE_TEST_CASE(a_tag_round_adaptors_is_the_tag_of_the_wait, world) {
    timer t(ctx, 1s);
    const auto strand = asio::make_strand(ctx);
    t.async_wait(tag("executor", asio::bind_executor(strand, ignore)));
    auto future = t.async_wait(tag("future", asio::use_future));
    t.async_wait(tag("tuple", asio::as_tuple(ignore_all)));
    t.async_wait(tag("outer", tag("inner", ignore)));
    BOOST_TEST(tags() == "executor future outer tuple");
    bool on_strand = false;
    t.async_wait(tag("x", asio::bind_executor(strand, [&](error_code) {
                         on_strand = strand.running_in_this_thread();
                     })));
    pass(1s);
    BOOST_TEST(on_strand);
    BOOST_TEST((future.wait_for(0s) == std::future_status::ready));
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_awaits_with_a_tag, world) {
    int done = 0;
    const auto coroutine = [&]() -> asio::awaitable<void> {
        timer t(co_await asio::this_coro::executor, 1s);
        co_await t.async_wait(tag("first", asio::use_awaitable));
        ++done;
        t.expires_after(1s);
        co_await t.async_wait(tag("second"));
        ++done;
        co_await asio_wheel::async_sleep_for(t.get_executor(), 1s,
                                             tag("third", asio::use_awaitable));
        ++done;
    };
    asio::co_spawn(ctx, coroutine(), asio::detached);
    poll();
    BOOST_TEST(tags() == "first");
    pass(1s);
    BOOST_TEST(tags() == "second");
    pass(1s);
    BOOST_TEST(tags() == "third");
    pass(1s);
    BOOST_TEST(done == 3);
}

BOOST_FIXTURE_TEST_CASE(a_tag_alone_uses_the_default_token, world) {
    using token = asio::as_tuple_t<asio::use_awaitable_t<>>;
    using awaited = token::as_default_on_t<timer>;
    bool done = false;
    const auto coroutine = [&]() -> asio::awaitable<void> {
        awaited t(co_await asio::this_coro::executor, 1s);
        const auto [ec] = co_await t.async_wait(tag("default"));
        done = !ec;
    };
    asio::co_spawn(ctx, coroutine(), asio::detached);
    poll();
    BOOST_TEST(tags() == "default");
    pass(1s);
    BOOST_TEST(done);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_has_the_tag_of_the_handler_inside, world) {
    manual_operation<error_code> a(ctx.get_executor());
    manual_operation<error_code> b(ctx.get_executor());
    manual_operation<error_code> c(ctx.get_executor());
    timer t(ctx);
    a.start(asio_wheel::timeout(1s, tag("login", ignore_all)));
    b.start(asio_wheel::cancel_after(1s, tag("lookup", ignore_all)));
    c.start(asio_wheel::timeout(
        t, 1s, asio::bind_executor(asio::make_strand(ctx), tag("on a timer", ignore_all))));
    BOOST_TEST(tags() == "login lookup on a timer");
    for (const pending_wait& w : wheel.report().next()) {
        BOOST_TEST((w.kind == asio_wheel::wait_kind::timeout));
    }
}

BOOST_FIXTURE_TEST_CASE(round_a_deadline_it_is_the_tag_of_the_operation, world) {
    timer t(ctx, 1s);
    t.async_wait(tag("operation", asio_wheel::timeout(5s, ignore_all)));
    BOOST_TEST(tags() == "- operation");
}

BOOST_FIXTURE_TEST_CASE(each_wait_of_an_operation_has_the_tag, world) {
    asio_wheel::idle_timer idle(ctx, 10s);
    asio_wheel::heartbeat pulse(ctx, {.send_every = 10s, .dead_after = 1h});
    asio_wheel::interval ticks(ctx, 1h);
    idle.async_wait(tag("idle", ignore));
    pulse.async_next(tag("pulse", ignore_all));
    ticks.async_tick(tag("tick", ignore_all));
    BOOST_TEST(tags() == "idle pulse tick");
    pass(9s);
    idle.touch();
    pulse.sent();
    pass(9s); // They have looked, and wait again.
    BOOST_TEST(tags() == "idle pulse tick");
    idle.cancel();
    pulse.cancel();
    ticks.cancel();
}

BOOST_FIXTURE_TEST_CASE(the_function_of_a_task_may_have_a_tag, world) {
    asio_wheel::scheduler tasks(ctx);
    int calls = 0;
    const auto f = [&] { ++calls; };
    auto once = tasks.schedule_after(1s, tag("once", f));
    auto rate = tasks.schedule_at_fixed_rate("key", 1s, 1s, tag("rate", f));
    auto plain = tasks.schedule_after(1s, f);
    auto told = tasks.schedule_after(1h, tag("told", asio_wheel::on_cancel(f, f)));
    asio_wheel::scheduler::group group(tasks);
    auto grouped = group.schedule_after(1s, tag("grouped", f));
    BOOST_TEST(tags() == "- grouped once rate told");
    pass(1s);
    BOOST_TEST(calls == 4);
    BOOST_TEST(tags() == "rate told"); // The next wait has it, too.
    pass(1s);
    BOOST_TEST(calls == 5);
    told.cancel();
    BOOST_TEST(calls == 6);
    static_cast<void>(tasks.cancel("key"));
    BOOST_TEST(tags() == "");
}

BOOST_FIXTURE_TEST_CASE(a_stream_waits_with_the_tag_of_its_operation, world) {
    asio_wheel::timeout_stream<manual_layer> stream(ctx);
    const auto wire = stream.socket().wire;
    std::array<char, 8> memory{};
    stream.expires_after(5s);
    stream.async_read_some(asio::buffer(memory), tag("request", ignore_all));
    BOOST_TEST(tags() == "request");
    stream.async_write_some(asio::buffer(memory), tag("answer", ignore_all));
    BOOST_TEST(tags() == "request"); // One wait serves both.
    wire->read.complete({}, 1);
    wire->write.complete({}, 1);
    poll();
    stream.expires_after(5s);
    stream.async_read_some(asio::buffer(memory),
                           asio::bind_executor(asio::make_strand(ctx), tag("next", ignore_all)));
    BOOST_TEST(tags() == "next");
    wire->read.complete({}, 1);
    poll();
    BOOST_TEST(tags() == "");
}

BOOST_FIXTURE_TEST_CASE(a_token_with_a_tag_can_be_used_again, world) {
    timer t(ctx, 1s);
    const auto token = tag("same", log.note(1));
    t.async_wait(token);
    t.async_wait(token);
    BOOST_TEST(tags() == "same same");
    BOOST_TEST(log_after(1s) == "1 1");
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_can_only_be_moved_may_have_a_tag, world) {
    timer t(ctx, 1s);
    int result = 0;
    t.async_wait(
        tag("moved", [p = std::make_unique<int>(7), &result](error_code) { result = *p; }));
    pass(1s);
    BOOST_TEST(result == 7);
}

// The tag of a handler that has it by itself, without tag().
struct handler_with_a_tag {
    using wait_tag_type = wait_tag;
    [[nodiscard]] static constexpr wait_tag get_wait_tag() noexcept { return "my own"; }
    void operator()(error_code) const {}
};

BOOST_FIXTURE_TEST_CASE(a_handler_may_have_a_tag_by_itself, world) {
    timer t(ctx, 1s);
    t.async_wait(handler_with_a_tag());
    t.async_wait(asio::bind_executor(asio::make_strand(ctx), handler_with_a_tag()));
    BOOST_TEST(tags() == "my own my own");
    using found = asio_wheel::associated_tag<handler_with_a_tag>;
    static_assert(std::is_same_v<found::type, wait_tag>);
    static_assert(std::is_same_v<asio_wheel::associated_tag<int>::type, asio_wheel::no_tag>);
}

// Whether the compiler accepts a text as a tag.
template <const char* Text>
concept makes_a_tag =
    requires { typename std::integral_constant<const char*, wait_tag(Text).name()>; };

constexpr char ends[] = "ends";
constexpr char has_no_end[] = {'n', 'o'};

BOOST_AUTO_TEST_CASE(a_tag_is_a_text_that_ends) {
    static_assert(makes_a_tag<ends>);
    static_assert(!makes_a_tag<has_no_end>);
    static_assert(!makes_a_tag<nullptr>);
    BOOST_TEST(wait_tag(ends).name() == ends);
}

BOOST_AUTO_TEST_CASE(a_tag_costs_32_bytes_and_no_tag_none) {
    using namespace asio_wheel::detail;
    struct handler {
        void* data;
        void operator()(error_code) {}
    };
    BOOST_TEST(sizeof(direct_op<tagged_handler<handler>>) == sizeof(direct_op<handler>) + 32);
    BOOST_TEST(sizeof(direct_op<handler>) == sizeof(wait_op) + sizeof(core*) + sizeof(handler));
}

BOOST_AUTO_TEST_SUITE_END()
