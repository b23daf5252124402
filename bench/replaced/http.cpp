// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Beast's asynchronous HTTP server, as in Beast's own example: a strand and a tcp_stream for each
// connection, whose deadline is set anew for each request. TIMEOUT is that deadline in seconds. The
// work is a request with its answer. There are 10,000 a second, whatever the number of connections.

#include "other_end.hpp"
#include "server.hpp"
#include "trial.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

class session : public std::enable_shared_from_this<session> {
public:
    session(tcp::socket socket, std::chrono::milliseconds deadline)
        : stream_(std::move(socket)), deadline_(deadline) {}

    void run() {
        bench::count(bench::ready);
        asio::dispatch(stream_.get_executor(),
                       beast::bind_front_handler(&session::read, shared_from_this()));
    }

private:
    void read() {
        request_ = {};
        stream_.expires_after(deadline_);
        http::async_read(stream_, buffer_, request_,
                         beast::bind_front_handler(&session::answer, shared_from_this()));
    }

    void answer(error_code ec, std::size_t) {
        bench::require(!ec, "a connection has ended");
        http::response<http::string_body> text(http::status::ok, request_.version());
        text.set(http::field::server, "bench");
        text.set(http::field::content_type, "text/plain");
        text.keep_alive(request_.keep_alive());
        text.body() = "hello";
        text.prepare_payload();
        beast::async_write(stream_, http::message_generator(std::move(text)),
                           beast::bind_front_handler(&session::answered, shared_from_this()));
    }

    void answered(error_code ec, std::size_t) {
        bench::require(!ec, "a connection has ended");
        bench::count(bench::done);
        read();
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request<http::string_body> request_;
    std::chrono::milliseconds deadline_;
};

// n clients take turns to send a request.
void run_clients(const bench::listener& listening, std::size_t n) {
    constexpr double requests_per_second = 10'000;
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const auto sockets = bench::connect_clients(listening, n, request);
    bench::reactor loop;
    for (const int s : sockets) {
        loop.add(s);
    }
    const auto begun = std::chrono::steady_clock::now();
    std::size_t sent = 0;
    std::string answer;
    loop.run(
        [&](int s) {
            answer.clear();
            return bench::receive(s, answer);
        },
        [&] {
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
            while (static_cast<double>(sent) < passed.count() * requests_per_second) {
                bench::send(sockets[sent++ % n], request);
            }
        });
}

} // namespace

int main(int argc, char** argv) {
    bench::serve<session>(bench::trial_settings(argc, argv), run_clients);
}
