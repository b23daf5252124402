// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Deadlines round Asio's operators for coroutines, `a && b` and `a || b`. If both sides fail, they
// throw a boost::asio::multiple_exceptions, which holds the exception of one side.

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using namespace asio::experimental::awaitable_operators;
using asio_wheel::async_sleep_for;
using asio_wheel::timeout;
using asio_wheel::timeout_at;
using boost::system::system_error;

const error_code timed_out = asio_wheel::error::timed_out;

// What an exception says. That of one side is in brackets.
std::string text_of(const std::exception_ptr& e) {
    if (e == nullptr) {
        return "nothing";
    }
    try {
        std::rethrow_exception(e);
    } catch (const asio::multiple_exceptions& several) {
        return "(" + text_of(several.first_exception()) + ")";
    } catch (const system_error& failure) {
        return failure.code() == timed_out ? "timed out"
               : failure.code() == aborted ? "aborted"
                                           : failure.code().message();
    } catch (const std::exception& other) {
        return other.what();
    }
}

asio::awaitable<void> pause(std::chrono::seconds d) {
    const auto ex = co_await asio::this_coro::executor;
    co_await async_sleep_for(ex, d, asio::use_awaitable);
}

asio::awaitable<int> number_after(std::chrono::seconds d) {
    const auto ex = co_await asio::this_coro::executor;
    co_await async_sleep_for(ex, d, asio::use_awaitable);
    co_return 1;
}

asio::awaitable<void> refused_after(std::chrono::seconds d) {
    const auto ex = co_await asio::this_coro::executor;
    co_await async_sleep_for(ex, d, asio::use_awaitable);
    throw system_error(asio::error::connection_refused);
}

asio::awaitable<void> both() {
    co_await (pause(1h) && pause(1h));
}
asio::awaitable<void> either() {
    co_await (pause(1h) || pause(1h));
}
asio::awaitable<void> all_of_three() {
    co_await ((pause(1h) && pause(1h)) && pause(1h));
}
asio::awaitable<void> any_of_four() {
    co_await ((pause(1h) && pause(1h)) || (number_after(1h) || number_after(1h)));
}
const std::vector<asio::awaitable<void> (*)()> shapes = {both, either, all_of_three, any_of_four};

struct fixture : virtual_world {
    std::exception_ptr seen = std::make_exception_ptr(0);

    auto see() {
        return [this](std::exception_ptr e) { seen = std::move(e); };
    }

    // How it ends that is started by start(shape), and has a deadline of a second.
    template <class Start>
    std::string end_of(Start start) {
        std::string texts;
        for (const auto shape : shapes) {
            start(shape());
            poll();
            pass(1s);
            texts += text_of(seen) + "; ";
            seen = std::make_exception_ptr(0);
            BOOST_TEST(wheel.pending() == 0U);
        }
        return texts;
    }
};

const std::string all_timed_out = "timed out; timed out; timed out; timed out; ";

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_operators, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_timeout_round_operators_says_timed_out_in_each_of_its_forms, fixture) {
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout(1s, see()));
               }) == all_timed_out);
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout_at(now() + 1s, see()));
               }) == all_timed_out);
    timer limit(ctx);
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout(limit, 1s, see()));
               }) == all_timed_out);
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout_at(limit, now() + 1s, see()));
               }) == all_timed_out);
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout(1s, asio_wheel::each_error, see()));
               }) == all_timed_out);
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout(1s, see()));
               }) == all_timed_out);
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout_at(now() + 1s, see()));
               }) == all_timed_out);
    const error_code own = asio::error::host_not_found;
    BOOST_TEST(end_of([&](asio::awaitable<void> what) {
                   asio::co_spawn(ctx, std::move(what), timeout(1s, own, see()));
               }).find(own.message()) == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_a_coroutine_catches_is_a_system_error, fixture) {
    struct program {
        static asio::awaitable<void> run(std::string& seen) {
            const auto ex = co_await asio::this_coro::executor;
            try {
                auto work = either();
                co_await asio::co_spawn(ex, std::move(work), timeout(1s, asio::use_awaitable));
            } catch (const system_error& e) {
                seen = e.code() == std::errc::timed_out ? "timed out" : e.what();
            }
        }
    };
    std::string caught;
    asio::co_spawn(ctx, program::run(caught), see());
    poll();
    pass(1s);
    BOOST_TEST(text_of(seen) == "nothing");
    BOOST_TEST(caught == "timed out");
}

BOOST_FIXTURE_TEST_CASE(a_side_that_failed_by_itself_before_is_not_hidden, fixture) {
    struct program {
        static asio::awaitable<void> run() { co_await (refused_after(1s) || pause(1h)); }
    };
    asio::co_spawn(ctx, program::run(), timeout(2s, see()));
    poll();
    pass(1s);
    pass(1s);
    BOOST_TEST(text_of(seen) == "(" + error_code(asio::error::connection_refused).message() + ")");
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_by_others_stays_what_it_is, fixture) {
    asio::cancellation_signal signal;
    asio::co_spawn(ctx, both(), timeout(1h, asio::bind_cancellation_slot(signal.slot(), see())));
    poll();
    signal.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(text_of(seen) == "(aborted)");
}

BOOST_AUTO_TEST_SUITE_END()
