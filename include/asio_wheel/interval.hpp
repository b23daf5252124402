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

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/jitter.hpp>
#include <asio_wheel/missed.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class Clock, class Executor>
class interval_impl;
}

/// How an interval ticks.
struct interval_options {
    /// What happens to ticks that were missed. Example: with a period of 300 ms, the second tick is
    /// taken as late as 950 ms. With coalesce, one tick at 950 stands for those of 600 and 900.
    /// With catch_up, there are two ticks at 950, one after the other. With skip, there is none.
    /// In each case, the next one is due at 1200.
    asio_wheel::missed missed = asio_wheel::missed::coalesce;

    /// True makes the period a pause, that begins with each call of async_tick(). No tick is ever
    /// missed then.
    bool fixed_delay = false;

    /// When the first tick is due, from now; by default as any other. Zero is at once; a random
    /// time below the period, as random_phase() gives, spreads intervals that begin together.
    std::optional<std::chrono::nanoseconds> first = std::nullopt;

    /// Each tick is late by a random time, less than this share of the period: 0 to 1. It is drawn
    /// once for each tick, however often async_tick() is called. Jitter does not add up.
    double jitter = 0;
};

/// A random time in [0, period).
[[nodiscard]] inline std::chrono::nanoseconds random_phase(std::chrono::nanoseconds period) {
    return detail::random_time(period);
}

/// Ticks at a fixed rate. Their times are absolute, so the rate does not drift, however late
/// handlers are.
///
/// Ticks become due whether or not something waits for them. async_tick() takes the next one that
/// was not taken yet. So handlers of one interval never overlap. A handler that takes longer than a
/// period misses ticks: see interval_options::missed.
///
/// On a clock that can be set, each time of the rate has one tick: if the clock is set back, there
/// is none until it comes to the next time, or until reset() begins a period there. If the clock is
/// set forward, ticks are missed.
///
/// Movable at any time, also while a tick is waited for. An interval that was moved from may be
/// destroyed, assigned to and cancelled; everything else throws std::logic_error, or terminates the
/// program if it is noexcept. Constructing one takes one allocation.
///
/// Thread safety. Distinct intervals: safe. One interval: unsafe.
///
/// A period of zero or less or that is not a number, negative times and a jitter that is not 0 to 1
/// throw std::invalid_argument, which names it.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_interval {
    using impl = detail::interval_impl<Clock, Executor>;
    using initiate_async_tick = detail::initiation_of<impl>;

public:
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().

    /// The interval's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_interval<Clock, Executor1>;
    };

    /// The first tick is due a period from now, unless interval_options::first says when.
    template <class Rep, class Period>
    basic_interval(const executor_type& ex, const std::chrono::duration<Rep, Period>& period,
                   const interval_options& options = {})
        : impl_(std::in_place, ex, period, options) {}

    template <class Context, class Rep, class Period>
        requires detail::is_context<Context>
    basic_interval(Context& context, const std::chrono::duration<Rep, Period>& period,
                   const interval_options& options = {})
        : basic_interval(executor_type(context.get_executor()), period, options) {}

    /// Takes over `other`'s ticks. A tick that is waited for goes on being waited for.
    basic_interval(basic_interval&& other) noexcept = default;
    /// The same. A tick that was waited for here before is aborted.
    basic_interval& operator=(basic_interval&& other) noexcept = default;
    ~basic_interval() = default; ///< Aborts a tick that is waited for.

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// Waits for the next tick.
    ///
    /// Completion signature: void(boost::system::error_code, std::size_t periods)
    ///
    /// `periods` is how many periods have passed since the tick before, including missed ones. It
    /// is 1 for a tick in time, always 1 with missed::catch_up and with fixed_delay, and 0 with an
    /// error.
    ///
    /// Completes, once, when the tick is due, or was missed; or when it is aborted by cancel(), by
    /// destruction, by move assignment, by another async_tick(), by the handler's cancellation
    /// slot, or by wheel_service::drain(). A tick that was aborted was not taken. Never from inside
    /// this function.
    ///
    /// Errors, executor, cancellation, allocation: as with basic_waitable_timer::async_wait(); with
    /// missed::skip, an executor of an unknown kind may need memory for each tick that is skipped,
    /// and without it the wait ends with errc::not_enough_memory. If it throws, it has no effect: a
    /// tick that is waited for goes on being waited for. The tick is taken on the handler's
    /// executor, just before the handler is called; so the interval is used there, and must live
    /// until then, unless that is with an error. It may be moved meanwhile.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::size_t))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_tick(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, std::size_t)>(
            std::declval<initiate_async_tick>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_async_tick(impl_.get()), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::token_for<Handler, void(boost::system::error_code, std::size_t)>)
    detail::the_handler_must_be_callable_with_an_error_code_and_a_size_t async_tick(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with an error_code and a size_t");

    /// Aborts the tick that is waited for. Returns how many these are, 0 or 1.
    std::size_t cancel() { return impl_ ? impl_->cancel() : 0; }

    /// When the next tick is due, but for jitter. With fixed_delay, it has a meaning only while a
    /// tick is pending.
    [[nodiscard]] time_point expiry() const noexcept { return impl_->expiry(); }

    /// As it was given, rounded up to a unit of the clock.
    [[nodiscard]] duration period() const noexcept { return impl_->period(); }

    /// Changes the period, also the one that has begun. A pending wait goes on. A tick whose time
    /// was set by interval_options::first or reset_at() keeps its time.
    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        impl_->period(period);
    }

    /// Begins a period now: the next tick is due when it ends.
    void reset() { impl_->reset(); }

    /// The next tick is due at `t`, and those thereafter a period later each. Throws
    /// std::invalid_argument if `t` is not a number (NaN).
    void reset_at(const time_point& t) {
        impl_->reset_at(detail::not_nan("the time of a tick", t));
    }

private:
    detail::stable_impl<impl> impl_;
};

/// An interval on the steady clock.
using interval = basic_interval<std::chrono::steady_clock>;

} // namespace asio_wheel

#include <asio_wheel/detail/interval/impl.hpp>

#endif
