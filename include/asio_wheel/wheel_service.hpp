// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_WHEEL_SERVICE_HPP
#define ASIO_WHEEL_WHEEL_SERVICE_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/service/watched_wheel.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>
#include <asio_wheel/detail/service/wheel_list.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_wheel {

namespace detail {
struct core_access;
}

/// The wheel of an execution context: one for each pair of a clock and its wait traits, shared by
/// all of the context's timers of that pair.
///
/// The context's first wheel timer makes it, or make_wheel() does before, with options. It lives as
/// long as the context, which may be an io_context, a thread_pool, the system_context, or any other
/// execution_context that supports Asio's timers.
///
/// Behaviour that all of its timers share:
///  - A wait never completes early. It is due at most one tick after its deadline, if the context
///    itself is not late.
///  - The wheel wakes the context up for the next deadline only: once for a lone wait, and not at
///    all while no wait is pending (except once, if several threads started and ended the waits).
///    While waits are pending, each slot with cancelled or postponed waits costs at most one
///    wake-up.
///  - Each wait is one handler of the context, as seen by run_one(), stop(), exceptions and other
///    threads. In addition, run() and poll() count a handler of the wheel's own in these cases: a
///    wake-up finds nothing due, or waits in the queue that go first; the wake-up moves to an
///    earlier time; a wait starts after the last one has ended; each slice of
///    scale_idle_timers(); each turn after a stall, see wheel_options::stall.
///  - A context without other work stops when the last wait has ended.
///  - If one thread runs the context, waits complete in the order of their expiry. Within one tick
///    this holds for each `budget` of them. A wait that is already due when it starts may count as
///    one of the tick before. Waits with the same expiry complete in the order in which they were
///    started, in paused time as in real time. Those on one timer always do, and those that waited
///    when it became due come one right after the other. Others may not if one of them was
///    cancelled or postponed before, or if timers for about the same time were destroyed meanwhile.
///
/// Thread safety. All members may be called from any thread (with wheel_options::locking; without,
/// from the one thread that uses the context). No lock is held while handlers, allocators or
/// executors are called.
///
/// `Clock` is a TrivialClock: now() does not throw. The wheel may call it while it holds its lock,
/// so now() must not use timers. It counts as a clock that can be set, unless its `is_steady` is a
/// constant of type bool that is true. (Some clocks have a function of that name, or nothing.)
///
///     boost::asio::io_context ctx;
///     auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 10ms, .max_pending = 1'000'000});
///     // … timers …
///     const auto stats = wheel.stats();
///     std::cout << stats.pending << " waits, p99 " << stats.lateness.quantile(.99) << " late\n";
template <class Clock = std::chrono::steady_clock,
          class WaitTraits = boost::asio::wait_traits<Clock>>
class wheel_service : public boost::asio::execution_context::service {
public:
    using key_type = wheel_service;                      ///< By this a context finds its wheel.
    static inline boost::asio::execution_context::id id; ///< The same, for an io_context.

    using clock_type = Clock; ///< The clock that tells the time.
    using traits_type =
        WaitTraits; ///< Limits how long Asio sleeps before it looks at the clock again.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.

    /// For use_service(): with the default options or, where Boost has asio::config (1.88), those
    /// of its section "wheel": tick_us, slots, levels, max_pending, locking, measure_handlers,
    /// stall_us and budget.
    explicit wheel_service(boost::asio::execution_context& context)
        : wheel_service(checked{}, context, detail::configured_options(context, wheel_options())) {}

    /// For make_service(). Throws std::invalid_argument if an option is unusable, or contradicts
    /// asio::config's.
    wheel_service(boost::asio::execution_context& context, const wheel_options& options)
        : wheel_service(checked{}, context, detail::checked_options(context, options)) {}

    /// What the wheel was made with; the tick as it is by the wheel's clock.
    [[nodiscard]] const wheel_options& options() const noexcept { return core_.options(); }

    /// How many waits are pending: started, and neither delivered nor cancelled.
    [[nodiscard]] std::size_t pending() const { return core_.pending(); }

    /// What the wheel has done so far.
    [[nodiscard]] wheel_stats stats() const { return core_.stats(); }

    /// What was measured of each kind and tag, so far: how many waits have expired, how late, for
    /// how long their handlers ran, and what they have woken up; those whose handlers ran longest
    /// first. Nothing without wheel_options::measure_handlers. At most 64 kinds with tags are told
    /// apart; the rest is counted by kind.
    ///
    ///     for (const asio_wheel::tag_stats& t : wheel.stats_by_tag()) {
    ///         std::cout << t.tag << ": up to " << t.longest_run / 1us << " us\n";
    ///     }
    [[nodiscard]] std::vector<tag_stats> stats_by_tag() const { return core_.stats_by_tag(); }

    /// Calls `f(wait)`, with a `const pending_wait&`, for each wait that is not due yet. A wait
    /// that is late is visited, too, until a turn of the context makes it due; its remaining time
    /// is negative. Waits that are due, and need only their own turn of the context, are not
    /// visited. pending() counts them, too.
    ///
    /// The wheel's lock is taken for wheel_options::budget timers at a time, and not held while `f`
    /// is called. So timers may be used meanwhile, also by `f`. A wait that waits from the
    /// beginning of this call to its end is visited once, also if it is postponed meanwhile. A wait
    /// that starts or ends meanwhile is visited once, or not at all. (A timer with very many waits
    /// is visited in one slice.)
    ///
    /// `f` may throw: that ends the call. `f` must not call for_each_pending() or report() for the
    /// same wheel: they throw std::logic_error. Other threads that call them wait until this call
    /// has ended, so `f` must not wait for such a thread. Time: O(1) for each slot and for each
    /// timer: 10 ns, or 0.2 µs among a million.
    ///
    ///     wheel.for_each_pending([&](const asio_wheel::pending_wait& wait) {
    ///         overdue += wait.remaining < 0s ? 1 : 0;
    ///     });
    template <class Function>
    void for_each_pending(Function f) {
        typename core_type::pending_walk walk(core_);
        for (auto waits = walk.next(); !waits.empty(); waits = walk.next()) {
            for (const pending_wait& wait : waits) {
                f(wait);
            }
        }
    }

    /// How late waits were in the last minute, and why. On Linux, it looks up how long the thread
    /// that was late has waited for a processor.
    ///
    ///     if (wheel.lateness().cause() == asio_wheel::lateness_cause::loop) {
    ///         std::cerr << "a handler blocks\n";
    ///     }
    [[nodiscard]] recent_lateness lateness() { return core_.lateness(); }

    /// What waits, in numbers: how many waits there are of each kind and tag, the next ten, and how
    /// much time remains for all of them; why waits were late in the last minute; and how often the
    /// wheel has woken the context up in the last ten seconds. Visits all waits, as
    /// for_each_pending() does.
    [[nodiscard]] wheel_report report() {
        wheel_report result;
        for_each_pending([&result](const pending_wait& wait) { result.add(wait); });
        result.lateness(core_.lateness());
        result.tags(core_.stats_by_tag());
        result.wake_ups(core_.recent_wake_ups());
        return result;
    }

    /// The same, printed for people.
    void report(std::ostream& out) { out << report(); }

    /// How full the slots are. It does not visit waits, and takes some nanoseconds for each slot.
    /// The lock is taken for 4096 slots at a time, so a large wheel may change meanwhile.
    [[nodiscard]] wheel_occupancy occupancy() const {
        return core_.occupancy((std::numeric_limits<std::size_t>::max)());
    }

    /// The same, in at most so many cells for each level, of at least 1. A cell has the fullest of
    /// its first 16 slots that are not empty. So it takes some microseconds for each level of 256
    /// cells, however many slots there are.
    [[nodiscard]] wheel_occupancy occupancy(std::size_t most_cells) const {
        return core_.occupancy((std::max<std::size_t>)(most_cells, 1));
    }

    /// The time of the wheel's timers: Clock::now(), unless it was paused. Never blocks.
    [[nodiscard]] time_point now() const { return core_.now(); }

    /// Stops time, for tests: from now on only advance() and advance_to_next() move it. Pending
    /// waits still keep the context running. Does nothing if time is paused already.
    /// See virtual_time, which does this for all clocks of several contexts, and runs them.
    void pause() { core_.pause(); }

    /// Lets time go on from where it stands. Deadlines stay as far away as they are, so from now on
    /// now() may differ from Clock::now(). Does nothing if time is not paused.
    void resume() { core_.resume(); }

    /// Whether time is paused.
    [[nodiscard]] bool paused() const noexcept { return core_.paused(); }

    /// Moves paused time forward (a negative `d` counts as zero), and makes ready every wait that
    /// is due then, in order. Returns how many these are. Paused time is compared exactly, not by
    /// ticks: due are precisely the waits with expiry() <= now(). The context calls their handlers
    /// when it runs; now() is the new time then, for all. If two threads advance time at once, the
    /// steps may overlap. Throws std::logic_error unless time is paused, and std::invalid_argument
    /// for a `d` that is not a number (NaN).
    ///
    ///     wheel.pause();
    ///     timer.expires_after(30 * 24h);
    ///     timer.async_wait(handler);
    ///     wheel.advance(30 * 24h);
    ///     ctx.poll(); // calls handler
    template <class Rep, class Period>
    std::size_t advance(const std::chrono::duration<Rep, Period>& d) {
        detail::throw_if_nan("the time to advance", d);
        return core_.advance_to(detail::add_saturating(now(), d));
    }

    /// Moves paused time forward to the expiry of the next wait, exactly, and makes ready what is
    /// due then. Returns how many waits these are: 0, and time stands where it was, if none will
    /// ever be. Throws as advance() does.
    std::size_t advance_to_next() { return core_.advance_to_next(); }

    /// Stops the wheel. Every wait that is not due yet completes with operation_aborted, and its
    /// expiry is among those returned, earliest first; waits that are due already complete as such.
    /// From now on each new wait completes with error::wheel_stopped. May be called again, and from
    /// a handler; it never blocks for long, as it works in slices. Throws std::bad_alloc if there
    /// is no memory for the result; then the wheel goes on as before.
    [[nodiscard("these waits were aborted")]] std::vector<time_point> drain() {
        return core_.drain();
    }

    /// For inspector::watch(): what reads the wheel until its context ends. Throws
    /// std::invalid_argument if the wheel has no lock.
    [[nodiscard]] std::shared_ptr<detail::watched_wheel> watched() {
        if (!options().locking) {
            detail::bad_argument("wheel_options::locking", "false", "true for an inspector");
        }
        using watch_service = detail::watch_service<Clock, WaitTraits>;
        return boost::asio::use_service<watch_service>(context()).wheel();
    }

private:
    friend struct detail::core_access;

    struct checked {};

    wheel_service(checked, boost::asio::execution_context& context, const wheel_options& options)
        : service(context), core_((validate(options), context), options), listing_(context, core_) {
    }

    // Called by the context before it ends, in some versions twice.
    void shutdown() noexcept override { core_.destroy_all(); }

    void notify_fork(boost::asio::execution_context::fork_event event) override {
        if (event == boost::asio::execution_context::fork_child) {
            core_.after_fork();
        }
    }

    using core_type = detail::wheel_core<Clock, WaitTraits>;

    core_type core_;
    detail::wheel_listing listing_;
};

/// The wheel of `context` for a clock; makes one if there is none. Takes the lock of the context's
/// registry of services. Timers of the same clock with wait traits of their own have another wheel,
/// which `use_wheel<Clock, WaitTraits>(context)` returns: the traits limit how long the one Asio
/// timer of a wheel sleeps, so a wheel cannot serve two.
template <class Clock = std::chrono::steady_clock,
          class WaitTraits = boost::asio::wait_traits<Clock>>
wheel_service<Clock, WaitTraits>& use_wheel(boost::asio::execution_context& context) {
    return boost::asio::use_service<wheel_service<Clock, WaitTraits>>(context);
}

/// Thrown by make_wheel() if the context already has a wheel for the clock.
class wheel_already_exists : public boost::asio::service_already_exists {
public:
    /// Says what has made the wheel, and what to do.
    [[nodiscard]] const char* what() const noexcept override {
        return "asio_wheel: this context already has a wheel for this clock. The first timer, or "
               "whatever else waits, use_wheel() or an earlier make_wheel() made it. Call "
               "make_wheel() before all of these";
    }
};

/// Makes the wheel of `context` for a clock. Throws std::invalid_argument, naming the option, its
/// value and what is allowed, if an option is unusable, or contradicts asio::config's; and
/// wheel_already_exists, which is a boost::asio::service_already_exists, if there is a wheel
/// already: one that was made, or that the first timer needed. So call it before the first timer is
/// constructed, and before any other function that needs the wheel, as now() does.
// The options are a copy: where an argument is a temporary object, g++ warns of a reference that is
// returned (-Wdangling-reference).
template <class Clock = std::chrono::steady_clock,
          class WaitTraits = boost::asio::wait_traits<Clock>>
wheel_service<Clock, WaitTraits>& make_wheel(boost::asio::execution_context& context,
                                             wheel_options options = {}) {
    using service = wheel_service<Clock, WaitTraits>;
    service* made = nullptr;
    const bool too_late = boost::asio::has_service<service>(context) ||
                          detail::throws<boost::asio::service_already_exists>([&] {
                              made = &boost::asio::make_service<service>(context, options);
                          });
    if (too_late) {
        BOOST_THROW_EXCEPTION(wheel_already_exists());
    }
    return *made;
}

namespace detail {

/// The wheel for what is made with an executor.
template <class Clock, class WaitTraits = boost::asio::wait_traits<Clock>, class Executor>
[[nodiscard]] wheel_service<Clock, WaitTraits>& wheel_of(const Executor& ex) {
    prepare_queue(ex);
    return use_wheel<Clock, WaitTraits>(context_of(ex));
}

/// For what waits on a wheel.
struct core_access {
    template <class Clock, class WaitTraits>
    [[nodiscard]] static wheel_core<Clock, WaitTraits>&
    of(wheel_service<Clock, WaitTraits>& service) noexcept {
        return service.core_;
    }

    template <class Timer>
    [[nodiscard]] static auto& state_of(Timer& timer) noexcept {
        return timer.state_;
    }

    /// Also after the context's end.
    template <class Timer>
    [[nodiscard]] static typename Timer::time_point now_of(const Timer& timer) {
        return timer.now();
    }
};

/// For what may be used after the end of its executor's context.
template <class Clock, class WaitTraits = boost::asio::wait_traits<Clock>, class Executor>
[[nodiscard]] wheel_anchor& anchor_of(const Executor& ex) {
    return core_access::of(wheel_of<Clock, WaitTraits>(ex)).anchor();
}

template <class Executor>
[[nodiscard]] bool is_real(const wheel_anchor& anchor, const Executor& ex) noexcept {
    return anchor.is_real([&ex]() -> const void* { return &context_of(ex); });
}

/// The time of the wheel, or after its end that of the clock.
template <class Clock, class Executor>
[[nodiscard]] typename Clock::time_point now_of(const wheel_anchor& anchor, const Executor& ex) {
    const typename Clock::time_point real = Clock::now();
    return is_real(anchor, ex) ? real : clock_counts<Clock>::corrected(anchor.time, real);
}

} // namespace detail

/// The time of the timers of an executor or a context: Clock::now(), unless a test has moved it.
/// Code that computes a time point begins with this, and not with Clock::now(). Then it is right in
/// virtual time, too. It makes the wheel if there is none.
///
///     asio_wheel::async_sleep_until(ctx, asio_wheel::now(ctx) + 1min, token);
template <class Clock = std::chrono::steady_clock,
          class WaitTraits = boost::asio::wait_traits<Clock>, class Executor>
    requires detail::is_executor<Executor>
[[nodiscard]] typename Clock::time_point now(const Executor& ex) {
    return detail::wheel_of<Clock, WaitTraits>(ex).now();
}

template <class Clock = std::chrono::steady_clock,
          class WaitTraits = boost::asio::wait_traits<Clock>>
[[nodiscard]] typename Clock::time_point now(boost::asio::execution_context& context) {
    return use_wheel<Clock, WaitTraits>(context).now();
}

} // namespace asio_wheel

#endif
