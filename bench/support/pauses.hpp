// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How long other work is held up while very many waits expire, are filed again, or end with their
// context.

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
#include <utility>
#include <vector>

namespace bench {

/// The longest time between two turns of a handler that posts itself again and again. `pause` is
/// wall-clock time; `cpu` is the most processor time that the thread used between two turns.
class turn_monitor {
    using clock = std::chrono::steady_clock;

public:
    /// Call this in each turn. Measuring begins with the first call.
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

    /// Leaves out what this turn has done so far.
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

/// n waits with the same deadline.
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
                    over_.store(true, std::memory_order_relaxed); // Publishes no other data.
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

/// The span of a slot on the wheel's second level. Entries with distant deadlines are filed there,
/// and cascade at most this long before their deadline.
constexpr std::chrono::milliseconds cascade_time{256};

/// Measures how long a handler of the same thread, which posts itself again and again, is kept from
/// running while n waits expire.
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

/// The same while n waits with the same deadline are moved to a later one, as idle timeouts of
/// active connections are. Ours are postponed, and filed again when the old deadline comes. Asio's
/// timers cannot be postponed: the new deadline is only recorded, and a wait that completes too
/// soon is started again.
template <class Timer>
class refiling_pause {
    using clock = std::chrono::steady_clock;

public:
    explicit refiling_pause(std::size_t n) : timers_(make_timers<Timer>(context_, n)) {}

    refiling_pause(const refiling_pause&) = delete;
    refiling_pause& operator=(const refiling_pause&) = delete;

    ~refiling_pause() { context_.stop(); } // The context destroys the pending waits.

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

    // How many waits have been filed for their new deadline so far.
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
        // filed_again() takes time, so call it once a millisecond and leave it out.
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

/// Starts a wait and records how long the call took.
class timed_initiation {
    using clock = std::chrono::steady_clock;

public:
    /// Starts a wait with `handler`, then spins until 20 µs after the call began.
    template <class Timer, class Handler>
    void async_wait(Timer& timer, Handler handler) {
        timer.expires_after(timeout);
        const auto used = thread_clock::now();
        const auto begin = clock::now();
        timer.async_wait(std::move(handler));
        const auto end = clock::now();
        cpu_ = std::max(cpu_, thread_clock::duration(thread_clock::now() - used));
        pause_ = std::max(pause_, end - begin);
        while (clock::now() < begin + std::chrono::microseconds(20)) {
        }
    }

    [[nodiscard]] clock::duration pause() const noexcept { return pause_; }
    [[nodiscard]] thread_clock::duration cpu() const noexcept { return cpu_; }

private:
    clock::duration pause_{};
    thread_clock::duration cpu_{};
};

/// Measures the longest async_wait() of another thread, which starts a wait of its own every 20 µs
/// while n waits expire. `pause` is wall-clock time, so it includes any time in which that thread
/// did not run; `cpu` is the most processor time of one call.
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

    [[nodiscard]] auto pause() const noexcept { return initiation_.pause(); }
    [[nodiscard]] auto cpu() const noexcept { return initiation_.cpu(); }

private:
    void start_waits() {
        const auto work = asio::make_work_guard(base::context_); // Until all waits are cancelled.
        std::this_thread::sleep_until(base::deadline_ - std::chrono::milliseconds(10));
        for (std::size_t i = 0; !base::over(); ++i) {
            initiation_.async_wait(others_[i % others_.size()], [](const error_code&) {});
        }
        for (Timer& timer : others_) {
            timer.cancel();
        }
    }

    std::vector<Timer> others_;
    timed_initiation initiation_;
};

/// Measures the longest async_wait() of another thread, as above, while the context of its timers
/// is destroyed with n other waits pending. `time` is the processor time of the thread that
/// destroys it.
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

    [[nodiscard]] auto pause() const noexcept { return initiation_.pause(); }
    [[nodiscard]] auto cpu() const noexcept { return initiation_.cpu(); }
    [[nodiscard]] double time() const noexcept { return time_.seconds(); }

private:
    // Joins the thread that uses the context. Services are shut down in reverse order of creation:
    // the timers before this one, the context's queue after it.
    struct joined : asio::execution_context::service {
        static inline asio::execution_context::id id;

        explicit joined(asio::execution_context& owner) : service(owner) {}

        void shutdown() noexcept override {
            over.store(true, std::memory_order_relaxed); // Publishes no other data.
            if (thread.joinable()) {
                thread.join();
            }
        }

        std::thread thread;
        std::atomic<bool> over{false};
    };

    // Makes shutdown() public, which the destructor calls first.
    struct context : asio::io_context {
        using asio::io_context::execution_context::shutdown;

        joined& user = asio::use_service<joined>(*this);
    };

    // Uses each timer once, because re-arming would abort a pending wait.
    void start_waits() {
        for (Timer& timer : mine_) {
            if (context_->user.over.load(std::memory_order_relaxed)) {
                break;
            }
            initiation_.async_wait(timer, [this](const error_code&) { ++called_; });
            started_.fetch_add(1, std::memory_order_release);
        }
    }

    std::unique_ptr<context> context_;
    std::vector<Timer> others_;
    std::vector<Timer> mine_;
    std::size_t called_ = 0;
    std::atomic<std::size_t> started_{0};
    stopwatch<thread_clock> time_;
    timed_initiation initiation_;
};

} // namespace bench

#endif
