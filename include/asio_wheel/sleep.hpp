// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Sleeping, without a timer to hold:
//
//     co_await asio_wheel::async_sleep_for(ex, 5s, use_awaitable);

#ifndef ASIO_WHEEL_SLEEP_HPP
#define ASIO_WHEEL_SLEEP_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace asio_wheel {

namespace detail {

/// Starts a wait for a time point, or for the end of a duration that begins when it is started.
template <class Clock, class When, class Executor>
class initiate_async_sleep {
public:
    using executor_type = Executor;

    initiate_async_sleep(const Executor& ex, When when, const call_place& place)
        : executor_(ex), when_(when), place_(place) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
        expect_storable<Handler>();
        using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;
        auto& wheel = wheel_of<Clock>(executor_);
        const own_timer<core_type> timer(expiry(wheel), native_context(executor_) != nullptr);
        start_wait(core_access::of(wheel), with_place(timer, place_), executor_,
                   std::forward<Handler>(handler));
    }

private:
    [[nodiscard]] typename Clock::time_point expiry(const wheel_service<Clock>& wheel) const {
        if constexpr (std::is_same_v<When, typename Clock::duration>) {
            return add_saturating(wheel.now(), when_);
        } else {
            return when_;
        }
    }

    Executor executor_;
    When when_;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS call_place place_;
};

} // namespace detail

/// Waits for a time, without a timer object.
///
/// `where` is an executor, or an execution context, which stands for its get_executor(). The wait
/// uses the clock of `t`, and the wheel of the executor's context for this clock.
///
/// Completion signature: void(boost::system::error_code)
///
/// Completes once: at the first tick at or after `t`, never early and at most one tick late; or
/// when the handler's cancellation slot or drain() aborts it; or when it is refused. Never
/// completes from inside this function, even if `t` has passed.
///
/// Errors: success; boost::asio::error::operation_aborted; error::too_many_pending if
/// wheel_options::max_pending waits are pending on the wheel already; error::wheel_stopped after
/// wheel_service::drain().
///
/// Executor: the handler is called through its associated executor, by default the given one.
/// Until then that has outstanding work; and so has the given one, until the wait has ended and is
/// on its way.
///
/// Per-operation cancellation: terminal, partial and total, all with the same effect; safe at any
/// time, also when the wait is over. Not concurrently with the handler's being called. The only
/// other end of a sleep is wheel_service::drain(): if there has to be one more, use a timer.
///
/// Allocation: one, by the handler's associated allocator, freed before the handler is called. The
/// wheel's entry lives in it.
///
/// Lifetimes: nothing but the context has to stay alive. When it ends, handlers of pending waits
/// are destroyed without being called.
///
/// A time that is not a number (NaN) throws std::invalid_argument.
///
/// Thread safety: may be called from any thread at any time.
///
///     const auto end = asio_wheel::now(ctx) + 1min;
///     asio_wheel::async_sleep_until(ctx, end, [](boost::system::error_code ec) { … });
template <class Executor, class Clock, class Duration,
          BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
              Token = typename boost::asio::default_completion_token<Executor>::type>
    requires detail::is_executor<Executor>
auto async_sleep_until(
    const Executor& where, const std::chrono::time_point<Clock, Duration>& t,
    Token&& token = typename boost::asio::default_completion_token<Executor>::type(),
    const detail::call_place& place = detail::call_place::current()) {
    using time_point = typename Clock::time_point;
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
        detail::initiate_async_sleep<Clock, time_point, Executor>(
            where, detail::ceil_saturating<time_point>(detail::not_nan("the end of a sleep", t)),
            place),
        token);
}

template <class Context, class Clock, class Duration,
          class Token = detail::default_token_of_context<Context>>
    requires detail::is_context<Context>
auto async_sleep_until(Context& where, const std::chrono::time_point<Clock, Duration>& t,
                       Token&& token = detail::default_token_of_context<Context>(),
                       const detail::call_place& place = detail::call_place::current()) {
    detail::expect_wait_token<Token>();
    return async_sleep_until(where.get_executor(), t, std::forward<Token>(token), place);
}

/// Waits for `d`, from when the operation is started, by the steady clock. (With a token such as
/// deferred, that is later than this call.) Zero and less complete on the context's next turn; the
/// longest durations never do. Everything else is as with async_sleep_until().
///
///     co_await asio_wheel::async_sleep_for(co_await this_coro::executor, 100ms, use_awaitable);
template <class Executor, class Rep, class Period,
          BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
              Token = typename boost::asio::default_completion_token<Executor>::type>
    requires detail::is_executor<Executor>
auto async_sleep_for(
    const Executor& where, const std::chrono::duration<Rep, Period>& d,
    Token&& token = typename boost::asio::default_completion_token<Executor>::type(),
    const detail::call_place& place = detail::call_place::current()) {
    using clock = std::chrono::steady_clock;
    using duration = clock::duration;
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
        detail::initiate_async_sleep<clock, duration, Executor>(
            where, detail::ceil_saturating<duration>(detail::not_nan("the length of a sleep", d)),
            place),
        token);
}

template <class Context, class Rep, class Period,
          class Token = detail::default_token_of_context<Context>>
    requires detail::is_context<Context>
auto async_sleep_for(Context& where, const std::chrono::duration<Rep, Period>& d,
                     Token&& token = detail::default_token_of_context<Context>(),
                     const detail::call_place& place = detail::call_place::current()) {
    detail::expect_wait_token<Token>();
    return async_sleep_for(where.get_executor(), d, std::forward<Token>(token), place);
}

// What does not fit above: detail/asio/misuse.hpp.
template <class Where, class When, class... Token>
    requires detail::invalid_sleep_call<Where, detail::duration_argument<When>, Token...>
auto async_sleep_for(Where&&, const When&, Token&&...) {
    detail::expect_executor_or_context<Where>();
    if constexpr (!detail::duration_argument<When>) {
        detail::expect_duration<When>();
    } else {
        detail::expect_wait_token<Token...>();
    }
}

template <class Where, class When, class... Token>
    requires detail::invalid_sleep_call<Where, detail::time_point_argument<When>, Token...>
auto async_sleep_until(Where&&, const When&, Token&&...) {
    detail::expect_executor_or_context<Where>();
    if constexpr (!detail::time_point_argument<When>) {
        detail::expect_time_point<When>();
    } else {
        detail::expect_wait_token<Token...>();
    }
}

} // namespace asio_wheel

#endif
