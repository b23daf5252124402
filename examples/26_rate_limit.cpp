// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A limit for each client address, and one for all: a server that answers, makes wait, or refuses.

#include <asio_wheel/rate_limiter.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <unordered_map>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio_wheel::rate_limiter;

class server {
public:
    explicit server(asio::io_context& ctx)
        : ctx_(ctx), all_(ctx, {.rate = {200}, .burst = 1}), sweeps_(ctx, {.rate = {1}}) {}

    // Each client may ask five times at once, and then ten times a second. If it asks more often,
    // it is refused at once, which costs no timer. All together wait for their turn.
    asio::awaitable<void> request(std::string address) {
        if (all_.pending() >= longest_queue || !knows_or_has_room_for(address)) {
            ++refused; // First, because it needs no entry for the client.
            co_return;
        }
        auto& client = clients_.try_emplace(address, ctx_, each).first->second;
        if (!client.try_acquire()) {
            ++refused;
            co_return;
        }
        co_await all_.async_acquire(1, asio::use_awaitable);
        ++answered;
    }

    int answered = 0;
    int refused = 0;

private:
    // A client that has not asked for a while has a full bucket, as a new one has. So it can be
    // forgotten. To look for these takes a while, so it is done once a second at most.
    bool knows_or_has_room_for(const std::string& address) {
        if (clients_.size() >= most_clients && sweeps_.try_acquire()) {
            std::erase_if(clients_, [](const auto& client) {
                return std::cmp_equal(client.second.available(), each.burst);
            });
        }
        return clients_.size() < most_clients || clients_.contains(address);
    }

    static constexpr asio_wheel::rate_limiter_options each{.rate = {10}, .burst = 5};
    static constexpr std::size_t longest_queue = 100; // Half a second of answers.
    static constexpr std::size_t most_clients = 100'000;

    asio::io_context& ctx_;
    rate_limiter all_;
    rate_limiter sweeps_;
    std::unordered_map<std::string, rate_limiter> clients_;
};

int main() {
    asio::io_context ctx;
    server s(ctx);
    const auto start = std::chrono::steady_clock::now();
    for (const char* address : {"192.0.2.1", "192.0.2.2"}) {
        for (int i = 0; i < 8; ++i) {
            asio::co_spawn(ctx, s.request(address), asio::detached);
        }
    }
    ctx.run();
    const auto took = std::chrono::steady_clock::now() - start;
    std::cout << s.answered << " answered in " << took / 1ms << " ms, " << s.refused
              << " refused\n";
    return s.answered == 10 && s.refused == 6 && took >= 45ms ? 0 : 1;
}
