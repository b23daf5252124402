// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Streams over sockets: connecting, reading and writing with completion tokens of every kind. Time
// is virtual, sockets are real.

#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::ip::tcp;
using asio_wheel::timeout_stream;
using tcp_stream = timeout_stream<tcp::socket>;

const error_code late = asio_wheel::error::timed_out;

// Both ends of a connection: a stream, and the peer's socket.
struct connected : virtual_world {
    timeout_stream<paired::socket> stream{ctx};
    paired::socket peer{ctx};
    std::array<char, 8> memory{};

    connected() {
        has_sockets = true;
        connect_pair(stream.socket(), peer);
    }

    void send(const std::string& text) { asio::write(peer, asio::buffer(text)); }
    [[nodiscard]] auto buffer() { return asio::buffer(memory); }
};

struct listening : virtual_world {
    tcp::acceptor acceptor{ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    tcp_stream stream{ctx};

    listening() { has_sockets = true; }
    [[nodiscard]] tcp::endpoint there() const { return acceptor.local_endpoint(); }
    // An endpoint of this machine that refuses connections.
    [[nodiscard]] tcp::endpoint nowhere() {
        tcp::acceptor closing(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        return closing.local_endpoint();
    }
};

// An endpoint that does not answer: its queue of connections is full.
struct unanswered : virtual_world {
    tcp::acceptor acceptor{ctx};
    std::vector<std::unique_ptr<tcp::socket>> crowd;
    tcp_stream stream{ctx};

    unanswered() {
        has_sockets = true;
        const tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
        acceptor.open(any.protocol());
        acceptor.bind(any);
        acceptor.listen(0);
        for (bool full = false; !full;) {
            crowd.push_back(std::make_unique<tcp::socket>(ctx));
            bool done = false;
            crowd.back()->async_connect(there(), [&done](error_code ec) { done = !ec; });
            poll();
            full = !done;
            BOOST_TEST_REQUIRE(crowd.size() < 1000U);
            if (full) {
                crowd.back()->close();
                poll();
            }
        }
    }

    [[nodiscard]] tcp::endpoint there() const { return acceptor.local_endpoint(); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_sockets, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_read_from_a_silent_socket_times_out, connected) {
    stream.expires_after(30s);
    error_code result;
    stream.async_read_some(buffer(), [&](error_code ec, std::size_t) { result = ec; });
    pass(30s - 1ns);
    BOOST_TEST(stream.socket().is_open());
    pass(1ns);
    BOOST_TEST(result == late);
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(after_a_timeout_the_stream_is_closed, connected) {
    stream.expires_after(1s);
    stream.async_read_some(buffer(), [](error_code, std::size_t) {});
    pass(1s);
    std::vector<error_code> results;
    const auto note = [&](error_code ec, std::size_t) { results.push_back(ec); };
    stream.async_read_some(buffer(), note); // The deadline has still passed.
    poll();
    stream.expires_never();
    stream.async_write_some(buffer(), note);
    poll();
    BOOST_TEST(results.size() == 2U);
    BOOST_TEST(results.at(0) == late);
    BOOST_TEST(results.at(1) == asio::error::bad_descriptor);
    error_code peers;
    peer.read_some(buffer(), peers);
    BOOST_TEST(peers == asio::error::eof);
}

BOOST_FIXTURE_TEST_CASE(a_write_to_a_peer_that_does_not_read_times_out, connected) {
    const std::vector<char> much(10'000'000);
    stream.expires_after(30s);
    error_code result;
    std::size_t written = 0;
    asio::async_write(stream, asio::buffer(much), [&](error_code ec, std::size_t n) {
        result = ec;
        written = n;
    });
    poll();
    pass(30s);
    BOOST_TEST(result == late);
    BOOST_TEST(written > 0U);
    BOOST_TEST(written < much.size());
}

// A slow-loris: a byte from time to time does not extend the deadline of the whole operation.
BOOST_FIXTURE_TEST_CASE(a_line_that_comes_in_drops_times_out, connected) {
    std::string line;
    error_code result;
    stream.expires_after(10s);
    asio::async_read_until(stream, asio::dynamic_buffer(line), '\n',
                           [&](error_code ec, std::size_t) { result = ec; });
    for (int i = 0; i < 9; ++i) {
        send("x");
        poll();
        pass(1s);
        BOOST_TEST(!result);
    }
    BOOST_TEST(line.substr(0, 10).find_last_of("x") == 8U);
    pass(1s);
    BOOST_TEST(result == late);
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_always_sends_can_not_evade_the_deadline, connected) {
    send(std::string(1000, 'x'));
    int reads = 0;
    error_code result;
    const auto next = [&](const auto& self) -> void {
        stream.async_read_some(asio::buffer(memory, 1), [&](error_code ec, std::size_t) {
            result = ec;
            if (!ec) {
                ++reads;
                elapse(1s); // The duration of its work.
                self(self);
            }
        });
    };
    stream.expires_after(10s);
    next(next);
    poll();
    BOOST_TEST(result == late);
    BOOST_TEST(reads == 10);
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(connecting_to_an_endpoint, listening) {
    std::vector<error_code> results;
    const auto note = [&](error_code ec) { results.push_back(ec); };
    stream.expires_after(30s);
    stream.async_connect(there(), note);
    BOOST_TEST(results.size() == 0U);
    BOOST_CHECK_THROW(stream.expires_after(1s), std::logic_error);
    run();
    BOOST_TEST(stream.socket().is_open());
    BOOST_TEST((stream.socket().remote_endpoint() == there()));
    tcp_stream other(ctx);
    other.async_connect(nowhere(), note);
    run();
    BOOST_TEST(results.size() == 2U);
    BOOST_TEST(!results.at(0));
    BOOST_TEST(results.at(1) == asio::error::connection_refused);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(connecting_to_the_first_of_several, listening) {
    const std::vector<tcp::endpoint> several{nowhere(), there()};
    tcp::endpoint which;
    stream.expires_after(30s);
    stream.async_connect(several, [&](error_code ec, const tcp::endpoint& e) {
        BOOST_TEST(!ec);
        which = e;
    });
    run();
    BOOST_TEST((which == there()));
    int asked = 0;
    error_code result;
    tcp_stream other(ctx);
    const auto none = [&](const error_code&, const tcp::endpoint&) { return ++asked == 0; };
    other.async_connect(several, none, [&](error_code ec, const tcp::endpoint&) { result = ec; });
    run();
    BOOST_TEST(asked == 2);
    BOOST_TEST(result == asio::error::not_found);
}

BOOST_FIXTURE_TEST_CASE(a_connect_that_is_not_answered_times_out, unanswered) {
    std::vector<error_code> results;
    stream.read_expires_after(1s); // Has no effect.
    stream.write_expires_after(30s);
    stream.async_connect(there(), [&](error_code ec) { results.push_back(ec); });
    pass(30s - 1ns);
    BOOST_TEST(results.empty());
    pass(1ns);
    BOOST_TEST(results.size() == 1U);
    BOOST_TEST(results.at(0) == late);
    BOOST_TEST(!stream.socket().is_open());

    // A single deadline for all endpoints: no other endpoint is tried.
    const std::vector<tcp::endpoint> several(3, there());
    stream.expires_after(30s);
    stream.async_connect(several,
                         [&](error_code ec, const tcp::endpoint&) { results.push_back(ec); });
    pass(30s);
    BOOST_TEST(results.size() == 2U);
    BOOST_TEST(results.at(1) == late);
    BOOST_TEST(ctx.stopped());
}

BOOST_FIXTURE_TEST_CASE(a_connect_that_is_started_too_late_does_not_connect, listening) {
    int calls = 0;
    stream.expires_after(0s);
    stream.async_connect(there(), [&](error_code ec) { calls += ec == late ? 1 : 100; });
    stream.async_connect(std::vector{there()}, [&](error_code ec, const tcp::endpoint& e) {
        calls += ec == late && e == tcp::endpoint() ? 1 : 100;
    });
    BOOST_TEST(calls == 0);
    poll();
    BOOST_TEST(calls == 2);
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(each_type_of_cancellation_is_the_sockets_and_leaves_the_stream_open,
                        connected) {
    using asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        asio::cancellation_signal signal;
        error_code result;
        stream.expires_after(30s);
        stream.async_read_some(
            buffer(), asio::bind_cancellation_slot(
                          signal.slot(), [&](error_code ec, std::size_t) { result = ec; }));
        poll();
        signal.emit(type);
        poll();
        BOOST_TEST(result == aborted);
        BOOST_TEST(stream.socket().is_open());
        BOOST_TEST(wheel.pending() == 0U);
        signal.emit(type);
    }
}

BOOST_FIXTURE_TEST_CASE(one_allocation_lives_while_an_operation_is_pending, connected) {
    allocations counts;
    stream.expires_after(30s);
    stream.async_read_some(
        buffer(), asio::bind_allocator(counting_allocator<>(counts), [&](error_code, std::size_t) {
            BOOST_TEST(counts.live == 0U);
        }));
    BOOST_TEST(counts.live == 1U);
    BOOST_TEST(counts.total == 1U);
    send("x");
    poll();
    stream.async_read_some(buffer(), asio::bind_allocator(counting_allocator<>(counts),
                                                          [&](error_code ec, std::size_t) {
                                                              BOOST_TEST(ec == late);
                                                              BOOST_TEST(counts.live == 0U);
                                                          }));
    pass(30s);
    BOOST_TEST(counts.total == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_be_move_only_and_callable_once, connected) {
    struct once {
        std::unique_ptr<int> calls = std::make_unique<int>(0);
        int* total;
        void operator()(const error_code& ec, std::size_t n) && {
            *total += ec ? 0 : static_cast<int>(n);
        }
    };
    int total = 0;
    stream.expires_after(30s);
    stream.async_read_some(buffer(), once{.total = &total});
    send("abc");
    poll();
    stream.async_write_some(buffer(), once{.total = &total});
    poll();
    BOOST_TEST(total == 3 + 8);
}

BOOST_FIXTURE_TEST_CASE(coroutines_and_the_tokens_they_use, connected) {
    int steps = 0;
    const auto session = [&]() -> asio::awaitable<void> {
        constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
        stream.expires_after(10s);
        const std::size_t n = co_await stream.async_read_some(buffer(), asio::use_awaitable);
        steps += n == 2 ? 1 : 100;
        const auto written = co_await stream.async_write_some(buffer(), asio::deferred);
        steps += written == 8 ? 1 : 100;
        const auto [ec, m] = co_await stream.async_read_some(buffer(), tuple);
        steps += ec == late && m == 0 ? 1 : 100;
        error_code error;
        auto redirected = asio::redirect_error(asio::use_awaitable, error);
        co_await stream.async_write_some(buffer(), std::move(redirected));
        steps += error == late ? 1 : 100;
        try {
            co_await stream.async_read_some(buffer(), asio::use_awaitable);
        } catch (const boost::system::system_error& e) {
            steps += e.code() == late ? 1 : 100;
        }
    };
    asio::co_spawn(ctx, session, asio::detached);
    send("ab");
    poll();
    poll();
    BOOST_TEST(steps == 2);
    pass(10s);
    BOOST_TEST(steps == 5);
}

BOOST_FIXTURE_TEST_CASE(a_deferred_operation_begins_when_it_is_started, connected) {
    stream.expires_after(10s);
    auto read = stream.async_read_some(buffer(), asio::deferred);
    BOOST_TEST(wheel.pending() == 0U);
    stream.expires_after(20s);
    error_code result;
    std::move(read)([&](error_code ec, std::size_t) { result = ec; });
    pass(10s);
    BOOST_TEST(!result);
    pass(10s);
    BOOST_TEST(result == late);
}

BOOST_FIXTURE_TEST_CASE(a_timeout_of_its_own_leaves_the_stream_open, connected) {
    error_code result;
    stream.expires_after(30s);
    stream.async_read_some(
        buffer(), asio_wheel::timeout(10s, [&](error_code ec, std::size_t) { result = ec; }));
    poll();
    pass(10s);
    BOOST_TEST(result == late);
    BOOST_TEST(stream.socket().is_open());
    stream.async_read_some(
        buffer(), asio_wheel::timeout(1h, [&](error_code ec, std::size_t) { result = ec; }));
    pass(20s);
    BOOST_TEST(result == late);
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(a_group_of_operations, connected) {
    std::vector<error_code> results;
    stream.expires_after(30s);
    asio::experimental::make_parallel_group(stream.async_read_some(buffer(), asio::deferred),
                                            stream.async_write_some(buffer(), asio::deferred))
        .async_wait(asio::experimental::wait_for_one(),
                    [&](const std::array<std::size_t, 2>&, error_code read, std::size_t,
                        error_code write, std::size_t) { results = {read, write}; });
    poll();
    poll();
    BOOST_TEST(results.size() == 2U);
    BOOST_TEST(results.at(0) == aborted);
    BOOST_TEST(!results.at(1));
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_token_can_be_made_a_streams_default, listening) {
    using defaults = asio::as_tuple_t<asio::use_awaitable_t<>>;
    using rebound = defaults::as_default_on_t<tcp_stream>;
    static_assert(std::same_as<rebound, timeout_stream<defaults::as_default_on_t<tcp::socket>>>);
    bool done = false;
    const auto client = [&]() -> asio::awaitable<void> {
        rebound own(co_await asio::this_coro::executor);
        own.expires_after(1s);
        const std::vector<tcp::endpoint> several{there()};
        const auto [failed, which] = co_await own.async_connect(several);
        own.close();
        const auto [failed_too] = co_await own.async_connect(there());
        char c = 'x';
        const auto [ec, n] = co_await own.async_write_some(asio::buffer(&c, 1));
        const auto [ec2, m] = co_await own.async_read_some(asio::buffer(&c, 1));
        done = !failed && !failed_too && !ec && n == 1 && ec2 == late && m == 0;
    };
    asio::co_spawn(ctx, client, asio::detached);
    for (int i = 0; i < 20; ++i) {
        ctx.restart();
        ctx.run_for(1ms); // real time: for connections
    }
    pass(1s);
    BOOST_TEST(done);
}

BOOST_FIXTURE_TEST_CASE(a_stream_of_another_executor_can_be_taken_over_with_its_deadlines,
                        connected) {
    stream.expires_after(30s);
    stream.idle_after(20s);
    auto other = asio::use_awaitable.as_default_on(std::move(stream));
    static_assert(!std::same_as<decltype(other), decltype(stream)>);
    error_code result;
    const auto note = [&](error_code ec, std::size_t) { result = ec; };
    other.async_read_some(buffer(), note);
    pass(19s);
    send("x");
    poll();
    other.async_read_some(buffer(), note);
    pass(11s - 1ns);
    BOOST_TEST(!result);
    pass(1ns);
    BOOST_TEST(result == late);
}

BOOST_FIXTURE_TEST_CASE(all_that_limits_a_stream_is_taken_over, connected) {
    const auto limit = [&](int which) {
        which == 0   ? static_cast<void>(stream.lifetime(10s))
        : which == 1 ? stream.least_rate(5, 10s)
        : which == 2 ? stream.write_idle_after(10s)
                     : stream.idle_after(10s);
    };
    for (int which = 0; which < 4; ++which) {
        stream = timeout_stream<paired::socket>(ctx);
        peer = paired::socket(ctx);
        connect_pair(stream.socket(), peer);
        limit(which);
        auto other = asio::use_awaitable.as_default_on(std::move(stream));
        const std::vector<char> much(10'000'000); // It is not written while the peer does not read.
        error_code result;
        asio::async_write(other, asio::buffer(much),
                          [&](error_code ec, std::size_t) { result = ec; });
        poll();
        pass(10s);
        BOOST_TEST(result == late, which);
    }
}

BOOST_FIXTURE_TEST_CASE(released_sockets_work_on, connected) {
    stream.expires_after(1s);
    error_code result;
    stream.async_read_some(buffer(), [&](error_code ec, std::size_t) { result = ec; });
    paired::socket socket = stream.release_socket();
    poll(); // io_uring reports the end of the read only now.
    pass(1h);
    BOOST_TEST(result == aborted);
    send("x");
    BOOST_TEST(socket.read_some(buffer()) == 1U);
    BOOST_TEST(!stream.socket().is_open()); // As new.
    BOOST_TEST((stream.get_executor() == socket.get_executor()));
}

BOOST_FIXTURE_TEST_CASE(what_a_stream_is, connected) {
    using stream_type = timeout_stream<tcp::socket>;
    static_assert(std::same_as<stream_type::executor_type, asio::any_io_executor>);
    static_assert(std::same_as<stream_type::next_layer_type, tcp::socket>);
    static_assert(std::same_as<stream_type::lowest_layer_type, tcp::socket::lowest_layer_type>);
    static_assert(std::is_constructible_v<stream_type, asio::io_context&>);
    static_assert(std::is_constructible_v<stream_type, asio::any_io_executor>);
    static_assert(std::is_constructible_v<stream_type, tcp::socket>);
    static_assert(std::is_constructible_v<stream_type, asio::io_context&, tcp>);
    static_assert(!std::is_constructible_v<stream_type, int>);
    static_assert(!std::is_copy_constructible_v<stream_type>);
    static_assert(std::is_move_constructible_v<stream_type>);
    static_assert(std::is_move_assignable_v<stream_type>);
    timeout_stream deduced{tcp::socket(ctx)};
    static_assert(std::same_as<decltype(deduced), stream_type>);
    // Synchronous operations without deadlines are those of the socket.
    send("abc");
    error_code ec;
    BOOST_TEST(stream.read_some(buffer()) == 3U);
    BOOST_TEST(stream.write_some(buffer(), ec) == 8U);
    BOOST_TEST(stream.write_some(buffer()) == 8U);
    peer.close();
    BOOST_TEST(stream.read_some(buffer(), ec) == 0U);
    BOOST_TEST(ec);
    BOOST_TEST(&stream.lowest_layer() == &stream.socket());
    BOOST_TEST(&std::as_const(stream).lowest_layer() == &std::as_const(stream).socket());
}

BOOST_FIXTURE_TEST_CASE(a_strand_may_be_the_streams_executor, connected) {
    using strand = asio::strand<asio::io_context::executor_type>;
    using socket = asio::basic_stream_socket<paired, strand>;
    timeout_stream<socket> own(asio::make_strand(ctx));
    connect_pair(own.socket(), peer = paired::socket(ctx));
    error_code result;
    own.expires_after(30s);
    own.async_read_some(buffer(), [&](error_code ec, std::size_t) {
        result = ec;
        BOOST_TEST(own.get_executor().running_in_this_thread());
    });
    pass(30s);
    BOOST_TEST(result == late);
}

// real time
BOOST_AUTO_TEST_CASE(a_thread_pool_and_futures) {
    asio::thread_pool pool(2);
    timeout_stream<paired::socket> stream(asio::make_strand(pool));
    paired::socket peer(pool);
    connect_pair(stream.socket(), peer);
    char c = 'x';
    for (int i = 0; i < 100; ++i) {
        stream.expires_after(1h);
        asio::write(peer, asio::buffer(&c, 1));
        BOOST_TEST(stream.async_read_some(asio::buffer(&c, 1), asio::use_future).get() == 1U);
    }
    const auto start = std::chrono::steady_clock::now();
    stream.expires_after(20ms);
    std::future<std::size_t> read = stream.async_read_some(asio::buffer(&c, 1), asio::use_future);
    BOOST_CHECK_EXCEPTION(read.get(), boost::system::system_error,
                          [](const auto& e) { return e.code() == late; });
    BOOST_TEST((std::chrono::steady_clock::now() - start >= 20ms));
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
