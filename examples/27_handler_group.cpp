// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Monitors on a pool of threads. A monitor is destroyed when its handlers run no more.

#include <asio_wheel/handler_group.hpp>
#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

class monitor {
public:
    monitor(asio::thread_pool& pool, std::string name)
        : strand_(asio::make_strand(pool)), timer_(strand_), name_(std::move(name)) {
        asio::post(strand_, handlers_([this] { wait(); }));
    }
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;

    // Called by another thread than those of the pool.
    ~monitor() {
        asio::post(strand_, handlers_([this] {
                       stopped_ = true;
                       timer_.cancel();
                   }));
        handlers_.wait_idle(); // Without this, look() might use what is destroyed.
        std::cout << name_ << (looks_ > 0 ? " has looked\n" : " has seen nothing\n");
    }

private:
    void wait() {
        timer_.expires_after(1ms);
        timer_.async_wait(handlers_([this](const boost::system::error_code& ec) {
            if (!ec && !stopped_) {
                look();
                wait();
            }
        }));
    }

    void look() {
        std::this_thread::sleep_for(1ms); // Takes a while, and uses the monitor.
        looks_ += name_.empty() ? 0 : 1;
    }

    asio::strand<asio::thread_pool::executor_type> strand_;
    asio_wheel::steady_timer timer_;
    asio_wheel::handler_group handlers_;
    std::string name_;
    int looks_ = 0;
    bool stopped_ = false;
};

} // namespace

int main() {
    asio::thread_pool pool(2);
    {
        monitor first(pool, "the first monitor");
        monitor second(pool, "the second monitor");
        std::this_thread::sleep_for(50ms);
    }
    pool.join();
}
