// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Short waits: timeouts of operations that complete in time, and coroutines that sleep.

#ifndef BENCH_SHORT_LIVED_HPP
#define BENCH_SHORT_LIVED_HPP

#include "measure.hpp"
#include "timer_workload.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace bench {

/// Requests, `at_once` of them concurrent, each with a timer of its own that never expires. A
/// request is a posted handler. n other waits are pending all the time.
template <class Timer>
class short_lived {
public:
    short_lived(std::size_t n, std::size_t at_once)
        : others_(make_timers<Timer>(context_, n)), timers_(at_once) {
        for (Timer& timer : others_) {
            timer.expires_after(timeout_of(n));
            timer.async_wait([this](const error_code& ec) { expired_ += ec ? 0 : 1; });
        }
    }

    short_lived(const short_lived&) = delete;
    short_lived& operator=(const short_lived&) = delete;

    process_clock::duration run(std::size_t count) {
        left_ = count;
        aborted_ = 0;
        const auto time = bench::run(context_, [this] {
            for (std::optional<Timer>& timer : timers_) {
                start(timer);
            }
        });
        require(aborted_ == count && left_ == 0, "an aborted wait was not completed");
        require(expired_ == 0, "a wait expired that should not");
        return time;
    }

private:
    void start(std::optional<Timer>& timer) {
        if (left_ == 0) {
            if (under_way_ == 0) {
                context_.stop();
            }
            return;
        }
        --left_;
        ++under_way_;
        timer.emplace(context_);
        timer->expires_after(timeout);
        timer->async_wait([this, &timer](const error_code& ec) {
            aborted_ += ec == asio::error::operation_aborted ? 1 : 0;
            timer.reset();
            --under_way_;
            start(timer);
        });
        asio::post(context_, [&timer] { timer->cancel(); });
    }

    std::size_t expired_ = 0;
    std::size_t left_ = 0;
    std::size_t under_way_ = 0;
    std::size_t aborted_ = 0;
    asio::io_context context_;
    std::vector<Timer> others_;
    std::vector<std::optional<Timer>> timers_;
};

template <class Timer>
asio::awaitable<void> sleeper(asio::io_context& context, std::size_t waits,
                              std::chrono::nanoseconds pause, std::size_t& done) {
    Timer timer(context);
    for (; waits > 0; --waits) {
        timer.expires_after(pause);
        co_await timer.async_wait(asio::use_awaitable);
        ++done;
    }
}

/// Runs n coroutines that wait `waits` times each, and returns the processor time, creation of the
/// coroutines included.
template <class Timer>
process_clock::duration await_chain(std::size_t n, std::size_t waits,
                                    std::chrono::nanoseconds pause) {
    asio::io_context context;
    std::size_t done = 0;
    const auto time = run(context, [&] {
        for (std::size_t i = 0; i < n; ++i) {
            asio::co_spawn(context, sleeper<Timer>(context, waits, pause, done), asio::detached);
        }
    });
    require(done == n * waits, "a coroutine did not complete all of its waits");
    return time;
}

} // namespace bench

#endif
