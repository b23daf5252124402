// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How waits are attached to timers, and connected to cancellation slots. See wheel_core.hpp for the
// ground rules.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_WAITS_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_WAITS_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>

namespace asio_wheel::detail {

// Before the wait starts.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::bind(cancel_link& link, slotted_op& op) noexcept {
    link.op.store(&op, std::memory_order_relaxed);
    op.cancel = &link;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unbind(cancel_link& link) noexcept {
    if (link.op.load(std::memory_order_acquire) == nullptr) {
        return; // It was claimed. The service may have ended.
    }
    const locked guard(*this, "a cancellation slot");
    if (slotted_op* const op = link.op.load(std::memory_order_relaxed)) {
        op->cancel = nullptr;
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::cancel(cancel_link& link) noexcept {
    if (link.op.load(std::memory_order_acquire) == nullptr) {
        return;
    }
    const locked guard(*this, "a cancellation slot");
    slotted_op* const op = link.op.load(std::memory_order_relaxed);
    if (op != nullptr && op->owner != nullptr) {
        abort(*op);
    }
}

// Attaches a wait to a timer.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::attach(state& s, wait_op& op) noexcept {
    const bool plain = op.link() == nullptr;
    op.owner = &s;
    const bool alone = s.ops.empty();
    s.ops.push_back(op);
    if (s.filed()) {
        s.set_life(alone && plain ? timer_life::waiting : timer_life::guarded);
    }
}

// Detaches a wait from its timer. The caller calls settle_life().
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::detach(wait_op& op) noexcept {
    if (op.result != wait_op::result_state::waiting && op.where() == wait_op::location::executor) {
        --due_dispatched_;
    }
    op.owner->ops.erase(op);
    op.owner = nullptr;
    disconnect_slot(op);
}

// From now on its cancellation slot does not reach the wait. (Pairs with unbind() and cancel().)
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::disconnect_slot(wait_op& op) noexcept {
    if (cancel_link* const link = op.link()) {
        static_cast<slotted_op&>(op).cancel = nullptr;
        link->op.store(nullptr, std::memory_order_release);
    }
}

// Detaches a wait. With the last one, takes the timer out of the wheel.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::detach_and_unfile(wait_op& op) noexcept {
    timer_entry& entry = *op.owner;
    detach(op);
    if (entry.ops.empty()) {
        unfile(entry);
    }
    settle_life(entry);
}

// Aborts a wait that is attached.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::abort(wait_op& op) noexcept {
    ASIO_WHEEL_PROBE2(cancel, op.owner, 1);
    note_saved(static_cast<const state&>(*op.owner).expiry.get());
    detach_and_unfile(op);
    counts_.here().cancelled();
    make_ready(op, wait_op::result_state::aborted);
}

// Aborts no more than `most` waits of a timer. Leaves the timer filed. The caller calls
// settle_life().
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::abort_some(timer_entry& entry,
                                                      std::size_t most) noexcept {
    std::size_t done = 0;
    if (!entry.ops.empty()) {
        note_saved(static_cast<const state&>(entry).expiry.get());
    }
    if (most != 0 && entry.life() == timer_life::waiting) {
        wait_op& op = entry.ops.front();
        entry.ops.clear();
        ready_.push(aborted(op));
        done = 1;
    }
    for (; !entry.ops.empty() && done < most; ++done) {
        wait_op& op = entry.ops.front();
        detach(op);
        make_ready(op, wait_op::result_state::aborted);
    }
    counts_.here().cancelled(done);
    if (done != 0) {
        ASIO_WHEEL_PROBE2(cancel, &entry, done);
    }
    return done;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unfile(timer_entry& entry) noexcept {
    if (entry.filed()) {
        wheel_.erase(entry);
    }
}

// A timer that is not filed has waits on their way to other executors.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::add_dispatched(timer_entry& entry) noexcept {
    if (!std::exchange(entry.listed, true)) {
        dispatched_.push_back(entry);
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::remove_dispatched(timer_entry& entry) noexcept {
    if (std::exchange(entry.listed, false)) {
        dispatched_.erase(dispatched_.iterator_to(entry));
    }
}

// Sets the state of a timer that may have lost its last wait. After that the timer may end at any
// time.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::settle_life(timer_entry& entry) noexcept {
    if (entry.ops.empty()) {
        remove_dispatched(entry);
        entry.set_life(entry.filed() ? timer_life::tombstone : timer_life::unknown);
    }
}

} // namespace asio_wheel::detail

#endif
