// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What happens when nothing happens: idle timeouts of connections.
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
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class Clock, class Executor>
class idle_timer_impl;
template <class Clock>
class idle_scale;
template <class Clock>
using idle_activity = activity<wheel_core<Clock, boost::asio::wait_traits<Clock>>>;
} // namespace detail

/// Tells when something has been idle for a period: nothing called touch().
///
/// touch() is what each message costs: it reads a coarse clock and notes the time. Nothing on the
/// wheel is moved. When the period is over, the timer compares it with the last touch, and waits
/// for the rest. So it wakes up once a period, however often it is touched.
///
/// It is never early, and late by no more than a tick of the wheel and three of the kernel: 13 ms,
/// most often. (Only where the processor that keeps the kernel's time is held up for longer than a
/// tick, say by another virtual machine, the coarse clock is further behind than is allowed for.)
///
/// On a clock that can be set, it completes when a timer would that is set to `period` from now
/// with each touch: if the clock is set back, the next touch begins a period there; without a
/// touch, the period ends when the clock shows its end.
///
/// Movable at any time, also while a wait is pending. An idle timer that was moved from may be
/// destroyed, assigned to and cancelled, and nothing else. Constructing one takes one allocation;
/// the first one on a context makes the list of all of them, too.
///
/// Thread safety: touch() and idle_for() may be called from any thread, until the execution context
/// ends, whose wheel tells the time, but not while this same object is moved or assigned to;
/// everything else as with a timer.
///
/// A period of zero or less, and one that is not a number, throws std::invalid_argument. In an
/// overloaded server, scale_idle_timers() shortens the periods of all idle timers at once.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_idle_timer {
    using impl = detail::idle_timer_impl<Clock, Executor>;
    using initiate_async_wait = detail::initiation_of<impl>;

public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    template <class Executor1>
    struct rebind_executor {
        using other = basic_idle_timer<Clock, Executor1>;
    };

    /// It counts as touched now.
    template <class Rep, class Period>
    basic_idle_timer(const executor_type& ex, const std::chrono::duration<Rep, Period>& period)
        : touched_(detail::core_access::of(use_wheel<Clock>(detail::context_of(ex)))),
          impl_(std::make_unique<impl>(ex, period, touched_)) {}

    template <class Context, class Rep, class Period>
        requires detail::is_context<Context>
    basic_idle_timer(Context& context, const std::chrono::duration<Rep, Period>& period)
        : basic_idle_timer(executor_type(context.get_executor()), period) {}

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

    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// Something has happened: a period begins anew. Not to be called when the execution context
    /// has ended, not even if nobody waits: the time is its wheel's.
    void touch() {
        touched_.touch();
        if constexpr (!Clock::is_steady) {
            impl_->on_touch();
        }
    }

    /// How long it has been idle. Not to be called when the execution context has ended.
    [[nodiscard]] duration idle_for() const { return impl_->idle_for(); }

    /// Waits until it has been idle for a period; if it has already, until the context's next turn.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Errors, executor, cancellation, allocation: as with basic_waitable_timer::async_wait(); the
    /// one allocation is kept from period to period. But an executor of an unknown kind may need
    /// memory for each period; without it the wait ends with errc::not_enough_memory. Another
    /// async_wait() aborts the one before; if it throws, that one goes on.
    ///
    /// The last touch is looked at on the handler's executor: the idle timer is used there, once a
    /// period, and must live until the handler is called, unless that is with an error. It may be
    /// moved meanwhile.
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

    /// Aborts the pending wait. Returns how many these are, 0 or 1.
    std::size_t cancel() { return impl_ ? impl_->cancel() : 0; }

    /// As it was given: scale_idle_timers() does not change it.
    [[nodiscard]] duration period() const noexcept { return impl_->period(); }

    /// Changes the period; it began when it was last touched. What is waited for goes on being
    /// waited for.
    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        impl_->period(period);
    }

private:
    // The state has to know where touched_ is.
    void update_impl() noexcept {
        if (impl_) {
            impl_->on_move(touched_);
        }
    }

    // Not a part of the state: a touch needs the memory that this object is in, which is often a
    // session that is being used anyway, and no other.
    detail::idle_activity<Clock> touched_;
    std::unique_ptr<impl> impl_;
};

/// Multiplies the periods of all idle timers of a wheel by `factor`, also of those that wait: for a
/// server that is overloaded. What has been idle for longer completes. Heartbeats stay as they are,
/// because their periods are agreed upon with the peer. So do all other deadlines.
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

/// The last factor that was given to scale_idle_timers(); 1 if there was none.
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
