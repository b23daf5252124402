// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Idle timeouts: a connection is closed after a period without a message.
//
//     asio_wheel::idle_timer idle(ctx, 30s);
//     idle.async_wait([&](error_code ec) {
//         if (ec != boost::asio::error::operation_aborted) { // expired, or refused by a full wheel
//             socket.close();
//         }
//     });
//     // and with each message:
//     idle.touch();

#ifndef ASIO_WHEEL_IDLE_TIMER_HPP
#define ASIO_WHEEL_IDLE_TIMER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>
#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class Clock, class Executor>
class idle_timer_impl;
struct each_period;
template <class Clock>
class idle_scale;
template <class Clock>
using idle_activity = activity<wheel_core<Clock, boost::asio::wait_traits<Clock>>>;
} // namespace detail

/// How the periods of an idle timer end.
struct idle_timer_options {
    /// Each period ends late by a random time, less than this share of it: 0 to 1. It spreads the
    /// idle timers that a restart has made at one moment. It is drawn once for each period that
    /// something waits for; so touch() costs no more.
    double jitter = 0;

    /// scale_idle_timers() makes the period no shorter than this. A period that is shorter by
    /// itself stays as it is.
    std::chrono::nanoseconds min_period{0};
};

/// Completes a wait when touch() was not called for a period.
///
/// A message costs one touch(): it reads a coarse clock and stores the time. Nothing on the wheel
/// moves. When the period ends, the timer checks when it was last touched, and waits for the rest.
/// So it wakes up once a period, however often it is touched.
///
/// It is never early. Without jitter, it is late by at most one tick of the wheel and three ticks
/// of the kernel, which is usually 13 ms. (If the processor that keeps the kernel's time is held up
/// for longer than a tick, for example by another virtual machine, the coarse clock is behind by
/// more.)
///
/// On a clock that can be set, it completes when a timer would that each touch sets to `period`
/// from now. If the clock is set back, the next touch begins a period there, unless the clock shows
/// the very time of the touch before. Without a touch, the period ends when the clock shows its
/// end.
///
/// Movable at any time, also while a wait is pending. An idle timer that was moved from may be
/// destroyed, assigned to and cancelled; everything else throws std::logic_error, or terminates the
/// program if it is noexcept. (A touch may do nothing instead.) Constructing one takes one
/// allocation; the first one on a context makes the list of all of them, too.
///
/// Thread safety: touch() and idle_for() may be called from any thread, but not while the execution
/// context ends, whose wheel tells the time, nor while this same object is moved or assigned to;
/// everything else as with a timer.
///
/// A period of zero or less, one that is not a number, and unusable options throw
/// std::invalid_argument, which names them. In an overloaded server, scale_idle_timers() shortens
/// the periods of all idle timers at once.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_idle_timer {
    using impl = detail::idle_timer_impl<Clock, Executor>;
    using initiate_async_wait = detail::initiation_of<impl>;
    using initiate_async_next_idle = detail::initiation_of<impl, detail::each_period>;

public:
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().

    /// The idle timer's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_idle_timer<Clock, Executor1>;
    };

    /// It counts as touched now.
    template <class Rep, class Period>
    basic_idle_timer(const executor_type& ex, const std::chrono::duration<Rep, Period>& period,
                     const idle_timer_options& options = {})
        : touched_(detail::core_access::of(detail::wheel_of<Clock>(ex))),
          impl_(std::in_place, ex, period, options, touched_) {}

    template <class Context, class Rep, class Period>
        requires detail::is_context<Context>
    basic_idle_timer(Context& context, const std::chrono::duration<Rep, Period>& period,
                     const idle_timer_options& options = {})
        : basic_idle_timer(executor_type(context.get_executor()), period, options) {}

    /// Takes over `other`'s period, its last touch and the pending wait.
    basic_idle_timer(basic_idle_timer&& other) noexcept
        : touched_(other.touched_), impl_(std::move(other.impl_)) {
        update_impl();
    }
    /// The same. A wait that was pending here before is aborted.
    basic_idle_timer& operator=(basic_idle_timer&& other) noexcept {
        impl_ = std::move(other.impl_);
        touched_ = other.touched_;
        update_impl();
        return *this;
    }
    /// Aborts a wait that is pending. Safe after the context's end.
    ~basic_idle_timer() = default;

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// Starts a new period. Call it for each message. Safe after the context's end.
    void touch() {
        touched_.touch();
        if (!detail::steady_clock<Clock> || touched_.is_watched()) {
            impl_->on_touch();
        }
    }

    /// How long it has been idle.
    [[nodiscard]] duration idle_for() const { return impl_->idle_for(); }

    /// Waits until it has been idle for a period. If it already has, the wait completes on the
    /// context's next turn.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Errors, executor, cancellation, allocation: as with basic_waitable_timer::async_wait(); the
    /// one allocation is kept from period to period. But an executor of an unknown kind may need
    /// memory for each period; without it the wait ends with errc::not_enough_memory. Another
    /// async_wait() aborts the one before; if it throws, that one goes on.
    ///
    /// Once a period, the idle timer is used on the handler's executor, which checks the last
    /// touch. So it must live until the handler is called, unless the handler is called with an
    /// error. It may be moved meanwhile.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_wait(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            std::declval<initiate_async_wait>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            initiate_async_wait(impl_.get()), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::wait_token<Handler>)
    detail::the_handler_must_be_callable_with_one_error_code async_wait(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with one error_code");

    /// Waits for the end of the next period without a touch: the first one, the second one, and so
    /// on. So a loop is told once a period how long it has been idle.
    ///
    ///     while (co_await idle.async_next_idle(use_awaitable) < 3) {
    ///         outbox.push(ping);
    ///     }
    ///     socket.close(); // The peer was silent for three periods.
    ///
    /// Completion signature: void(boost::system::error_code, std::size_t periods)
    ///
    /// `periods` is how many periods have passed since the last touch: 1, 2, 3 …; more than one
    /// more than before if nothing waited when a period ended, and 0 with an error. A touch begins
    /// again with 1. Everything else is as with async_wait(), which does not count.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::size_t))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_next_idle(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, std::size_t)>(
            std::declval<initiate_async_next_idle>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_async_next_idle(impl_.get()), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::token_for<Handler, void(boost::system::error_code, std::size_t)>)
    detail::the_handler_must_be_callable_with_an_error_code_and_a_size_t async_next_idle(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with an error_code and a size_t");

    /// Aborts the pending wait. Returns how many these are, 0 or 1.
    std::size_t cancel() { return impl_ ? impl_->cancel() : 0; }

    /// As it was given: scale_idle_timers() does not change it.
    [[nodiscard]] duration period() const noexcept { return impl_->period(); }

    /// Changes the period, which began with the last touch. A pending wait goes on.
    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        impl_->period(period);
    }

private:
    // The state uses touched_ by its address.
    void update_impl() noexcept {
        if (impl_) {
            impl_->on_move(touched_);
        }
    }

    // Not a part of the state, so that a touch needs one cache line: that of this object, which is
    // often a part of a session that is in use anyway.
    detail::idle_activity<Clock> touched_;
    detail::stable_impl<impl> impl_;
};

/// Multiplies the periods of all idle timers of a wheel by `factor`, for an overloaded server; and
/// the idle periods of each timeout_stream, if it is the wheel of the steady clock. Pending waits
/// follow: those that have been idle for longer complete. Heartbeats do not change, because their
/// periods are agreed upon with the peer. Nor do other deadlines.
///
/// A smaller factor moves each pending wait, in slices of wheel_options::budget: the first slice in
/// this function, the others by way of the context's queue. Throws std::invalid_argument unless
/// 0 < factor <= 1. Thread safety: may be called from any thread.
///
///     if (memory_is_short()) scale_idle_timers(ctx, 0.25); // 2 min of silence are 30 s now
template <class Clock>
void scale_idle_timers(wheel_service<Clock>& wheel, double factor) {
    const bool usable = factor > 0 && factor <= 1; // NaN is not.
    if (!usable) {
        detail::bad_argument("the scale of idle timers", std::to_string(factor),
                             "greater than 0 and at most 1");
    }
    boost::asio::use_service<detail::idle_scale<Clock>>(wheel.context()).scale(factor);
}

/// The same for the idle timers of a context on the steady clock.
template <class Context>
    requires detail::is_context<Context>
void scale_idle_timers(Context& context, double factor) {
    scale_idle_timers(use_wheel(context), factor);
}

/// The last factor that was given to scale_idle_timers(); 1 if there was none. With a context, both
/// functions make its wheel if there is none.
template <class Clock>
[[nodiscard]] double idle_timer_scale(wheel_service<Clock>& wheel) {
    return boost::asio::use_service<detail::idle_scale<Clock>>(wheel.context()).scale();
}

template <class Context>
    requires detail::is_context<Context>
[[nodiscard]] double idle_timer_scale(Context& context) {
    return idle_timer_scale(use_wheel(context));
}

/// An idle timer on the steady clock.
using idle_timer = basic_idle_timer<std::chrono::steady_clock>;

} // namespace asio_wheel

#include <asio_wheel/detail/idle_timer/impl.hpp>

#endif
