// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The clients of a soak: each function is a loop of a thread.

#ifndef ASIO_WHEEL_TEST_SOAK_CLIENTS_HPP
#define ASIO_WHEEL_TEST_SOAK_CLIENTS_HPP

#include "judge.hpp"

#include "support/server_process.hpp"

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace soak {

using asio_wheel::test::peer;
using namespace std::chrono_literals;

/// A connection that its server must close: not before `earliest`, and at `due`.
struct doomed {
    peer connection;
    clock_type::time_point earliest;
    clock_type::time_point due;
};

/// Waits until the server has closed all of them, and reports each to the judge.
inline void wait_for_the_end(std::deque<doomed>& all, const char* what, judge& seen) {
    const auto limit = clock_type::now() + peer::patience;
    std::vector<pollfd> sockets;
    std::vector<doomed*> open;
    for (doomed& d : all) {
        open.push_back(&d);
    }
    while (!open.empty() && clock_type::now() < limit) {
        sockets.clear();
        for (const doomed* const d : open) {
            sockets.push_back({d->connection.native(), POLLIN, 0});
        }
        ::poll(sockets.data(), sockets.size(), 1000);
        std::this_thread::sleep_for(500us); // Lets further events arrive together.
        const auto now = clock_type::now();
        std::vector<doomed*> still;
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (sockets[i].revents == 0 || open[i]->connection.read_some()) {
                still.push_back(open[i]);
            } else {
                seen.closed(what, now, open[i]->earliest, open[i]->due);
            }
        }
        open.swap(still);
    }
    for ([[maybe_unused]] const doomed* const d : open) {
        seen.left_open(what);
    }
}

/// Many connections that are active, and then go idle all at once: they expire together.
inline void echo_mass_expiry(std::uint16_t port, std::size_t count, nanoseconds idle, judge& seen) {
    std::deque<doomed> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back({peer(port), {}, {}});
    }
    // On a slow machine, the first ones may be closed before the last ones were served here.
    std::deque<doomed> silent;
    for (doomed& d : all) {
        const bool greeted = d.connection.read_until("\n").has_value();
        const auto sent = clock_type::now();
        const bool answered =
            greeted && d.connection.send("PING 1\n") && d.connection.read_until("\n") == "PONG 1";
        seen.answered("echo: lines of many", answered);
        if (answered) {
            silent.push_back({std::move(d.connection), sent + idle, clock_type::now() + idle});
        }
    }
    wait_for_the_end(silent, "echo: many silent at once", seen);
}

/// Many connections that disconnect all at once, in the middle of a line.
inline void echo_mass_disconnect(std::uint16_t port, std::size_t count, std::mt19937_64& random,
                                 judge& seen) {
    std::deque<peer> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.emplace_back(port);
    }
    for (peer& p : all) {
        seen.answered("echo: greetings", p.read_until("\n").has_value());
        p.send("PING 1\nand a line that is not");
    }
    for (peer& p : all) {
        if (random() % 2 == 0) {
            p.reset();
        } else {
            p.close();
        }
    }
}

/// A client that connects, sends and closes.
inline void echo_churn(std::uint16_t port, std::mt19937_64& random, judge& seen) {
    peer p(port);
    bool well = p.read_until("\n").has_value();
    for (auto lines = random() % 20; well && lines > 0; --lines) {
        const std::string word = std::to_string(random());
        well = p.send("PING " + word + "\n") && p.read_until("\n") == "PONG " + word;
    }
    seen.answered("echo: come and go", well);
    if (random() % 2 == 0) {
        p.reset();
    }
}

[[nodiscard]] inline std::string http_request(std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
}

/// Some requests on one connection, followed by one of the ways to end it.
inline void http_churn(std::uint16_t port, std::mt19937_64& random, judge& seen) {
    peer p(port);
    bool well = true;
    for (auto requests = random() % 5; well && requests > 0; --requests) {
        const std::size_t size = 1 + random() % 5000;
        well = p.send(http_request(size)) && p.read_until("\r\n\r\n") &&
               p.read_until(std::string(size, 'x'));
        seen.answered("http: come and go", well);
    }
    if (random() % 3 == 0) {
        p.reset();
    }
}

/// Many connections, each too slow for one of the deadlines.
inline void http_mass_expiry(std::uint16_t port, std::size_t count, judge& seen) {
    std::deque<doomed> all;
    for (std::size_t i = 0; i < count; ++i) {
        peer p(port);
        const auto start = p.start();
        const nanoseconds limits[] = {300ms, 200ms, 250ms};
        const std::string_view beginnings[] = {"", "GET / HT",
                                               "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"};
        p.send(beginnings[i % 3]);
        // The server may read data a moment after it was sent, and a body's time starts with its
        // header.
        all.push_back({std::move(p), start + limits[i % 3], clock_type::now() + limits[i % 3]});
    }
    wait_for_the_end(all, "http: many too slow at once", seen);
}

constexpr std::string_view websocket_request =
    "GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// A client that is active for a while, answers pings, and closes.
inline void websocket_churn(std::uint16_t port, std::mt19937_64& random, judge& seen) {
    constexpr std::string_view message("\x81\x82\0\0\0\0hi", 8);
    constexpr std::string_view pong("\x8a\x80\0\0\0\0", 6);
    constexpr std::string_view close("\x88\x82\0\0\0\0\x03\xe8", 8);
    peer p(port);
    bool well = p.send(websocket_request) && p.read_until("\r\n\r\n");
    for (auto pings = random() % 5; well && pings > 0; --pings) {
        well = p.send(message) && p.read_until(std::string_view("\x89\0", 2)) && p.send(pong);
    }
    if (random() % 2 == 0) {
        well = well && p.send(close) && p.read_until("\x88");
    }
    seen.answered("websocket: come and go", well);
}

/// Many clients that do not answer pings.
inline void websocket_mass_expiry(std::uint16_t port, std::size_t count, judge& seen) {
    std::deque<doomed> all;
    for (std::size_t i = 0; i < count; ++i) {
        peer p(port);
        const auto sent = clock_type::now();
        const bool well = p.send(websocket_request) && p.read_until("\r\n\r\n");
        seen.answered("websocket: handshakes of many", well);
        all.push_back({std::move(p), sent + 300ms, clock_type::now() + 300ms});
    }
    wait_for_the_end(all, "websocket: many silent at once", seen);
}

} // namespace soak

#endif
