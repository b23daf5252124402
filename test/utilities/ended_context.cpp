// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A handler is on the strand of another context when the context of its object ends. The object
// lives on.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>

namespace {

using namespace asio_wheel::test;

/// Two contexts, and what becomes of a handler.
struct two_contexts {
    std::unique_ptr<asio::io_context> own = std::make_unique<asio::io_context>();
    asio::io_context other;
    asio::strand<asio::io_context::executor_type> strand = asio::make_strand(other);
    std::shared_ptr<int> handler = std::make_shared<int>();
    int calls = 0;

    two_contexts() { asio_wheel::use_wheel(*own).pause(); }

    auto on_the_strand() {
        return asio::bind_executor(strand, [this, held = handler](const error_code& ec, auto&&...) {
            BOOST_TEST(!ec);
            ++calls;
        });
    }

    /// What is due in a second is sent to the strand. Then its context ends.
    void end() {
        asio_wheel::use_wheel(*own).advance(1s);
        own->poll();
        BOOST_TEST(handler.use_count() == 2);
        own.reset();
        other.poll();
        BOOST_TEST(handler.use_count() == 1);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(ended_context)

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_sent_elsewhere_completes_there, two_contexts) {
    asio_wheel::steady_timer t(*own, 1s);
    t.async_wait(on_the_strand());
    end();
    BOOST_TEST(calls == 1);
}

BOOST_FIXTURE_TEST_CASE(a_sleep_that_was_sent_elsewhere_completes_there, two_contexts) {
    asio_wheel::async_sleep_for(*own, 1s, on_the_strand());
    end();
    BOOST_TEST(calls == 1);
}

// These ask the wheel whether the time has come, which has ended.
BOOST_FIXTURE_TEST_CASE(a_tick_that_was_sent_elsewhere_is_destroyed, two_contexts) {
    asio_wheel::interval ticks(*own, 1s);
    ticks.async_tick(on_the_strand());
    end();
    BOOST_TEST(calls == 0);
}

BOOST_FIXTURE_TEST_CASE(an_idle_wait_that_was_sent_elsewhere_is_destroyed, two_contexts) {
    asio_wheel::idle_timer idle(*own, 1s);
    idle.async_wait(on_the_strand());
    end();
    BOOST_TEST(calls == 0);
}

BOOST_FIXTURE_TEST_CASE(a_wait_for_the_next_idle_period_is_destroyed, two_contexts) {
    asio_wheel::idle_timer idle(*own, 1s);
    idle.async_next_idle(on_the_strand());
    end();
    BOOST_TEST(calls == 0);
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_that_was_sent_elsewhere_is_destroyed, two_contexts) {
    asio_wheel::heartbeat beats(*own, {.send_every = 1s, .dead_after = 1h});
    beats.async_next(on_the_strand());
    end();
    BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_SUITE_END()
