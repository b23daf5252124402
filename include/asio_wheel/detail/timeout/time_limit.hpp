// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// When a deadline expires, and on which timer it waits: on one of the library, by the wheel of the
// operation's context; or on one that the user gives.
//
// A limit is part of a token. When an operation begins, begin() gives an object that makes the
// operation's deadline, and starts its wait when the operation has been started.
//
//   member of a limit   meaning
//   has_executor        get_executor() returns one, for an operation that has none
//   deadline_type       the type of the deadlines
//   begin(ex)           `ex` is the operation's executor
//
//   then                meaning
//   make(type)          makes a deadline
//   start([timer, ] wait, ex, bound)
//                       starts the deadline's wait, whose handler gets the owner `wait`: on the
//                       deadline's own timer, if it has one. The operation is cancelled on
//                       `*bound`; on `ex` if `bound` is null

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIME_LIMIT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIME_LIMIT_HPP

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout/deadline.hpp>
#include <asio_wheel/detail/timeout/timer_deadline.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/wait_traits.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// A duration after the operation's start, or a time point.
template <class Clock>
class limited_time {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    template <class Rep, class Period>
    constexpr explicit limited_time(std::chrono::duration<Rep, Period> d) noexcept
        : value_(ceil_saturating<duration>(d)), relative_(true) {}
    template <class Duration>
    constexpr explicit limited_time(std::chrono::time_point<Clock, Duration> t) noexcept
        : value_(ceil_saturating<duration>(t.time_since_epoch())), relative_(false) {}

    [[nodiscard]] time_point expiry(const wheel_service<Clock>& wheel) const {
        return relative_ ? add_saturating(wheel.now(), value_) : time_point(value_);
    }

    template <class Timer>
    void set_expiry_of(Timer& timer) const {
        if (relative_) {
            timer.expires_after(value_);
        } else {
            timer.expires_at(time_point(value_));
        }
    }

private:
    duration value_; // Since the clock's epoch, unless it is relative to the operation's start.
    bool relative_;
};

/// A limit on a timer of the library.
template <class Clock>
class time_limit {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;

    class beginning {
    public:
        beginning(wheel_service<Clock>& wheel, const limited_time<Clock>& time)
            : core_(core_access::of(wheel)), expiry_(time.expiry(wheel)) {}

        [[nodiscard]] auto make(boost::asio::cancellation_type type) const {
            return deadline<core_type>::make(core_, type);
        }

        template <class Executor, class Bound, class Tag>
        void start(typename core_type::state& state, deadline_ptr<core_type>&& wait,
                   const Executor& ex, const Bound& bound, const Tag& tag) const {
            set_idle_timer(core_, state, expiry_, native_context(ex) != nullptr);
            const held_timer<core_type> timer(state);
            if constexpr (std::is_null_pointer_v<Bound>) {
                start_wait(core_, timer, ex,
                           with_tag(expire_deadline<core_type>(std::move(wait)), tag));
            } else {
                using bound_executor = std::remove_cvref_t<decltype(*bound)>;
                start_wait(
                    core_, timer, ex,
                    with_tag(expire_deadline_on<core_type, bound_executor>(std::move(wait), *bound),
                             tag));
            }
        }

    private:
        core_type& core_;
        typename Clock::time_point expiry_;
    };

public:
    using clock = Clock;
    using deadline_type = deadline<core_type>;
    static constexpr bool has_executor = false;

    constexpr explicit time_limit(const limited_time<Clock>& time) noexcept : time_(time) {}

    template <class Executor>
    [[nodiscard]] beginning begin(const Executor& ex) const {
        return beginning(wheel_of<Clock>(ex), time_);
    }

private:
    limited_time<Clock> time_;
};

/// A limit on a timer of the user's.
template <class Timer>
class timer_limit {
    using clock = typename Timer::clock_type;

    class beginning {
    public:
        beginning(Timer& timer, const limited_time<clock>& time) : timer_(timer), time_(time) {}

        // The timer stays as it was if there is no memory.
        [[nodiscard]] timer_deadline::owners make(boost::asio::cancellation_type type) const {
            auto owners = timer_deadline::make(type);
            time_.set_expiry_of(timer_);
            return owners;
        }

        template <class Executor, class Bound, class Tag>
        void start(deadline_owner<timer_deadline>&& wait, const Executor& ex, const Bound& bound,
                   const Tag& tag) const {
            if constexpr (std::is_null_pointer_v<Bound>) {
                timer_.async_wait(with_tag(end_of_timer_wait<Executor>(std::move(wait), ex), tag));
            } else {
                using bound_executor = std::remove_cvref_t<decltype(*bound)>;
                timer_.async_wait(
                    with_tag(end_of_timer_wait<bound_executor>(std::move(wait), *bound), tag));
            }
        }

    private:
        Timer& timer_;
        const limited_time<clock>& time_;
    };

public:
    using deadline_type = timer_deadline;
    static constexpr bool has_executor = true;

    constexpr timer_limit(Timer& timer, const limited_time<clock>& time) noexcept
        : timer_(&timer), time_(time) {}

    [[nodiscard]] auto get_executor() const noexcept { return timer_->get_executor(); }

    template <class Executor>
    [[nodiscard]] beginning begin(const Executor&) const {
        return beginning(*timer_, time_);
    }

private:
    Timer* timer_;
    limited_time<clock> time_;
};

} // namespace asio_wheel::detail

#endif
