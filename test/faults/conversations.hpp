// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The messages of well-behaved peers to the servers of the examples.

#ifndef ASIO_WHEEL_TEST_FAULTS_CONVERSATIONS_HPP
#define ASIO_WHEEL_TEST_FAULTS_CONVERSATIONS_HPP

#include "support/server_process.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace asio_wheel::test {

/// A conversation on a new connection. Returns whether the server answers correctly.
using conversation = bool (*)(peer&);

inline bool talk_to_echo(peer& p) {
    const auto greeting = p.read_until("\n");
    return greeting && greeting->starts_with("IDLE ") && p.send("PING 1\nand more\n") &&
           p.read_until("\n") == "PONG 1" && p.read_until("\n") == "and more";
}

inline std::string http_request(std::string_view body, bool keep_alive = true) {
    std::string request = "POST / HTTP/1.1\r\nHost: here\r\n";
    request += keep_alive ? "" : "Connection: close\r\n";
    request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    return request.append(body);
}

inline bool talk_to_http(peer& p) {
    if (!p.send(http_request("something", false))) {
        return false;
    }
    const auto header = p.read_until("\r\n\r\n");
    return header && header->starts_with("HTTP/1.1 200") && p.read_until("something");
}

inline constexpr std::string_view websocket_request =
    "GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

enum websocket_frame : unsigned char { text = 0x81, close_frame = 0x88, ping = 0x89, pong = 0x8a };

/// As clients must send it: masked, with zeros.
inline std::string websocket_message(websocket_frame kind, std::string_view content) {
    std::string frame(1, static_cast<char>(kind));
    const auto append_size = [&](int bytes) {
        while (bytes-- > 0) {
            frame +=
                static_cast<char>((content.size() >> (8U * static_cast<unsigned>(bytes))) & 255U);
        }
    };
    if (content.size() < 126) {
        frame += static_cast<char>(0x80 | content.size());
    } else if (content.size() < 65'536) {
        frame += static_cast<char>(0x80 | 126);
        append_size(2);
    } else {
        frame += static_cast<char>(0x80 | 127);
        append_size(8);
    }
    frame.append(4, '\0');
    return frame.append(content);
}

inline bool shake_hands(peer& p) {
    if (!p.send(websocket_request)) {
        return false;
    }
    const auto answer = p.read_until("\r\n\r\n");
    return answer && answer->starts_with("HTTP/1.1 101");
}

/// Sends a message, answers some pings, and closes.
inline bool talk_to_websocket(peer& p) {
    if (!shake_hands(p) || !p.send(websocket_message(text, "hello"))) {
        return false;
    }
    constexpr std::string_view server_ping("\x89\x00", 2);
    constexpr std::string_view server_close("\x88\x02\x03\xe8", 4);
    for (int i = 0; i < 10; ++i) {
        if (!p.read_until(server_ping) || !p.send(websocket_message(pong, ""))) {
            return false;
        }
    }
    return p.send(websocket_message(close_frame, "\x03\xe8")) && p.read_until(server_close);
}

/// Returns whether a server answers a well-behaved peer. On a busy machine, both may be so late
/// that a timeout of the server ends a conversation. So this tries again.
inline bool answers(std::uint16_t port, conversation talk, int times = 50) {
    for (int i = 0; i < times; ++i) {
        peer p(port);
        if (p.connected() && talk(p)) {
            return true;
        }
    }
    return false;
}

/// Waits until a server has released all connections; `before` is its number of descriptors without
/// any.
inline bool is_left_alone(const server_process& server, std::size_t descriptors_before) {
    return server_process::wait_until([&] { return server.descriptors() <= descriptors_before; });
}

} // namespace asio_wheel::test

#endif
