// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// unity: off

// Synchronous operations of streams: they end at the stream's deadlines, as the asynchronous ones
// do. Their waits are the system's, so these tests run in real time. (What has to time out does so
// after milliseconds, and what must not is an hour away.)

#include <asio_wheel/beast.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#ifndef _WIN32
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::ip::tcp;
using asio_wheel::timeout_stream;
using local = asio::local::stream_protocol;
using clock_type = std::chrono::steady_clock;

const error_code late = asio_wheel::error::timed_out;
constexpr auto soon = 20ms;
constexpr auto soon_but_not_at_once = 200ms; // Where an operation has to begin before.

// Both ends of a connection: a stream, and the peer's socket. Nothing runs the context.
template <class Stream>
struct ends : drained_context {
    Stream stream{ctx};
    tcp::socket peer{ctx};
    std::array<char, 100> memory{};
    error_code ec;

    ends() {
        has_sockets = true;
        tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        stream.socket().connect(acceptor.local_endpoint());
        acceptor.accept(peer);
    }

    // Sends, and waits until it has arrived.
    void send(const std::string& text) {
        asio::write(peer, asio::buffer(text));
        stream.socket().wait(tcp::socket::wait_read);
    }
    [[nodiscard]] auto buffer() { return asio::buffer(memory); }
    [[nodiscard]] bool is_open() const { return stream.socket().is_open(); }
};

using connected = ends<timeout_stream<tcp::socket>>;

// The socket's mode, as the system has it. (Windows does not tell it; there, as Asio has set it.)
template <class Socket>
bool blocks(Socket& s) {
#ifdef _WIN32
    return !s.native_non_blocking();
#else
    return (::fcntl(s.native_handle(), F_GETFL) & O_NONBLOCK) == 0;
#endif
}

// Checks that what it surrounds takes no less time.
class at_least {
public:
    explicit at_least(clock_type::duration d) : end_(clock_type::now() + d) {}
    at_least(const at_least&) = delete;
    at_least& operator=(const at_least&) = delete;
    ~at_least() { BOOST_TEST((clock_type::now() >= end_), "it was early"); }

private:
    clock_type::time_point end_;
};

struct listening : drained_context {
    tcp::acceptor acceptor{ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    timeout_stream<tcp::socket> stream{ctx};
    error_code ec;

    [[nodiscard]] tcp::endpoint there() const { return acceptor.local_endpoint(); }
    // An endpoint that refuses connections.
    [[nodiscard]] tcp::endpoint nowhere() {
        tcp::acceptor closing(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        return closing.local_endpoint();
    }
};

// Endpoints that do not answer: their queues of connections are full.
template <class Protocol>
struct unanswered : drained_context {
    typename Protocol::acceptor acceptor{ctx};
    std::vector<std::unique_ptr<typename Protocol::socket>> crowd;
    timeout_stream<typename Protocol::socket> stream{ctx};
    error_code ec;

    explicit unanswered(const typename Protocol::endpoint& any) {
        acceptor.open(any.protocol());
        acceptor.bind(any);
        acceptor.listen(0);
        for (bool full = false; !full;) {
            BOOST_TEST_REQUIRE(crowd.size() < 1000U);
            timeout_stream<typename Protocol::socket> next(ctx);
            next.expires_after(soon_but_not_at_once);
            next.connect(there(), ec);
            full = ec == late;
            crowd.push_back(std::make_unique<typename Protocol::socket>(std::move(next.socket())));
        }
    }

    [[nodiscard]] auto there() const { return acceptor.local_endpoint(); }
};

struct unanswered_tcp : unanswered<tcp> {
    unanswered_tcp() : unanswered(tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}
};

// A path for a local server.
struct folder {
    std::string path = (std::filesystem::temp_directory_path() / "asio_wheel_").string() +
                       std::to_string(std::random_device()());

    folder() { BOOST_TEST_REQUIRE(std::filesystem::create_directory(path)); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
    [[nodiscard]] std::string server() const { return path + "/server"; }
};

struct unanswered_local : folder, unanswered<local> {
    unanswered_local() : unanswered(local::endpoint(server())) {}
};

// A layer above a socket.
struct above {
    using executor_type = tcp::socket::executor_type;
    using lowest_layer_type = tcp::socket::lowest_layer_type;

    explicit above(asio::io_context& ctx) : next(ctx) {}
    executor_type get_executor() { return next.get_executor(); }
    lowest_layer_type& lowest_layer() { return next.lowest_layer(); }
    template <class Buffers>
    std::size_t read_some(const Buffers& buffers, error_code& ec) {
        return next.read_some(buffers, ec);
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& buffers, error_code& ec) {
        return next.write_some(buffers, ec);
    }
    void connect(const tcp::endpoint& peer) { next.connect(peer); }
    bool is_open() const { return next.is_open(); }
    void wait(tcp::socket::wait_type what) { next.wait(what); }

    tcp::socket next;
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_synchronous, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(a_read_from_a_silent_peer_times_out_and_is_never_early) {
    for (const bool throws : {false, true}) {
        connected c;
        const at_least check(soon);
        c.stream.read_expires_after(soon);
        if (throws) {
            BOOST_CHECK_EXCEPTION(c.stream.read_some(c.buffer()), boost::system::system_error,
                                  [](const auto& e) { return e.code() == late; });
        } else {
            BOOST_TEST(c.stream.read_some(c.buffer(), c.ec) == 0U);
            BOOST_TEST(c.ec == late);
        }
        BOOST_TEST(!c.is_open());
        // As the asynchronous operations do.
        c.stream.read_some(c.buffer(), c.ec);
        BOOST_TEST(c.ec == late);
        c.stream.read_expires_never();
        c.stream.read_some(c.buffer(), c.ec);
        BOOST_TEST(c.ec == asio::error::bad_descriptor);
    }
}

BOOST_FIXTURE_TEST_CASE(a_line_from_a_slow_peer_times_out, connected) {
    const at_least check(soon);
    stream.expires_after(soon);
    const std::jthread slow([this](const std::stop_token& stop) {
        for (error_code failed; !stop.stop_requested() && !failed;) {
            asio::write(peer, asio::buffer("x", 1), failed);
            std::this_thread::sleep_for(1ms);
        }
    });
    std::string line;
    BOOST_TEST(asio::read_until(stream, asio::dynamic_buffer(line), '\n', ec) == 0U);
    BOOST_TEST(ec == late);
    BOOST_TEST(!is_open());
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_always_sends_can_not_evade_the_deadline, connected) {
    stream.expires_after(soon);
    const std::jthread fast([this] {
        const std::vector<char> much(100'000);
        for (error_code failed; !failed;) {
            asio::write(peer, asio::buffer(much), failed);
        }
    });
    while (!ec) {
        stream.read_some(asio::buffer(memory, 1), ec);
    }
    BOOST_TEST(ec == late);
}

BOOST_FIXTURE_TEST_CASE(a_write_to_a_peer_that_does_not_read_times_out, connected) {
    const std::vector<char> much(20'000'000);
    const at_least check(soon_but_not_at_once);
    stream.write_expires_after(soon_but_not_at_once);
    const std::size_t n = asio::write(stream, asio::buffer(much), ec);
    BOOST_TEST(ec == late);
    BOOST_TEST(n > 0U);
    BOOST_TEST(n < much.size());
    BOOST_TEST(!is_open());
}

BOOST_FIXTURE_TEST_CASE(what_is_in_time_has_the_sockets_result, connected) {
    stream.expires_after(1h);
    send("hello");
    BOOST_TEST(stream.read_some(buffer()) == 5U);
    BOOST_TEST(stream.write_some(buffer()) == memory.size());
    BOOST_TEST(stream.read_some(asio::buffer(memory, 0), ec) == 0U);
    BOOST_TEST(!ec);
    const std::jthread answer([this] {
        std::array<char, 100> received{};
        asio::read(peer, asio::buffer(received));
        asio::write(peer, asio::buffer("answer\n", 7));
        peer.shutdown(tcp::socket::shutdown_send);
    });
    std::string line;
    BOOST_TEST(asio::read_until(stream, asio::dynamic_buffer(line), '\n', ec) == 7U);
    BOOST_TEST(stream.read_some(buffer(), ec) == 0U);
    BOOST_TEST(ec == asio::error::eof);
    BOOST_TEST(is_open());
    BOOST_TEST(asio_wheel::use_wheel(ctx).pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(much_can_be_written_while_the_peer_reads, connected) {
    const std::vector<char> much(20'000'000);
    std::vector<char> received(much.size());
    const std::jthread reading([&] { asio::read(peer, asio::buffer(received)); });
    stream.expires_after(1h);
    BOOST_TEST(asio::write(stream, asio::buffer(much)) == much.size());
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_is_started_too_late_does_nothing, connected) {
    send("hello");
    stream.expires_after(0s);
    BOOST_TEST(stream.read_some(buffer(), ec) == 0U);
    BOOST_TEST(ec == late);
    BOOST_TEST(!is_open());
}

BOOST_AUTO_TEST_CASE(with_a_beast_stream_it_is_tried) {
    ends<asio_wheel::beast_stream<>> e;
    e.send("hello");
    e.stream.expires_after(0s);
    BOOST_TEST(e.stream.read_some(e.buffer(), e.ec) == 5U);
    BOOST_TEST(e.stream.write_some(e.buffer(), e.ec) == e.memory.size());
    BOOST_TEST(!e.ec);
    BOOST_TEST(e.stream.read_some(e.buffer(), e.ec) == 0U);
    BOOST_TEST(e.ec == late);
    BOOST_TEST(!e.is_open());
}

BOOST_FIXTURE_TEST_CASE(a_stream_may_be_idle_no_longer_than_it_is_told, connected) {
    stream.idle_after(soon);
    {
        const at_least check(soon);
        stream.read_some(buffer(), ec);
    }
    BOOST_TEST(ec == late);
    connected other;
    other.stream.idle_after(1h);
    other.send("x");
    BOOST_TEST(other.stream.read_some(other.buffer()) == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_message_has_a_deadline_from_its_first_byte, connected) {
    stream.read_expires_after(1h);
    stream.message_expires_after(soon);
    send("x");
    std::string line;
    const at_least check(soon);
    asio::read_until(stream, asio::dynamic_buffer(line), '\n', ec);
    BOOST_TEST(ec == late);
    BOOST_TEST(line.front() == 'x');
}

BOOST_FIXTURE_TEST_CASE(the_sockets_mode_is_restored, connected) {
    stream.expires_after(1h);
    for (const bool native : {false, true, false}) {
        stream.socket().native_non_blocking(native);
        send("x");
        stream.read_some(buffer());
        BOOST_TEST(stream.socket().native_non_blocking() == native);
        BOOST_TEST(!stream.socket().non_blocking());
        BOOST_TEST(blocks(stream.socket()) == !native);
    }
}

BOOST_FIXTURE_TEST_CASE(a_socket_that_the_user_has_made_non_blocking_does_not_block, connected) {
    stream.socket().non_blocking(true);
    stream.expires_after(1h);
    BOOST_TEST(stream.read_some(buffer(), ec) == 0U);
    BOOST_TEST(ec == asio::error::would_block);
    BOOST_TEST(is_open());
    BOOST_TEST(stream.socket().non_blocking());
    send("x");
    BOOST_TEST(stream.read_some(buffer(), ec) == 1U);
    stream.expires_after(0s);
    stream.read_some(buffer(), ec);
    BOOST_TEST(ec == late);
}

BOOST_AUTO_TEST_CASE(what_is_pending_is_aborted_or_late_too) {
    for (const bool both : {false, true}) {
        connected c;
        error_code reading;
        c.stream.read_expires_after(both ? clock_type::duration(soon_but_not_at_once) : 1h);
        c.stream.async_read_some(c.buffer(),
                                 [&](error_code result, std::size_t) { reading = result; });
        c.stream.write_expires_after(soon_but_not_at_once);
        const std::vector<char> much(20'000'000);
        asio::write(c.stream, asio::buffer(much), c.ec);
        BOOST_TEST(c.ec == late);
        BOOST_TEST(!c.is_open());
        c.poll();
        BOOST_TEST(reading == (both ? late : aborted));
    }
}

#ifndef _WIN32 // What is pending there, or with io_uring, does not need a mode of the socket.
// Another thread may carry out what is pending. If that needs a socket that does not block, the
// mode must not change meanwhile. Asio 1.38 needs none: it tells the system with each call.
BOOST_FIXTURE_TEST_CASE(while_others_are_pending_the_sockets_mode_stays, connected,
                        *only_if(!on_io_uring)) {
    stream.read_expires_after(1h);
    bool read = false;
    stream.async_read_some(buffer(), [&](error_code, std::size_t) { read = true; });
    const bool needs_mode = !blocks(stream.socket());
    std::atomic<bool> done = false;
    std::atomic<bool> changed = false;
    std::jthread watching([&] {
        while (!done) {
            changed = changed || (needs_mode && blocks(stream.socket()));
        }
    });
    stream.write_expires_after(1h);
    std::array<char, 10> data{};
    for (int i = 0; i < 1000; ++i) {
        stream.write_some(asio::buffer(data));
    }
    done = true;
    watching.join();
    BOOST_TEST(!changed);
    BOOST_TEST(blocks(stream.socket()) == !needs_mode);
    asio::write(peer, asio::buffer("x", 1));
    while (!read) {
        poll();
    }
}
#endif

BOOST_FIXTURE_TEST_CASE(an_empty_read_does_not_wait, connected) {
    stream.expires_after(1h);
    BOOST_TEST(stream.read_some(asio::buffer(memory, 0), ec) == 0U);
    BOOST_TEST(!ec);
    stream.async_read_some(buffer(), [](error_code, std::size_t) {}); // As a TLS stream may do.
    BOOST_TEST(stream.read_some(asio::buffer(memory, 0), ec) == 0U);
    BOOST_TEST(!ec);
    stream.close();
    poll();
}

BOOST_FIXTURE_TEST_CASE(reading_twice_has_one_deadline, connected) {
    error_code reading;
    stream.read_expires_after(soon);
    stream.async_read_some(buffer(), [&](error_code result, std::size_t) { reading = result; });
    stream.read_some(buffer(), ec);
    BOOST_TEST(ec == late);
    poll();
    BOOST_TEST(reading == late);
}

#ifndef _WIN32 // It has no signals.
BOOST_FIXTURE_TEST_CASE(signals_end_nothing_early, connected) {
    struct ::sigaction action{};
    struct ::sigaction before{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, &before); // Without SA_RESTART.
    std::atomic<bool> done = false;
    {
        const std::jthread signalling([&, reader = ::pthread_self()] {
            while (!done) {
                ::pthread_kill(reader, SIGUSR1);
                std::this_thread::sleep_for(100us);
            }
        });
        const at_least check(soon);
        stream.expires_after(soon);
        stream.read_some(buffer(), ec);
        done = true;
    }
    ::sigaction(SIGUSR1, &before, nullptr);
    BOOST_TEST(ec == late);
}
#endif

BOOST_FIXTURE_TEST_CASE(while_time_is_paused_real_time_counts, connected) {
    auto& wheel = asio_wheel::use_wheel(ctx);
    wheel.pause();
    stream.expires_after(soon);
    {
        const at_least check(soon);
        stream.read_some(buffer(), ec);
    }
    BOOST_TEST(ec == late);
    connected moved;
    auto& other = asio_wheel::use_wheel(moved.ctx);
    other.pause();
    moved.stream.expires_after(1h);
    const std::jthread mover([&] { other.advance(1h); });
    moved.stream.read_some(moved.buffer(), moved.ec);
    BOOST_TEST(moved.ec == late);
}

BOOST_FIXTURE_TEST_CASE(connecting_to_an_endpoint, listening) {
    stream.expires_after(1h);
    stream.connect(there());
    BOOST_TEST((stream.socket().remote_endpoint() == there()));
    BOOST_TEST(blocks(stream.socket()));
    BOOST_TEST(!stream.socket().native_non_blocking());
    stream.close();
    BOOST_CHECK_THROW(stream.connect(nowhere()), boost::system::system_error);
    stream.close();
    stream.connect(nowhere(), ec);
    BOOST_TEST(ec == asio::error::connection_refused);
    stream.close();
    stream.expires_never(); // Then it is that of the socket.
    stream.connect(there(), ec);
    BOOST_TEST(!ec);
    stream.expires_after(1h);
    stream.connect(there(), ec);
    BOOST_TEST(ec == asio::error::already_connected);
}

BOOST_FIXTURE_TEST_CASE(connecting_to_the_first_of_several, listening) {
    for (const bool limited : {false, true}) {
        if (limited) {
            stream.expires_after(1h);
        }
        const std::vector<tcp::endpoint> several{nowhere(), there(), nowhere()};
        BOOST_TEST((stream.connect(several) == there()));
        BOOST_TEST((stream.connect(several, ec) == there()));
        BOOST_TEST(!ec);
        std::vector<error_code> before;
        const auto not_there = [&](const error_code& last, const tcp::endpoint& e) {
            before.push_back(last);
            return e != there();
        };
        stream.connect(several, not_there, ec);
        BOOST_TEST(ec == asio::error::connection_refused);
        BOOST_TEST(before.size() == 3U);
        BOOST_TEST(before.at(0) == success);
        BOOST_TEST(before.at(1) == asio::error::connection_refused);
        BOOST_CHECK_THROW(stream.connect(several, not_there), boost::system::system_error);
        stream.connect(std::vector<tcp::endpoint>(), ec);
        BOOST_TEST(ec == asio::error::not_found);
        stream.connect(several, [](const error_code&, const tcp::endpoint&) { return false; }, ec);
        BOOST_TEST(ec == asio::error::not_found);
    }
}

BOOST_FIXTURE_TEST_CASE(a_connect_that_is_not_answered_times_out, unanswered_tcp) {
    for (const bool several : {false, true}) {
        const at_least check(soon);
        stream.expires_after(soon);
        if (several) { // They share the deadline, after which no other is tried.
            tcp::acceptor other(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
            stream.connect(std::vector{there(), there(), other.local_endpoint()}, ec);
        } else {
            stream.connect(there(), ec);
        }
        BOOST_TEST(ec == late);
        BOOST_TEST(!stream.socket().is_open());
    }
}

// Its idle period becomes longer when it has begun to connect.
struct reprieved_socket : tcp::socket {
    using tcp::socket::basic_stream_socket;

    native_handle_type native_handle() {
        asio_wheel::scale_idle_timers(asio::query(get_executor(), asio::execution::context), 1);
        return tcp::socket::native_handle();
    }
};

BOOST_FIXTURE_TEST_CASE(a_connect_goes_on_if_its_idle_period_becomes_longer, unanswered_tcp) {
    for (const bool several : {false, true}) {
        timeout_stream<reprieved_socket> reprieved(ctx);
        reprieved.idle_after(2 * soon);
        asio_wheel::scale_idle_timers(ctx, 0.5);
        const at_least check(2 * soon);
        if (several) {
            reprieved.connect(std::vector{there()}, ec);
        } else {
            reprieved.connect(there(), ec);
        }
        BOOST_TEST(ec == late);
        BOOST_TEST(!reprieved.socket().is_open());
    }
}

#ifndef _WIN32 // Wine 8 has no local sockets.
BOOST_FIXTURE_TEST_CASE(a_local_server_that_does_not_accept_lets_a_connect_time_out,
                        unanswered_local) {
    stream.expires_after(soon);
    stream.connect(there(), ec);
    BOOST_TEST(ec == late);
    const std::jthread accepting([this] { acceptor.accept(); });
    stream.expires_after(1h);
    stream.connect(there(), ec);
    BOOST_TEST(!ec);
    BOOST_TEST((stream.socket().remote_endpoint() == there()));
}
#endif

BOOST_FIXTURE_TEST_CASE(a_connect_that_is_started_too_late_does_not_connect, listening) {
    stream.expires_after(0s);
    stream.connect(there(), ec);
    BOOST_TEST(ec == late);
    BOOST_TEST(!stream.socket().is_open());
    stream.connect(std::vector{there()}, ec);
    BOOST_TEST(ec == late);
    asio_wheel::beast_stream<> tried(ctx);
    tried.expires_after(0s);
    tried.connect(there(), ec);
    BOOST_TEST(!ec);
}

#ifndef _WIN32 // Its pipes are no sockets, and know nothing of select().
BOOST_AUTO_TEST_CASE(a_pipe_has_deadlines_too) {
    drained_context c;
    std::array<int, 2> ends{};
    BOOST_TEST_REQUIRE(::pipe(ends.data()) == 0);
    timeout_stream<asio::posix::stream_descriptor> in(c.ctx, ends[0]);
    asio::posix::stream_descriptor out(c.ctx, ends[1]);
    asio::write(out, asio::buffer("x", 1));
    std::array<char, 10> memory{};
    in.expires_after(1h);
    BOOST_TEST(in.read_some(asio::buffer(memory)) == 1U);
    error_code ec;
    in.expires_after(soon);
    in.read_some(asio::buffer(memory), ec);
    BOOST_TEST(ec == late);
}
#endif

// Its read may take several reads of the socket, which only the layer itself can do.
BOOST_AUTO_TEST_CASE(a_layer_above_a_socket_says_that_it_can_keep_no_deadline) {
    ends<timeout_stream<above>> e;
    asio::write(e.peer, asio::buffer("hello", 5));
    for (const bool idle : {false, true}) {
        if (idle) {
            e.stream.expires_never();
            e.stream.idle_after(1h);
        } else {
            e.stream.expires_after(1h);
        }
        BOOST_TEST(e.stream.read_some(e.buffer(), e.ec) == 0U);
        BOOST_TEST((e.ec == boost::system::errc::operation_not_supported));
        BOOST_TEST(e.stream.write_some(e.buffer(), e.ec) == 0U);
        BOOST_TEST((e.ec == boost::system::errc::operation_not_supported));
    }
    BOOST_TEST(e.stream.lowest_layer().is_open());
    e.stream.idle_never();
    BOOST_TEST(e.stream.read_some(e.buffer(), e.ec) == 5U); // Nothing was lost.
    BOOST_TEST(!e.ec);
}

BOOST_AUTO_TEST_SUITE_END()
