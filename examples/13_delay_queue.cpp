// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A cache with entries that expire. A delay queue returns the names of expired entries; reading an
// entry postpones its expiry.

#include <asio_wheel/delay_queue.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>
#include <map>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;

class cache {
public:
    explicit cache(asio::io_context& ctx) : expiries_(ctx) {
        asio::co_spawn(ctx, forget(), asio::detached);
    }

    void put(const std::string& name, int value) {
        entry& e = entries_[name];
        expiries_.erase(e.key); // If the name is there already, its time begins again.
        e = {value, expiries_.push(lifetime, name)};
    }

    int get(const std::string& name) {
        const auto it = entries_.find(name);
        if (it == entries_.end() || !expiries_.postpone(it->second.key, lifetime)) {
            return 0; // There is none, or it has expired and is being forgotten.
        }
        return it->second.value;
    }

    void close() { expiries_.close(); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    static constexpr auto lifetime = 10ms;

    struct entry {
        int value = 0;
        asio_wheel::delay_queue<std::string>::key key;
    };

    asio::awaitable<void> forget() {
        for (;;) { // Until the queue is closed and empty: async_pop_entry() throws then.
            const auto expired = co_await expiries_.async_pop_entry(asio::use_awaitable);
            const auto it = entries_.find(expired->value);
            if (it != entries_.end() && it->second.key == expired->key) { // Not put again since.
                std::cout << it->first << " has expired\n";
                entries_.erase(it);
            }
        }
    }

    std::map<std::string, entry> entries_;
    asio_wheel::delay_queue<std::string> expiries_;
};

int main() {
    asio::io_context ctx;
    cache answers(ctx);
    answers.put("everything", 42);
    answers.put("nothing", 0);

    const auto start = std::chrono::steady_clock::now();
    asio::steady_timer later(ctx, 5ms);
    later.async_wait([&](auto) {
        answers.get("everything");
        answers.close(); // When the last entry has expired, nothing waits any more.
    });
    ctx.run();
    const auto took = std::chrono::steady_clock::now() - start;
    return answers.size() == 0 && took >= 15ms ? 0 : 1;
}
