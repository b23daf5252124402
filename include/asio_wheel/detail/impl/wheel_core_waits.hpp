// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How waits belong to timers and to cancellation slots. See wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_WAITS_HPP
#define ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_WAITS_HPP

#include <asio_wheel/detail/wheel_core.hpp>

namespace asio_wheel::detail {

// `op` is not scheduled yet.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::bind(cancel_link& link, slotted_op& op) noexcept {
    link.op.store(&op, std::memory_order_relaxed);
    op.cancel = &link;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unbind(cancel_link& link) noexcept {
    if (link.op.load(std::memory_order_acquire) == nullptr) {
        return; // Taken for delivery; there may be no service any more.
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

// Attaches `op` as a waiting operation.
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

// Leaves the timer's life to the caller, who may have more to do with it.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::detach(wait_op& op) noexcept {
    if (op.result != wait_op::result_state::waiting && op.where() == wait_op::location::executor) {
        --due_dispatched_;
    }
    op.owner->ops.erase(op);
    op.owner = nullptr;
    disconnect_slot(op);
}

// Takes an operation out of the reach of its cancellation slot. (Pairs with unbind() and cancel().)
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::disconnect_slot(wait_op& op) noexcept {
    if (cancel_link* const link = op.link()) {
        static_cast<slotted_op&>(op).cancel = nullptr;
        link->op.store(nullptr, std::memory_order_release);
    }
}

// Detaches an operation, and takes its timer out of the wheel with the last one.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::detach_and_unfile(wait_op& op) noexcept {
    timer_entry& entry = *op.owner;
    detach(op);
    if (entry.ops.empty()) {
        unfile(entry);
    }
    settle_life(entry);
}

// Aborts one attached operation.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::abort(wait_op& op) noexcept {
    detach_and_unfile(op);
    counts_.here().cancelled();
    make_ready(op, wait_op::result_state::aborted);
}

// Aborts no more than `most`; leaves the timer filed if it is, and its life to the caller.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::abort_some(timer_entry& entry,
                                                      std::size_t most) noexcept {
    std::size_t done = 0;
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
    return done;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unfile(timer_entry& entry) noexcept {
    if (entry.filed()) {
        wheel_.erase(entry);
    }
}

// Notes that operations of a timer that is not filed are on their way to other executors.
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

// The last thing to be done with a timer, of which something was changed.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::settle_life(timer_entry& entry) noexcept {
    if (entry.ops.empty()) {
        remove_dispatched(entry);
        entry.set_life(entry.filed() ? timer_life::tombstone : timer_life::unknown);
    }
}

} // namespace asio_wheel::detail

#endif
