// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef BENCH_DUEL_HPP
#define BENCH_DUEL_HPP

#include "measure.hpp"
#include "waits.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

/// Two threads run one context. Each has n timers of its own, of which it re-arms 64 at random, and
/// posts itself to go on; the aborted handlers are called by either thread. `wall` is the time that
/// passed, for one operation of both.
template <class Timer>
class duel {
    using steady = std::chrono::steady_clock;

public:
    duel(std::size_t n, std::size_t count)
        : sides_{{context_, n, count, 1}, {context_, n, count, 2}}, expected_(2 * (n + count)) {}

    void run() {
        for (side& s : sides_) {
            for (Timer& timer : s.timers) {
                arm(timer);
            }
            asio::post(context_, [this, &s] { burst(s); });
        }
        const auto begin = steady::now();
        time_.start();
        std::size_t others = 0;
        std::thread other([this, &others] { others = run_here(); });
        const std::size_t mine = run_here();
        other.join();
        wall_ = end_ - begin;
        require(mine + others == expected_, "an aborted wait was not completed");
    }

    [[nodiscard]] double cpu() const noexcept { return time_.seconds(); }
    [[nodiscard]] double wall() const noexcept {
        return std::chrono::duration<double>(wall_).count();
    }

private:
    struct side {
        side(asio::io_context& context, std::size_t n, std::size_t count, std::uint64_t seed)
            : random(seed), left(count), timers(make_timers<Timer>(context, n)) {}

        splitmix64 random;
        std::size_t left;
        std::vector<Timer> timers;
    };

    static std::size_t& completed() {
        thread_local std::size_t count = 0;
        return count;
    }

    std::size_t run_here() {
        completed() = 0;
        context_.run();
        return completed();
    }

    void arm(Timer& timer) {
        timer.expires_after(timeout);
        timer.async_wait([](const error_code& ec) {
            completed() += ec == asio::error::operation_aborted ? 1 : 0;
        });
    }

    void burst(side& s) {
        for (int i = 0; i < 64 && s.left != 0; ++i, --s.left) {
            arm(s.timers[s.random.below(s.timers.size())]);
        }
        if (s.left != 0) {
            asio::post(context_, [this, &s] { burst(s); });
        } else if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) { // The other is done too.
            time_.stop();
            end_ = steady::now();
            for (side& each : sides_) {
                for (Timer& timer : each.timers) {
                    timer.cancel();
                }
            }
        }
    }

    asio::io_context context_;
    side sides_[2];
    const std::size_t expected_;
    std::atomic<int> busy_{2};
    stopwatch<process_clock> time_;
    steady::time_point end_;
    steady::duration wall_{};
};

} // namespace bench

#endif
