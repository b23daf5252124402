// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a mass of expiries means for everybody else.

#ifndef BENCH_PROBE_HPP
#define BENCH_PROBE_HPP

#include "measure.hpp"
#include "waits.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

/// n waits with one and the same deadline.
template <class Timer>
class mass_expiry {
protected:
    using clock = std::chrono::steady_clock;

    explicit mass_expiry(std::size_t n) : timers_(make_timers<Timer>(context_, n)) {}

    void arm_all() {
        deadline_ = clock::now() + arming_time(timers_.size());
        for (Timer& timer : timers_) {
            timer.expires_at(deadline_);
            timer.async_wait([this](const error_code& ec) {
                expired_ += ec ? 0 : 1;
                if (expired_ == timers_.size()) {
                    over_.store(true, std::memory_order_relaxed); // A flag, nothing more.
                }
            });
        }
    }

    [[nodiscard]] bool over() const { return over_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool all_expired() const { return expired_ == timers_.size(); }

    asio::io_context context_;
    clock::time_point deadline_;

private:
    std::vector<Timer> timers_;
    std::size_t expired_ = 0;
    std::atomic<bool> over_{false};
};

/// How long another handler of the same thread, which posts itself again and again, does not get its
/// turn meanwhile. `pause` is by the wall clock, `cpu` is the processor time used in it.
template <class Timer>
class posted_probe : mass_expiry<Timer> {
    using base = mass_expiry<Timer>;
    using typename base::clock;

public:
    explicit posted_probe(std::size_t n) : base(n) {}

    void run() {
        base::arm_all();
        asio::post(base::context_, [this] { look(); });
        base::context_.run();
        require(base::all_expired(), "a wait did not expire");
    }

    [[nodiscard]] clock::duration pause() const noexcept { return pause_; }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return cpu_; }

private:
    void look() {
        const auto now = clock::now();
        const auto used = thread_clock::now();
        if (now >= base::deadline_ && last_ != typename clock::time_point()) {
            pause_ = std::max(pause_, now - last_);
            cpu_ = std::max(cpu_, thread_clock::duration(used - last_used_));
        }
        last_ = now;
        last_used_ = used;
        if (!base::over()) {
            asio::post(base::context_, [this] { look(); });
        }
    }

    typename clock::time_point last_;
    thread_clock::time_point last_used_;
    typename clock::duration pause_{};
    thread_clock::duration cpu_{};
};

/// How long another thread is in async_wait() at most, by the wall clock, when it starts a wait of
/// its own every 20 µs meanwhile. That it is not running at all is counted too: `cpu` is the processor
/// time it used in the longest.
template <class Timer>
class foreign_thread : mass_expiry<Timer> {
    using base = mass_expiry<Timer>;
    using typename base::clock;

public:
    explicit foreign_thread(std::size_t n)
        : base(n), others_(make_timers<Timer>(base::context_, 4096)) {}

    void run() {
        base::arm_all();
        std::thread other([this] { start_waits(); });
        base::context_.run();
        other.join();
        require(base::all_expired(), "a wait did not expire");
    }

    [[nodiscard]] clock::duration pause() const noexcept { return pause_; }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return cpu_; }

private:
    void start_waits() {
        const auto work = asio::make_work_guard(base::context_); // Until all waits are cancelled.
        std::this_thread::sleep_until(base::deadline_ - std::chrono::milliseconds(10));
        for (std::size_t i = 0; !base::over(); ++i) {
            Timer& timer = others_[i % others_.size()];
            timer.expires_after(timeout);
            const auto used = thread_clock::now();
            const auto begin = clock::now();
            timer.async_wait([](const error_code&) {});
            const auto end = clock::now();
            cpu_ = std::max(cpu_, thread_clock::duration(thread_clock::now() - used));
            pause_ = std::max(pause_, end - begin);
            while (clock::now() < begin + std::chrono::microseconds(20)) {
            }
        }
        for (Timer& timer : others_) {
            timer.cancel();
        }
    }

    std::vector<Timer> others_;
    typename clock::duration pause_{};
    thread_clock::duration cpu_{};
};

} // namespace bench

#endif
