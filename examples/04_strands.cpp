// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Several threads: the timer of a session shares a strand with its other handlers, so they need no
// lock.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(asio::thread_pool& pool) : strand_(asio::make_strand(pool)), idle_(strand_) {}

    void start(std::atomic<int>& closed) {
        asio::post(strand_, [self = shared_from_this(), &closed] {
            self->idle_.expires_after(20ms);
            self->idle_.async_wait([self, &closed](auto ec) {
                // This runs on the strand, so `messages_` needs no lock. If a handler on the strand
                // cancelled the wait before, `ec` says so. If a full wheel refused the wait, `ec`
                // is another error, and the session closes too.
                if (ec != asio::error::operation_aborted &&
                    self->strand_.running_in_this_thread()) {
                    closed += self->messages_;
                }
            });
        });
    }

    void receive() {
        asio::post(strand_, [self = shared_from_this()] {
            // 0 means that the timeout's handler was called before.
            self->messages_ += self->idle_.postpone(20ms) == 1 ? 1 : 0;
        });
    }

private:
    asio::strand<asio::thread_pool::executor_type> strand_;
    asio_wheel::steady_timer idle_;
    int messages_ = 0;
};

int main() {
    std::atomic<int> messages_of_closed = 0;
    asio::thread_pool pool(4);
    std::vector<std::shared_ptr<session>> sessions;
    for (int i = 0; i < 100; ++i) {
        sessions.push_back(std::make_shared<session>(pool));
        sessions.back()->start(messages_of_closed);
        sessions.back()->receive();
        sessions.back()->receive();
    }
    pool.join(); // Until every session has been idle for 20 ms.
    std::cout << messages_of_closed << " messages before all sessions were idle\n";
    return messages_of_closed == 200 ? 0 : 1;
}
