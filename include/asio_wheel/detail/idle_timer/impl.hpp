// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of an idle timer.
//
// When a period ends, the timer checks when it was last touched, and waits for the rest. So a touch
// only stores the time, and the wheel is used once a period.
//
// Jitter makes the end of a period later. It is the owner's, and only the owner's waits have it:
// touches and the scale, on other threads, move a wait to the end without it. Such a wait finds
// that it is too early, and waits for the rest.
//
// The user may move an idle timer. This part stays where it is, because the pending wait, the scale
// and the wheel point to it. The time of the last touch is in the part that moves, so that touch()
// need not follow a pointer; entry_ points there.

#ifndef ASIO_WHEEL_DETAIL_IDLE_TIMER_IMPL_HPP
#define ASIO_WHEEL_DETAIL_IDLE_TIMER_IMPL_HPP

#include <asio_wheel/idle_timer.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/intermediate_handler.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/idle_timer/idle_entry.hpp>
#include <asio_wheel/detail/service/idle_scale.hpp>
#include <asio_wheel/detail/service/wait_anew.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/jitter.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// Starts async_next_idle().
struct each_period {};

template <class Clock, class Executor>
class idle_timer_impl {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using activity_type = idle_activity<Clock>;

    template <class Rep, class Period>
    idle_timer_impl(const executor_type& ex, const std::chrono::duration<Rep, Period>& period,
                    const idle_timer_options& options, const activity_type& touched)
        : wheel_(wheel_of<Clock>(ex)),
          scale_(boost::asio::use_service<idle_scale<Clock>>(context_of(ex))), timer_(ex),
          entry_(touched, core_access::state_of(timer_), positive_period(period),
                 checked_min_period(options.min_period)),
          jitter_(require_share("idle_timer_options::jitter", options.jitter)),
          late_(random_part(jitter_)) {
        scale_.add(entry_);
    }

    idle_timer_impl(const idle_timer_impl&) = delete;
    idle_timer_impl& operator=(const idle_timer_impl&) = delete;
    ~idle_timer_impl() {
        if (entry_.listed) {
            scale_.remove(entry_);
        }
    }

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    /// Called when the user has moved the idle timer, and the time of the last touch with it.
    void on_move(const activity_type& touched) noexcept {
        if (entry_.listed) {
            scale_.change([&] { entry_.last_activity = &touched; });
        } else {
            entry_.last_activity = &touched;
        }
    }

    /// Called after a touch. If the clock was set back, the pending wait may have to end earlier.
    void on_touch() {
        if (!entry_.listed) { // The context has ended, and the scale with it.
            return;
        }
        core_type& core = core_access::of(wheel_);
        if constexpr (!steady_clock<Clock>) {
            wait_end_.bring_forward(core, entry_.timer, expiry());
        }
        if (entry_.last_activity->is_watched()) {
            core.touched(entry_.timer);
        }
    }

    [[nodiscard]] duration idle_for() const {
        return until_or_zero(entry_.last_activity->last(), core_access::now_of(timer_));
    }

    template <class Handler>
    void start(Handler&& handler) {
        wait_for_end(
            intermediate_handler<Handler, on_wait>(std::forward<Handler>(handler), on_wait{this}));
    }

    template <class Handler>
    void start(Handler&& handler, each_period) {
        wait_for_next(intermediate_handler<Handler, on_wait_for_next>(
            std::forward<Handler>(handler), on_wait_for_next{this}));
    }

    std::size_t cancel() { return timer_.cancel(); }

    [[nodiscard]] duration period() const noexcept { return entry_.period; }

    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        const duration new_period = positive_period(period);
        if (!entry_.listed) { // The context has ended, and the scale with it.
            entry_.period = new_period;
            return;
        }
        scale_.change([&] { entry_.period = new_period; });
        const double scale = scale_.scale();
        const time_point expiry = entry_.expiry(scale);
        wait_end_.set(expiry);
        static_cast<void>(timer_.postpone_until(add_saturating(expiry, lateness(scale))));
        scale_.on_wait_started(scale);
    }

private:
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;

    // Called when the wait for the end of a period has ended.
    struct on_wait {
        static constexpr wait_kind kind_of_wait = wait_kind::idle;
        idle_timer_impl* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            if (!ec && self->wheel_.now() < self->late_expiry()) { // It was touched meanwhile.
                start_next_wait(op, [this, &op] { self->wait_for_end(std::move(op)); });
            } else {
                if (!ec) {
                    core_access::of(self->wheel_).expired(kind_of_wait);
                }
                op.complete(ec);
            }
        }
    };

    // The same for an operation that is told of each period.
    struct on_wait_for_next {
        static constexpr wait_kind kind_of_wait = wait_kind::idle;
        idle_timer_impl* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            const std::size_t periods = ec ? 0 : self->new_periods();
            if (!ec) {
                self->draw_jitter();
            }
            if (ec || periods != 0) {
                if (!ec) {
                    core_access::of(self->wheel_).expired(kind_of_wait);
                }
                op.complete(ec, periods);
            } else {
                start_next_wait(
                    op, [this, &op] { self->wait_for_next(std::move(op)); }, std::size_t(0));
            }
        }
    };

    // Waits for the end of the period.
    template <class Operation>
    void wait_for_end(Operation&& op) {
        wait(std::forward<Operation>(op), [this](double scale) {
            begin_period_if_touched();
            return entry_.expiry(scale);
        });
    }

    // Waits for the end of the first period that was not reported.
    template <class Operation>
    void wait_for_next(Operation&& op) {
        wait(std::forward<Operation>(op), [this](double scale) {
            begin_period_if_touched();
            return next_end(scale);
        });
    }

    [[nodiscard]] time_point next_end(double scale) const noexcept {
        const std::uint64_t n = entry_.periods(scale, reported_, duration::zero()) + 1;
        const time_point end = entry_.expiry(scale, n);
        return end > reported_ ? end : entry_.expiry(scale, n + 1); // Fractions were rounded.
    }

    // How many periods it has been idle, if the last of them was not reported; otherwise zero.
    [[nodiscard]] std::size_t new_periods() {
        begin_period_if_touched();
        const double scale = scale_.scale();
        const std::uint64_t periods = entry_.periods(scale, wheel_.now(), lateness(scale));
        if (periods == 0) {
            return 0;
        }
        const time_point end = entry_.expiry(scale, periods);
        const bool more = std::exchange(reported_, (std::max)(end, reported_)) < end;
        return more ? saturating<std::size_t>(periods) : 0;
    }

    // Nothing was reported since a new touch, and its period has a jitter of its own.
    void begin_period_if_touched() {
        const time_point last = entry_.last_activity->last();
        if (begun_ != last) {
            begun_ = last;
            reported_ = last;
            draw_jitter();
        }
    }

    // Waits until expiry_at(scale), and for the jitter.
    template <class Operation, class Expiry>
    void wait(Operation&& op, Expiry expiry_at) {
        // A local reference: when the wait has started, the idle timer may have been destroyed.
        idle_scale<Clock>& s = scale_;
        const double scale = s.scale();
        const time_point expiry = expiry_at(scale);
        wait_anew(wheel_, timer_, std::forward<Operation>(op), [&] {
            wait_end_.set(expiry);
            timer_.expires_at(add_saturating(expiry, lateness(scale)));
        });
        s.on_wait_started(scale);
    }

    [[nodiscard]] time_point expiry() const noexcept { return entry_.expiry(scale_.scale()); }

    [[nodiscard]] time_point late_expiry() const noexcept {
        const double scale = scale_.scale();
        return add_saturating(entry_.expiry(scale), lateness(scale));
    }

    [[nodiscard]] duration lateness(double scale) const noexcept {
        const auto period = to_nanoseconds(entry_.period_at(scale));
        return floor_saturating<duration>(scaled(period, late_, period));
    }

    void draw_jitter() { late_ = random_part(jitter_); }

    template <class Rep, class Period>
    [[nodiscard]] static duration
    positive_period(const std::chrono::duration<Rep, Period>& period) {
        return positive<duration>("the period of an idle timer", period);
    }

    [[nodiscard]] static duration checked_min_period(std::chrono::nanoseconds d) {
        if (d.count() < 0) {
            bad_argument("idle_timer_options::min_period", in_ns(d), "0 ns or more");
        }
        return ceil_saturating<duration>(d);
    }

    wheel_service<Clock>& wheel_;
    idle_scale<Clock>& scale_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    idle_entry<core_type> entry_;
    const double jitter_; // The most,
    double late_;         // and that of the present period: shares of it.
    time_point begun_;    // The touch with which that has begun.
    time_point reported_; // Until when async_next_idle() has told of periods. A number of them
                          // would mean another time when the period has changed.
    ASIO_WHEEL_NO_UNIQUE_ADDRESS published_wait_end<core_type> wait_end_;
};

} // namespace asio_wheel::detail

#endif
