// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_BASIC_WAITABLE_TIMER_HPP
#define ASIO_WHEEL_BASIC_WAITABLE_TIMER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/memory/prefetch.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/service/clock_timer.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// A timer on the wheel of its context: a drop-in for boost::asio::basic_waitable_timer.
///
/// Everything written for Asio's timer works with this one, and means the same. Beyond that:
///  - postpone() moves the expiry of waits that are pending, without completing them; remaining().
///  - cancel(), expires_at(), expires_after(), destruction and cancellation slots reach a wait
///    until its handler is about to be called. If one of them, on the timer's executor, has counted
///    a wait as cancelled, that wait's handler gets operation_aborted, even if its expiry had
///    passed before. (With Asio's timers this ends when the context has seen the expiry.)
///  - A cancellation slot reaches the wait wherever the timer was moved to. When the wait is over,
///    it has no effect.
///  - A timer may be used when its context has ended, but for async_wait().
///
/// A wait is due at the first tick at or after its expiry: never early, at most one tick late.
///
/// As with Asio's timers, a timer without an expiry has expired long ago.
///
/// Durations and time points may have any unit, also a fraction: they are rounded up to the clock's
/// unit, and what is beyond the clock's range is its end, which never comes. With Asio's timers,
/// hours::max() has passed long ago. What is not a number (NaN) throws std::invalid_argument.
///
/// Thread safety. Distinct timers: safe. One timer: unsafe, as with all I/O objects of Asio.
///
/// Cost. Starting, moving and cancelling a wait take constant time. A pending wait is one
/// allocation with the handler's associated allocator. A timer keeps its place on the wheel when
/// its wait is cancelled or its expiry moved: to wait again for the same time, or a later one,
/// takes no lock of the wheel, unless the handler has a cancellation slot. With postpone() nothing
/// is delivered, and no handler moves. (A wheel with wheel_options::max_pending takes its lock for
/// each start and each end of a wait, and to move one.)
///
///     asio_wheel::steady_timer timer(co_await boost::asio::this_coro::executor);
///     timer.expires_after(30s);
///     co_await timer.async_wait(boost::asio::use_awaitable);
template <class Clock, class WaitTraits = boost::asio::wait_traits<Clock>,
          class Executor = boost::asio::any_io_executor>
class basic_waitable_timer {
    template <class, class, class>
    friend class basic_waitable_timer;

    class initiate_async_wait;

public:
    using executor_type = Executor;                ///< The type of get_executor().
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using traits_type =
        WaitTraits; ///< Limits how long Asio sleeps before it looks at the clock again.

    /// The timer's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_waitable_timer<Clock, WaitTraits, Executor1>;
    };

    /// A timer that has expired. The first one on a context makes its wheel.
    explicit basic_waitable_timer(const executor_type& ex)
        : wheel_(&detail::anchor_of<Clock, WaitTraits>(ex)), executor_(ex) {
        state_.native = detail::is_native(ex);
    }

    template <class ExecutionContext>
        requires detail::is_context<ExecutionContext>
    explicit basic_waitable_timer(ExecutionContext& context)
        : basic_waitable_timer(executor_type(context.get_executor())) {}

    /// A timer that expires at `expiry`.
    basic_waitable_timer(const executor_type& ex, const time_point& expiry)
        : basic_waitable_timer(ex) {
        state_.set(checked(expiry));
    }

    /// A timer that expires after `from_now`.
    basic_waitable_timer(const executor_type& ex, const duration& from_now)
        : basic_waitable_timer(ex) {
        state_.set(point_of(from_now));
    }

    /// The same for a duration, or a time point of the clock, in any unit.
    template <detail::time_for<time_point> Time>
    basic_waitable_timer(const executor_type& ex, const Time& time) : basic_waitable_timer(ex) {
        state_.set(point_of(time));
    }

    template <class ExecutionContext, class Time>
        requires(detail::is_context<ExecutionContext> &&
                 std::constructible_from<basic_waitable_timer, const executor_type&, const Time&>)
    explicit basic_waitable_timer(ExecutionContext& context, const Time& time)
        : basic_waitable_timer(executor_type(context.get_executor()), time) {}

    /// Takes over `other`'s expiry and pending waits. `other` is then as if it were new.
    basic_waitable_timer(basic_waitable_timer&& other)
        : wheel_(other.wheel_), executor_(other.executor_) {
        take(other);
    }

    /// Aborts this timer's pending waits, then takes over `other`'s executor, expiry and pending
    /// waits.
    basic_waitable_timer& operator=(basic_waitable_timer&& other) {
        if (this != &other) {
            remove();
            std::destroy_at(&executor_); // Executors need not be assignable. A copy never throws.
            std::construct_at(&executor_, other.executor_);
            wheel_ = other.wheel_;
            take(other);
        }
        return *this;
    }

    /// Moves from a timer with another executor.
    template <class Executor1>
        requires(std::convertible_to<Executor1, Executor> && !std::same_as<Executor1, Executor>)
    basic_waitable_timer(basic_waitable_timer<Clock, WaitTraits, Executor1>&& other)
        : wheel_(other.wheel_), executor_(other.executor_) {
        take(other);
    }

    /// Moves from a timer with another executor, as the move assignment does.
    template <class Executor1>
        requires(std::convertible_to<Executor1, Executor> && !std::same_as<Executor1, Executor>)
    basic_waitable_timer& operator=(basic_waitable_timer<Clock, WaitTraits, Executor1>&& other) {
        return *this = basic_waitable_timer(std::move(other));
    }

    basic_waitable_timer(const basic_waitable_timer&) = delete;
    basic_waitable_timer& operator=(const basic_waitable_timer&) = delete;

    /// Aborts all pending waits; their handlers are called later, by the context. Safe after the
    /// context's end.
    ~basic_waitable_timer() { remove(); }

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() noexcept { return executor_; }

    /// Aborts all pending waits: their handlers are called with operation_aborted, as if by post().
    /// Returns how many these are. The expiry stays as it is.
    std::size_t cancel() {
        track("cancel");
        return linked() ? core().cancel(state_) : 0;
    }

    /// Aborts the pending wait that was started first, if any. Returns how many were aborted, 0
    /// or 1.
    std::size_t cancel_one() {
        track("cancel_one");
        return linked() ? core().cancel_one(state_) : 0;
    }

    /// When the timer expires or has expired. Neither its expiry nor cancel() changes this.
    [[nodiscard]] time_point expiry() const { return state_.get(); }

    /// How long it is until the expiry; zero when it has passed.
    [[nodiscard]] duration remaining() const { return detail::until_or_zero(now(), expiry()); }

    /// Sets the expiry, and aborts all pending waits as cancel() does. Returns how many these are.
    std::size_t expires_at(const time_point& expiry) {
        const time_point t = checked(expiry);
        track("cancel");
        return linked() ? core().set_expiry(state_, state_.keep(t)) : (state_.set(t), 0);
    }

    template <class Duration>
    std::size_t expires_at(const detail::time_in<time_point, Duration>& expiry) {
        return expires_at(point_of(expiry));
    }

    /// Sets the expiry to `from_now` after now, or to the end of the clock's range. Aborts all
    /// pending waits, as cancel() does. Returns how many these are.
    std::size_t expires_after(const duration& from_now) { return expires_at(point_of(from_now)); }

    template <class Rep, class Period>
    std::size_t expires_after(const std::chrono::duration<Rep, Period>& from_now) {
        return expires_at(point_of(from_now));
    }

    /// Moves the expiry. Pending waits go on waiting, now for the new one, also those whose old
    /// expiry has passed but whose handlers were not called yet. Returns how many these are. 0
    /// means that nothing waits, or not any more, so that nothing will happen at the new expiry:
    /// call async_wait(), or rely on the handler that was called. (A wait that is on its way to
    /// another context can be moved, too. If the timer's context has run out of work meanwhile, run
    /// it again.)
    ///
    /// This is what an idle timeout does on each message. Moving to a later time is a few stores,
    /// and takes no lock if one wait is pending that has no cancellation slot, and the wheel has no
    /// wheel_options::max_pending.
    [[nodiscard("0: nothing waits")]] std::size_t postpone_until(const time_point& expiry) {
        const time_point t = checked(expiry);
        return linked() ? core().postpone(state_, state_.keep(t)) : (state_.set(t), 0);
    }

    template <class Duration>
    [[nodiscard("0: nothing waits")]] std::size_t
    postpone_until(const detail::time_in<time_point, Duration>& expiry) {
        return postpone_until(point_of(expiry));
    }

    /// Moves the expiry to `from_now` after now, as postpone_until().
    [[nodiscard("0: nothing waits")]] std::size_t postpone(const duration& from_now) {
        return postpone_until(point_of(from_now));
    }

    template <class Rep, class Period>
    [[nodiscard("0: nothing waits")]] std::size_t
    postpone(const std::chrono::duration<Rep, Period>& from_now) {
        return postpone_until(point_of(from_now));
    }

    /// Blocks the thread until the timer has expired. Pending waits are not affected. While time is
    /// paused, another thread must move it: on the thread that moves a virtual_time, this throws
    /// std::logic_error. If time is paused during the call, the call may notice that late.
    void wait() {
        using nanoseconds = std::chrono::nanoseconds;
        while (now() < expiry()) {
            nanoseconds left = detail::to_nanoseconds(WaitTraits::to_wait_duration(remaining()));
            if (wheel_->time.paused() && !detail::is_real(*wheel_, executor_)) {
                boost::asio::use_service<detail::wheel_list>(context()).before_blocking();
                left = std::chrono::milliseconds(10);
            }
            constexpr nanoseconds most = detail::driver_timer<Clock, WaitTraits>::longest_sleep;
            std::this_thread::sleep_for(std::clamp(left, nanoseconds(1), most));
        }
    }

    /// As wait(); `ec` is always cleared.
    void wait(boost::system::error_code& ec) {
        ec.clear();
        wait();
    }

    /// Waits for the expiry.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Completes, once, when the timer has expired; when the wait is aborted by cancel(),
    /// cancel_one(), expires_at(), expires_after(), destruction, move assignment, the handler's
    /// cancellation slot, or wheel_service::drain(); or when it is refused. Never from inside this
    /// function. Any number of waits may be pending on one timer; those that end together do so in
    /// the order they started.
    ///
    /// Errors: success; boost::asio::error::operation_aborted; error::too_many_pending if
    /// wheel_options::max_pending waits are pending on the wheel already; error::wheel_stopped
    /// after wheel_service::drain().
    ///
    /// Executor: the handler is called through its associated executor, by default the timer's.
    /// Until then that has outstanding work; and so has the timer's, until the wait has ended and
    /// is on its way.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect; safe at
    /// any time, also when the timer has been moved or destroyed, or the wait is over. Not
    /// concurrently with the handler's being called.
    ///
    /// Allocation: one, by the handler's associated allocator (by default from a pool of the
    /// library), freed before the handler is called. It is no larger than that of Asio's timers
    /// (but by four bytes, with pointers of 32 bits; and by eight, if the handler has a slot, and
    /// an executor that is not a context's own). If it throws, the timer is as it was.
    /// Completion needs no further memory of ours. An executor that is not a context's own, such as
    /// a strand, allocates for each handler: if it has no memory, the wait is sent to it again
    /// later. (A strand of another context that finds no memory for its turn stays locked, as with
    /// any handler. Its waits are lost with it.)
    ///
    /// Lifetimes: the timer may be moved or destroyed while the wait is pending, also from a
    /// handler. When the context ends, handlers of pending waits are destroyed without being
    /// called; but a handler that has been sent to a strand or another context already is called
    /// there.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  WaitToken = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_wait(
        WaitToken&& token = typename boost::asio::default_completion_token<executor_type>::type(),
        const detail::call_place& place = detail::call_place::current())
        -> decltype(boost::asio::async_initiate<WaitToken, void(boost::system::error_code)>(
            std::declval<initiate_async_wait>(), token)) {
        return boost::asio::async_initiate<WaitToken, void(boost::system::error_code)>(
            initiate_async_wait(this, place), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::wait_token<Handler>)
    detail::the_handler_must_be_callable_with_one_error_code async_wait(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with one error_code");

#if ASIO_WHEEL_HAS_DEPRECATED_MEMBERS
    // Members that Boost before 1.87 keeps for code from before C++11.

    /// As cancel(); `ec` is always cleared. Only with Boost before 1.87.
    std::size_t cancel(boost::system::error_code& ec) { return ec.clear(), cancel(); }
    /// As cancel_one(); `ec` is always cleared. Only with Boost before 1.87.
    std::size_t cancel_one(boost::system::error_code& ec) { return ec.clear(), cancel_one(); }
    /// As expiry(). Only with Boost before 1.87.
    [[nodiscard]] time_point expires_at() const { return expiry(); }
    /// As expires_at(expiry); `ec` is always cleared. Only with Boost before 1.87.
    template <class Time>
    std::size_t expires_at(const Time& expiry, boost::system::error_code& ec) {
        return ec.clear(), expires_at(expiry);
    }
    /// How long it is until the expiry; negative when it has passed. Only with Boost before 1.87.
    [[nodiscard]] duration expires_from_now() const {
        return detail::until_saturating(now(), expiry());
    }
    /// As expires_after(); `ec` is always cleared. Only with Boost before 1.87.
    template <class Duration>
    std::size_t expires_from_now(const Duration& from_now) {
        return expires_after(from_now);
    }
    template <class Duration>
    std::size_t expires_from_now(const Duration& from_now, boost::system::error_code& ec) {
        return ec.clear(), expires_after(from_now);
    }
#endif

private:
    friend struct detail::core_access;

    using core_type = detail::wheel_core<Clock, WaitTraits>;
    using counts = detail::clock_counts<Clock>;

    // Asio's adaptors, such as default tokens and deferred, ask an initiation for its executor.
    class initiate_async_wait {
    public:
        using executor_type = Executor;

        initiate_async_wait(basic_waitable_timer* self, const detail::call_place& place) noexcept
            : self_(self), place_(place) {}

        [[nodiscard]] const executor_type& get_executor() const noexcept {
            return self_->executor_;
        }

        template <class Handler>
        void operator()(Handler&& handler) const {
            detail::expect_storable<Handler>();
            auto& core = self_->core();
            detail::start_wait(
                core, detail::with_place(detail::held_timer<core_type>(self_->state_), place_),
                self_->executor_, std::forward<Handler>(handler));
        }

    private:
        basic_waitable_timer* self_;
        ASIO_WHEEL_NO_UNIQUE_ADDRESS detail::call_place place_;
    };

    [[nodiscard]] core_type& core() const noexcept {
        return static_cast<core_type&>(*wheel_->wheel);
    }
    [[nodiscard]] time_point now() const { return detail::now_of<Clock>(*wheel_, executor_); }

    [[nodiscard]] boost::asio::execution_context& context() const noexcept {
        return detail::context_of(executor_);
    }

    // False if the service knows nothing of the timer; it may be gone then.
    [[nodiscard]] bool linked() const noexcept {
        return state_.life() != detail::timer_life::inactive;
    }

    // Aborts all pending waits, and makes the service forget the timer.
    void remove() noexcept {
        track("cancel");
        if (linked()) {
            core().remove(state_);
        }
    }

    // Becomes what `other` is, from being unlinked.
    template <class Executor1>
    void take(basic_waitable_timer<Clock, WaitTraits, Executor1>& other) noexcept {
        state_.native = other.state_.native;
        state_.set(other.expiry());
        if (other.linked()) {
            core().move(other.state_, state_);
        }
        other.state_.set(time_point());
    }

    // Tells handler tracking what is done to the waits that may be pending.
    void track([[maybe_unused]] const char* what) const noexcept {
        if (linked()) {
            BOOST_ASIO_HANDLER_OPERATION((context(), "deadline_timer",
                                          const_cast<detail::clock_timer<Clock>*>(&state_), 0,
                                          what));
        }
    }

    // now + from_now, without overflow. Reading the clock waits for all memory that was asked for
    // before; so it comes first, and the timer's memory comes meanwhile.
    template <class Rep, class Period>
    [[nodiscard]] time_point point_of(const std::chrono::duration<Rep, Period>& from_now) const {
        const auto d = checked(from_now);
        detail::prefetch(&state_);
        detail::prefetch(static_cast<const void*>(&wheel_));
        return detail::add_saturating(now(), d);
    }

    template <class Duration>
    [[nodiscard]] static time_point point_of(const detail::time_in<time_point, Duration>& t) {
        return detail::ceil_saturating<time_point>(checked(t));
    }

    template <class Time>
    [[nodiscard]] static Time checked(const Time& t) {
        return detail::not_nan("the expiry of a timer", t);
    }

    // What an operation on the timer needs comes first, for the sake of caches.
    detail::clock_timer<Clock> state_;
    detail::wheel_anchor* wheel_;
    Executor executor_;
};

} // namespace asio_wheel

#endif
