// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A chat server that no peer can hold up. This program runs it with peers that behave well and with
// peers that do not, and checks what becomes of them. Read session.hpp first.

#include "clients.hpp"
#include "server.hpp"

#include <array>
#include <iostream>

using namespace chat;
using clock_type = std::chrono::steady_clock;

constexpr settings short_periods{.ping_after = 100ms,
                                 .dead_after = 600ms,
                                 .idle_after = 900ms,
                                 .line_time = 300ms,
                                 .write_time = 30s,
                                 .farewell_time = 400ms};

/// Waits until a connection has ended for that reason. Returns how long after `start` that was.
asio::awaitable<std::chrono::milliseconds> until_ended(server& s, std::string_view why,
                                                       clock_type::time_point start) {
    while (s.room->ended[why] == 0) {
        co_await asio_wheel::async_sleep_for(s.acceptor.get_executor(), 5ms, asio::use_awaitable);
    }
    co_return std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - start);
}

asio::awaitable<void> show(server& s, bool& as_promised) {
    const auto ex = s.acceptor.get_executor();
    const auto where = s.acceptor.local_endpoint();
    const auto check = [&as_promised](bool holds) { as_promised = as_promised && holds; };

    peer silent(ex);
    co_await silent.connect(where);
    const std::string farewell = co_await silent.hear();
    std::cout << "idle: answered " << silent.pings << " pings, then heard " << farewell << '\n';
    check(silent.pings > 0 && farewell == "BYE idle");
    silent.socket.close();

    std::array<chatter, 3> chatters;
    for (char name = 'a'; chatter & seen : chatters) {
        asio::co_spawn(ex, chat_on(where, name++, seen), asio::detached);
    }

    auto start = clock_type::now();
    asio::co_spawn(ex, send_only(where, "x"), asio::detached);
    const auto loris = co_await until_ended(s, "slow line", start);
    std::cout << "a line byte by byte: closed after " << loris.count() << " ms\n";
    check(loris >= short_periods.line_time);

    start = clock_type::now();
    const int hung_before = s.room->write_hung; // The previous peer did not read either.
    peer dead(ex);                              // It neither reads nor sends.
    co_await dead.connect(where);
    const auto gone = co_await until_ended(s, "dead", start);
    std::cout << "dead, with a pending write: closed after " << gone.count() << " ms\n";
    check(gone >= short_periods.dead_after && s.room->write_hung == hung_before + 1);

    asio::co_spawn(ex, send_only(where, "PONG\n"), asio::detached); // Alive, but does not read.
    co_await asio_wheel::async_sleep_for(ex, 300ms, asio::use_awaitable);
    const auto cut_off = co_await s.shut_down();
    std::cout << "shutdown: " << cut_off << " connection did not end and was closed\n";
    check(cut_off == 1);

    for (const chatter& seen : chatters) {
        std::cout << "received " << seen.lines << (seen.all_whole ? " lines" : " MIXED lines")
                  << ", then " << seen.last << '\n';
        check(seen.lines > 0 && seen.all_whole && seen.last == "BYE shutdown");
    }
}

int main() {
    asio::io_context ctx;
    server s(ctx, short_periods);
    s.acceptor.set_option(asio::socket_base::send_buffer_size(4096)); // Makes writes block soon.
    bool as_promised = true;
    asio::co_spawn(ctx, s.accept(), asio::detached);
    asio::co_spawn(ctx, show(s, as_promised), asio::detached);
    ctx.run(); // Returns when the last connection has ended.
    return as_promised && s.room->here.empty() ? 0 : 1;
}
