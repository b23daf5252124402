// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Mappings: how the results of any operation report that its deadline has expired.

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_ADDRESS__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // Asio's use_future: g++ 12.
#endif

#include <asio_wheel/error.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::cancellation_type;
using asio::experimental::make_parallel_group;
using asio::experimental::wait_for_all;
using asio::experimental::wait_for_one;
using asio_wheel::async_sleep_for;
using asio_wheel::each_error;
using asio_wheel::map_result;
using asio_wheel::timeout;
using asio_wheel::timeout_at;

const error_code timed_out = asio_wheel::error::timed_out;

// An operation whose result is a number, or a text when it is late.
struct fixture : virtual_world {
    manual_operation<int, std::string> op{ctx.get_executor()};

    fixture() {
        op.on_cancel = [this] {
            if (op.pending()) {
                op.complete(-1, "cancelled");
            }
        };
    }

    auto see() {
        return [this](int n, const std::string& text) { log.add(std::to_string(n) + text); };
    }
    auto map() {
        return [this](error_code why, int& n, std::string& text) {
            log.add("map", why);
            n -= 6;
            text = " late";
        };
    }
};

error_code code_of(const std::exception_ptr& e) {
    try {
        std::rethrow_exception(e);
    } catch (const boost::system::system_error& failure) {
        return failure.code();
    }
}

// Starts an operation on `ctx` whose signatures are `Signatures`; when it is cancelled, it calls
// complete(handler).
template <class... Signatures, class Token, class Complete>
auto start_raw(asio::io_context& ctx, Complete complete, Token&& token) {
    return asio::async_initiate<Token, Signatures...>(
        [&ctx, complete](auto handler) {
            async_sleep_for(ctx, 1h, [](error_code) {}); // The context goes on.
            auto slot = asio::get_associated_cancellation_slot(handler);
            using type = decltype(handler);
            auto shared = std::make_shared<std::optional<type>>(std::move(handler));
            slot.assign([shared, complete](cancellation_type) {
                type h(std::move(**shared));
                shared->reset();
                complete(std::move(h));
            });
        },
        token);
}

const std::string late = "(" + timed_out.message() + ")";

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_mapping, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_mapping_changes_the_results_in_place_before_the_handler, fixture) {
    op.start(timeout(1s, map(), see()));
    pass(1s - 1ns);
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(log_after(1ns) == "map" + late + " -7 late");
    op.start(timeout_at(now() + 1s, map(), see()));
    BOOST_TEST(log_after(1s) == "map" + late + " -7 late");
    timer limit(ctx);
    op.start(timeout(limit, 1s, map(), see()));
    pass(1s);
    op.start(timeout_at(limit, now() + 1s, map(), see()));
    BOOST_TEST(log_after(1s) == "map" + late + " -7 late map" + late + " -7 late");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(it_is_called_exactly_if_the_deadline_was_the_first_cause, fixture) {
    asio::cancellation_signal signal;
    const auto start = [&] {
        op.start(timeout(1s, map(), asio::bind_cancellation_slot(signal.slot(), see())));
    };
    start(); // Ends in time.
    op.complete(1, "");
    BOOST_TEST(log_now() == "1");
    start(); // Has ended, but its handler was not called.
    op.complete(2, "");
    wheel.advance(1s);
    BOOST_TEST(log_now() == "2");
    start(); // Is cancelled before.
    signal.emit(cancellation_type::terminal);
    wheel.advance(1s);
    BOOST_TEST(log_now() == "-1cancelled");
    // Is cancelled after, and by less before.
    const auto on_cancel = std::exchange(op.on_cancel, {});
    for (const bool before : {false, true}) {
        start();
        if (before) {
            signal.emit(cancellation_type::total);
        }
        pass(1s);
        signal.emit(cancellation_type::terminal);
        op.complete(3, "");
        BOOST_TEST(log_now() == "map" + late + " -3 late");
    }
}

BOOST_AUTO_TEST_CASE(it_is_told_why_there_is_no_deadline) {
    virtual_time world(asio_wheel::wheel_options{.max_pending = 1});
    manual_operation<int> op(world.ctx.get_executor());
    op.on_cancel = [&] { op.complete(1); };
    error_code seen;
    const auto start = [&] {
        seen = {};
        // Whatever error a timeout has.
        op.start(
            timeout(1h, asio::error::eof, [&](error_code why, int&) { seen = why; }, [](int) {}));
    };
    async_sleep_for(world.ctx, 1h, asio::detached);
    start();
    world.poll();
    BOOST_TEST((seen == asio_wheel::error::too_many_pending));
    world.pass(2h);
    start();
    world.pass(2h);
    BOOST_TEST((seen == asio::error::eof));
    start();
    BOOST_TEST(world.wheel.drain().size() == 1U);
    world.poll();
    BOOST_TEST((seen == asio_wheel::error::wheel_stopped));
}

BOOST_FIXTURE_TEST_CASE(options_come_in_any_order_and_a_partial_token_needs_map_result, fixture) {
    const error_code own = asio::error::eof;
    const std::string seen = "map(" + own.message() + ") -7 late";
    const auto expect = [&](const char* type) {
        BOOST_TEST(log_after(1s) == seen);
        BOOST_TEST(op.take_cancellations() == type);
    };
    op.start(timeout(1s, cancellation_type::total, own, map(), see()));
    expect("total");
    op.start(timeout(1s, map(), own, cancellation_type::partial, see()));
    expect("partial");
    op.start(timeout(1s, own, map_result(map()))(see()));
    expect("terminal");
    const auto partial = timeout(1s, map_result(map()), own);
    op.start(partial(see()));
    expect("terminal");
    op.start(partial(see()));
    expect("terminal");
    auto later = op.start(partial); // deferred
    std::move(later)(see());
    expect("terminal");
}

BOOST_FIXTURE_TEST_CASE(one_that_can_only_be_moved, fixture) {
    const auto only_moved = [] {
        return [text = std::make_unique<std::string>(" moved")](error_code, int&, std::string& t) {
            t = *text;
        };
    };
    const auto expect = [this] { BOOST_TEST(log_after(1s) == "-1 moved"); };
    op.start(timeout(1s, only_moved(), see()));
    expect();
    op.start(timeout(1s, map_result(only_moved()))(see()));
    expect();
    auto token = timeout(1s, only_moved(), see());
    op.start(std::move(token));
    expect();
    auto future = op.start(timeout(1s, only_moved(), asio::use_future));
    pass(1s);
    BOOST_TEST(std::get<1>(future.get()) == " moved");
}

BOOST_FIXTURE_TEST_CASE(a_token_can_be_used_again, fixture) {
    auto text = std::make_shared<std::string>(" shared");
    const auto map = [text](error_code, int&, std::string& t) { t = *text; };
    const auto token = timeout(1s, map, see());
    auto partial = timeout(1s, map_result(map));
    for (int i = 0; i < 2; ++i) {
        op.start(token);
        pass(1s);
        op.start(partial)(see());
        BOOST_TEST(log_after(1s) == "-1 shared -1 shared");
    }
}

BOOST_FIXTURE_TEST_CASE(an_exception_of_it_leaves_run_and_the_handler_is_destroyed, fixture) {
    const auto alive = std::make_shared<int>();
    op.start(timeout(
        1s, [](error_code, int&, std::string&) { throw std::runtime_error("mapping"); },
        [alive](int, const std::string&) { BOOST_ERROR("called"); }));
    asio::post(ctx, [this] { log.add("other"); });
    wheel.advance(1s);
    ctx.restart();
    BOOST_CHECK_THROW(while (ctx.poll_one() != 0){}, std::runtime_error);
    BOOST_TEST(log_now() == "other");
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(wheel.pending() == 0U);
}

// What is copied where others move may throw: here in the queue, before the handler is called.
class map_that_throws {
public:
    explicit map_that_throws(const bool& throws) : throws_(throws) {}
    map_that_throws(const map_that_throws& other) : throws_(other.throws_) {
        if (throws_) {
            throw std::runtime_error("copy");
        }
    }
    map_that_throws& operator=(const map_that_throws&) = delete;

    void operator()(error_code, error_code&) const {}

private:
    const bool& throws_;
};

BOOST_FIXTURE_TEST_CASE(a_mapping_that_throws_when_it_is_moved_leaves_no_wait, virtual_world) {
    const auto alive = std::make_shared<int>();
    bool throws = false;
    async_sleep_for(ctx, 500ms, timeout(1s, map_that_throws(throws), [alive](error_code) {
                        BOOST_ERROR("called");
                    }));
    throws = true;
    BOOST_CHECK_THROW(pass(500ms), std::runtime_error);
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(results_of_all_kinds, virtual_world) {
    // Only moved.
    start_raw<void(std::unique_ptr<int>)>(
        ctx, [](auto handler) { handler(std::make_unique<int>(1)); },
        timeout(
            1s, [](error_code, std::unique_ptr<int>& p) { *p += 1; },
            asio::bind_executor(ctx,
                                [&](std::unique_ptr<int> p) { log.add(std::to_string(*p)); })));
    BOOST_TEST(log_after(1s) == "2");
    // None.
    start_raw<void()>(
        ctx, [](auto handler) { handler(); },
        timeout(
            1s, [&](error_code why) { log.add("none", why); },
            asio::bind_executor(ctx, [&] { log.add("handler"); })));
    BOOST_TEST(log_after(1s) == "none" + late + " handler");
    // A reference: the mapping changes what it refers to.
    std::string referred = "operation";
    start_raw<void(std::string&)>(
        ctx, [&](auto handler) { handler(referred); },
        timeout(
            1s, [](error_code, std::string& s) { s += " late"; },
            asio::bind_executor(ctx, [&](std::string& s) { s += " seen"; })));
    pass(1s);
    BOOST_TEST(referred == "operation late seen");
    // What is the operation's own stays as it is.
    const auto copy = [&](auto signature) {
        start_raw<typename decltype(signature)::type>(
            ctx, [&](auto handler) { handler(referred); },
            timeout(
                1s, [](error_code, std::string& s) { s = "copy"; },
                asio::bind_executor(ctx, [&](const std::string& s) { log.add(s); })));
        BOOST_TEST(log_after(1s) == "copy");
        BOOST_TEST(referred == "operation late seen");
    };
    copy(std::type_identity<void(const std::string&)>());
    copy(std::type_identity<void(std::string)>());
    copy(std::type_identity<void(std::string) noexcept>());
    copy(std::type_identity<void(std::string) &&>());
    // The signature says std::size_t and error_code, the operation passes other types.
    start_raw<void(std::size_t, error_code)>(
        ctx, [](auto handler) { handler(0, asio::error::operation_aborted); },
        timeout(
            1s,
            [](error_code why, std::size_t& n, error_code& ec) {
                n = 5;
                ec = why;
            },
            asio::bind_executor(
                ctx, [&](std::size_t n, error_code ec) { log.add(std::to_string(n), ec); })));
    BOOST_TEST(log_after(1s) == "5" + late);
    async_sleep_for(ctx, 1s, asio::detached);
    pass(2h);
}

BOOST_FIXTURE_TEST_CASE(several_signatures, virtual_world) {
    struct map {
        journal& log;
        void operator()(error_code, int&) const { log.add("int"); }
        void operator()(error_code, std::string&) const { log.add("string"); }
        void operator()(error_code, int&, std::string&) const { log.add("both"); }
    };
    const auto handler = [&](auto&&... results) { log.add(std::to_string(sizeof...(results))); };
    const auto run = [&](auto... results) {
        start_raw<void(int), void(std::string), void(int, std::string)>(
            ctx, [=](auto h) { h(results...); },
            timeout(1s, map{log}, asio::bind_executor(ctx, handler)));
        pass(1s);
    };
    run(1);
    run(std::string("a"));
    run("b"); // Converted.
    run(1, "c");
    BOOST_TEST(log.take() == "int 1 string 1 string 1 both 2");
    pass(1h);
}

BOOST_FIXTURE_TEST_CASE(of_nested_mappings_that_of_the_deadline_that_expires_is_called, fixture) {
    const auto name = [](const char* text) {
        return [text](error_code, int&, std::string& s) { s = text; };
    };
    for (const auto& [outer, inner] : {std::pair(1s, 5s), std::pair(5s, 1s)}) {
        op.start(timeout(outer, name(" outer"), timeout(inner, name(" inner"), see())));
        BOOST_TEST(log_after(1s) == (outer < inner ? "-1 outer" : "-1 inner"));
        BOOST_TEST(wheel.pending() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(each_error_replaces_all_errors_that_say_cancelled_and_nothing_else) {
    const error_code other = asio::error::eof;
    const std::exception_ptr cancelled =
        std::make_exception_ptr(boost::system::system_error(aborted));
    const std::exception_ptr own = std::make_exception_ptr(std::runtime_error("own"));
    error_code a = aborted, b = other, c;
    std::exception_ptr d = cancelled, e = own, f;
    std::vector<error_code> g{aborted, other, success, aborted};
    std::array<std::exception_ptr, 2> h{cancelled, own};
    std::tuple<error_code, int, std::string> i{aborted, 1, "text"};
    std::pair<int, error_code> j{2, aborted};
    std::optional<error_code> k = aborted, l;
    std::vector<std::tuple<std::exception_ptr, std::size_t>> m{{cancelled, 3}, {own, 4}};
    int n = 125; // operation_aborted's value
    std::vector<int> o{125};
    auto map = each_error;
    std::move(map)(timed_out, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    BOOST_TEST(a == timed_out);
    BOOST_TEST(b == other);
    BOOST_TEST(c == success);
    BOOST_TEST(code_of(d) == timed_out);
    BOOST_TEST((e == own));
    BOOST_TEST((f == nullptr));
    BOOST_TEST((g == std::vector<error_code>{timed_out, other, success, timed_out}));
    BOOST_TEST(code_of(h[0]) == timed_out);
    BOOST_TEST((h[1] == own));
    BOOST_TEST((i == std::tuple<error_code, int, std::string>(timed_out, 1, "text")));
    BOOST_TEST((j == std::pair<int, error_code>(2, timed_out)));
    BOOST_TEST((k == timed_out));
    BOOST_TEST(!l.has_value());
    BOOST_TEST(code_of(std::get<0>(m[0])) == timed_out);
    BOOST_TEST((std::get<0>(m[1]) == own));
    BOOST_TEST(n == 125);
    BOOST_TEST((o == std::vector<int>{125}));
}

BOOST_FIXTURE_TEST_CASE(parallel_groups_time_out, virtual_world) {
    struct program {
        static asio::awaitable<void> run(journal& log) {
            const auto ex = co_await asio::this_coro::executor;
            auto token = timeout(2s, each_error, asio::use_awaitable);
            {
                auto group = make_parallel_group(async_sleep_for(ex, 1s, asio::deferred),
                                                 async_sleep_for(ex, 1h, asio::deferred));
                const auto [order, a, b] = co_await group.async_wait(wait_for_all(), token);
                log.add("all", a);
                log.add("and", b);
            }
            {
                auto group = make_parallel_group(async_sleep_for(ex, 1h, asio::deferred),
                                                 async_sleep_for(ex, 1s, asio::deferred));
                const auto [order, a, b] = co_await group.async_wait(wait_for_one(), token);
                log.add("one", a); // Cancelled by the group, in time.
                log.add("and", b);
            }
            {
                auto group = make_parallel_group(async_sleep_for(ex, 1h, asio::deferred),
                                                 async_sleep_for(ex, 1h, asio::deferred));
                auto partial = timeout(2s, each_error);
                const auto [order, a, b] = co_await group.async_wait(wait_for_one(), partial);
                log.add("none", a);
                log.add("and", b);
            }
            {
                using operation = decltype(async_sleep_for(ex, 1s, asio::deferred));
                std::vector<operation> operations;
                operations.push_back(async_sleep_for(ex, 1s, asio::deferred));
                operations.push_back(async_sleep_for(ex, 1h, asio::deferred));
                auto group = make_parallel_group(std::move(operations));
                const auto [order, errors] = co_await group.async_wait(wait_for_all(), token);
                log.add("range", errors[0]);
                log.add("and", errors[1]);
            }
        }
    };
    asio::co_spawn(ctx, program::run(log), asio::detached);
    poll();
    BOOST_TEST(log_after(2s) == "all and" + late);
    BOOST_TEST(log_after(1s) == "one! and");
    BOOST_TEST(log_after(2s) == "none" + late + " and" + late);
    BOOST_TEST(log_after(2s) == "range and" + late);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(groups_of_coroutines_time_out, virtual_world) {
    struct program {
        static asio::awaitable<int> after(std::chrono::seconds d) {
            const auto ex = co_await asio::this_coro::executor;
            co_await async_sleep_for(ex, d, asio::use_awaitable);
            co_return 7;
        }
    };
    auto handler = [&](std::array<std::size_t, 2>, std::exception_ptr a, int n,
                       std::exception_ptr b,
                       int) { log.add(std::to_string(n), a ? code_of(a) : code_of(b)); };
    make_parallel_group(asio::co_spawn(ctx, program::after(1s), asio::deferred),
                        asio::co_spawn(ctx, program::after(1h), asio::deferred))
        .async_wait(wait_for_all(), timeout(2s, each_error, asio::bind_executor(ctx, handler)));
    poll();
    BOOST_TEST(log_after(2s) == "7" + late);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(tokens_of_all_kinds, virtual_world) {
    manual_operation<std::size_t, error_code> op(ctx.get_executor());
    op.on_cancel = [&] { op.complete(3, aborted); };
    op.start(timeout(1s, each_error, asio::detached));
    pass(1s);
    auto future = op.start(timeout(1s, each_error, asio::use_future));
    pass(1s);
    BOOST_TEST((future.get() == std::tuple<std::size_t, error_code>(3, timed_out)));
    const auto see = [&](std::tuple<std::size_t, error_code> r) {
        log.add(std::to_string(std::get<0>(r)), std::get<1>(r));
    };
    op.start(timeout(1s, each_error, asio::as_tuple(see)));
    pass(1s);
    op.start(asio::as_tuple(timeout(1s, each_error, see))); // It finds the error there, too.
    BOOST_TEST(log_after(1s) == "3" + late + " 3" + late);

    using executor = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
    struct program {
        static asio::awaitable<void> by_default(journal& l) {
            const executor ex(co_await asio::this_coro::executor);
            auto partial = timeout(1s, each_error);
            try {
                co_await async_sleep_for(ex, 1h, partial);
            } catch (const boost::system::system_error& e) {
                l.add("default", e.code());
            }
        }
    };
    asio::co_spawn(ctx, program::by_default(log), asio::detached);
    poll();
    BOOST_TEST(log_after(1s) == "default" + late);
}

BOOST_AUTO_TEST_SUITE_END()
