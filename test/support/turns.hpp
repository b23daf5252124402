// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Measures how long the library holds a lock, and how much the wheel does between two turns of
// another handler: in entries, in handlers, and in processor time. For one thread.
//
// A program that includes this defines ASIO_WHEEL_SYNC_HEADER as "support/measured_sync.hpp".

#ifndef ASIO_WHEEL_TEST_SUPPORT_TURNS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TURNS_HPP

#include "backend.hpp"
#include "manual_clock.hpp"
#include "measured_sync.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wheel_options.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <ostream>

namespace asio_wheel::test {

/// Whether thread_time() tells the time of a few instructions. Windows tells it in ticks.
inline constexpr bool thread_time_is_fine = !on_completion_port;

/// Returns the processor time of this thread in nanoseconds.
[[nodiscard]] inline std::int64_t thread_time() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// What happened while locks were held.
struct lock_record {
    std::size_t count = 0;       ///< The number of locks.
    std::uint64_t most_work = 0; ///< The most waits moved, ended or checked.
    std::size_t most_ready = 0;  ///< The most waits that one lock made ready.
    std::int64_t longest_ns = 0; ///< The longest time that one was held, in processor time.
    std::int64_t total_ns = 0;   ///< The sum for all locks.
};

/// Records what its thread does to one wheel, until finish().
///
/// The wheel's stats before and after a lock show what it moved or ended. What becomes ready under
/// a lock is queued after it. So a marker is queued between two locks, and the handlers between two
/// markers belong to one lock.
template <class Crowd>
class lock_log final : public lock_observer {
public:
    explicit lock_log(Crowd& crowd) : crowd_(crowd) {
        observe();
        here = this;
    }
    lock_log(const lock_log&) = delete;
    lock_log& operator=(const lock_log&) = delete;
    ~lock_log() { here = nullptr; }

    /// Runs the ready handlers, and returns the record.
    lock_record finish() {
        here = nullptr;
        if (!crowd_.ended()) {
            post_marker(); // The handlers of the last lock end here.
            crowd_.poll();
        }
        return record_;
    }

private:
    void locked(lock_mark& mark) override { mark = {thread_time(), work_, waits_}; }

    void unlocking(const lock_mark& mark) override {
        const std::int64_t spent = thread_time() - mark.time;
        record_.longest_ns = std::max(record_.longest_ns, spent);
        record_.total_ns += spent;
    }

    void unlocked(const lock_mark& mark) override {
        ++record_.count;
        const not_observed nobody;
        observe();
        const std::uint64_t gone = mark.waits > waits_ ? mark.waits - waits_ : 0;
        record_.most_work = std::max({record_.most_work, work_ - mark.work, gone});
        if (!crowd_.ended()) {
            post_marker();
        }
    }

    // The counters that only grow, and the number of waits.
    void observe() {
        const not_observed nobody;
        const wheel_stats s = crowd_.wheel().stats();
        work_ = s.scheduled + s.cancelled + s.postponed + s.rejected + s.cascaded;
        waits_ = s.pending;
    }

    void post_marker() {
        boost::asio::post(crowd_.context(), [this] {
            record_.most_ready = std::max(record_.most_ready, crowd_.ran() - ran_);
            ran_ = crowd_.ran();
        });
    }

    Crowd& crowd_;
    lock_record record_;
    std::uint64_t work_ = 0;
    std::uint64_t waits_ = 0;
    std::size_t ran_ = crowd_.ran();
};

/// A shape of wheel.
struct wheel_shape {
    std::size_t slots;
    unsigned levels;

    friend std::ostream& operator<<(std::ostream& out, const wheel_shape& s) {
        return out << s.slots << " x " << s.levels;
    }
};

/// Many waits on a wheel, and operations on all of them at once.
class waiting_crowd {
public:
    using clock = manual_clock<struct waiting_crowd_clock>;
    using timer = basic_waitable_timer<clock, impatient<clock>>;
    using wheel_type = wheel_service<clock, impatient<clock>>;

    /// The most that another handler saw between two of its turns.
    struct gap {
        std::size_t handlers = 0;    ///< Handlers that were called.
        std::uint64_t cascaded = 0;  ///< Entries that were filed again.
        std::int64_t longest_ns = 0; ///< Processor time.
    };

    waiting_crowd(const wheel_shape& shape, std::size_t budget)
        : levels_(shape.levels),
          wheel_(make_wheel<clock, impatient<clock>>(ctx_, {.slots = shape.slots,
                                                            .levels = shape.levels,
                                                            .stall = stall_for_steps,
                                                            .budget = budget})) {}

    /// Starts `count` waits for `d`, each on a timer of its own.
    void wait(std::size_t count, std::chrono::nanoseconds d) {
        for (std::size_t i = 0; i < count; ++i) {
            timers_.emplace_back(ctx_, d).async_wait(counts{*this});
        }
    }

    /// Starts `count` waits for `d` on one timer.
    timer& wait_on_one(std::size_t count, std::chrono::nanoseconds d) {
        timer& t = timers_.emplace_back(ctx_, d);
        for (std::size_t i = 0; i < count; ++i) {
            t.async_wait(counts{*this});
        }
        return t;
    }

    void postpone(std::chrono::nanoseconds d) {
        for (timer& t : timers_) {
            static_cast<void>(t.postpone(d));
        }
    }

    /// Advances time, and runs the context until it is idle, together with another handler that is
    /// always ready.
    gap run(std::chrono::nanoseconds d) {
        clock::advance(d);
        gap most;
        using real = std::chrono::steady_clock;
        constexpr auto real_pause = std::chrono::milliseconds(100);
        std::size_t quiet = 0; // Turns without anything between them.
        auto quiet_since = real::now();
        std::size_t ran = ran_;
        wheel_stats before = stats();
        std::int64_t last = thread_time();
        std::function<void()> turn = [&] {
            const std::int64_t spent = thread_time() - last;
            const wheel_stats now = stats();
            const bool something =
                ran_ != ran || now.cascaded != before.cascaded || now.postponed != before.postponed;
            quiet = something ? 0 : quiet + 1;
            quiet_since = something ? real::now() : quiet_since;
            if (something) {
                most.handlers = std::max(most.handlers, ran_ - ran);
                most.cascaded = std::max(most.cascaded, now.cascaded - before.cascaded);
                most.longest_ns = std::max(most.longest_ns, spent);
            }
            ran = ran_;
            before = now;
            // The driver may need some turns to notice the time, or some of the real time.
            if (quiet < 20 || (polls_are_slow && real::now() - quiet_since < real_pause)) {
                boost::asio::post(ctx_, std::ref(turn));
            }
            last = thread_time();
        };
        boost::asio::post(ctx_, std::ref(turn));
        poll();
        return most;
    }

    void poll() {
        ctx_.restart();
        ctx_.poll();
    }

    /// Shuts down all services of the context, as its destructor does.
    void end() {
        ended_ = true;
        ctx_.end_services();
    }
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    [[nodiscard]] wheel_type& wheel() noexcept { return wheel_; }
    [[nodiscard]] boost::asio::io_context& context() noexcept { return ctx_; }
    [[nodiscard]] std::deque<timer>& timers() noexcept { return timers_; }
    [[nodiscard]] unsigned levels() const noexcept { return levels_; }

    /// Returns how many handlers were called: for expired waits, and for all.
    [[nodiscard]] std::size_t delivered() const noexcept { return delivered_; }
    [[nodiscard]] std::size_t ran() const noexcept { return ran_; }

private:
    struct services : boost::asio::io_context {
        void end_services() { shutdown(); }
    };

    struct counts {
        waiting_crowd& crowd;
        void operator()(const boost::system::error_code& ec) const {
            ++crowd.ran_;
            crowd.delivered_ += ec ? 0 : 1;
        }
    };

    [[nodiscard]] wheel_stats stats() const {
        const not_observed nobody;
        return wheel_.stats();
    }

    services ctx_;
    unsigned levels_;
    wheel_type& wheel_;
    bool ended_ = false;
    std::size_t delivered_ = 0;
    std::size_t ran_ = 0;
    std::deque<timer> timers_;
};

/// Idle timers whose periods are shortened.
class idle_crowd {
public:
    idle_crowd(const wheel_shape& shape, std::size_t budget)
        : wheel_(
              make_wheel(ctx_, {.slots = shape.slots, .levels = shape.levels, .budget = budget})) {
        wheel_.pause();
    }

    void wait(std::size_t count, std::chrono::nanoseconds period) {
        for (std::size_t i = 0; i < count; ++i) {
            timers_.emplace_back(ctx_, period).async_wait([this](const boost::system::error_code&) {
                ++ran_;
            });
        }
    }

    /// Returns the most waits that are moved, and the most processor time, between two turns of
    /// another handler. The first of these turns is before the call.
    waiting_crowd::gap scale(double factor) {
        waiting_crowd::gap most;
        std::uint64_t before = stats().postponed;
        std::size_t quiet = 0;
        std::int64_t last = thread_time();
        std::function<void()> turn = [&] {
            const std::int64_t spent = thread_time() - last;
            const std::uint64_t now = stats().postponed;
            if (now != before) {
                most.handlers = std::max<std::size_t>(most.handlers, now - before);
                most.longest_ns = std::max(most.longest_ns, spent);
            }
            quiet = now == before ? quiet + 1 : 0;
            before = now;
            if (quiet < 20) {
                boost::asio::post(ctx_, std::ref(turn));
            }
            last = thread_time();
        };
        boost::asio::post(ctx_, std::ref(turn));
        asio_wheel::scale_idle_timers(wheel_, factor);
        poll();
        return most;
    }

    void poll() {
        ctx_.restart();
        ctx_.poll();
    }

    [[nodiscard]] static bool ended() noexcept { return false; }
    [[nodiscard]] wheel_service<>& wheel() noexcept { return wheel_; }
    [[nodiscard]] boost::asio::io_context& context() noexcept { return ctx_; }
    [[nodiscard]] std::size_t ran() const noexcept { return ran_; }

private:
    [[nodiscard]] wheel_stats stats() const {
        const not_observed nobody;
        return wheel_.stats();
    }

    boost::asio::io_context ctx_;
    wheel_service<>& wheel_;
    std::size_t ran_ = 0;
    std::deque<idle_timer> timers_;
};

} // namespace asio_wheel::test

#endif
