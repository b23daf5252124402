// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What concerns a wheel as a whole: statistics, virtual time, drain(), and the end of its context.
// See wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_SERVICE_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_SERVICE_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>

#include <boost/throw_exception.hpp>

#include <optional>
#include <stdexcept>

namespace asio_wheel::detail {

template <class Clock, class WaitTraits>
wheel_stats wheel_core<Clock, WaitTraits>::stats() const {
    const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
    counts_.forget_ended();
    const wait_counts counts = counts_.sum();
    wheel_stats result;
    result.rejected = totals_.rejected;
    result.wake_ups = totals_.wake_ups;
    result.spurious_wake_ups = totals_.spurious_wake_ups;
    result.stalls = stall_.stalls();
    result.stalled = stall_.stalled();
    if (const auto& measured = measured_.if_any()) {
        result.lateness = measured->lateness;
        result.loop_lag = measured->loop_lag;
    }
    result.pending = counts.pending();
    result.peak_pending = (std::max)(totals_.peak_pending, result.pending);
    result.scheduled = counts.scheduled;
    result.fired = counts.fired;
    result.expired = counts.expired;
    result.cancelled = counts.cancelled;
    result.dropped = counts.forgotten;
    result.postponed = counts.postponed;
    result.cascaded = totals_.cascaded + wheel_.cascaded();
    if (handler_delay_) {
        result.handler_delay = *handler_delay_;
    }
    return result;
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::pending() const {
    const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
    counts_.forget_ended();
    return static_cast<std::size_t>(counts_.pending());
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::pause(time_point at) noexcept {
    const locked guard(*this, "pause()");
    if (!clock_.paused()) {
        static_cast<void>(follow_set_back(clock_.now()));
        clock_.pause(at);
        if (wheel_.now() == 0 && wheel_.empty()) {
            // Of a new wheel. Then the order of what is due at one time does not depend on how long
            // ago it was made: a test with virtual_time does the same each time.
            clock_.begin_ticks();
        }
        {
            const visit others(*this);
            note_jump(clock_.now());
        }
        driver_.disarm();
        if (wheel_.next_expiry() <= tick_at(clock_.now())) {
            want_turn(clock_.now()); // It is overdue, and the driver will not look again.
        }
        keep_armed();
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::resume() noexcept {
    const locked guard(*this, "resume()");
    if (clock_.paused()) {
        clock_.resume();
        {
            const visit others(*this);
            note_jump(clock_.now());
        }
        driver_.disarm();
        keep_armed();
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::after_fork() {
    const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
    driver_.after_fork();
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::advance_to(time_point t) {
    std::size_t due = 0;
    for (bool first = true, more = true; more; first = false) {
        const locked guard(*this, "advance()");
        require_paused();
        clock_.set(t);
        in_pass_ = in_pass_ && !first; // What the pass has held back may be due now.
        const slice found = collect(clock_.now());
        due += found.due;
        more = found.more;
    }
    return due;
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::advance_to_next() {
    while (const std::optional<time_point> step = next_step()) {
        if (const std::size_t due = advance_to(*step)) {
            return due;
        }
    }
    return 0;
}

// The wheel knows the tick of the next wait, its timers know the exact times. They can be compared
// when time stands in that tick; so the way to a later tick has two steps.
template <class Clock, class WaitTraits>
std::optional<typename Clock::time_point> wheel_core<Clock, WaitTraits>::next_step() {
    for (;;) {
        std::optional<tick_t> next;
        {
            const locked guard(*this, "advance_to_next()");
            require_paused();
            in_pass_ = false; // What the pass has held back may be next.
            const visit others(*this);
            next = wheel_.find_next_expiry(options_.budget);
            if (!next) {
                continue; // That was one slice.
            }
            if (*next >= last_tick || clock_.begin_of(*next) == (time_point::max)()) {
                return std::nullopt;
            }
            if (*next > tick_at(clock_.now())) {
                return clock_.first_in(*next);
            }
        }
        std::optional<time_point> first;
        while (find_first(*next, first)) {
        }
        if (first == (time_point::max)()) {
            return std::nullopt;
        }
        if (first) { // Else another thread has cancelled the waits.
            return first;
        }
    }
}

// One slice of a search for the earliest expiry among what is due by `tick`, which becomes `first`.
// Holds these timers back. Files those that were held back before and have a later expiry now. True
// if there is another slice.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::find_first(tick_t tick,
                                               std::optional<time_point>& first) noexcept {
    const locked guard(*this, "advance_to_next()");
    const visit others(*this);
    begin_pass();
    const wheel::progress passed = wheel_.advance(tick, options_.budget, due_);
    in_pass_ = passed.more;
    for (std::size_t i = 0; i < passed.expired; ++i) {
        auto& s = static_cast<state&>(*due_[i]);
        if (s.visit_life() == timer_life::unknown) {
            continue;
        }
        const time_point expiry = s.expiry.get_in_visit();
        if (file_again(s)) {
            first = first ? (std::min)(*first, expiry) : expiry;
        }
    }
    return passed.more;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::require_paused() const {
    if (!clock_.paused()) {
        BOOST_THROW_EXCEPTION(
            std::logic_error("asio_wheel: only paused time can be advanced; pause() comes first"));
    }
}

template <class Clock, class WaitTraits>
std::vector<typename Clock::time_point> wheel_core<Clock, WaitTraits>::drain() {
    std::vector<time_point> expiries;
    std::size_t room = 0;
    {
        const locked guard(*this, "drain()");
        stall_.end();
        stopped_ = true; // No wait starts from now on: but one may on each tombstone, until its
                         // slice comes.
        room = static_cast<std::size_t>(counts_.pending()) + wheel_.size();
    }
    expiries.reserve(room);
    for (bool more = true; more;) {
        const locked guard(*this, "drain()");
        const visit others(*this);
        wheel_.release_held(); // Also what a turn has held back since the slice before.
        const wheel::progress passed = wheel_.advance(last_tick, options_.budget, due_);
        in_pass_ = more = passed.more;
        std::size_t aborted = 0;
        for (std::size_t i = 0; i < passed.expired; ++i) {
            auto& s = static_cast<state&>(*due_[i]);
            if (!take_over(s)) {
                continue;
            }
            const std::size_t some = abort_some(s, options_.budget - aborted);
            expiries.insert(expiries.end(), some, s.expiry.get());
            aborted += some;
            if (!s.ops.empty()) { // It has more waits than a slice takes.
                wheel_.insert(s, last_tick);
                more = true;
            }
            settle_life(s);
        }
    }
    std::sort(expiries.begin(), expiries.end());
    return expiries;
}

// May be called more than once. Waits that handlers start while they are destroyed are destroyed,
// too.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::destroy_all() noexcept {
    op_list doomed;
    while (detach_some(doomed)) {
        while (!doomed.empty()) {
            wait_op& op = doomed.front();
            doomed.erase(op);
            op.destroy();
        }
    }
}

// One slice of the end of the context: detaches waits from their timers. Those at a timer go into
// `doomed`. The context destroys those in its queue. Those on the way to another executor go on,
// and that executor calls their handlers. False if there was nothing to do.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::detach_some(op_list& doomed) noexcept {
    const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
    begin_to_close();
    stall_.end();
    const visit others(*this);
    begin_pass();
    const wheel::progress passed = wheel_.advance(last_tick, options_.budget, due_);
    in_pass_ = passed.more;
    std::size_t left = options_.budget;
    for (std::size_t i = 0; i < passed.expired; ++i) {
        auto& s = static_cast<state&>(*due_[i]);
        if (!take_over(s)) {
            continue;
        }
        left -= detach(s, doomed, left);
        if (!s.ops.empty()) { // A timer may have very many waits.
            wheel_.insert(s, last_tick);
        }
        settle_life(s);
    }
    while (left != 0 && !dispatched_.empty()) {
        auto& s = static_cast<state&>(dispatched_.front());
        left -= detach(s, doomed, left);
        settle_life(s); // Removes it from the list with its last wait.
    }
    for (; left != 0 && !unwanted_.empty(); --left) {
        wait_op& op = unwanted_.front();
        unwanted_.erase(op);
        doomed.push_back(op);
    }
    return passed.expired != 0 || passed.more || left != options_.budget;
}

// On Windows, the end of a context destroys operations in its queue until no work is left. If too
// little is counted, some are never destroyed; if too much, it waits for ever. So from now on, each
// operation in the queue counts once, and nothing else does: each_counts(). Until now, a wake-up
// and the rest of a turn need not have counted by themselves: waits did. A thread of Asio may still
// run one of them.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::begin_to_close() noexcept {
    if (std::exchange(closing_, true)) {
        return;
    }
    if constexpr (ends_without_work) {
        for (std::size_t i = 0; i < wake_ups_to_come_; ++i) {
            queue_.work_started();
        }
        if (rest_ != rest::nothing && !std::exchange(rest_counts_, true)) {
            queue_.work_started();
        }
    }
}

// The context ends, and a wait that counted as work will not be in its queue any more.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::forget_work() noexcept {
    if constexpr (ends_without_work) {
        queue_.work_finished();
    }
}

// Detaches no more than `most` waits. Returns how many.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::detach(state& s, op_list& doomed,
                                                  std::size_t most) noexcept {
    std::size_t detached = 0;
    for (; !s.ops.empty() && detached < most; ++detached) {
        wait_op& op = s.ops.front();
        detach(op);
        counts_.here().forgotten();
        if (op.result ==
            wait_op::result_state::waiting) { // Otherwise its place counts, or nothing.
            forget_work();
        }
        switch (op.where()) {
        case wait_op::location::timer:
            doomed.push_back(op);
            break;
        case wait_op::location::queue:
            op.result = wait_op::result_state::aborted;
            break;
        case wait_op::location::executor:
            if (op.result == wait_op::result_state::waiting) {
                op.result = wait_op::result_state::dropped;
            }
            break;
        case wait_op::location::queue_final:
            break;
        }
    }
    return detached;
}

} // namespace asio_wheel::detail

#endif
