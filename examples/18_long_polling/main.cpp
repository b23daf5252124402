// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Long polling: consumers ask for news, and the server answers when there is enough, or when they
// have waited long enough. This program runs such a server with some consumers and a producer, and
// checks what they get. Read broker.hpp first.

#include "client.hpp"
#include "server.hpp"

#include <asio_wheel/sleep.hpp>

#include <boost/asio/this_coro.hpp>

#include <iostream>
#include <string>

using namespace long_polling;
using namespace std::chrono_literals;

class show {
public:
    explicit show(server& s) : server_(s) {}

    /// A consumer that asks once, and expects that text, after that time or later.
    asio::awaitable<void> consumer(std::string request, std::string expected,
                                   std::chrono::milliseconds not_before) {
        client c(co_await asio::this_coro::executor);
        co_await c.connect(server_.acceptor.local_endpoint());
        const answer a = co_await c.ask(request);
        const bool right = a.text == expected && a.took >= not_before;
        std::cout << request << ": \"" << a.text << "\" after " << a.took.count() << " ms"
                  << (right ? "\n" : ", WRONG\n");
        as_promised_ = as_promised_ && right;
        ++answered_;
    }

    asio::awaitable<void> run() {
        const auto ex = co_await asio::this_coro::executor;
        const auto start = [&](const char* request, const char* expected,
                               std::chrono::milliseconds not_before) {
            asio::co_spawn(ex, consumer(request, expected, not_before), asio::detached);
            ++asked_;
        };
        start("GET 1 60000 news", "A goal!", 0ms);
        start("GET 20 60000 news sports", "A goal!Another goal!", 0ms);
        start("GET 1000 60000 news", "A goal!", 0ms); // At the shutdown.
        co_await until([this] { return server_.topics.waiting() == asked_; });

        client producer(ex);
        co_await producer.connect(server_.acceptor.local_endpoint());
        co_await producer.ask("PUT news A goal!");
        co_await producer.ask("PUT sports Another goal!");
        start("GET 1000 300 news", "A goal!", 300ms); // Not enough: what there is.
        start("GET 1 200 weather", "", 200ms);        // Nothing.
        co_await until([this] { return answered_ == asked_ - 1; });

        server_.acceptor.close();
        server_.topics.answer_all();
        co_await until([this] { return answered_ == asked_; });
    }

    [[nodiscard]] bool as_promised() const {
        return as_promised_ && asked_ != 0 && answered_ == asked_ &&
               server_.topics.completed_by_appends() == 2;
    }

private:
    template <class Condition>
    asio::awaitable<void> until(Condition holds) {
        while (!holds()) {
            co_await asio_wheel::async_sleep_for(server_.acceptor.get_executor(), 1ms,
                                                 asio::use_awaitable);
        }
    }

    server& server_;
    std::size_t asked_ = 0;
    std::size_t answered_ = 0;
    bool as_promised_ = true;
};

int main() {
    asio::io_context ctx;
    server s(ctx);
    show all(s);
    asio::co_spawn(ctx, s.accept(), asio::detached);
    asio::co_spawn(ctx, all.run(), asio::detached);
    ctx.run_for(20s);
    return all.as_promised() ? 0 : 1;
}
