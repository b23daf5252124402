// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Ticks at a fixed rate, or after fixed pauses:
//
//     asio_wheel::interval every_second(ctx, 1s);
//     for (;;) {
//         const std::size_t periods = co_await every_second.async_tick(use_awaitable);
//     }

#ifndef ASIO_WHEEL_INTERVAL_HPP
#define ASIO_WHEEL_INTERVAL_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/initiation_of.hpp>
#include <asio_wheel/detail/intermediate_handler.hpp>
#include <asio_wheel/detail/jitter.hpp>
#include <asio_wheel/detail/positive.hpp>
#include <asio_wheel/detail/wait_anew.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_wheel {

/// What becomes of ticks that nobody took in time. With a period of 300 ms, of which the second
/// tick is taken at 950 ms only:
enum class missed_tick {
    skip,  ///< One tick at 950 stands for those of 600 and 900; the next is due at 1200.
    delay, ///< One tick at 950 stands for both; the next is due a period later, at 1250.
    burst  ///< Two ticks at 950, one after the other; the next is due at 1200.
};

struct interval_options {
    missed_tick missed = missed_tick::skip;

    /// True makes the period a pause, that begins with each call of async_tick(). No tick is ever
    /// missed then.
    bool fixed_delay = false;

    /// When the first tick is due, from now; by default as any other. Zero is at once; a random
    /// time below the period, as random_phase() gives, spreads intervals that begin together.
    std::optional<std::chrono::nanoseconds> first = std::nullopt;

    /// Each tick is later by a random time below this: zero to one period. It adds up to nothing.
    std::chrono::nanoseconds jitter{0};
};

/// A random time in [0, period).
[[nodiscard]] inline std::chrono::nanoseconds random_phase(std::chrono::nanoseconds period) {
    return detail::random_time(period);
}

/// Ticks at a fixed rate: on absolute time, so that it does not drift, however late handlers are.
///
/// Ticks are due whether or not anybody waits for them; async_tick() takes the next one that was
/// not taken yet. So handlers of one interval never overlap, and one that takes longer than a
/// period finds ticks that were missed: see missed_tick.
///
/// Neither copyable nor movable. Thread safety. Distinct intervals: safe. One interval: unsafe.
///
/// A period of zero or less or that is not a number, negative times and a jitter of more than a
/// period throw std::invalid_argument, which names it.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_interval {
    using initiate_async_tick = detail::initiation_of<basic_interval>;
    friend initiate_async_tick;

public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    template <class Executor1>
    struct rebind_executor {
        using other = basic_interval<Clock, Executor1>;
    };

    template <class Rep, class Period>
    basic_interval(const executor_type& ex, const std::chrono::duration<Rep, Period>& period,
                   const interval_options& options = {})
        : wheel_(&use_wheel<Clock>(detail::context_of(ex))), timer_(ex), period_(checked(period)),
          options_(checked(options, period_)), from_(wheel_->now()),
          next_(detail::add_saturating(
              from_, options.first ? detail::ceil_saturating<duration>(*options.first) : period_)),
          given_(options.first.has_value()) {}

    template <class Context, class Rep, class Period>
        requires detail::is_context<Context>
    basic_interval(Context& context, const std::chrono::duration<Rep, Period>& period,
                   const interval_options& options = {})
        : basic_interval(executor_type(context.get_executor()), period, options) {}

    basic_interval(const basic_interval&) = delete;
    basic_interval& operator=(const basic_interval&) = delete;
    ~basic_interval() = default; ///< Aborts a tick that is waited for.

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    /// Waits for the next tick.
    ///
    /// Completion signature: void(boost::system::error_code, std::size_t periods)
    ///
    /// `periods` is how many periods have passed since the tick before, late ones and all: 1 when
    /// it is on time, and always with missed_tick::burst and fixed_delay; 0 with an error.
    ///
    /// Completes, once, when the tick is due, or was missed; or when it is aborted by cancel(), by
    /// destruction, by another async_tick(), or by the handler's cancellation slot. A tick that was
    /// aborted was not taken. Never from inside this function.
    ///
    /// Errors, executor, cancellation, allocation: as with basic_waitable_timer::async_wait(). If
    /// it throws, it has no effect: a tick that is waited for goes on being waited for. The tick is
    /// taken on the handler's executor, just before the handler is called; so the interval is used
    /// there, and must live until then, unless that is with an error.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::size_t))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_tick(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, std::size_t)>(
            std::declval<initiate_async_tick>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_async_tick(this), token);
    }

    /// Aborts the tick that is waited for. Returns how many these are, 0 or 1.
    std::size_t cancel() { return timer_.cancel(); }

    /// When the next tick is due, but for jitter. (With fixed_delay, a pending one, or the last.)
    [[nodiscard]] time_point expiry() const noexcept { return next_; }

    [[nodiscard]] duration period() const noexcept { return period_; }

    /// Changes the period, also the one that has begun. What is waited for goes on being waited
    /// for. A tick at a time of its own, by interval_options::first or reset_at(), stays where it
    /// is.
    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        const duration fresh = checked(period);
        static_cast<void>(checked(options_, fresh));
        period_ = fresh;
        if (!given_) {
            move_to(detail::add_saturating(from_, period_));
        }
    }

    /// Begins a period now: the next tick is due when it ends.
    void reset() {
        given_ = false;
        from_ = wheel_->now();
        move_to(detail::add_saturating(from_, period_));
    }

    /// The next tick is due at `t`, and those thereafter a period later each.
    void reset_at(const time_point& t) {
        given_ = true;
        move_to(t);
    }

private:
    // What the wait for a tick calls.
    struct take_tick {
        basic_interval* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            op.complete(ec, ec ? std::size_t(0) : self->take());
        }
    };

    template <class Handler>
    void start(Handler&& handler) {
        const bool begins = options_.fixed_delay && !given_;
        const time_point from = begins ? wheel_->now() : from_;
        const time_point next = begins ? detail::add_saturating(from, period_) : next_;
        const time_point expiry = jittered(next);
        detail::wait_anew(*wheel_, timer_,
                          detail::intermediate_handler<Handler, take_tick>(
                              std::forward<Handler>(handler), take_tick{this}),
                          [&] {
                              from_ = from;
                              next_ = next;
                              timer_.expires_at(expiry);
                          });
    }

    // The tick at next_ has come. Returns how many periods it stands for.
    std::size_t take() {
        given_ = false;
        if (options_.fixed_delay) {
            return 1;
        }
        const time_point now = wheel_->now();
        std::size_t periods = 1;
        if (options_.missed != missed_tick::burst && now > next_) {
            const auto more = detail::until_saturating(next_, now) / period_;
            periods += static_cast<std::size_t>(more);
            next_ += period_ * static_cast<typename duration::rep>(periods - 1);
        }
        from_ = options_.missed == missed_tick::delay && periods != 1 ? now : next_;
        next_ = detail::add_saturating(from_, period_);
        return periods;
    }

    void move_to(const time_point& t) {
        next_ = t;
        timer_.postpone_until(jittered(t));
    }

    [[nodiscard]] time_point jittered(const time_point& t) const {
        const auto more = detail::random_time(options_.jitter);
        return detail::add_saturating(t, detail::ceil_saturating<duration>(more));
    }

    template <class Rep, class Period>
    [[nodiscard]] static duration checked(const std::chrono::duration<Rep, Period>& period) {
        return detail::positive<duration>("the period of an interval", period);
    }

    [[nodiscard]] static interval_options checked(const interval_options& options,
                                                  duration period) {
        if (options.first && options.first->count() < 0) {
            refuse("interval_options::first", *options.first, "0 ns or more");
        }
        const auto most = detail::to_nanoseconds(period);
        if (options.jitter.count() < 0 || options.jitter > most) {
            refuse("interval_options::jitter", options.jitter,
                   "0 to " + std::to_string(most.count()) + " ns, the period");
        }
        return options;
    }

    [[noreturn]] static void refuse(const std::string& what, std::chrono::nanoseconds value,
                                    const std::string& allowed) {
        throw std::invalid_argument("asio_wheel: " + what + " is " + std::to_string(value.count()) +
                                    " ns, but must be " + allowed);
    }

    wheel_service<Clock>* wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    duration period_;
    interval_options options_;
    time_point from_; // When the period began that ends at next_, unless that is
    time_point next_;
    bool given_; // a time of its own.
};

/// An interval on the steady clock.
using interval = basic_interval<std::chrono::steady_clock>;

} // namespace asio_wheel

#endif
