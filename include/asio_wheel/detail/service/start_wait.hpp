// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_START_WAIT_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_START_WAIT_HPP

#include <asio_wheel/detail/asio/cancellation.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/service/handler_ops.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <concepts>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The function in the cancellation slot of a wait.
class wait_canceller : public cancel_link {
public:
    explicit wait_canceller(core& c) noexcept : core_(&c) {}
    wait_canceller(const wait_canceller&) = delete;
    wait_canceller& operator=(const wait_canceller&) = delete;
    ~wait_canceller() { core_->unbind(*this); }

    void operator()(boost::asio::cancellation_type type) noexcept {
        if (aborts(type)) {
            core_->cancel(*this);
        }
    }

private:
    core* core_; // Not used once the link is null: the service may be gone then.
};

/// Frees an operation that could not be scheduled.
struct unscheduled {
    void operator()(operation* op) const noexcept { op->destroy(); }
};

/// For a wait on a timer that lives outside of the operation.
template <class Core>
class held_timer {
public:
    using part = unassociated; ///< What the operation carries of it.
    using place_type = no_place;

    explicit held_timer(typename Core::state& s) noexcept : state_(s) {}

    [[nodiscard]] bool native() const noexcept { return state_.native; }
    [[nodiscard]] typename Core::state& state_in(unassociated&) const noexcept { return state_; }
    [[nodiscard]] no_place place() const noexcept { return {}; }
    void accepted() const noexcept {} ///< Nothing fails from now on.

private:
    typename Core::state& state_;
};

/// For a wait whose timer is part of the operation. The operation is not freed before the timer has
/// left the wheel.
template <class Core>
class own_timer {
public:
    using part = typename Core::state;
    using place_type = no_place;

    own_timer(typename Core::time_point expiry, bool native) noexcept
        : expiry_(expiry), native_(native) {}

    [[nodiscard]] bool native() const noexcept { return native_; }
    [[nodiscard]] part& state_in(part& state) const noexcept {
        state.expiry.set(clock_counts<typename Core::clock>::up(expiry_));
        state.native = native_;
        return state;
    }
    [[nodiscard]] no_place place() const noexcept { return {}; }
    void accepted() const noexcept {}

private:
    typename Core::time_point expiry_;
    bool native_;
};

/// For a wait whose place in the source is known: see ASIO_WHEEL_TRACK_SOURCE.
template <class Timer>
class placed_timer : public Timer {
public:
    using place_type = std::source_location;

    placed_timer(const Timer& timer, const std::source_location& place) noexcept
        : Timer(timer), place_(place) {}

    [[nodiscard]] const std::source_location& place() const noexcept { return place_; }

private:
    std::source_location place_;
};

template <class Timer>
[[nodiscard]] Timer with_place(const Timer& timer, const no_place&) noexcept {
    return timer;
}
template <class Timer>
[[nodiscard]] placed_timer<Timer> with_place(const Timer& timer,
                                             const std::source_location& place) noexcept {
    return {timer, place};
}

template <class Op, class Core, class Timer, class Executor, class Handler, class... Arguments>
void schedule_op(Core& core, const Timer& timer, [[maybe_unused]] const Executor& ex,
                 Handler&& handler, Arguments&&... arguments) {
    Op* const op = op_memory<Op, Handler>::create(std::forward<Handler>(handler), core,
                                                  std::forward<Arguments>(arguments)...);
    std::unique_ptr<operation, unscheduled> guard(op);
    typename Core::state& s = timer.state_in(op->timer());
    BOOST_ASIO_HANDLER_CREATION((context_of(ex), *op, "deadline_timer", &s, 0, "async_wait"));
    if constexpr (is_described<Handler, typename Timer::place_type>) {
        op->what = describe(op->handler(), timer.place());
    }
    if constexpr (std::is_base_of_v<slotted_node, Op>) {
        if (auto slot = boost::asio::get_associated_cancellation_slot(op->handler());
            slot.is_connected()) {
            core.bind(slot.template emplace<wait_canceller>(core), *op);
        }
    }
    timer.accepted();
    static_cast<void>(guard.release());
    core.schedule(s, *op);
}

/// Starts a wait on `timer`, whose executor is `ex`, and moves from `handler`. Chooses the kind of
/// operation that reaches the handler.
template <class Core, class Timer, class Executor, class Handler>
void start_wait_with(Core& core, const Timer& timer, const Executor& ex, Handler& handler) {
    namespace asio = boost::asio;
    static_assert(std::invocable<Handler, boost::system::error_code>,
                  "the handler of a wait must be callable with a boost::system::error_code");
    constexpr bool unbound = !has_own_executor<Handler>;
    using part = typename Timer::part;
    using place = typename Timer::place_type;
    using direct = direct_op<Handler, part, place>;

    // Branches that never run are not instantiated: they are larger than those that do.
    constexpr bool always_native = is_native_type<Executor>;
    if constexpr (unbound && always_native) {
        schedule_op<direct>(core, timer, ex, std::move(handler));
    } else if constexpr (unbound) {
        if (timer.native()) {
            schedule_op<direct>(core, timer, ex, std::move(handler));
        } else {
            schedule_op<dispatched_op<Handler, Executor, no_work, part, place>>(
                core, timer, ex, std::move(handler), ex, no_work());
        }
    } else {
        const auto bound = asio::get_associated_executor(handler, ex);
        using bound_executor = std::decay_t<decltype(bound)>;
        if (timer.native() && native_context(bound) == native_context(ex)) {
            schedule_op<direct>(core, timer, ex, std::move(handler));
        } else if (always_native || timer.native()) {
            schedule_op<dispatched_op<Handler, bound_executor, no_work, part, place>>(
                core, timer, ex, std::move(handler), bound, no_work());
        } else if constexpr (!always_native) {
            schedule_op<dispatched_op<Handler, bound_executor, work_on<Executor>, part, place>>(
                core, timer, ex, std::move(handler), bound, track_work(ex));
        }
    }
}

/// The same. Copies a handler only if it is an lvalue.
template <class Core, class Timer, class Executor, class Handler>
void start_wait(Core& core, const Timer& timer, const Executor& ex, Handler&& handler) {
    if constexpr (std::is_same_v<Handler, std::decay_t<Handler>>) {
        start_wait_with(core, timer, ex, handler);
    } else {
        std::decay_t<Handler> copy(std::forward<Handler>(handler));
        start_wait_with(core, timer, ex, copy);
    }
}

} // namespace asio_wheel::detail

#endif
