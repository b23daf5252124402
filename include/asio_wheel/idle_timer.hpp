// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What happens when nothing happens: idle timeouts and heartbeats of connections.
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

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/activity.hpp>
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/initiation_of.hpp>
#include <asio_wheel/detail/intermediate_handler.hpp>
#include <asio_wheel/detail/positive.hpp>
#include <asio_wheel/detail/valve.hpp>
#include <asio_wheel/detail/wait_anew.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace asio_wheel {

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
/// Neither copyable nor movable. Thread safety: touch() and idle_for() may be called from any
/// thread at any time, until the execution context ends, whose wheel tells the time; everything
/// else as with a timer.
///
/// A period of zero or less, and one that is not a number, throws std::invalid_argument. In an
/// overloaded server, wheel_service::scale() shortens the periods of all idle timers at once.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_idle_timer {
    using initiate_async_wait = detail::initiation_of<basic_idle_timer>;
    friend initiate_async_wait;

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
        : wheel_(use_wheel<Clock>(detail::context_of(ex))), timer_(ex),
          watch_(detail::core_access::of(wheel_), detail::core_access::state_of(timer_),
                 checked(period)) {
        valve().add(watch_);
    }

    template <class Context, class Rep, class Period>
        requires detail::is_context<Context>
    basic_idle_timer(Context& context, const std::chrono::duration<Rep, Period>& period)
        : basic_idle_timer(executor_type(context.get_executor()), period) {}

    basic_idle_timer(const basic_idle_timer&) = delete;
    basic_idle_timer& operator=(const basic_idle_timer&) = delete;
    /// Aborts a wait that is pending. Safe after the context's end.
    ~basic_idle_timer() {
        if (watch_.listed) {
            valve().remove(watch_);
        }
    }

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    /// Something has happened: a period begins anew. Not to be called when the execution context
    /// has ended, not even if nobody waits: the time is its wheel's.
    void touch() {
        watch_.touched.touch();
        if constexpr (!Clock::is_steady) {
            waits_until_.no_later_than(detail::core_access::of(wheel_), watch_.timer, end());
        }
    }

    /// How long it has been idle. Not to be called when the execution context has ended.
    [[nodiscard]] duration idle_for() const {
        return std::max(detail::until_saturating(watch_.touched.last(), wheel_.now()),
                        duration::zero());
    }

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
    /// period, and must live until the handler is called, unless that is with an error.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_wait(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            std::declval<initiate_async_wait>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            initiate_async_wait(this), token);
    }

    /// Aborts the pending wait. Returns how many these are, 0 or 1.
    std::size_t cancel() { return timer_.cancel(); }

    /// As it was given: wheel_service::scale() does not change it.
    [[nodiscard]] duration period() const noexcept { return watch_.period; }

    /// Changes the period; it began when it was last touched. What is waited for goes on being
    /// waited for.
    template <class Rep, class Period>
    void period(const std::chrono::duration<Rep, Period>& period) {
        valve().set_period(watch_, checked(period));
        const double scale = valve().scale();
        const time_point end = watch_.end(scale);
        waits_until_.set(end);
        timer_.postpone_until(end);
        valve().waits_by(scale);
    }

private:
    // What the wait for the end of a period calls.
    struct look {
        basic_idle_timer* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            if (!ec && self->wheel_.now() < self->end()) { // It was touched meanwhile.
                detail::go_on_with(op, [this, &op] { self->wait(std::move(op)); });
            } else {
                op.complete(ec);
            }
        }
    };

    using core_type = detail::wheel_core<Clock, boost::asio::wait_traits<Clock>>;
    using valve_type = detail::valve<core_type>;

    [[nodiscard]] valve_type& valve() const noexcept {
        return detail::core_access::valve_of(wheel_);
    }

    template <class Handler>
    void start(Handler&& handler) {
        wait(detail::intermediate_handler<Handler, look>(std::forward<Handler>(handler),
                                                         look{this}));
    }

    template <class Operation>
    void wait(Operation&& op) {
        valve_type& v = valve(); // The idle timer may be gone when its wait has started.
        const double scale = v.scale();
        const time_point end = watch_.end(scale);
        detail::wait_anew(wheel_, timer_, std::forward<Operation>(op), [&] {
            waits_until_.set(end);
            timer_.expires_at(end);
        });
        v.waits_by(scale);
    }

    [[nodiscard]] time_point end() const noexcept { return watch_.end(valve().scale()); }

    template <class Rep, class Period>
    [[nodiscard]] static duration checked(const std::chrono::duration<Rep, Period>& period) {
        return detail::positive<duration>("the period of an idle timer", period);
    }

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    detail::idle_watch<core_type> watch_;
    [[no_unique_address]] detail::waiting_until<core_type> waits_until_;
};

/// An idle timer on the steady clock.
using idle_timer = basic_idle_timer<std::chrono::steady_clock>;

/// What a heartbeat wants its owner to do.
enum class heartbeat_event {
    send, ///< Nothing was sent for so long that the peer should hear that we live.
    dead  ///< Nothing was received for so long that the peer does not.
};

/// Two idle timers of a connection in one: when to send a sign of life, and when to give the peer
/// up.
///
///     asio_wheel::heartbeat pulse(ctx, 10s, 35s);
///     while (co_await pulse.async_next(use_awaitable) != asio_wheel::heartbeat_event::dead) {
///         outbox.push(ping); // For the one coroutine that writes.
///     }
///     socket.close(); // Aborts the read and the write that are pending.
///
/// Do not write here: a write hangs when the peer has stopped reading, and then nobody would wait
/// for `dead`; and a connection has one writer. docs/guide/idle_timer.md has all of such a
/// connection.
///
/// sent() and received() are touch()es, from any thread until the execution context ends.
/// Everything else is as with an idle timer.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_heartbeat {
    using initiate_async_next = detail::initiation_of<basic_heartbeat>;
    friend initiate_async_next;

public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    template <class Executor1>
    struct rebind_executor {
        using other = basic_heartbeat<Clock, Executor1>;
    };

    /// Both count as done now.
    template <class Rep1, class Period1, class Rep2, class Period2>
    basic_heartbeat(const executor_type& ex, const std::chrono::duration<Rep1, Period1>& send_every,
                    const std::chrono::duration<Rep2, Period2>& dead_after)
        : wheel_(use_wheel<Clock>(detail::context_of(ex))), timer_(ex),
          send_every_(detail::positive<duration>("a heartbeat's send_every", send_every)),
          dead_after_(detail::positive<duration>("a heartbeat's dead_after", dead_after)),
          sent_(detail::core_access::of(wheel_)), received_(detail::core_access::of(wheel_)) {}

    template <class Context, class Rep1, class Period1, class Rep2, class Period2>
        requires detail::is_context<Context>
    basic_heartbeat(Context& context, const std::chrono::duration<Rep1, Period1>& send_every,
                    const std::chrono::duration<Rep2, Period2>& dead_after)
        : basic_heartbeat(executor_type(context.get_executor()), send_every, dead_after) {}

    basic_heartbeat(const basic_heartbeat&) = delete;
    basic_heartbeat& operator=(const basic_heartbeat&) = delete;
    ~basic_heartbeat() = default; ///< Aborts a wait that is pending.

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    /// Something was sent.
    void sent() {
        sent_.touch();
        keep_up();
    }

    /// Something was received.
    void received() {
        received_.touch();
        keep_up();
    }

    /// Waits until there is something to do. If both are, it is too late to send.
    ///
    /// Completion signature: void(boost::system::error_code, heartbeat_event)
    ///
    /// What it wants to be sent counts as sent. With an error, the event means nothing. Everything
    /// else is as with basic_idle_timer::async_wait().
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, heartbeat_event))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_next(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, heartbeat_event)>(
            std::declval<initiate_async_next>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, heartbeat_event)>(
            initiate_async_next(this), token);
    }

    /// Aborts the pending wait. Returns how many these are, 0 or 1.
    std::size_t cancel() { return timer_.cancel(); }

private:
    // What the wait for the first of both calls.
    struct look {
        basic_heartbeat* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            if (ec) {
                return op.complete(ec, heartbeat_event::send);
            }
            const time_point now = self->wheel_.now();
            if (now >= self->death()) {
                op.complete(ec, heartbeat_event::dead);
            } else if (now >= self->next_sending()) {
                self->sent();
                op.complete(ec, heartbeat_event::send);
            } else {
                detail::go_on_with(
                    op, [this, &op] { self->wait(std::move(op)); }, heartbeat_event::send);
            }
        }
    };

    template <class Handler>
    void start(Handler&& handler) {
        wait(detail::intermediate_handler<Handler, look>(std::forward<Handler>(handler),
                                                         look{this}));
    }

    template <class Operation>
    void wait(Operation&& op) {
        const time_point next = next_event();
        detail::wait_anew(wheel_, timer_, std::forward<Operation>(op), [&] {
            waits_until_.set(next);
            timer_.expires_at(next);
        });
    }

    // After a touch.
    void keep_up() {
        if constexpr (!Clock::is_steady) {
            waits_until_.no_later_than(detail::core_access::of(wheel_),
                                       detail::core_access::state_of(timer_), next_event());
        }
    }

    [[nodiscard]] time_point next_event() const noexcept {
        return std::min(next_sending(), death());
    }

    [[nodiscard]] time_point next_sending() const noexcept {
        return detail::add_saturating(sent_.last(), send_every_);
    }
    [[nodiscard]] time_point death() const noexcept {
        return detail::add_saturating(received_.last(), dead_after_);
    }

    using core_type = detail::wheel_core<Clock, boost::asio::wait_traits<Clock>>;

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    duration send_every_;
    duration dead_after_;
    detail::activity<core_type> sent_;
    detail::activity<core_type> received_;
    [[no_unique_address]] detail::waiting_until<core_type> waits_until_;
};

/// A heartbeat on the steady clock.
using heartbeat = basic_heartbeat<std::chrono::steady_clock>;

} // namespace asio_wheel

#endif
