// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_THREADS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_THREADS_HPP

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace asio_wheel::test {

/// Threads that run a context until it is out of work.
class runners {
public:
    runners(boost::asio::io_context& ctx, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            threads_.emplace_back([&ctx] { ctx.run_for(std::chrono::seconds(60)); });
        }
    }

private:
    std::vector<std::jthread> threads_;
};

/// Collects checks of several threads. (Boost.Test's macros are for one thread.)
class thread_checks {
public:
    thread_checks() = default;
    thread_checks(const thread_checks&) = delete;
    thread_checks& operator=(const thread_checks&) = delete;
    ~thread_checks() { BOOST_TEST(faults_ == 0); }
    void expect(bool fact) noexcept { faults_ += fact ? 0 : 1; }

private:
    std::atomic<int> faults_ = 0;
};

/// A flag that one thread waits for. wait() returns false if that takes too long.
class signal_flag {
public:
    void set() { promise_.set_value(); }
    bool wait() { return future_.wait_for(std::chrono::seconds(20)) == std::future_status::ready; }

private:
    std::promise<void> promise_;
    std::future<void> future_ = promise_.get_future();
};

} // namespace asio_wheel::test

#endif
