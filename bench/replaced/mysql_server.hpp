// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// As much of a MySQL server as Boost.MySQL's pool needs: one that has no tables, and thousands of
// connections.

#ifndef BENCH_REPLACED_MYSQL_SERVER_HPP
#define BENCH_REPLACED_MYSQL_SERVER_HPP

#include "other_end.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace bench {

/// The statement that takes long.
inline const std::string mysql_statement = "DO 1";

namespace detail {
/// A packet: 3 bytes of size, the number of the packet, and the text.
inline std::string mysql_packet(char number, const std::string& text) {
    return std::string({static_cast<char>(text.size()), 0, 0, number}) + text;
}

/// The server's first packet. It asks for the password in the plain way that all servers know, and
/// says that it can do all but TLS.
inline std::string mysql_greeting() {
    const char text[] = "\x0a"
                        "8.0.0\0\1\0\0\0nonce123\0\xff\xf7\x2d\2\0\xff\1\x15\0\0\0\0\0\0\0\0\0\0"
                        "nonce1234567\0mysql_native_password";
    return mysql_packet(0, std::string(text, sizeof text));
}
} // namespace detail

/// Answers all packets with "OK": the statement after a delay in seconds, all else at once.
inline void run_mysql_server(const listener& listening, double delay) {
    struct later {
        std::chrono::duration<double> when;
        int socket;
    };
    const std::string ok("\0\0\0\2\0\0\0", 7);
    std::vector<std::string> received; // By socket.
    std::deque<later> statements;
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
    reactor loop;
    loop.add(listening.socket);
    loop.run(
        [&](int s) {
            if (s == listening.socket) {
                const int connection = ::accept(s, nullptr, nullptr);
                received.resize(
                    std::max(received.size(), static_cast<std::size_t>(connection) + 1));
                loop.add(connection);
                send(connection, detail::mysql_greeting());
                return true;
            }
            auto& text = received[static_cast<std::size_t>(s)];
            const bool open = receive(s, text);
            std::string answers;
            const auto size = [&] { return 4U + static_cast<unsigned char>(text[0]); };
            for (; text.size() >= 4 && text.size() >= size(); text.erase(0, size())) {
                if (text.compare(5, mysql_statement.size(), mysql_statement) == 0) {
                    statements.push_back({now() + std::chrono::duration<double>(delay), s});
                } else {
                    answers += detail::mysql_packet(static_cast<char>(text[3] + 1), ok);
                }
            }
            send(s, answers);
            return open;
        },
        [&] {
            for (; !statements.empty() && statements.front().when <= now();
                 statements.pop_front()) {
                send(statements.front().socket, detail::mysql_packet(1, ok));
            }
        });
}

} // namespace bench

#endif
