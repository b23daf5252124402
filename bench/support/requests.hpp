// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Asynchronous operations that complete immediately, and the cost of giving each a deadline.

#ifndef BENCH_REQUESTS_HPP
#define BENCH_REQUESTS_HPP

#include "measure.hpp"
#include "timer_workload.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

/// An operation that goes through the context's queue once: the minimum for anything asynchronous.
class initiate_async_request {
public:
    using executor_type = asio::io_context::executor_type;

    explicit initiate_async_request(const executor_type& ex) noexcept : executor_(ex) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
        asio::post(executor_, [handler = std::forward<Handler>(handler)]() mutable {
            std::move(handler)(error_code());
        });
    }

private:
    executor_type executor_;
};

template <class Token>
auto async_request(asio::io_context& context, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        initiate_async_request(context.get_executor()), token);
}

/// A sequence of requests, `at_once` of them concurrent, while n waits of `Timer` that expire after
/// `others` are pending. `Deadline` wraps a handler in a deadline.
template <class Timer, class Deadline>
class requests {
public:
    requests(std::size_t n, std::chrono::nanoseconds others, std::size_t at_once)
        : at_once_(at_once), others_(make_timers<Timer>(context_, n)) {
        for (Timer& timer : others_) {
            timer.expires_after(others);
            timer.async_wait([](const error_code&) { require(false, "a wait ended"); });
        }
    }

    requests(const requests&) = delete;
    requests& operator=(const requests&) = delete;

    ~requests() { context_.stop(); } // The context destroys the pending waits.

    /// Returns the cost of the deadlines: the time of the requests with them minus that without.
    process_clock::duration run(std::size_t count) {
        const auto bare = run_with(count, [](auto&& handler) { return std::move(handler); });
        return run_with(count, Deadline()) - bare;
    }

private:
    template <class Terms>
    struct next {
        requests* self;
        void operator()(const error_code& ec) const {
            require(!ec, "a request was cancelled");
            ++self->completed_;
            self->template start<Terms>();
        }
    };

    template <class Terms>
    process_clock::duration run_with(std::size_t count, Terms) {
        left_ = count_ = count;
        completed_ = 0;
        const auto time = bench::run(context_, [this] {
            for (std::size_t i = 0; i < at_once_; ++i) {
                start<Terms>();
            }
        });
        require(completed_ == count, "a request did not complete");
        return time;
    }

    template <class Terms>
    void start() {
        if (left_ != 0) {
            --left_;
            async_request(context_, Terms()(next<Terms>{this}));
        } else if (completed_ == count_) {
            context_.stop();
        }
    }

    const std::size_t at_once_;
    std::size_t left_ = 0;
    std::size_t count_ = 0;
    std::size_t completed_ = 0;
    asio::io_context context_;
    std::vector<Timer> others_;
};

} // namespace bench

#endif
