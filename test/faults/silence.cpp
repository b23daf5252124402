// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A stall is not silence: data can arrive before its deadline while the process is stopped or a
// handler blocks. It is read before the deadlines that have passed in the meantime are delivered.
//
// Real time and real sockets. Each of 400 connections has a deadline. Its data arrives 0.9 s before
// the deadline, while nothing runs. 50 more connections stay silent. A loop that checks 128 sockets
// and then its timers, as Asio does with its own timers, closes most of the 400.

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/sleep.hpp>
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
#include <boost/asio/compose.hpp>
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
#include <tuple>
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

// Giving way to a loop with nothing to read takes milliseconds, however long the stall was. Real
// time: the loop does not fall idle for 500 us, which would end the stall, too.
BOOST_AUTO_TEST_CASE(a_busy_context_without_data_delivers_soon_after_a_stall) {
    asio::io_context ctx;
    asio_wheel::steady_timer t(ctx, 10ms);
    steady_clock::time_point called;
    t.async_wait([&](error_code ec) { called = ec ? called : steady_clock::now(); });
    std::function<void()> busy = [&] {
        if (called == steady_clock::time_point()) {
            std::this_thread::sleep_for(1ms);
            asio::post(ctx, busy);
        }
    };
    std::this_thread::sleep_for(2s);
    const auto resumed = steady_clock::now();
    asio::post(ctx, busy);
    ctx.run();
    BOOST_TEST(asio_wheel::use_wheel(ctx).stats().stalls == 1U);
    BOOST_TEST((called - resumed < 1s)); // It was 2 s when a stall decided how long to give way.
}

// Each turn of this loop takes longer than the limit. Real time.
BOOST_AUTO_TEST_CASE(a_loop_whose_turns_are_long_is_not_stalled_again_and_again) {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.stall = 5ms});
    std::deque<asio_wheel::steady_timer> timers;
    std::size_t left = 50;
    for (std::size_t i = 0; i < left; ++i) {
        timers.emplace_back(ctx, std::chrono::milliseconds(10 * i + 10))
            .async_wait([&](error_code) { --left; });
    }
    std::function<void()> busy = [&] {
        if (left != 0) {
            std::this_thread::sleep_for(10ms);
            asio::post(ctx, busy);
        }
    };
    asio::post(ctx, busy);
    asio::post(ctx, busy);
    ctx.run();
    BOOST_TEST(asio_wheel::use_wheel(ctx).stats().stalls <= 3U); // The machine may stall it, too.
}

// A sleep protects nothing that arrives. Real time.
BOOST_AUTO_TEST_CASE(what_protects_nothing_is_not_held_back_after_a_stall) {
    asio::io_context ctx;
    std::string order;
    asio_wheel::steady_timer t(ctx, 10ms);
    t.async_wait([&](error_code) { order += "timer "; });
    asio_wheel::async_sleep_for(ctx.get_executor(), 20ms, [&](error_code) { order += "sleep "; });
    asio_wheel::interval ticks(ctx, 30ms);
    ticks.async_tick([&](error_code, std::size_t) { order += "tick "; });
    std::this_thread::sleep_for(300ms);
    ctx.run();
    BOOST_TEST(order == "sleep tick timer ");
    BOOST_TEST(asio_wheel::use_wheel(ctx).stats().stalls == 1U);
}

/// A connection with an idle timer, which a read touches.
struct timed_by_idle_timer {
    timed_by_idle_timer(socket_type& s, std::size_t number, counts& c, steady_clock::time_point due)
        : socket(s), i(number), seen(c), idle(s.get_executor(), due - steady_clock::now()) {
        idle.async_wait([this](error_code ec) {
            if (!ec) {
                seen.closed(i);
            }
        });
        socket.async_read_some(asio::buffer(memory), [this](error_code ec, std::size_t) {
            seen.read += ec ? 0 : 1;
            touch_after(2);
        });
    }

    // Some handlers later, as after TLS and a parser.
    void touch_after(int handlers) {
        if (handlers == 0) {
            idle.touch();
        } else {
            asio::post(socket.get_executor(), [=, this] { touch_after(handlers - 1); });
        }
    }

    socket_type& socket;
    std::size_t i;
    counts& seen;
    asio_wheel::idle_timer idle;
    std::array<char, 8> memory{};
};

/// A socket whose reads take some handlers more, as those of TLS do.
struct slow_layer : socket_type {
    explicit slow_layer(socket_type&& s) : socket_type(std::move(s)) {}

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return asio::async_compose<Token, void(error_code, std::size_t)>(
            [this, buffers, step = 0, result = error_code(),
             size = std::size_t(0)](auto& self, error_code ec = {}, std::size_t n = 0) mutable {
                if (step == 0) {
                    ++step;
                    socket_type::async_read_some(buffers, std::move(self));
                    return;
                }
                if (step == 1) {
                    result = ec;
                    size = n;
                }
                if (step++ < 3) {
                    asio::post(get_executor(), std::move(self));
                } else {
                    self.complete(result, size);
                }
            },
            token, *this);
    }
};

/// A stream that reads all the time, and must not be idle.
struct timed_by_idle_stream {
    timed_by_idle_stream(socket_type& s, std::size_t number, counts& c,
                         steady_clock::time_point due)
        : stream(slow_layer(std::move(s))), i(number), seen(c) {
        stream.idle_after(due - steady_clock::now());
        read();
    }

    void read() {
        stream.async_read_some(asio::buffer(memory), [this](error_code ec, std::size_t) {
            if (ec == asio_wheel::error::timed_out) {
                seen.closed(i);
            } else if (!ec) {
                ++seen.read;
                read();
            }
        });
    }

    asio_wheel::timeout_stream<slow_layer> stream;
    std::size_t i;
    counts& seen;
    std::array<char, 8> memory{};
};

// A context that does not fall idle after a stall. A wait of `early` makes its driver ready before
// the sockets are. The context runs after `runs_after`. Real time.
template <class Connection>
void touch_after_a_stall(std::chrono::milliseconds early, std::chrono::milliseconds runs_after) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.budget = 1000}); // All of them in one turn.
    pairs sockets(ctx);
    counts seen;
    asio_wheel::steady_timer first(ctx, early);
    first.async_wait(ignore);
    std::this_thread::sleep_for(runs_after);
    bool over = false;
    std::function<void()> busy = [&] {
        std::this_thread::sleep_for(1ms);
        if (!over) {
            asio::post(ctx, busy);
        }
    };
    serve<Connection>(ctx, sockets, seen, [&] {
        std::this_thread::sleep_for(100ms);
        sockets.send();
        std::this_thread::sleep_for(deadline + 200ms);
        for (int i = 0; i < 10; ++i) {
            asio::post(ctx, busy); // A turn of this loop is longer than the guard's patience.
        }
    });
    over = true;
    BOOST_TEST(seen.active_closed == 0U);
    BOOST_TEST(seen.silent_closed == silent);
    BOOST_TEST(wheel.stats().stalls >= 1U);
}

using touched_connections = std::tuple<timed_by_idle_timer, timed_by_idle_stream>;

// The driver is due during the stall. Epoll reports what became ready first.
BOOST_AUTO_TEST_CASE_TEMPLATE(touches_after_a_stall_are_seen, Connection, touched_connections) {
    touch_after_a_stall<Connection>(50ms, 0ms);
}

// The driver is due before the stall, and comes before the context looks at its sockets.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wake_up_in_the_queue_of_a_stalled_context_closes_nobody, Connection,
                              touched_connections) {
    touch_after_a_stall<Connection>(1ms, 20ms);
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
