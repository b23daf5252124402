// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timers of one type on an io_context, and a sequence of operations on them.

#ifndef BENCH_TIMER_WORKLOAD_HPP
#define BENCH_TIMER_WORKLOAD_HPP

#include "measure.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

namespace asio = boost::asio;
using boost::system::error_code;

/// A typical idle timeout of a server.
constexpr std::chrono::seconds timeout{30};

/// The timeout for n timers. It is longer for very many, because working on them takes longer than
/// 30 s.
constexpr std::chrono::seconds timeout_of(std::size_t n) {
    return n > 1'000'000 ? std::chrono::minutes(5) : timeout;
}

/// Timeouts for a workload: always the same one.
class fixed_timeouts {
public:
    explicit fixed_timeouts(std::size_t n) noexcept : timeout_(timeout_of(n)) {}

    [[nodiscard]] std::chrono::nanoseconds operator()() const noexcept { return timeout_; }

private:
    std::chrono::nanoseconds timeout_;
};

/// Timeouts for a workload: a random one from 30 to 90 s each time. To draw it takes about 2 ns.
class varied_timeouts {
public:
    explicit varied_timeouts(std::size_t) noexcept {}

    [[nodiscard]] std::chrono::nanoseconds operator()() noexcept {
        constexpr std::uint64_t range = 60'000'000'000;
        return timeout + std::chrono::nanoseconds(random_.below(range));
    }

private:
    splitmix64 random_{43};
};

/// The order in which a workload visits its timers: in order of address, or at random.
enum class visit_order { in_order, at_random };

/// Enough time to arm n timers, even on a slow machine.
constexpr std::chrono::nanoseconds arming_time(std::size_t n) {
    return std::chrono::milliseconds(300) + n * std::chrono::nanoseconds(1'500);
}

/// How many aborted handlers are queued at once by default. With only one, an io_context polls the
/// kernel for events after each handler, which costs more than any timer.
constexpr std::size_t in_flight = 64;

/// A second thread that does nothing. In a process with a single thread, glibc's locks are cheaper
/// than in a server.
class idle_thread {
public:
    idle_thread() = default;
    idle_thread(const idle_thread&) = delete;
    idle_thread& operator=(const idle_thread&) = delete;
    ~idle_thread() {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            done_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

private:
    void sleep() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return done_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::thread thread_{[this] { sleep(); }};
};

/// Returns n timers of one context, adjacent in memory. If the type has a function
/// prepare(context), calls that first.
template <class Timer>
std::vector<Timer> make_timers(asio::io_context& context, std::size_t n) {
    if constexpr (requires { Timer::prepare(context); }) {
        Timer::prepare(context);
    }
    std::vector<Timer> timers;
    timers.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        timers.emplace_back(context);
    }
    return timers;
}

/// Posts `function` to the context and runs the context until it is out of work or stopped. Returns
/// the processor time of that.
template <class Function>
process_clock::duration run(asio::io_context& context, Function function) {
    asio::post(context, std::move(function));
    stopwatch<process_clock> time;
    time.start();
    context.run();
    time.stop();
    context.restart();
    return time.total();
}

/// n timers with pending waits, and a sequence of operations on them. An operation is a function
/// object, called with the workload and one of its timers, that aborts the timer's wait. The
/// operations come in bursts of `burst`. The last aborted handler of a burst starts the next burst,
/// so that many handlers are queued at once.
template <class Timer, class Operation, class Timeouts = fixed_timeouts>
class timer_workload {
public:
    timer_workload(std::size_t n, std::size_t burst, visit_order order = visit_order::at_random)
        : order_(order == visit_order::at_random ? random_order(n, random_) : index_order(n)),
          burst_(burst), timeouts_(n), timers_(make_timers<Timer>(context_, n)) {}

    timer_workload(const timer_workload&) = delete;
    timer_workload& operator=(const timer_workload&) = delete;

    [[nodiscard]] std::chrono::nanoseconds next_timeout() noexcept { return timeouts_(); }

    void arm(Timer& timer) {
        timer.expires_after(next_timeout());
        timer.async_wait([this](const error_code& ec) { aborted(ec); });
    }

    /// Arms all timers in order of address, from one handler.
    process_clock::duration arm_all() {
        return run(context_, [this] {
            for (Timer& timer : timers_) {
                arm(timer);
            }
            context_.stop();
        });
    }

    /// Does `count` operations in visit order. Returns when each has aborted a wait.
    process_clock::duration apply(std::size_t count) {
        left_ = count;
        const auto time = run(context_, [this] { next_burst(); });
        require(left_ == 0 && under_way_ == 0, "an aborted wait was not completed");
        return time;
    }

    /// Calls `function(timer)`, which must not abort any wait, `count` times in visit order, from
    /// one handler.
    template <class Function>
    process_clock::duration apply_without_abort(std::size_t count, Function function) {
        return run(context_, [this, count, function] {
            for (std::size_t i = 0; i < count; ++i) {
                function(next_timer());
            }
            context_.stop();
        });
    }

private:
    Timer& next_timer() {
        Timer& timer = timers_[order_[next_]];
        next_ = next_ + 1 == order_.size() ? 0 : next_ + 1;
        return timer;
    }

    void next_burst() {
        under_way_ = std::min(burst_, left_);
        left_ -= under_way_;
        for (std::size_t i = under_way_; i > 0; --i) {
            Operation()(*this, next_timer());
        }
    }

    void aborted(const error_code& ec) {
        require(ec == asio::error::operation_aborted, "a wait expired that should not");
        require(under_way_ > 0, "a wait completed without having been aborted");
        if (--under_way_ != 0) {
            return;
        }
        if (left_ != 0) {
            next_burst();
        } else {
            context_.stop();
        }
    }

    splitmix64 random_;
    const std::vector<std::uint32_t> order_;
    const std::size_t burst_;
    Timeouts timeouts_;
    std::size_t next_ = 0;
    std::size_t left_ = 0;      // Operations that are still to do.
    std::size_t under_way_ = 0; // Operations done whose handlers have not been called.
    asio::io_context context_;
    std::vector<Timer> timers_;
};

// Operations of a workload.

struct re_arm_one {
    template <class Workload, class Timer>
    void operator()(Workload& workload, Timer& timer) const {
        workload.arm(timer);
    }
};

struct cancel_one {
    template <class Workload, class Timer>
    void operator()(Workload&, Timer& timer) const {
        timer.cancel();
    }
};

} // namespace bench

#endif
