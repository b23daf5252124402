// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a mass of waits means for everybody else: that expire, that are filed again, or whose
// context ends.

#ifndef BENCH_PAUSES_HPP
#define BENCH_PAUSES_HPP

#include "measure.hpp"
#include "timer_workload.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace bench {

/// The longest time between two turn_monitor of a handler that posts itself again and again. `pause` is by
/// the wall clock, `cpu` is the processor time that the thread used in it.
class turn_monitor {
    using clock = std::chrono::steady_clock;

public:
    /// To be called in each turn. The first one begins the count.
    void take() {
        const auto now = clock::now();
        const auto used = thread_clock::now();
        if (last_ != clock::time_point()) {
            pause_ = std::max(pause_, now - last_);
            cpu_ = std::max(cpu_, thread_clock::duration(used - last_used_));
        }
        last_ = now;
        last_used_ = used;
    }

    /// What this turn has done so far does not count.
    void restart() {
        last_ = clock::now();
        last_used_ = thread_clock::now();
    }

    [[nodiscard]] clock::duration pause() const noexcept { return pause_; }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return cpu_; }

private:
    clock::time_point last_;
    thread_clock::time_point last_used_;
    clock::duration pause_{};
    thread_clock::duration cpu_{};
};

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

/// What a slot of the wheel's second level spans. Entries that are far from their deadline are
/// filed there, and cascade when its time comes, so long before their deadline at most.
constexpr std::chrono::milliseconds cascade_time{256};

/// How long another handler of the same thread, which posts itself again and again, does not get
/// its turn meanwhile.
template <class Timer>
class posted_handler_pause : mass_expiry<Timer> {
    using base = mass_expiry<Timer>;
    using typename base::clock;

public:
    explicit posted_handler_pause(std::size_t n) : base(n) {}

    void run() {
        base::arm_all();
        asio::post(base::context_, [this] { take_turn(); });
        base::context_.run();
        require(base::all_expired(), "a wait did not expire");
    }

    [[nodiscard]] clock::duration pause() const noexcept { return turn_monitor_.pause(); }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return turn_monitor_.cpu(); }

private:
    void take_turn() {
        if (clock::now() >= base::deadline_ - cascade_time) {
            turn_monitor_.take();
        }
        if (!base::over()) {
            asio::post(base::context_, [this] { take_turn(); });
        }
    }

    turn_monitor turn_monitor_;
};

/// The same while n waits for one moment are given more time, because each of them has been touched
/// before it. Ours are postponed, and filed again when that moment comes. Asio's cannot be: the new
/// deadline is only noted, and a wait that ends too soon is started again.
template <class Timer>
class refiling_pause {
    using clock = std::chrono::steady_clock;

public:
    explicit refiling_pause(std::size_t n) : timers_(make_timers<Timer>(context_, n)) {}

    refiling_pause(const refiling_pause&) = delete;
    refiling_pause& operator=(const refiling_pause&) = delete;

    ~refiling_pause() { context_.stop(); } // The waits end with the context, uncalled.

    void run() {
        deadline_ = clock::now() + 2 * arming_time(timers_.size());
        for (Timer& timer : timers_) {
            timer.expires_at(deadline_);
            wait(timer);
        }
        later_ = deadline_ + timeout_of(timers_.size());
        std::size_t moved = 0;
        for (Timer& timer : timers_) {
            if constexpr (can_be_postponed) {
                moved += timer.postpone_until(later_);
            }
        }
        require(moved == (can_be_postponed ? timers_.size() : 0), "a wait was not postponed");
        require(clock::now() < deadline_ - cascade_time, "arming took longer than was expected");
        asio::post(context_, [this] { take_turn(); });
        context_.run();
    }

    [[nodiscard]] clock::duration pause() const noexcept { return turn_monitor_.pause(); }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return turn_monitor_.cpu(); }

private:
    static constexpr bool can_be_postponed =
        requires(Timer& timer) { timer.postpone_until(clock::time_point()); };

    void wait(Timer& timer) {
        timer.async_wait([this, &timer](const error_code& ec) {
            require(!ec && !can_be_postponed, "a wait ended");
            timer.expires_at(later_);
            wait(timer);
            ++started_again_;
        });
    }

    // So many waits have been given their new deadline.
    [[nodiscard]] std::size_t filed_again() {
        if constexpr (can_be_postponed) {
            return asio_wheel::use_wheel(context_).stats().cascaded;
        } else {
            return started_again_;
        }
    }

    void take_turn() {
        const auto now = clock::now();
        if (now >= deadline_ - cascade_time) {
            turn_monitor_.take();
        }
        // Asking takes time, so it is done once in a while, and does not count.
        if (now >= next_check_) {
            next_check_ = now + std::chrono::milliseconds(1);
            if (filed_again() >= timers_.size()) {
                return context_.stop();
            }
            if (now >= deadline_ - cascade_time) {
                turn_monitor_.restart();
            }
        }
        require(now < later_, "a wait was not filed again");
        asio::post(context_, [this] { take_turn(); });
    }

    turn_monitor turn_monitor_;
    clock::time_point deadline_;
    clock::time_point later_;
    clock::time_point next_check_;
    std::size_t started_again_ = 0;
    asio::io_context context_;
    std::vector<Timer> timers_;
};

/// How long another thread is in async_wait() at most, by the wall clock, when it starts a wait of
/// its own every 20 µs meanwhile. That it is not running at all is counted too: `cpu` is the
/// processor time it used in the longest.
template <class Timer>
class foreign_wait_pause : mass_expiry<Timer> {
    using base = mass_expiry<Timer>;
    using typename base::clock;

public:
    explicit foreign_wait_pause(std::size_t n)
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

/// How long another thread is in async_wait() at most, as above, while the context of its timers
/// ends, with n waits of others. `time` is the processor time of the thread that ends it.
template <class Timer>
class context_end_pause {
    using clock = std::chrono::steady_clock;

public:
    explicit context_end_pause(std::size_t n)
        : context_(std::make_unique<context>()), others_(make_timers<Timer>(*context_, n)),
          mine_(make_timers<Timer>(*context_, std::max<std::size_t>(4096, n / 8))) {
        for (Timer& timer : others_) {
            timer.expires_after(timeout_of(n));
            timer.async_wait([this](const error_code&) { ++called_; });
        }
    }

    void run() {
        context_->user.thread = std::thread([this] { start_waits(); });
        while (started_.load(std::memory_order_acquire) < 16) {
            std::this_thread::yield();
        }
        time_.start();
        context_->shutdown();
        time_.stop();
        time_.start();
        others_.clear();
        time_.stop();
        mine_.clear();
        time_.start();
        context_.reset();
        time_.stop();
        require(called_ == 0, "a wait was completed");
    }

    [[nodiscard]] clock::duration pause() const noexcept { return pause_; }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return cpu_; }
    [[nodiscard]] double time() const noexcept { return time_.seconds(); }

private:
    // Joins a thread that uses the context. Services end in the reverse order in which they were
    // made: timers do before it, the context's queue after it.
    struct joined : asio::execution_context::service {
        static inline asio::execution_context::id id;

        explicit joined(asio::execution_context& owner) : service(owner) {}

        void shutdown() noexcept override {
            over.store(true, std::memory_order_relaxed); // A flag, nothing more.
            if (thread.joinable()) {
                thread.join();
            }
        }

        std::thread thread;
        std::atomic<bool> over{false};
    };

    // shutdown() is what its destructor does first.
    struct context : asio::io_context {
        using asio::io_context::execution_context::shutdown;

        joined& user = asio::use_service<joined>(*this);
    };

    // Each timer is used once: what is pending must be left alone.
    void start_waits() {
        for (Timer& timer : mine_) {
            if (context_->user.over.load(std::memory_order_relaxed)) {
                break;
            }
            timer.expires_after(timeout);
            const auto used = thread_clock::now();
            const auto begin = clock::now();
            timer.async_wait([this](const error_code&) { ++called_; });
            const auto end = clock::now();
            cpu_ = std::max(cpu_, thread_clock::duration(thread_clock::now() - used));
            pause_ = std::max(pause_, end - begin);
            started_.fetch_add(1, std::memory_order_release);
            while (clock::now() < begin + std::chrono::microseconds(20)) {
            }
        }
    }

    std::unique_ptr<context> context_;
    std::vector<Timer> others_;
    std::vector<Timer> mine_;
    std::size_t called_ = 0;
    std::atomic<std::size_t> started_{0};
    stopwatch<thread_clock> time_;
    clock::duration pause_{};
    thread_clock::duration cpu_{};
};

} // namespace bench

#endif
