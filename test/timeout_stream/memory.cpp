// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// The allocations of streams, and their behaviour without memory. operator new is counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/empty_pool.hpp"
#include "support/manual_layer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using namespace asio_wheel::test;

template <class Executor>
using stream_on = asio_wheel::timeout_stream<asio::basic_stream_socket<paired, Executor>>;

// The result of an attempt.
struct attempt {
    bool failed = false; // An allocation failed.
    bool thrown = false;
    int calls = 0;
    error_code ec;
    bool open = false;
    long left = 0; // Copies of the handler.
    std::size_t pending = 0;
};

// Starts a read on `executor` of the context. Allocation `n` fails, and no memory is cached. With
// `later`, the allocations at the end of the wait fail, after the deadline was moved. With `late`,
// the read begins after its deadline, and is tried.
template <class ExecutorOf>
attempt try_with(std::size_t n, ExecutorOf executor, bool later, bool late = false) {
    attempt a;
    std::thread([&] {
        const empty_pool pool;
        asio::io_context ctx;
        auto& wheel = asio_wheel::use_wheel(ctx);
        wheel.pause();
        const auto ex = executor(ctx);
        stream_on<std::decay_t<decltype(ex)>> stream(ex);
        paired::socket peer(ctx);
        connect_pair(stream.socket(), peer);
        const auto alive = std::make_shared<int>();
        std::array<char, 1> memory{};
        {
            const auto handler = [&a, alive](error_code ec, std::size_t) {
                ++a.calls;
                a.ec = ec;
            };
            stream.read_expires_after(late ? 0s : 20s);
            stream.write_expires_after(10s);
            stream.try_late_operations(late);
            std::optional<fail_after> failure;
            if (later) {
                asio::post(ex, [&] {
                    stream.async_write_some(asio::buffer(memory), [](error_code, std::size_t) {});
                    stream.async_read_some(asio::buffer(memory), handler);
                });
                ctx.poll();
                failure.emplace(n);
                wheel.advance(
                    10s); // The end of the wait, which is then moved to the read's deadline.
                ctx.restart();
                try {
                    ctx.poll();
                } catch (const std::bad_alloc&) {
                    a.thrown = true;
                }
            } else {
                failure.emplace(n);
                try {
                    stream.async_read_some(asio::buffer(memory), handler);
                } catch (const std::bad_alloc&) {
                    a.thrown = true;
                }
            }
            a.failed = failure->has_failed();
        }
        a.open = stream.socket().is_open();
        ctx.restart();
        ctx.poll();
        wheel.advance(21s);
        ctx.restart();
        ctx.run_for(10s); // At once, but on Windows a read that is cancelled ends a little later.
        a.pending = wheel.pending();
        BOOST_TEST(ctx.stopped());
        a.left = alive.use_count() - 1;
    }).join();
    return a;
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_memory)

BOOST_AUTO_TEST_CASE(any_allocation_may_fail_when_an_operation_begins) {
    const auto check = [](auto executor, bool late) {
        for (std::size_t n = 0;; ++n) {
            const attempt a = try_with(n, executor, false, late);
            BOOST_TEST_CONTEXT("allocation " << n) {
                BOOST_TEST(a.left == 0);
                BOOST_TEST(a.pending == 0U);
                BOOST_TEST(a.open); // It has not started, or not failed yet.
                BOOST_TEST(a.calls == (a.thrown ? 0 : 1));
                BOOST_TEST((a.thrown || a.ec == asio_wheel::error::timed_out));
            }
            if (!a.failed) {
                BOOST_TEST(n >= 2U);
                break;
            }
        }
    };
    for (const bool late : {false, true}) {
        check([](asio::io_context& ctx) { return ctx.get_executor(); }, late);
        check([](asio::io_context& ctx) { return asio::make_strand(ctx); }, late);
    }
}

BOOST_AUTO_TEST_CASE(without_memory_for_a_wait_the_stream_is_closed) {
    int told = 0;
    const auto check = [&told](auto executor) {
        for (std::size_t n = 0;; ++n) {
            const attempt a = try_with(n, executor, true);
            BOOST_TEST_CONTEXT("allocation " << n) {
                BOOST_TEST(a.left == 0);
                BOOST_TEST(a.pending == 0U);
                BOOST_TEST(a.calls == 1);
                const bool refused = a.ec == boost::system::errc::not_enough_memory;
                BOOST_TEST((refused || a.ec == asio_wheel::error::timed_out));
                told += refused && !a.open ? 1 : 0;
            }
            if (!a.failed) {
                break;
            }
        }
    };
    check([](asio::io_context& ctx) { return ctx.get_executor(); });
    check([](asio::io_context& ctx) { return asio::make_strand(ctx); });
    BOOST_TEST_MESSAGE(told << " times there was none");
}

BOOST_AUTO_TEST_CASE(an_operation_without_memory_for_its_wait_has_begun_nothing) {
    std::thread([] {
        const empty_pool pool;
        virtual_world world;
        asio_wheel::timeout_stream<manual_layer> stream(world.ctx);
        const auto wire = stream.socket().wire;
        const auto ignore_all = [](error_code, std::size_t) {};
        stream.async_read_some(asio::mutable_buffer(), ignore_all);
        stream.write_expires_after(10s);
        bool thrown = false;
        {
            const out_of_memory none;
            try {
                stream.async_write_some(asio::const_buffer(), ignore_all);
            } catch (const std::bad_alloc&) {
                thrown = true;
            }
        }
        BOOST_TEST(thrown);
        BOOST_TEST(!wire->write.pending());
        world.pass(1h);
        BOOST_TEST(wire->closed == 0);
    }).join();
}

BOOST_AUTO_TEST_CASE(a_deadline_without_memory_for_its_wait_is_not_set) {
    std::thread([] {
        const empty_pool pool;
        virtual_world world;
        asio_wheel::timeout_stream<manual_layer> stream(world.ctx);
        const auto wire = stream.socket().wire;
        stream.idle_after(1h); // The list of idle periods is there.
        stream.idle_never();
        stream.async_read_some(asio::mutable_buffer(), [](error_code, std::size_t) {});
        const auto thrown_by = [&](auto set) {
            const out_of_memory none;
            try {
                set();
            } catch (const std::bad_alloc&) {
                return true;
            }
            return false;
        };
        BOOST_TEST(thrown_by([&] { stream.read_expires_after(10s); }));
        BOOST_TEST(thrown_by([&] { stream.idle_after(10s); }));
        BOOST_TEST(thrown_by([&] { stream.least_rate(1, 10s); }));
        BOOST_TEST(thrown_by([&] { stream.lifetime(10s); }));
        world.pass(1h);
        BOOST_TEST(wire->closed == 0);
        stream.idle_after(10s);
        world.pass(10s - 1ns);
        BOOST_TEST(wire->closed == 0);
        world.pass(1ns);
        BOOST_TEST(wire->closed == 1);
    }).join();
}

BOOST_FIXTURE_TEST_CASE(operations_allocate_nothing_beyond_what_the_sockets_do, virtual_world) {
    stream_on<asio::any_io_executor> stream(ctx);
    paired::socket plain(ctx);
    paired::socket peer(ctx);
    timer other(ctx, 20s); // Another wait is always pending, so the wheel's wake-up plays no role.
    other.async_wait(ignore);
    std::array<char, 1> memory{};
    const auto rounds = [&](auto& s, const auto& limit) {
        for (int i = 0; i < 1000; ++i) {
            limit();
            s.async_read_some(asio::buffer(memory), [&, i](error_code, std::size_t) {
                if (i % 2 == 0) {
                    limit();
                    s.async_write_some(asio::buffer(memory), [](error_code, std::size_t) {});
                }
            });
            peer.write_some(asio::buffer(memory));
            pass(1ms);
            if (i % 2 == 0) {
                peer.read_some(asio::buffer(memory));
            }
        }
    };
    const auto count = [&](auto& s, const auto& limit) {
        rounds(s, limit); // Fills the caches.
        return allocations_of([&] { rounds(s, limit); });
    };
    connect_pair(plain, peer);
    const std::size_t of_sockets = count(plain, [] {});
    peer.close();
    connect_pair(stream.socket(), peer);
    BOOST_TEST(count(stream, [&] { stream.expires_after(30s); }) == of_sockets);
    other.cancel();
}

// real time: it waits for milliseconds.
BOOST_AUTO_TEST_CASE(synchronous_operations_allocate_nothing) {
    drained_context c;
    stream_on<asio::any_io_executor> stream(c.ctx);
    paired::socket peer(c.ctx);
    connect_pair(stream.socket(), peer);
    std::array<char, 1> memory{};
    error_code ec;
    BOOST_TEST(allocations_of([&] {
                   stream.expires_after(1h);
                   stream.write_some(asio::buffer(memory));
                   peer.write_some(asio::buffer(memory));
                   stream.read_some(asio::buffer(memory));
                   stream.expires_after(2ms);
                   stream.read_some(asio::buffer(memory), ec);
               }) == 0U);
    BOOST_TEST((ec == asio_wheel::error::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_stream_is_one_allocation, virtual_world) {
    {
        const stream_on<asio::any_io_executor> first(ctx);
    }
    std::optional<stream_on<asio::any_io_executor>> stream;
    BOOST_TEST(allocations_of([&] { stream.emplace(ctx); }) <= 1U);
    BOOST_TEST(allocations_of([&] { auto moved = std::move(*stream); }) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
