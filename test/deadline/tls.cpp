// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: tls
// requires: openssl

// A deadline that travels through all layers of a server: Beast over TLS over a stream with
// deadlines, a coroutine, a parallel group, a channel and a strand.

#include <asio_wheel/beast.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/deadline.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/tls_secret.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio::awaitable;
using asio::use_awaitable;
using asio_wheel::associated_remaining_time;
using asio_wheel::remaining_time;
using asio_wheel::timeout;
using asio_wheel::with_deadline;
using std::chrono::nanoseconds;
namespace beast = boost::beast;
namespace experimental = asio::experimental;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;

constexpr nanoseconds none = nanoseconds::max();
constexpr auto ignore_all = [](auto&&...) {};

// The lowest layer: a socket whose reads ask how much time is left.
class asking_socket {
public:
    using executor_type = asio::any_io_executor;
    using lowest_layer_type = paired::socket;

    explicit asking_socket(asio::io_context& ctx) : socket_(ctx) {}

    [[nodiscard]] executor_type get_executor() { return socket_.get_executor(); }
    [[nodiscard]] lowest_layer_type& lowest_layer() { return socket_; }
    void close(error_code& ec) { socket_.close(ec); }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(initiation{this}, token,
                                                                          buffers);
    }
    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return socket_.async_write_some(buffers, std::forward<Token>(token));
    }

    nanoseconds left{-1};     // Of the last read.
    nanoseconds property{-1}; // The same, without the executor.

private:
    struct initiation {
        using executor_type = asio::any_io_executor;
        [[nodiscard]] executor_type get_executor() const { return self->get_executor(); }

        template <class Handler, class Buffers>
        void operator()(Handler handler, const Buffers& buffers) const {
            self->left = remaining_time(handler);
            self->property = associated_remaining_time<Handler>::get(handler);
            self->socket_.async_read_some(buffers, std::move(handler));
        }

        asking_socket* self;
    };

    paired::socket socket_;
};

using secure_stream = ssl::stream<asio_wheel::timeout_stream<asking_socket>>;

struct fixture : virtual_world {
    ssl::context tls = tls_with_secret();
    secure_stream server{ctx, tls};
    secure_stream client{ctx, tls};
    beast::flat_buffer buffer;

    fixture() {
        has_sockets = true;
        connect_pair(server.lowest_layer(), client.lowest_layer());
        BOOST_TEST_REQUIRE(shake_hands(server, client, [this] { settle(); }));
    }

    void settle() {
        for (int i = 0; i < 20; ++i) {
            poll();
        }
    }

    [[nodiscard]] asking_socket& asked() { return server.next_layer().socket(); }
};

using channel = experimental::channel<void(error_code, nanoseconds)>;

awaitable<void> serve(fixture& f, channel& results) {
    const auto ex = co_await asio::this_coro::executor;
    http::request<http::string_body> request;
    co_await http::async_read(f.server, f.buffer, request, use_awaitable);
    BOOST_TEST(request.body() == "body");
    co_await asio_wheel::async_sleep_for(ex, 1s, use_awaitable);
    co_await results.async_send(error_code(), remaining_time(ex), use_awaitable);
}

awaitable<void> ask(fixture& f) {
    http::request<http::string_body> request(http::verb::post, "/", 11, "body");
    request.prepare_payload();
    co_await http::async_write(f.client, request, use_awaitable);
}

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_tls, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_deadline_travels_through_all_layers_of_a_server, fixture) {
    const auto strand = asio::make_strand(ctx);
    bool ended = false;
    const auto program = [](fixture& f, const auto& s) -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        channel results(ex);
        auto group = experimental::make_parallel_group(
            asio::co_spawn(ex, serve(f, results), asio::deferred),
            asio::co_spawn(ex, ask(f), asio::deferred), results.async_receive(asio::deferred));
        const auto [order, served, answered, ec, left] =
            co_await group.async_wait(experimental::wait_for_all(), use_awaitable);
        BOOST_TEST((served == nullptr && answered == nullptr && !ec));
        BOOST_TEST((left == 4s));
        BOOST_TEST(s.running_in_this_thread());
        BOOST_TEST((remaining_time(ex) == 4s));
    };
    const auto limited = with_deadline(strand, 5s);
    asio::co_spawn(limited, program(*this, strand),
                   timeout(remaining_time(limited), [&](const std::exception_ptr& e) {
                       BOOST_TEST((e == nullptr));
                       ended = true;
                   }));
    settle();
    BOOST_TEST((asked().left == 5s)); // Below Beast, TLS and the stream.
    pass(1s);
    settle();
    BOOST_TEST(ended);
}

BOOST_FIXTURE_TEST_CASE(the_deadline_of_a_handler_gets_through_http_and_tls, fixture) {
    http::request_parser<http::string_body> request;
    http::async_read_header(server, buffer, request,
                            timeout(5s, asio::bind_executor(ctx, ignore_all)));
    settle();
    BOOST_TEST((asked().property == 5s));
    pass(5s);
    settle();
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_deadline_of_a_handler_gets_through_reads_of_tls, fixture) {
    std::array<char, 10> memory{};
    asio::async_read(server, asio::buffer(memory), timeout(5s, ignore_all));
    settle();
    BOOST_TEST((asked().property == 5s));
    pass(5s);
    settle();
}

// Some of Beast's operations forward executor, allocator and slot, and nothing else.

BOOST_FIXTURE_TEST_CASE(of_a_whole_message_only_the_executor_gets_through, fixture) {
    http::request<http::string_body> request;
    http::async_read(server, buffer, request,
                     timeout(5s, asio::bind_executor(with_deadline(ctx, 8s), ignore_all)));
    settle();
    BOOST_TEST((asked().property == none));
    BOOST_TEST((asked().left == 8s));
    pass(8s);
    settle();
}

BOOST_FIXTURE_TEST_CASE(of_a_websocket_only_the_executor_gets_through, fixture) {
    beast::websocket::stream<secure_stream&> socket(server);
    socket.async_accept(timeout(5s, asio::bind_executor(with_deadline(ctx, 8s), ignore_all)));
    settle();
    BOOST_TEST((asked().property == none));
    BOOST_TEST((asked().left == 8s));
    pass(8s);
    settle();
}

BOOST_AUTO_TEST_SUITE_END()
