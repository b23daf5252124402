// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// When a deadline expires, and on which timer it waits: on one of the library, by the wheel of the
// operation's context; or on one that the user gives.
//
// A limit is part of a token. Each operation has a copy of it.
//
//   member of a limit   meaning
//   has_executor        get_executor() returns one, for an operation that has none
//   deadline_type       the type of the deadlines
//   begin(ex, type)     the operation begins: makes its deadline. `ex` is the operation's executor
//   set_expiry(deadline, ex)
//                       tells the deadline when it expires, before the operation may ask
//   is_endless()        whether nothing limits the operation: then start() is not called
//   start([timer, ] wait, ex, bound, tag)
//                       the operation was started: starts the deadline's wait, whose handler gets
//                       the owner `wait`: on the deadline's own timer, if it has one. The operation
//                       is cancelled where `bound` says; on `ex` if that is not bound

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIME_LIMIT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIME_LIMIT_HPP

#include <asio_wheel/detail/asio/bound_to.hpp>
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

/// A limit on a timer of the library.
template <class Clock>
class time_limit {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

public:
    using deadline_type = deadline<core_type>;
    static constexpr bool has_executor = false;

    template <class Rep, class Period>
    constexpr explicit time_limit(std::chrono::duration<Rep, Period> d) noexcept
        : time_(ceil_saturating<duration>(d)), is_relative_(true) {}
    template <class Duration>
    constexpr explicit time_limit(std::chrono::time_point<Clock, Duration> t) noexcept
        : time_(ceil_saturating<duration>(t.time_since_epoch())), is_relative_(false) {}

    template <class Executor>
    [[nodiscard]] auto begin(const Executor& ex, boost::asio::cancellation_type type) {
        wheel_service<Clock>& wheel = wheel_of<Clock>(ex);
        if (std::exchange(is_relative_, false)) {
            time_ = add_saturating(wheel.now(), time_).time_since_epoch();
        }
        return deadline_type::make(core_access::of(wheel), type);
    }

    template <class Executor>
    void set_expiry(const deadline_ptr<core_type>& d, const Executor& ex) const noexcept {
        d->set_expiry(time_point(time_), native_context(ex) != nullptr);
    }

    /// After begin(): whether there is none, which needs no place on the wheel.
    [[nodiscard]] bool is_endless() const noexcept { return time_ == (duration::max)(); }

    template <class Executor, class BoundExecutor, class Tag>
    void start(typename core_type::state& state, deadline_ptr<core_type>&& wait, const Executor& ex,
               bound_to<BoundExecutor>&& bound, const Tag& tag) const {
        core_type& core = wait->core();
        start_wait(
            core, held_timer<core_type>(state), ex,
            with_tag(expire_deadline<core_type, BoundExecutor>(std::move(wait), std::move(bound)),
                     tag));
    }

protected:
    template <class Timer>
    void set_expiry_of(Timer& timer) const {
        if (is_relative_) {
            timer.expires_after(time_);
        } else {
            timer.expires_at(time_point(time_));
        }
    }

private:
    duration time_; // Since the operation's start; or since the clock's epoch.
    bool is_relative_;
};

/// A limit on a timer of the user's.
template <class Timer>
class timer_limit : time_limit<typename Timer::clock_type> {
    using base = time_limit<typename Timer::clock_type>;

public:
    using deadline_type = timer_deadline;
    static constexpr bool has_executor = true;

    template <class Time>
    constexpr timer_limit(Timer& timer, const Time& t) noexcept : base(t), timer_(&timer) {}

    [[nodiscard]] auto get_executor() const noexcept { return timer_->get_executor(); }
    [[nodiscard]] bool is_endless() const noexcept { return false; } // The timer is to wait.

    // The timer stays as it was if there is no memory.
    template <class Executor>
    [[nodiscard]] timer_deadline::owners begin(const Executor&,
                                               boost::asio::cancellation_type type) const {
        auto owners = timer_deadline::make(type);
        this->set_expiry_of(*timer_);
        return owners;
    }

    template <class Executor>
    void set_expiry(const deadline_owner<timer_deadline>&, const Executor&) const noexcept {}

    template <class Executor, class BoundExecutor, class Tag>
    void start(deadline_owner<timer_deadline>&& wait, const Executor& ex,
               [[maybe_unused]] bound_to<BoundExecutor>&& bound, const Tag& tag) const {
        if constexpr (std::is_same_v<BoundExecutor, unassociated>) {
            start(std::move(wait), ex, bound_to<Executor>{ex}, tag);
        } else {
            timer_->async_wait(
                with_tag(end_of_timer_wait<BoundExecutor>(std::move(wait), std::move(bound)), tag));
        }
    }

private:
    Timer* timer_;
};

} // namespace asio_wheel::detail

#endif
