// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Heartbeats. idle_timer/ tests what they share with idle timers.

#include <asio_wheel/heartbeat.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>

namespace {

using namespace asio_wheel::test;
using asio_wheel::heartbeat;
using asio_wheel::heartbeat_event;

struct beating : virtual_world {
    std::optional<heartbeat> pulse;

    void next() {
        pulse->async_next([this](error_code ec, heartbeat_event event) {
            log.text += ec ? "!" : event == heartbeat_event::send ? "s" : "d";
        });
    }

    ~beating() {
        pulse.reset();
        poll();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(heartbeat_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_heartbeat_is_sent_when_nothing_else_was, beating) {
    pulse.emplace(ctx, asio_wheel::heartbeat_options{.send_every = 10s, .dead_after = 1h});
    next();
    pass(9s);
    pulse->sent();
    BOOST_TEST(log_after(9s) == "");
    BOOST_TEST(log_after(1s) == "s");
    next(); // This one counts as sent.
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "s");
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_is_not_heard_of_is_dead, beating) {
    pulse.emplace(ctx, asio_wheel::heartbeat_options{.send_every = 10s, .dead_after = 35s});
    next();
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(log_after(10s) == "s");
        next();
    }
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "d");
    next();
    BOOST_TEST(log_now() == "d"); // The peer is still dead.
    pulse->received();
    next();
    BOOST_TEST(log_after(1ms) == "");
    BOOST_TEST(log_after(5s) == "s");
}

BOOST_FIXTURE_TEST_CASE(death_comes_before_sending, beating) {
    pulse.emplace(ctx, asio_wheel::heartbeat_options{.send_every = 10s, .dead_after = 10s});
    next();
    BOOST_TEST(log_after(10s) == "d");
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_can_be_cancelled, beating) {
    pulse.emplace(ctx, asio_wheel::heartbeat_options{.send_every = 10s, .dead_after = 35s});
    next();
    BOOST_TEST(pulse->cancel() == 1U);
    BOOST_TEST(log_now() == "!");
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_in_a_coroutine, virtual_world) {
    int sent = 0;
    bool dead = false;
    const auto connection = [&]() -> asio::awaitable<void> {
        heartbeat pulse(co_await asio::this_coro::executor, {.send_every = 10s, .dead_after = 35s});
        for (;; ++sent) {
            const heartbeat_event event = co_await pulse.async_next(asio::use_awaitable);
            if (event == heartbeat_event::dead) {
                break;
            }
        }
        dead = true;
    };
    asio::co_spawn(ctx, connection, asio::detached);
    poll();
    for (int i = 0; i < 35; ++i) {
        pass(1s);
    }
    BOOST_TEST(sent == 3);
    BOOST_TEST(dead);
}

BOOST_FIXTURE_TEST_CASE(bad_periods_of_a_heartbeat_are_named, virtual_world) {
    BOOST_TEST(message_of([&] { heartbeat(ctx, {.send_every = -1us, .dead_after = 1s}); }) ==
               "asio_wheel: a heartbeat's send_every is -1000 ns, but must be greater than 0 ns");
    BOOST_TEST(message_of([&] { heartbeat(ctx, {.send_every = 1s, .dead_after = 0ns}); }) ==
               "asio_wheel: a heartbeat's dead_after is 0 ns, but must be greater than 0 ns");
}

BOOST_AUTO_TEST_SUITE_END()
