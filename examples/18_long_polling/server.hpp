// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The broker behind sockets. A request is a line:
//
//     PUT topic text                      answered by 0
//     GET min_bytes max_wait_ms topic…    answered by the number of bytes, and these bytes
//
// One thread runs the server, or one strand.

#ifndef LONG_POLLING_SERVER_HPP
#define LONG_POLLING_SERVER_HPP

#include "../support/accept.hpp"
#include "broker.hpp"

#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace long_polling {

using asio::ip::tcp;

class server {
public:
    explicit server(asio::io_context& ctx)
        : acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), topics(ctx) {}

    /// Returns when the acceptor is closed.
    asio::awaitable<void> accept() {
        return demo::accept_until_closed(acceptor, [this](tcp::socket socket) {
            asio_wheel::timeout_stream peer(std::move(socket));
            asio::co_spawn(acceptor.get_executor(), serve(std::move(peer)), asio::detached);
        });
    }

    static constexpr auto longest_silence = std::chrono::seconds(30); ///< Of a peer, either way.

    tcp::acceptor acceptor;
    broker topics;

private:
    static constexpr std::size_t longest_line = 4096;
    // A peer that goes while it waits is noticed when its answer is sent, and not before.
    static constexpr std::chrono::milliseconds longest_wait = std::chrono::minutes(1);

    asio::awaitable<void> serve(asio_wheel::timeout_stream<tcp::socket> peer) {
        std::string input;
        offsets read; // By this consumer.
        try {         // Until the peer leaves or is silent, or a line is too long.
            for (;;) {
                peer.expires_after(longest_silence); // For the whole line, so also byte by byte.
                const std::size_t size = co_await asio::async_read_until(
                    peer, asio::dynamic_buffer(input, longest_line), '\n', asio::use_awaitable);
                std::istringstream line(input.substr(0, size - 1));
                input.erase(0, size);
                const std::string answer = co_await respond(line, read);
                peer.expires_after(longest_silence);
                co_await asio::async_write(peer, asio::buffer(answer), asio::use_awaitable);
            }
        } catch (const boost::system::system_error&) {
        }
    }

    asio::awaitable<std::string> respond(std::istringstream& line, offsets& read) {
        std::string verb;
        line >> verb;
        if (verb == "PUT") {
            std::string topic, text;
            std::getline(line >> topic >> std::ws, text);
            topics.append(topic, text);
            co_return "0\n";
        }
        fetch_request request;
        int milliseconds = 0;
        line >> request.min_bytes >> milliseconds;
        request.max_wait = std::min(std::chrono::milliseconds(milliseconds), longest_wait);
        for (std::string topic; line >> topic;) {
            request.topics.push_back(topic);
        }
        batch b = co_await topics.fetch(request, read);
        read = std::move(b.read);
        co_return std::to_string(b.text.size()) + '\n' + b.text;
    }
};

} // namespace long_polling

#endif
