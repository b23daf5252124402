// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How long the library holds a lock, and how much a context does for a wheel between two turns of
// another handler: in entries, in handlers, and in processor time. For one thread.
//
// A program that includes this defines ASIO_WHEEL_SYNC_HEADER as "support/measured_sync.hpp".

#ifndef ASIO_WHEEL_TEST_SUPPORT_TURNS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TURNS_HPP

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
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// The processor time that this thread has had, in nanoseconds.
[[nodiscard]] inline std::int64_t thread_time() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// What happened while locks were held.
struct lock_record {
    std::size_t count = 0;       ///< How often one was.
    std::uint64_t most_work = 0; ///< The most waits that were moved, ended or looked at meanwhile.
    std::int64_t longest_ns = 0; ///< The longest that one was, in processor time;
    std::int64_t total_ns = 0;   ///< and all of them.
};

/// Keeps such a record of what its thread does in its life, on one wheel. What a lock has covered is
/// found by what the wheel's stats say before and after.
template <class Wheel>
class lock_log final : public lock_observer {
public:
    explicit lock_log(Wheel& wheel) : wheel_(wheel) {
        observe();
        lock_observer::here = this;
    }
    ~lock_log() { lock_observer::here = nullptr; }

    [[nodiscard]] const lock_record& record() const noexcept { return record_; }

private:
    void locked(lock_mark& mark) override { mark = {thread_time(), work_, waits_}; }

    void unlocking(const lock_mark& mark) override {
        const std::int64_t spent = thread_time() - mark.time;
        record_.longest_ns = std::max(record_.longest_ns, spent);
        record_.total_ns += spent;
    }

    void unlocked(const lock_mark& mark) override {
        ++record_.count;
        observe();
        const std::uint64_t gone = mark.waits > waits_ ? mark.waits - waits_ : 0;
        record_.most_work = std::max({record_.most_work, work_ - mark.work, gone});
    }

    // The counters that only grow, and the waits there are.
    void observe() {
        lock_observer::here = nullptr;
        const wheel_stats s = wheel_.stats();
        work_ = s.scheduled + s.cancelled + s.postponed + s.rejected + s.cascaded;
        waits_ = s.pending;
        lock_observer::here = this;
    }

    Wheel& wheel_;
    lock_record record_;
    std::uint64_t work_ = 0;
    std::uint64_t waits_ = 0;
};

/// A shape of wheel.
struct wheel_shape {
    std::size_t slots;
    unsigned levels;

    friend std::ostream& operator<<(std::ostream& out, const wheel_shape& s) {
        return out << s.slots << " x " << s.levels;
    }
};

/// Many waits on a wheel, and what becomes of all of them at once.
class waiting_crowd {
public:
    using clock = manual_clock<struct waiting_crowd_clock>;
    using timer = basic_waitable_timer<clock, impatient<clock>>;
    using wheel_type = wheel_service<clock, impatient<clock>>;

    /// What another handler saw between two of its turns, at most.
    struct gap {
        std::size_t handlers = 0;    ///< Waits that were delivered.
        std::uint64_t cascaded = 0;  ///< Entries that were filed again.
        std::uint64_t postponed = 0; ///< Waits that were moved.
        std::int64_t longest_ns = 0; ///< Processor time.
    };

    waiting_crowd(const wheel_shape& shape, std::size_t budget)
        : wheel_(make_wheel<clock, impatient<clock>>(
              ctx_, {.slots = shape.slots, .levels = shape.levels, .budget = budget})) {}

    /// Starts `count` waits for `d`, each on a timer of its own.
    void wait(std::size_t count, std::chrono::nanoseconds d) {
        for (std::size_t i = 0; i < count; ++i) {
            timers_.emplace_back(ctx_, d).async_wait(counts());
        }
    }

    /// Starts `count` waits for `d` on one timer.
    timer& wait_on_one(std::size_t count, std::chrono::nanoseconds d) {
        timer& t = timers_.emplace_back(ctx_, d);
        for (std::size_t i = 0; i < count; ++i) {
            t.async_wait(counts());
        }
        return t;
    }

    void postpone(std::chrono::nanoseconds d) {
        for (timer& t : timers_) {
            t.postpone(d);
        }
    }

    /// Lets time go by, and runs the context until there is nothing to do, together with another
    /// handler that is always ready.
    gap run(std::chrono::nanoseconds d) {
        clock::advance(d);
        gap most;
        std::size_t quiet = 0; // turns of it with nothing between them
        std::size_t delivered = delivered_;
        wheel_stats before = wheel_.stats();
        std::int64_t last = thread_time();
        std::function<void()> turn = [&] {
            const std::int64_t spent = thread_time() - last;
            const wheel_stats now = wheel_.stats();
            const bool something = delivered_ != delivered || now.cascaded != before.cascaded ||
                                   now.postponed != before.postponed;
            quiet = something ? 0 : quiet + 1;
            if (something) {
                most.handlers = std::max(most.handlers, delivered_ - delivered);
                most.cascaded = std::max(most.cascaded, now.cascaded - before.cascaded);
                most.postponed = std::max(most.postponed, now.postponed - before.postponed);
                most.longest_ns = std::max(most.longest_ns, spent);
            }
            delivered = delivered_;
            before = now;
            if (quiet < 20) { // The driver may need some to see that its time has come.
                boost::asio::post(ctx_, std::ref(turn));
            }
            last = thread_time();
        };
        boost::asio::post(ctx_, std::ref(turn));
        ctx_.restart();
        ctx_.poll();
        return most;
    }

    /// Has all services of the context end, as its destructor does.
    void end() { ctx_.end_services(); }

    [[nodiscard]] wheel_type& wheel() noexcept { return wheel_; }
    [[nodiscard]] std::deque<timer>& timers() noexcept { return timers_; }
    [[nodiscard]] std::size_t delivered() const noexcept { return delivered_; }

private:
    struct context : boost::asio::io_context {
        void end_services() { shutdown(); }
    };

    [[nodiscard]] auto counts() {
        return [this](const boost::system::error_code&) { ++delivered_; };
    }

    context ctx_;
    wheel_type& wheel_;
    std::size_t delivered_ = 0;
    std::deque<timer> timers_;
};

/// Idle timers, which are given less time.
class idle_crowd {
public:
    explicit idle_crowd(const wheel_shape& shape, std::size_t budget)
        : wheel_(
              make_wheel(ctx_, {.slots = shape.slots, .levels = shape.levels, .budget = budget})) {
        wheel_.pause();
    }

    void wait(std::size_t count, std::chrono::nanoseconds period) {
        for (std::size_t i = 0; i < count; ++i) {
            timers_.emplace_back(ctx_, period).async_wait([this](const boost::system::error_code&) {
                ++delivered_;
            });
        }
    }

    /// The most waits that are moved between two turns of another handler.
    std::uint64_t scale(double factor) {
        std::uint64_t most = 0;
        std::uint64_t before = wheel_.stats().postponed;
        std::size_t quiet = 0;
        std::function<void()> turn = [&] {
            const std::uint64_t now = wheel_.stats().postponed;
            most = std::max(most, now - before);
            quiet = now == before ? quiet + 1 : 0;
            before = now;
            if (quiet < 20) {
                boost::asio::post(ctx_, std::ref(turn));
            }
        };
        boost::asio::post(ctx_, std::ref(turn));
        wheel_.scale(factor);
        ctx_.restart();
        ctx_.poll();
        return most;
    }

    [[nodiscard]] auto& wheel() noexcept { return wheel_; }
    [[nodiscard]] std::size_t delivered() const noexcept { return delivered_; }

private:
    boost::asio::io_context ctx_;
    wheel_service<>& wheel_;
    std::size_t delivered_ = 0;
    std::deque<idle_timer> timers_;
};

} // namespace asio_wheel::test

#endif
