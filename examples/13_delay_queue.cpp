// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A cache with entries that expire. A delay queue returns the names of expired entries; reading an
// entry postpones its expiry.
//
// A pop that has got an element completes, also after the end of its queue. So the coroutine shares
// the ownership of what it uses.

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
#include <memory>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;

class cache {
public:
    explicit cache(asio::io_context& ctx) : state_(std::make_shared<state>(ctx)) {
        asio::co_spawn(ctx, forget(state_), asio::detached);
    }
    cache(const cache&) = delete;
    cache& operator=(const cache&) = delete;
    ~cache() {
        close();
        state_->expiries.clear(); // So nothing is left to wait for, and the coroutine ends.
    }

    void put(const std::string& name, int value) {
        entry& e = state_->entries[name];
        state_->expiries.erase(e.key); // If the name is there already, its time begins again.
        e = {value, state_->expiries.push(lifetime, name)};
    }

    int get(const std::string& name) {
        const auto it = state_->entries.find(name);
        if (it == state_->entries.end() || !state_->expiries.postpone(it->second.key, lifetime)) {
            return 0; // There is none, or it has expired and is being forgotten.
        }
        return it->second.value;
    }

    void close() { state_->expiries.close(); }
    [[nodiscard]] std::size_t size() const { return state_->entries.size(); }

private:
    static constexpr auto lifetime = 10ms;
    struct entry {
        int value = 0;
        asio_wheel::delay_queue<std::string>::key key;
    };

    struct state {
        explicit state(asio::io_context& ctx) : expiries(ctx) {}

        std::map<std::string, entry> entries;
        asio_wheel::delay_queue<std::string> expiries;
    };

    static asio::awaitable<void> forget(std::shared_ptr<state> s) {
        for (;;) { // Until the queue is closed and empty: async_pop_entry() throws then.
            const auto expired = co_await s->expiries.async_pop_entry(asio::use_awaitable);
            const auto it = s->entries.find(expired->value);
            if (it != s->entries.end() && it->second.key == expired->key) { // Not put again since.
                std::cout << it->first << " has expired\n";
                s->entries.erase(it);
            }
        }
    }

    const std::shared_ptr<state> state_;
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
