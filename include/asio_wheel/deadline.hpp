// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How much time is left, asked far down a call chain: by an operation, of its handler; and by a
// coroutine, of its executor.
//
//     const auto ex = co_await asio::this_coro::executor;
//     const auto left = asio_wheel::remaining_time(ex);

#ifndef ASIO_WHEEL_DEADLINE_HPP
#define ASIO_WHEEL_DEADLINE_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/associated_property.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// In place of a remaining time, where there is no deadline: nanoseconds::max().
struct no_deadline {
    /// As a remaining time.
    // NOLINTNEXTLINE(google-explicit-constructor)
    [[nodiscard]] constexpr operator std::chrono::nanoseconds() const noexcept {
        return (std::chrono::nanoseconds::max)();
    }
};

template <class T, class Candidate = no_deadline>
struct associated_remaining_time;

namespace detail {

/// For associated_remaining_time.
struct remaining_time_property {
    template <class T>
    using type_of = typename T::remaining_time_type;
    template <class T>
    [[nodiscard]] static type_of<T> get(const T& t) noexcept {
        return t.get_remaining_time();
    }
};

} // namespace detail

/// The remaining time of a handler, as associated_allocator is its allocator:
/// `get_remaining_time()`, if the handler names a `remaining_time_type`, which is
/// std::chrono::nanoseconds; otherwise that of the handler inside, for all wrappers that forward
/// what is associated, such as Asio's; otherwise the candidate.
///
/// For handlers of your own that have a deadline. To ask, use remaining_time(): it also looks at
/// the executor.
template <class T, class Candidate>
struct associated_remaining_time
    : detail::associated_property<associated_remaining_time, detail::remaining_time_property, T,
                                  Candidate> {};

class deadline_executor;

namespace detail {

struct deadline_executor_access;

template <class Executor>
[[nodiscard]] std::chrono::nanoseconds remaining_on(const Executor& ex) noexcept;

// For deadline_executor. The default executor of the Networking TS has neither.
template <class Executor, class Property>
concept requires_property = requires(const Executor& ex, const Property& p) { ex.require(p); };
template <class Executor, class Property>
concept prefers_property = requires(const Executor& ex, const Property& p) { ex.prefer(p); };

/// A token of the library that has another one inside. It is no handler.
template <class T>
concept wrapping_token = requires { typename T::wrapped_token; };

} // namespace detail

/// An executor that carries a deadline, and otherwise behaves as the executor inside. Made by
/// with_deadline().
///
/// All that Asio knows of an executor is forwarded: so it can be that of coroutines, operations,
/// timers, sockets and strands. It converts to boost::asio::any_io_executor. remaining_time() finds
/// it there, and below a strand, too.
///
/// It tells how much time is left, and cancels nothing: timeout() does.
///
/// Copies share the deadline. They are equal if both the executors inside and the deadlines are.
///
/// Allocation: one in memory of the library, when it is made, and for each property that Asio
/// requires or prefers; and what an any_io_executor allocates when it is asked for a property.
/// Copies do not allocate. Handlers on it are queued by way of the executor inside, as with a
/// strand. That may need memory when an operation ends, see P1 in docs/design.md.
///
/// Thread safety: as any executor's.
class deadline_executor {
    using any_io_executor = boost::asio::any_io_executor;

public:
    /// The executor with another property, with the same deadline. For boost::asio::require().
    template <class Property>
        requires detail::requires_property<any_io_executor, Property>
    [[nodiscard]] deadline_executor require(const Property& p) const {
        return {boost::asio::require(state_->inner, p), state_->wheel, state_->expiry};
    }

    /// The same for boost::asio::prefer().
    template <class Property>
        requires detail::prefers_property<any_io_executor, Property>
    [[nodiscard]] deadline_executor prefer(const Property& p) const {
        return {boost::asio::prefer(state_->inner, p), state_->wheel, state_->expiry};
    }

    /// A property of the executor inside. For boost::asio::query().
    template <class Property>
        requires boost::asio::can_query<const any_io_executor&, Property>::value
    [[nodiscard]] decltype(auto) query(const Property& p) const {
        return boost::asio::query(state_->inner, p);
    }

    /// Runs a function on the executor inside.
    template <class Function, class Inner = any_io_executor>
    void execute(Function f) const {
        const Inner& inner = state_->inner; // Of the Networking TS, it has no such function.
        inner.execute(std::move(f));
    }

    /// Whether the deadlines are the same, and the executors inside are.
    friend bool operator==(const deadline_executor& a, const deadline_executor& b) noexcept {
        return a.state_->expiry == b.state_->expiry && a.state_->inner == b.state_->inner;
    }

private:
    friend struct detail::deadline_executor_access;

    using clock = std::chrono::steady_clock;

    struct state {
        any_io_executor inner;
        const detail::wheel_anchor* wheel;
        clock::time_point expiry;
    };

    deadline_executor(any_io_executor inner, const detail::wheel_anchor* wheel,
                      clock::time_point expiry)
        : state_(std::allocate_shared<const state>(detail::block_allocator<state>(),
                                                   state{std::move(inner), wheel, expiry})) {}

    std::shared_ptr<const state> state_;
};

/// How much time is left until the earliest deadline of `x`: zero when it has passed;
/// nanoseconds::max() if there is none. So it may be given to timeout() in each case.
///
/// `x` is a completion handler, as the initiation of an operation gets it, or the `self` of an
/// operation that is composed by async_compose(); or an executor. The deadlines of a handler are:
///  - those of timeout(), timeout_at(), cancel_after() and cancel_at() that it was given by, nested
///    ones included. (But not on timers of the user's, which may be moved: ask the timer.)
///  - that of its associated executor, if with_deadline() has made it, or it is a strand of such a
///    one, also in an any_io_executor
/// Those of an executor are its own.
///
/// What a wrapper of handlers forwards is found below it. All of the library do, and most of
/// Asio's; docs/guide/deadline.md has a table. The executor gets through all of them.
///
/// A deadline of a timeout is on the wheel and the clock of its wait, one of an executor on the
/// steady clock, by the wheel of the context. So virtual time counts.
///
/// Lifetimes: the context of a handler's deadline must exist.
///
/// Time: a reading of the clock for each deadline. Does not block, allocates nothing.
///
/// Thread safety: a handler is asked where it is used. Any threads may ask an executor.
///
///     if (asio_wheel::remaining_time(ex) < 50ms) {
///         co_return; // There is no point in asking the other server.
///     }
template <class T>
[[nodiscard]] std::chrono::nanoseconds remaining_time(const T& x) noexcept {
    static_assert(!detail::wrapping_token<T>,
                  "asio_wheel: a completion token has no remaining time yet. Ask for that of the "
                  "handler, in the initiation of the operation, or of `self` in async_compose()");
    if constexpr (detail::is_executor<T>) {
        return detail::remaining_on(x);
    } else {
        const std::chrono::nanoseconds left = associated_remaining_time<T>::get(x);
        if constexpr (detail::has_own_executor<T>) {
            return (std::min)(left, detail::remaining_on(boost::asio::get_associated_executor(x)));
        } else {
            return left;
        }
    }
}

namespace detail {

struct deadline_executor_access {
    using clock = deadline_executor::clock;

    template <class Executor>
    [[nodiscard]] static deadline_executor make(const Executor& ex, std::chrono::nanoseconds d) {
        const boost::asio::any_io_executor any(ex);
        // One that carries a deadline already is not wrapped again.
        const auto* const outer = any.template target<deadline_executor>();
        const wheel_anchor& wheel = anchor_of<clock>(any);
        const clock::time_point start = now_of<clock>(wheel, any);
        if (outer != nullptr) {
            return {outer->state_->inner, &wheel,
                    (std::min)(add_saturating(start, d), outer->state_->expiry)};
        }
        // The clock is read again: so this is never later than a deadline further inside.
        return {any, &wheel, add_saturating(start, (std::min)(d, remaining_on(any)))};
    }

    [[nodiscard]] static std::chrono::nanoseconds remaining(const deadline_executor& ex) noexcept {
        const auto& state = *ex.state_;
        return remaining_until(now_of<clock>(*state.wheel, state.inner), state.expiry);
    }
};

template <class Executor>
std::chrono::nanoseconds remaining_on(const Executor& ex) noexcept {
    using boost::asio::strand;
    if constexpr (std::is_same_v<Executor, deadline_executor>) {
        return deadline_executor_access::remaining(ex);
    } else if constexpr (requires { ex.get_inner_executor(); }) { // A strand.
        return remaining_on(ex.get_inner_executor());
    } else if constexpr (requires { ex.template target<deadline_executor>(); }) {
        if (const auto* const d = ex.template target<deadline_executor>()) {
            return remaining_on(*d);
        }
        if (const auto* const s = ex.template target<strand<deadline_executor>>()) {
            return remaining_on(*s);
        }
        if (const auto* const s = ex.template target<strand<boost::asio::any_io_executor>>()) {
            return remaining_on(*s);
        }
    }
    return no_deadline();
}

} // namespace detail

/// An executor that behaves as `ex`, and tells what runs on it how much time is left: until `d`
/// from now; or until the deadline that `ex` carries, if that is earlier.
///
/// It is for coroutines, and for handlers bound to it by bind_executor(). Whatever is called by a
/// coroutine that was spawned on it has it: what it awaits, both sides of `a && b` and `a || b`,
/// and what it spawns on its own executor.
///
/// It cancels nothing. So give the operation that spawns the coroutine the same time:
///
///     const auto limited = asio_wheel::with_deadline(ex, 5s);
///     asio::co_spawn(limited, session(), timeout(asio_wheel::remaining_time(limited), token));
///
/// `ex` is an executor that converts to boost::asio::any_io_executor, or an execution context,
/// which stands for its get_executor(). The wheel of its context is made if there is none.
///
/// Exceptions: std::bad_alloc; std::invalid_argument for a duration that is not a number (NaN). If
/// `d` is infinite, the deadline is that of `ex`; if `d` is not positive, it has passed.
///
/// Lifetimes: as of `ex`. After the context's end, remaining_time() still may be asked.
template <class Executor, class Rep, class Period>
    requires detail::is_executor<Executor>
[[nodiscard]] deadline_executor with_deadline(const Executor& ex,
                                              const std::chrono::duration<Rep, Period>& d) {
    static_assert(!detail::is_ts_executor<boost::asio::any_io_executor>,
                  "asio_wheel: a deadline_executor is a standard executor. With "
                  "BOOST_ASIO_USE_TS_EXECUTOR_AS_DEFAULT, nothing of Asio's can have it");
    return detail::deadline_executor_access::make(
        ex, detail::to_nanoseconds(detail::not_nan("a deadline", d)));
}

template <class Context, class Rep, class Period>
    requires detail::is_context<Context>
[[nodiscard]] deadline_executor with_deadline(Context& context,
                                              const std::chrono::duration<Rep, Period>& d) {
    return with_deadline(context.get_executor(), d);
}

// A time of a wrong type: see detail/asio/misuse.hpp.
template <class Where, class Time>
    requires(!detail::is_duration<Time>)
auto with_deadline(const Where&, const Time&) {
    static_assert(detail::is_duration<Time>,
                  "asio_wheel: with_deadline() takes a duration from now, such as 5s. For a "
                  "time_point t of the steady clock, write t - asio_wheel::now(executor)");
}

} // namespace asio_wheel

#endif
