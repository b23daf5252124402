// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Programs with streams that are destroyed after their first, second, third … handler, with all
// pending operations.

#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/names.hpp"
#include "support/tear_down.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;
using asio_wheel::test::ends_first;
using asio_wheel::test::tear_down_at_every_step;
using stream = timeout_stream<paired::socket>;

constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

// The objects of a program outside of its context.
struct objects {
    explicit objects(asio::io_context& ctx) : a(ctx), b(asio::make_strand(ctx)) {
        connect_pair(a.socket(), b.socket());
    }

    stream a, b;
    std::array<char, 4> memory{};
};

// Both ends send in turn, until one goes idle.
asio::awaitable<void> talk(stream s, int words) {
    std::array<char, 4> memory{};
    s.idle_after(7s);
    for (int i = 0; i < words; ++i) {
        s.expires_after(10s);
        co_await s.async_write_some(asio::buffer(memory), tuple);
        co_await s.async_read_some(asio::buffer(memory), tuple);
    }
    stream moved(std::move(s));
    co_await moved.async_read_some(asio::buffer(memory), tuple);
}

void reads_and_writes(const std::shared_ptr<objects>& o, int left) {
    const std::weak_ptr<objects> weak = o;
    const auto again = [weak, left](error_code ec, std::size_t) {
        const auto p = weak.lock();
        if (!ec && left > 0 && p) {
            reads_and_writes(p, left - 1);
        }
    };
    o->a.read_expires_after(5s);
    o->a.async_read_some(asio::buffer(o->memory), again);
    o->b.expires_after(3s);
    o->b.async_write_some(asio::buffer(o->memory), [](error_code, std::size_t) {});
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_tear_down, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(streams_in_coroutines) {
    const std::size_t steps = tear_down_at_every_step([](asio::io_context& ctx) {
        objects o(ctx);
        const auto strand = o.b.get_executor();
        asio::co_spawn(ctx, talk(std::move(o.a), 3), asio::detached);
        asio::co_spawn(strand, talk(std::move(o.b), 2), asio::detached);
        return nullptr;
    });
    BOOST_TEST(steps > 10U);
}

BOOST_AUTO_TEST_CASE(streams_outside_of_their_handlers) {
    const std::size_t steps = tear_down_at_every_step(
        [](asio::io_context& ctx) {
            auto o = std::make_shared<objects>(ctx);
            reads_and_writes(o, 4);
            return o;
        },
        {ends_first::objects});
    BOOST_TEST(steps > 8U);
}

BOOST_AUTO_TEST_CASE(streams_inside_of_their_handlers) {
    const std::size_t steps = tear_down_at_every_step([](asio::io_context& ctx) {
        const auto o = std::make_shared<objects>(ctx);
        for (stream* const s : {&o->a, &o->b}) {
            s->expires_after(s == &o->a ? 1s : 2s);
            s->async_read_some(
                asio::buffer(o->memory),
                asio::bind_executor(asio::make_strand(ctx), [o](error_code, std::size_t) {}));
        }
        return std::weak_ptr<objects>(o);
    });
    BOOST_TEST(steps >= 2U);
}

BOOST_AUTO_TEST_SUITE_END()
