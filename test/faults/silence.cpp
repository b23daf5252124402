// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A stall is not silence: data can arrive before its deadline while the process is stopped or a
// handler blocks. It is read before the deadlines that have passed in the meantime are delivered.
//
// Real time and real sockets. Each of 400 connections has a deadline. Its data arrives 0.9 s before
// the deadline, while nothing runs. 50 more connections stay silent. A loop that checks 128 sockets
// and then its timers, as Asio does with its own timers, closes most of the 400.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/child_process.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::local::stream_protocol;
using std::chrono::steady_clock;
using socket_type = stream_protocol::socket;

constexpr std::size_t active = 400, silent = 50;
constexpr auto deadline = 1s;

/// Sockets of a server, and their peers.
struct pairs {
    explicit pairs(asio::io_context& ctx) {
        for (std::size_t i = 0; i < active + silent; ++i) {
            auto& [mine, peer] = all.emplace_back(socket_type(ctx), socket_type(ctx));
            asio::local::connect_pair(mine, peer);
        }
    }

    /// The active peers send. Called by another thread or process.
    void send() {
        for (std::size_t i = 0; i < active; ++i) {
            static_cast<void>(::write(all[i].second.native_handle(), "x", 1) == 1);
        }
    }

    std::deque<std::pair<socket_type, socket_type>> all;
};

struct counts {
    std::atomic<std::size_t> active_closed = 0;
    std::atomic<std::size_t> silent_closed = 0;
    std::atomic<std::size_t> read = 0;

    void closed(std::size_t i) { ++(i < active ? active_closed : silent_closed); }
};

/// A connection with its own timer, which a read cancels.
template <class Timer>
struct timed_by_timer {
    timed_by_timer(socket_type& s, std::size_t number, counts& c, steady_clock::time_point due)
        : socket(s), i(number), seen(c), strand(make_strand(s.get_executor())), timer(strand, due) {
        timer.async_wait([this](error_code ec) {
            if (!ec) {
                seen.closed(i);
            }
        });
        socket.async_read_some(asio::buffer(memory),
                               asio::bind_executor(strand, [this](error_code ec, std::size_t) {
                                   seen.read += ec ? 0 : 1;
                                   timer.cancel();
                               }));
    }

    socket_type& socket;
    std::size_t i;
    counts& seen;
    asio::strand<asio::any_io_executor> strand;
    Timer timer;
    std::array<char, 8> memory{};
};

/// A connection whose read has a timeout.
struct timed_by_token {
    timed_by_token(socket_type& s, std::size_t i, counts& c, steady_clock::time_point due) {
        s.async_read_some(asio::buffer(memory),
                          asio_wheel::timeout_at(due, [&c, i](error_code ec, std::size_t) {
                              if (ec == asio_wheel::error::timed_out) {
                                  c.closed(i);
                              } else {
                                  c.read += ec ? 0 : 1;
                              }
                          }));
    }

    std::array<char, 8> memory{};
};

/// A stream with a deadline.
struct timed_by_stream {
    timed_by_stream(socket_type& s, std::size_t i, counts& c, steady_clock::time_point due)
        : stream(std::move(s)) {
        stream.expires_at(due);
        stream.async_read_some(asio::buffer(memory), [&c, i](error_code ec, std::size_t) {
            if (ec == asio_wheel::error::timed_out) {
                c.closed(i);
            } else {
                c.read += ec ? 0 : 1;
            }
        });
    }

    asio_wheel::timeout_stream<socket_type> stream;
    std::array<char, 8> memory{};
};

/// Runs the server until each connection has been read or closed. Calls `stall` when all
/// connections wait.
template <class Connection>
void serve(asio::io_context& ctx, pairs& sockets, counts& seen, std::function<void()> stall,
           std::size_t threads = 1) {
    std::deque<Connection> connections;
    const auto due = steady_clock::now() + deadline;
    for (std::size_t i = 0; i < sockets.all.size(); ++i) {
        connections.emplace_back(sockets.all[i].first, i, seen, due);
    }
    asio::post(ctx, std::move(stall));
    // Stop when the silent connections are closed, and all others have been read or closed.
    asio::steady_timer watch(ctx);
    std::function<void(error_code)> look = [&](error_code) {
        if (seen.silent_closed == silent && seen.read + seen.active_closed >= active) {
            ctx.stop();
        } else {
            watch.expires_after(10ms);
            watch.async_wait(look);
        }
    };
    look({});
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) {
        others.emplace_back([&ctx] { ctx.run(); });
    }
    ctx.run();
}

/// A handler blocks until the deadlines have passed. In the meantime, the peers send. Returns how
/// many active connections were closed.
template <class Connection>
std::size_t closed_after_a_block(asio_wheel::wheel_options options, std::size_t threads = 1) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, options);
    pairs sockets(ctx);
    counts seen;
    std::atomic<std::size_t> blocked = 0;
    const auto block = [&] {
        const auto until = steady_clock::now() + deadline + 200ms;
        if (++blocked == 1) {
            std::this_thread::sleep_for(100ms);
            sockets.send();
        }
        std::this_thread::sleep_until(until);
    };
    for (std::size_t i = 1; i < threads; ++i) {
        asio::post(ctx, block); // Each thread runs one.
    }
    serve<Connection>(ctx, sockets, seen, block, threads);
    BOOST_TEST(seen.silent_closed == silent);
    BOOST_TEST(wheel.stats().stalls >= (options.stall == 0ns ? 0U : 1U));
    return seen.active_closed;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_silence)

BOOST_AUTO_TEST_CASE(a_blocked_context_reads_what_has_arrived_before_it_closes_anything) {
    BOOST_TEST(closed_after_a_block<timed_by_timer<asio_wheel::steady_timer>>({}) == 0U);
    BOOST_TEST(closed_after_a_block<timed_by_token>({}) == 0U);
    BOOST_TEST(closed_after_a_block<timed_by_stream>({}) == 0U);
}

// The case above can fail.
BOOST_AUTO_TEST_CASE(without_the_option_and_with_asios_timers_most_are_closed,
                     *only_if(!on_select)) {
    BOOST_TEST(closed_after_a_block<timed_by_timer<asio_wheel::steady_timer>>({.stall = 0ns}) > 0U);
    asio::io_context ctx;
    pairs sockets(ctx);
    counts seen;
    serve<timed_by_timer<asio::steady_timer>>(ctx, sockets, seen, [&] {
        sockets.send();
        std::this_thread::sleep_for(deadline + 200ms);
    });
    BOOST_TEST(seen.active_closed > 0U);
}

// Except for handlers that the system has interrupted in the other two threads.
BOOST_AUTO_TEST_CASE(several_threads_read_what_has_arrived_before_they_close_anything) {
    BOOST_TEST(closed_after_a_block<timed_by_timer<asio_wheel::steady_timer>>({}, 3) <= 2U);
}

BOOST_AUTO_TEST_CASE(a_process_that_was_stopped_reads_what_has_arrived_before_it_closes_anything) {
    const starting_line line;
    asio::io_context ctx;
    pairs sockets(ctx); // Shared by both processes.
    child_process child(
        [&] {
            ctx.notify_fork(asio::execution_context::fork_child);
            counts seen;
            serve<timed_by_timer<asio_wheel::steady_timer>>(ctx, sockets, seen,
                                                            [&] { line.ready(); });
            return seen.active_closed != 0 ? 1 : seen.silent_closed != silent ? 2 : 0;
        },
        60U);
    line.wait();
    child.signal(SIGSTOP);
    BOOST_TEST_REQUIRE(child.wait_until_stopped());
    std::this_thread::sleep_for(100ms);
    sockets.send();
    std::this_thread::sleep_for(deadline + 200ms);
    child.signal(SIGCONT);
    BOOST_TEST(child.wait() == exited_well);
}

// Silent connections are closed although the context is never idle.
BOOST_AUTO_TEST_CASE(a_context_that_is_always_busy_closes_the_silent_within_the_bound) {
    asio::io_context ctx;
    asio_wheel::steady_timer t(ctx, 50ms);
    bool over = false;
    t.async_wait([&](error_code ec) { over = !ec; });
    std::function<void()> busy = [&] {
        if (!over) {
            std::this_thread::sleep_for(1ms);
            asio::post(ctx, busy);
        }
    };
    std::this_thread::sleep_for(50ms + 300ms);
    asio::post(ctx, busy);
    ctx.run(); // Some 300 ms.
    BOOST_TEST(over);
    BOOST_TEST(asio_wheel::use_wheel(ctx).stats().stalls == 1U);
    BOOST_TEST((asio_wheel::use_wheel(ctx).stats().stalled >= 290ms));
}

// A wait that starts when those of a stall were cancelled is not kept waiting. Real time.
BOOST_AUTO_TEST_CASE(a_stall_ends_when_nothing_waits_any_more) {
    asio::io_context ctx;
    asio_wheel::steady_timer late(ctx, 10ms);
    late.async_wait(ignore);
    std::this_thread::sleep_for(10ms + 300ms);
    auto& wheel = asio_wheel::use_wheel(ctx);
    // The wheel sees the stall, and gives way.
    run_one_handler(ctx, [&] { return wheel.stats().stalls == 1; });
    BOOST_TEST_REQUIRE(wheel.stats().stalls == 1U);
    BOOST_TEST(late.cancel() == 1U);
    ctx.restart();
    ctx.run();
    asio_wheel::steady_timer next(ctx, 1ms);
    bool called = false;
    next.async_wait([&](error_code ec) { called = !ec; });
    ctx.restart();
    const std::size_t ran = ctx.run();
    BOOST_TEST(called);
    if (counts_only_handlers) {
        BOOST_TEST(ran <= 4U); // Some handlers of the wheel's own, but no turn after turn.
    }
    BOOST_TEST(wheel.stats().stalls == 1U);
}

// Virtual time is never late, however far it moves.
BOOST_AUTO_TEST_CASE(time_that_is_moved_is_no_stall) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::use_wheel(ctx);
    wheel.pause();
    asio_wheel::steady_timer t(ctx, 1h), other(ctx, 2h);
    t.async_wait(ignore);
    other.async_wait(ignore);
    wheel.advance(90min);
    ctx.poll();
    wheel.resume();
    ctx.poll();
    other.cancel();
    ctx.restart();
    ctx.run();
    BOOST_TEST(wheel.stats().stalls == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
