// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of an interval.
//
// next_ is the time of the next tick, without jitter. Most often it is one period after
// period_start_. It is explicit if the user has given it: as options.first, or by reset_at(). Then
// a change of the period does not change it.
//
// Jitter is drawn once for each tick, when the tick before was taken, or when the user sets a time.
// Would async_tick() draw it, a loop that asks again and again would get the smallest of its draws.
//
// With a fixed delay, the period starts when the user asks for a tick. Otherwise it starts at the
// tick before, and the policy for missed ticks says what happens if the user asks too late.
//
// The user may move an interval. This part stays where it is, because the operation that waits for
// a tick points to it.

#ifndef ASIO_WHEEL_DETAIL_INTERVAL_IMPL_HPP
#define ASIO_WHEEL_DETAIL_INTERVAL_IMPL_HPP

#include <asio_wheel/interval.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/intermediate_handler.hpp>
#include <asio_wheel/detail/service/wait_anew.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/fixed_rate.hpp>
#include <asio_wheel/detail/time/jitter.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_wheel::detail {

template <class Clock, class Executor>
class interval_impl {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    template <class Rep, class Period>
    interval_impl(const executor_type& ex, const std::chrono::duration<Rep, Period>& period,
                  const interval_options& options)
        : wheel_(wheel_of<Clock>(ex)), timer_(ex), period_(positive_period(period)),
          options_(checked_options(options)), period_start_(wheel_.now()),
          next_(options.first ? add_saturating(period_start_, *options.first) : period_end()),
          next_is_explicit_(options.first.has_value()), jitter_(drawn_jitter()) {}

    interval_impl(const interval_impl&) = delete;
    interval_impl& operator=(const interval_impl&) = delete;

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    template <class Handler>
    void start(Handler&& handler) {
        const bool starts_now = options_.fixed_delay && !next_is_explicit_;
        const time_point period_start = starts_now ? wheel_.now() : period_start_;
        const time_point next = starts_now ? add_saturating(period_start, period_) : next_;
        wait(intermediate_handler<Handler, on_wait>(std::forward<Handler>(handler), on_wait{this}),
             period_start, next);
    }

    std::size_t cancel() { return timer_.cancel(); }

    [[nodiscard]] time_point expiry() const noexcept { return next_; }

    [[nodiscard]] duration period() const noexcept { return period_; }

    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        period_ = positive_period(period);
        set_next(next_is_explicit_ ? next_ : period_end()); // Also because of the jitter.
    }

    void reset() {
        period_start_ = core_access::now_of(timer_);
        missed_ = 0;
        begin_next_tick();
        set_next(period_end());
    }

    void reset_at(const time_point& t) {
        missed_ = 0;
        begin_next_tick();
        next_is_explicit_ = true;
        set_next(t);
    }

private:
    // Called when the wait for a tick has ended.
    struct on_wait {
        static constexpr wait_kind kind_of_wait = wait_kind::interval;
        interval_impl* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            if (ec) {
                op.complete(ec, std::size_t(0));
            } else if (self->begin_tick()) {
                op.complete(ec, self->end_tick());
            } else {
                start_next_wait(
                    op, [&] { self->wait(std::move(op), self->period_start_, self->next_); },
                    std::size_t(0));
            }
        }
    };

    template <class Operation>
    void wait(Operation&& op, const time_point& period_start, const time_point& next) {
        const time_point expiry = jittered(next);
        wait_anew(wheel_, timer_, std::forward<Operation>(op), [&] {
            period_start_ = period_start;
            next_ = next;
            timer_.expires_at(expiry);
        });
    }

    // The time next_ has come, and its jitter has passed. Returns whether the tick is taken. Then
    // next_ becomes the time that it counts for; otherwise, that of the next tick.
    [[nodiscard]] bool begin_tick() {
        if (options_.fixed_delay) {
            return true;
        }
        const time_point due = next_;
        const duration jitter = until_or_zero(due, jittered(due));
        const fixed_rate<Clock> rate(period_, options_.missed);
        const bool taken = rate.begin_call(next_, [&] { return wheel_.now() - jitter; });
        missed_ += periods_between(due, next_, period_);
        if (!taken) {
            period_start_ = next_ - period_;
            begin_next_tick();
        }
        return taken;
    }

    // Computes the next tick. Returns the number of periods that have ended.
    std::size_t end_tick() {
        const auto periods = saturating<std::size_t>(missed_ + 1);
        if (!options_.fixed_delay) {
            period_start_ = next_;
            next_ = period_end();
        }
        missed_ = 0;
        begin_next_tick();
        return periods;
    }

    void begin_next_tick() {
        next_is_explicit_ = false;
        jitter_ = drawn_jitter();
    }

    [[nodiscard]] time_point period_end() const { return add_saturating(period_start_, period_); }

    // Sets the time of the next tick, and moves a pending wait there.
    void set_next(const time_point& t) {
        next_ = t;
        static_cast<void>(timer_.postpone_until(jittered(t)));
    }

    [[nodiscard]] time_point jittered(const time_point& t) const {
        const auto period = to_nanoseconds(period_);
        return add_saturating(t, scaled(period, jitter_, period));
    }

    [[nodiscard]] double drawn_jitter() const { return random_part(options_.jitter); }

    template <class Rep, class Period>
    [[nodiscard]] static duration
    positive_period(const std::chrono::duration<Rep, Period>& period) {
        return positive<duration>("the period of an interval", period);
    }

    [[nodiscard]] static interval_options checked_options(const interval_options& options) {
        if (options.first && options.first->count() < 0) {
            bad_argument("interval_options::first", in_ns(*options.first), "0 ns or more");
        }
        require_share("interval_options::jitter", options.jitter);
        return options;
    }

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    duration period_;
    interval_options options_;
    time_point period_start_;  // When the present period started.
    time_point next_;          // The next tick, without jitter.
    bool next_is_explicit_;    // The user has given next_; it is not the end of the period.
    double jitter_;            // Of the next tick, as a share of the period.
    std::uint64_t missed_ = 0; // Ticks since the one that was taken last.
};

} // namespace asio_wheel::detail

#endif
