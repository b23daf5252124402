// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Signs of life between two peers: when to send one, and when to give a silent peer up.

#ifndef ASIO_WHEEL_HEARTBEAT_HPP
#define ASIO_WHEEL_HEARTBEAT_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>
#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class Clock, class Executor>
class heartbeat_impl;

/// When something was last sent, and received.
template <class Clock>
struct heartbeat_activity {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;

    explicit heartbeat_activity(const core_type& core) : sent(core), received(core) {}

    activity<core_type> sent;
    activity<core_type> received;
};
} // namespace detail

/// The periods of a heartbeat, both greater than zero. One that is left out never ends.
struct heartbeat_options {
    /// How long after the last sending the next one is due.
    std::chrono::nanoseconds send_every = (std::chrono::nanoseconds::max)();
    /// How long after the last receipt the peer is considered dead.
    std::chrono::nanoseconds dead_after = (std::chrono::nanoseconds::max)();
    /// Each sending is due earlier by a random time, less than this share of `send_every`: 0 to 1.
    /// It spreads the signs of life of connections that were made at one moment. They are never
    /// later than the peer may expect.
    double jitter = 0;
};

/// What the owner of a heartbeat has to do.
enum class heartbeat_event {
    send, ///< Send a sign of life: nothing was sent for a period.
    dead  ///< Close the connection: nothing was received for the other period.
};

/// The two idle timers of a connection in one object: when to send a sign of life, and when to
/// consider the peer dead.
///
///     asio_wheel::heartbeat pulse(ctx, {.send_every = 10s, .dead_after = 35s});
///     while (co_await pulse.async_next(use_awaitable) != asio_wheel::heartbeat_event::dead) {
///         outbox.push(ping); // For the one coroutine that writes.
///     }
///     socket.close(); // Aborts the read and the write that are pending.
///
/// Do not write in this loop. If the peer has stopped reading, a write does not complete, and the
/// loop would never see `dead`. Moreover, a connection has one writer. docs/guide/heartbeat.md
/// shows a whole connection.
///
/// sent() and received() may be called from any thread, but not while the execution context ends,
/// nor while this same object is moved. Everything else is as with an idle timer.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_heartbeat {
    using impl = detail::heartbeat_impl<Clock, Executor>;
    using initiate_async_next = detail::initiation_of<impl>;

public:
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().

    /// The heartbeat's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_heartbeat<Clock, Executor1>;
    };

    /// Both periods begin now. Throws std::invalid_argument if one is not greater than zero, or
    /// `jitter` is no share.
    basic_heartbeat(const executor_type& ex, const heartbeat_options& options)
        : seen_(detail::core_access::of(detail::wheel_of<Clock>(ex))),
          impl_(std::in_place, ex, options, seen_) {}

    template <class Context>
        requires detail::is_context<Context>
    basic_heartbeat(Context& context, const heartbeat_options& options)
        : basic_heartbeat(executor_type(context.get_executor()), options) {}

    /// Takes over what `other` knows and the pending wait.
    basic_heartbeat(basic_heartbeat&& other) noexcept
        : seen_(other.seen_), impl_(std::move(other.impl_)) {
        update_impl();
    }
    /// The same. A wait that was pending here before is aborted.
    basic_heartbeat& operator=(basic_heartbeat&& other) noexcept {
        impl_ = std::move(other.impl_);
        seen_ = other.seen_;
        update_impl();
        return *this;
    }
    ~basic_heartbeat() = default; ///< Aborts a wait that is pending.

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// Something was sent.
    void sent() {
        seen_.sent.touch();
        touched();
    }

    /// Something was received.
    void received() {
        seen_.received.touch();
        touched();
    }

    /// Waits for the next event. If both periods have ended, the event is `dead`.
    ///
    /// Completion signature: void(boost::system::error_code, heartbeat_event)
    ///
    /// `send` begins a new period, as sent() does. With an error, the event has no meaning.
    /// Everything else is as with basic_idle_timer::async_wait().
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, heartbeat_event))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_next(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, heartbeat_event)>(
            std::declval<initiate_async_next>(), token)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, heartbeat_event)>(
            initiate_async_next(impl_.get()), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::token_for<Handler, void(boost::system::error_code, heartbeat_event)>)
    detail::the_handler_must_be_callable_with_an_error_code_and_a_heartbeat_event
    async_next(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with an error_code and a heartbeat_event");

    /// Aborts the pending wait. Returns how many these are, 0 or 1.
    std::size_t cancel() { return impl_ ? impl_->cancel() : 0; }

private:
    // On a clock that can be set, a pending wait may have to move.
    void touched() {
        if (!detail::steady_clock<Clock> || seen_.received.is_watched()) {
            impl_->on_touch();
        }
    }

    // The state uses seen_ by its address.
    void update_impl() noexcept {
        if (impl_) {
            impl_->on_move(seen_);
        }
    }

    detail::heartbeat_activity<Clock> seen_; // Not a part of the state: see basic_idle_timer.
    detail::stable_impl<impl> impl_;
};

/// A heartbeat on the steady clock.
using heartbeat = basic_heartbeat<std::chrono::steady_clock>;

} // namespace asio_wheel

#include <asio_wheel/detail/heartbeat/impl.hpp>

#endif
