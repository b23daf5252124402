// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// scale_idle_timers() and the idle periods of streams. (idle_timer/scale.cpp tests it with idle
// timers.)

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::scale_idle_timers;
using stream = asio_wheel::timeout_stream<manual_layer>;

// Connections that are silent.
struct connections : virtual_world {
    std::list<stream> all;
    std::size_t late = 0;
    std::array<char, 1> memory{};

    explicit connections(const asio_wheel::wheel_options& options = {}) : virtual_world(options) {
        align();
    }
    ~connections() {
        all.clear();
        poll();
    }

    stream& add(std::chrono::nanoseconds idle) {
        stream& s = all.emplace_back(ctx);
        s.idle_after(idle);
        read(s);
        return s;
    }
    void read(stream& s) {
        s.async_read_some(asio::buffer(memory), [this](error_code ec, std::size_t) {
            late += ec == std::errc::timed_out ? 1 : 0;
        });
    }
};

struct slices_of_ten : connections {
    slices_of_ten() : connections({.budget = 10}) {
        for (int i = 0; i < 100; ++i) {
            add(100s);
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_scale, *boost::unit_test::timeout(120))

BOOST_FIXTURE_TEST_CASE(it_shortens_the_idle_periods_of_streams, connections) {
    add(30s);
    add(60s);
    scale_idle_timers(ctx, 0.5);
    pass(15s - 1ns);
    BOOST_TEST(late == 0U);
    pass(1ns);
    BOOST_TEST(late == 1U);
    pass(15s - 1ns);
    BOOST_TEST(late == 1U);
    pass(1ns);
    BOOST_TEST(late == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_stream_that_has_been_idle_for_longer_times_out, connections) {
    add(2min);
    pass(1min);
    add(2min);
    scale_idle_timers(ctx, 0.25);
    BOOST_TEST(late == 0U); // Not inside the call.
    pass(0s);
    BOOST_TEST(late == 1U);
    pass(30s - 1ns);
    BOOST_TEST(late == 1U);
    pass(1ns);
    BOOST_TEST(late == 2U);
}

BOOST_FIXTURE_TEST_CASE(idle_periods_that_are_set_later_are_shortened_too, connections) {
    scale_idle_timers(ctx, 0.5);
    stream& s = add(30s);
    pass(10s);
    s.idle_after(24s);
    pass(2s - 1ns);
    BOOST_TEST(late == 0U);
    pass(1ns);
    BOOST_TEST(late == 1U);
    read(s); // An operation that begins later, too.
    pass(12s - 1ns);
    BOOST_TEST(late == 1U);
    pass(1ns);
    BOOST_TEST(late == 2U);
}

BOOST_FIXTURE_TEST_CASE(opened_again_it_lets_periods_be_as_long_as_they_were, connections) {
    add(30s);
    scale_idle_timers(ctx, 0.1);
    scale_idle_timers(ctx, 1);
    pass(30s - 1ns);
    BOOST_TEST(late == 0U);
    pass(1ns);
    BOOST_TEST(late == 1U);
}

BOOST_FIXTURE_TEST_CASE(other_deadlines_and_no_period_at_all_stay, connections) {
    stream& s = add(30s);
    s.idle_never();
    s.read_expires_after(1h);
    add(std::chrono::nanoseconds::max()).read_expires_after(1h);
    scale_idle_timers(ctx, 0.1);
    pass(1h - 1ns);
    BOOST_TEST(late == 0U);
    pass(1ns);
    BOOST_TEST(late == 2U);
}

BOOST_FIXTURE_TEST_CASE(the_period_of_a_moved_stream_is_scaled_and_that_of_one_on_another_executor,
                        virtual_world) {
    using plain = asio_wheel::timeout_stream<asio::ip::tcp::socket>;
    using bound = plain::rebind_executor<asio::io_context::executor_type>::other;
    scale_idle_timers(ctx, 0.5);
    bound first(ctx);
    first.idle_after(30s);
    bound second(std::move(first));
    plain third(std::move(second));
    scale_idle_timers(ctx, 0.25);
    asio::ip::tcp::acceptor acceptor(ctx,
                                     asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::ip::tcp::socket peer(ctx);
    third.socket().connect(acceptor.local_endpoint());
    acceptor.accept(peer);
    std::array<char, 1> memory{};
    error_code result;
    third.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { result = ec; });
    pass(7500ms - 1ns);
    BOOST_TEST(!result);
    pass(1ns);
    BOOST_TEST((result == std::errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_period_becomes_no_shorter_than_its_least, connections) {
    add(60s).min_idle_period(20s);
    stream& changed = add(60s);
    add(10s).min_idle_period(20s); // It is shorter by itself.
    scale_idle_timers(ctx, 0.1);
    changed.min_idle_period(15s); // At once, too.
    pass(10s - 1ns);
    BOOST_TEST(late == 0U);
    pass(1ns);
    BOOST_TEST(late == 1U);
    pass(5s - 1ns);
    BOOST_TEST(late == 1U);
    pass(1ns);
    BOOST_TEST(late == 2U);
    pass(5s - 1ns);
    BOOST_TEST(late == 2U);
    pass(1ns);
    BOOST_TEST(late == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_least_period_may_come_first_and_moves_with_its_stream, virtual_world) {
    using plain = asio_wheel::timeout_stream<asio::ip::tcp::socket>;
    using bound = plain::rebind_executor<asio::io_context::executor_type>::other;
    scale_idle_timers(ctx, 0.1);
    bound first(ctx);
    first.min_idle_period(20s);
    first.idle_after(60s);
    plain second(std::move(first));
    asio::ip::tcp::acceptor acceptor(ctx,
                                     asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::ip::tcp::socket peer(ctx);
    second.socket().connect(acceptor.local_endpoint());
    acceptor.accept(peer);
    std::array<char, 1> memory{};
    error_code result;
    second.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { result = ec; });
    pass(20s - 1ns);
    BOOST_TEST(!result);
    second.min_idle_period(30s);
    pass(10s);
    BOOST_TEST(!result);
    pass(1ns);
    BOOST_TEST((result == std::errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(an_unusable_least_period_is_refused, connections) {
    stream& s = add(60s);
    BOOST_CHECK_THROW(s.min_idle_period(-1s), std::invalid_argument);
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_CHECK_THROW(s.min_idle_period(nan), std::invalid_argument);
    s.min_idle_period(std::chrono::hours::max()); // The scale does not matter to it.
    scale_idle_timers(ctx, 0.1);
    pass(60s - 1ns);
    BOOST_TEST(late == 0U);
    pass(1ns);
    BOOST_TEST(late == 1U);
}

BOOST_FIXTURE_TEST_CASE(many_streams_are_visited_in_slices, slices_of_ten) {
    pass(60s);
    scale_idle_timers(ctx, 0.5);
    BOOST_TEST(wheel.pending() == 100U);
    pass(0s);
    BOOST_TEST(late == 100U);
}

BOOST_FIXTURE_TEST_CASE(streams_may_end_and_begin_while_others_are_visited, slices_of_ten) {
    pass(60s);
    scale_idle_timers(ctx, 0.5); // The first ten.
    for (int i = 0; i < 50; ++i) {
        all.erase(std::next(all.begin(), 5)); // Where the visit stands, and around.
    }
    add(100s);
    poll();
    pass(0s);
    BOOST_TEST(late == 50U);
    pass(50s);
    BOOST_TEST(late == 51U);
}

BOOST_AUTO_TEST_CASE(a_stream_may_outlive_its_context) {
    auto ctx = std::make_unique<asio::io_context>();
    std::optional<stream> s(std::in_place, *ctx);
    s->idle_after(30s);
    scale_idle_timers(*ctx, 0.5);
    auto wire = s->socket().wire;
    ctx.reset();
    s.reset();
    BOOST_TEST(wire->closed == 1);
}

// real time, with threads: streams begin and end operations while any thread sets the scale.
BOOST_AUTO_TEST_CASE(any_thread_may_set_the_scale_while_streams_are_used) {
    asio::thread_pool pool(2);
    std::atomic<int> ended{0};
    struct session {
        stream s;
        std::array<char, 1> memory{};
        int left = 2000;
        std::atomic<int>& ended;

        session(const asio::any_io_executor& ex, std::atomic<int>& e) : s(ex), ended(e) {}

        void step() {
            if (--left == 0) {
                ++ended;
                return;
            }
            s.idle_after(left % 2 == 0 ? 1h : 2h);
            s.min_idle_period(left % 3 * 30min);
            s.least_rate(2, left % 2 == 0 ? 2h : 1h);
            s.lifetime(3h, 0.5);
            s.async_read_some(asio::buffer(memory), [this](error_code, std::size_t) { step(); });
            s.socket().wire->read.complete({}, 1);
        }
    };
    std::vector<std::unique_ptr<session>> sessions;
    for (int i = 0; i < 4; ++i) {
        sessions.push_back(
            std::make_unique<session>(asio::any_io_executor(asio::make_strand(pool)), ended));
        session& s = *sessions.back();
        asio::post(s.s.get_executor(), [&s] { s.step(); });
    }
    auto& wheel = asio_wheel::use_wheel(pool);
    std::jthread other([&] {
        for (int i = 0; ended != 4; ++i) {
            scale_idle_timers(wheel, i % 2 == 0 ? 0.5 : 1.0);
            std::this_thread::yield();
        }
    });
    other.join();
    pool.join();
    BOOST_TEST(ended == 4);
}

BOOST_AUTO_TEST_SUITE_END()
