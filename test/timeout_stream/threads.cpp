// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Streams on several threads: many of them concurrently on strands, and one that futures pass from
// thread to thread. Real time: milliseconds, or hours.

#include <asio_wheel/timeout_stream.hpp>

#include "support/backend.hpp"
#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"
#include "support/threads.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;
using clock_type = std::chrono::steady_clock;

struct totals {
    std::atomic<int> read{0}, late{0}, running{0};
    thread_checks found;
};

// Reads data that it writes to itself, or does not, with random deadlines, until one passes. The
// stream's executor is the pool's or a strand; handlers are always bound to a strand.
class session : public std::enable_shared_from_this<session> {
public:
    session(asio::thread_pool& pool, bool strand_of_its_own, std::uint64_t seed, totals& t)
        : strand_(asio::make_strand(pool)),
          stream_(strand_of_its_own ? asio::any_io_executor(strand_)
                                    : asio::any_io_executor(pool.get_executor())),
          peer_(pool), random_(seed), totals_(t) {
        connect_pair(stream_.socket(), peer_);
        ++totals_.running;
    }
    ~session() { --totals_.running; }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    void start() {
        asio::post(strand_, [self = shared_from_this()] { self->next(); });
    }

private:
    void next() {
        const auto choice = random_() % 1000;
        const bool silent = choice < 20;
        const auto d = silent ? std::chrono::milliseconds(choice) : 1h;
        if (!silent) {
            asio::write(peer_, asio::buffer(&byte_, 1));
        }
        const auto end = clock_type::now() + d;
        stream_.expires_after(d);
        stream_.async_read_some(
            asio::buffer(&byte_, 1),
            asio::bind_executor(
                strand_, [self = shared_from_this(), silent, end](error_code ec, std::size_t n) {
                    self->totals_.found.expect(self->strand_.running_in_this_thread());
                    if (silent) {
                        self->totals_.found.expect(ec == asio_wheel::error::timed_out && n == 0);
                        self->totals_.found.expect(clock_type::now() >= end);
                        self->totals_.found.expect(!self->stream_.socket().is_open());
                        ++self->totals_.late;
                    } else {
                        self->totals_.found.expect(!ec && n == 1);
                        ++self->totals_.read;
                        self->next();
                    }
                }));
    }

    asio::strand<asio::thread_pool::executor_type> strand_;
    timeout_stream<paired::socket> stream_;
    paired::socket peer_;
    std::mt19937_64 random_;
    char byte_ = 'x';
    totals& totals_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_threads, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(many_streams_on_a_pool_each_time_out_once) {
    const std::uint64_t seed = asio_wheel::test::seed();
    totals t;
    constexpr int sessions = 200;
    {
        asio::thread_pool pool(4);
        for (int i = 0; i < sessions; ++i) {
            std::make_shared<session>(pool, i % 2 == 0, seed + static_cast<std::uint64_t>(i), t)
                ->start();
        }
        pool.join();
    }
    BOOST_TEST(t.late == sessions);
    BOOST_TEST(t.read > sessions);
    BOOST_TEST(t.running == 0);
}

// The handler of a future wakes another thread, which continues before the handler has returned.
// A thread that looks for what is ready may be ahead of the one that starts the operation. So on
// several threads, as with Beast, data that is there may come too late. But each operation
// completes once, on its strand.
BOOST_AUTO_TEST_CASE(what_begins_too_late_and_is_tried_completes_once_on_a_pool) {
    std::atomic<int> ready{0};
    std::atomic<int> late{0};
    thread_checks found;
    constexpr int count = on_select ? 200 : 2'000; // Two sockets each.
    {
        asio::thread_pool pool(4);
        for (int i = 0; i < count; ++i) {
            const bool silent = i % 2 == 0;
            const auto strand = asio::make_strand(pool);
            const auto stream =
                std::make_shared<timeout_stream<paired::socket>>(pool.get_executor());
            const auto peer = std::make_shared<paired::socket>(pool);
            const auto byte = std::make_shared<char>('x');
            connect_pair(stream->socket(), *peer);
            asio::post(strand, [&, stream, peer, byte, strand, silent] {
                stream->try_late_operations(true);
                stream->expires_after(0s);
                if (!silent) {
                    asio::write(*peer, asio::buffer(byte.get(), 1));
                }
                stream->async_read_some(
                    asio::buffer(byte.get(), 1),
                    asio::bind_executor(strand, [&, stream, peer, byte, strand,
                                                 silent](error_code ec, std::size_t n) {
                        found.expect(strand.running_in_this_thread());
                        found.expect(ec ? ec == asio_wheel::error::timed_out : n == 1 && !silent);
                        found.expect(stream->socket().is_open() == !ec);
                        ++(ec ? late : ready);
                    }));
            });
        }
        pool.join();
    }
    BOOST_TEST(ready + late == count);
    BOOST_TEST(late >= count / 2);
    BOOST_TEST_MESSAGE(ready << " were ready at once");
}

BOOST_AUTO_TEST_CASE(a_stream_may_be_handed_on_by_futures) {
    asio::io_context ctx;
    auto work = asio::make_work_guard(ctx);
    {
        runners threads(ctx, 2);
        char c = 'x';
        for (int i = 0; i < 200; ++i) {
            timeout_stream<paired::socket> stream(ctx);
            paired::socket peer(ctx);
            connect_pair(stream.socket(), peer);
            for (int j = 0; j < 20; ++j) {
                stream.expires_after(1h);
                stream.idle_after(1h + std::chrono::hours(j));
                asio::write(peer, asio::buffer(&c, 1));
                const auto n = stream.async_read_some(asio::buffer(&c, 1), asio::use_future).get();
                BOOST_REQUIRE(n == 1U);
                stream.async_write_some(asio::buffer(&c, 1), asio::use_future).get();
            }
        } // Destroyed, most often before the last handler has returned.
        work.reset();
    }
    BOOST_TEST(asio_wheel::use_wheel(ctx).pending() == 0U);
}

BOOST_AUTO_TEST_CASE(each_thread_may_have_streams_of_its_own) {
    thread_checks found;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&found] {
            asio::io_context ctx(1);
            asio_wheel::make_wheel(ctx, {.locking = false});
            timeout_stream<paired::socket> stream(ctx);
            paired::socket peer(ctx);
            connect_pair(stream.socket(), peer);
            char c = 'x';
            int calls = 0;
            stream.expires_after(10ms);
            stream.async_read_some(asio::buffer(&c, 1), [&](error_code ec, std::size_t) {
                calls += ec == asio_wheel::error::timed_out ? 1 : 100;
            });
            ctx.run();
            found.expect(calls == 1);
        });
    }
}

BOOST_AUTO_TEST_SUITE_END()
