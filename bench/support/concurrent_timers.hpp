// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef BENCH_CONCURRENT_TIMERS_HPP
#define BENCH_CONCURRENT_TIMERS_HPP

#include "measure.hpp"
#include "timer_workload.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

namespace bench {

/// Two threads run one context. Each has n timers of its own. It re-arms a burst of them at random
/// and then posts itself to continue. Between the bursts, either thread calls the aborted handlers.
/// `wall` is the wall-clock time of the whole run.
template <class Timer>
class concurrent_re_arm {
    using steady = std::chrono::steady_clock;

public:
    concurrent_re_arm(std::size_t n, std::size_t count, std::size_t burst)
        : burst_(burst), workers_{{context_, n, count, 1}, {context_, n, count, 2}},
          expected_(2 * (n + count)) {}

    void run() {
        for (worker& w : workers_) {
            for (Timer& timer : w.timers) {
                arm(timer);
            }
            asio::post(context_, [this, &w] { burst(w); });
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
    struct worker {
        worker(asio::io_context& context, std::size_t n, std::size_t count, std::uint64_t seed)
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

    void burst(worker& w) {
        for (std::size_t i = 0; i < burst_ && w.left != 0; ++i, --w.left) {
            arm(w.timers[w.random.below(w.timers.size())]);
        }
        if (w.left != 0) {
            asio::post(context_, [this, &w] { burst(w); });
        } else if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) { // Both are done.
            time_.stop();
            end_ = steady::now();
            for (worker& each : workers_) {
                for (Timer& timer : each.timers) {
                    timer.cancel();
                }
            }
        }
    }

    const std::size_t burst_;
    asio::io_context context_;
    worker workers_[2];
    const std::size_t expected_;
    std::atomic<int> busy_{2};
    stopwatch<process_clock> time_;
    steady::time_point end_;
    steady::duration wall_{};
};

/// Several threads run one context. Each has n timers of its own with pending waits, and postpones
/// them in random order in a single handler, `count` times in all. `wall` is the wall-clock time
/// from the first start to the last end; `cpu` is the processor time of all threads together.
class concurrent_postpone {
    using steady = std::chrono::steady_clock;
    using timer = asio_wheel::steady_timer;

public:
    concurrent_postpone(std::size_t n, std::size_t count, std::size_t threads) : count_(count) {
        for (std::size_t i = 0; i < threads; ++i) {
            workers_.emplace_back(context_, n, i + 1);
        }
    }

    void run() {
        for (worker& w : workers_) {
            for (timer& t : w.timers) {
                t.expires_after(timeout);
                t.async_wait([](const error_code&) { require(false, "a wait ended"); });
            }
            asio::post(context_, [this, &w] { postpone(w); });
        }
        std::vector<std::thread> others;
        for (std::size_t i = 1; i < workers_.size(); ++i) {
            others.emplace_back([this] { context_.run(); });
        }
        context_.run();
        for (std::thread& other : others) {
            other.join();
        }
        for (const worker& w : workers_) {
            require(w.moved == count_, "a wait was not postponed");
        }
    }

    [[nodiscard]] double cpu() const {
        double sum = 0;
        for (const worker& w : workers_) {
            sum += w.used.seconds();
        }
        return sum;
    }

    [[nodiscard]] double wall() const {
        const auto begin = std::ranges::min_element(workers_, {}, &worker::begin)->begin;
        const auto end = std::ranges::max_element(workers_, {}, &worker::end)->end;
        return std::chrono::duration<double>(end - begin).count();
    }

private:
    struct worker {
        worker(asio::io_context& context, std::size_t n, std::uint64_t seed)
            : random(seed), order(random_order(n, random)), timers(make_timers<timer>(context, n)) {
        }

        splitmix64 random;
        std::vector<std::uint32_t> order;
        std::vector<timer> timers;
        std::size_t moved = 0;
        stopwatch<thread_clock> used;
        steady::time_point begin;
        steady::time_point end;
    };

    void postpone(worker& w) {
        ready_.fetch_add(1, std::memory_order_acq_rel); // Start when all threads have arrived.
        while (ready_.load(std::memory_order_acquire) < workers_.size()) {
            std::this_thread::yield();
        }
        w.begin = steady::now();
        w.used.start();
        std::size_t moved = 0;
        for (std::size_t i = 0, next = 0; i < count_; ++i) {
            moved += w.timers[w.order[next]].postpone(timeout);
            next = next + 1 == w.order.size() ? 0 : next + 1;
        }
        w.used.stop();
        w.end = steady::now();
        w.moved = moved;
        if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers_.size()) {
            context_.stop(); // The context destroys the pending waits.
        }
    }

    const std::size_t count_;
    asio::io_context context_;
    std::deque<worker> workers_;
    std::atomic<std::size_t> ready_{0};
    std::atomic<std::size_t> done_{0};
};

} // namespace bench

#endif
