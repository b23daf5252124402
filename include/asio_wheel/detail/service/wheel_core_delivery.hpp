// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How waits that are due or aborted reach their handlers. See wheel_core.hpp for the ground rules,
// and wait_op.hpp for the locations of a wait.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_DELIVERY_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_DELIVERY_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>

namespace asio_wheel::detail {

// Sets the result of a wait, and puts it on its way. A wait that is waiting counts as work of the
// context. So does each of its references in the queue.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::make_ready(wait_op& op, wait_op::result_state how) noexcept {
    const bool waited = std::exchange(op.result, how) == wait_op::result_state::waiting;
    const bool due = how == wait_op::result_state::due;
    switch (op.where()) {
    case wait_op::location::timer:
        if (due) {
            op.move_to(wait_op::location::queue);
            op.queue_refs = 1;
            ready_.push_visible(op);
        } else {
            queue_final(op);
        }
        break;
    case wait_op::location::queue:
        if (waited) {
            // Without memory for a proxy it keeps its old place, which is earlier.
            queue_proxy* const further = due && op.queue_refs < max_queue_refs
                                             ? queue_proxy::make(op, queue_proxy::kind::deliver)
                                             : nullptr;
            if (further != nullptr) {
                ++op.queue_refs;
                ready_.push_visible(*further);
            } else {
                queue_.work_finished(); // Not the last work: its old place counts, too.
            }
        }
        break;
    case wait_op::location::executor:
        if (waited) {
            release_work();
        }
        if (due) {
            ++due_dispatched_;
            add_dispatched(*op.owner);
        }
        break;
    case wait_op::location::queue_final:
        break;
    }
}

// Ends work that may be the last. If no thread runs the context yet, it would stop before it has
// begun. So a turn in the queue ends the work.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::release_work() noexcept {
    want_turn(clock_.now());
    if (std::exchange(rest_counts_, true)) {
        queue_.work_finished(); // Not the last work: that turn counts, too.
    }
}

// Puts a wait with a final result into the queue.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::queue_final(wait_op& op) noexcept {
    op.move_to(wait_op::location::queue_final);
    op.queue_refs = 1;
    ready_.push(op);
}

// Lets a due wait wait again. If it is in the queue, it stays there, and its turn finds it waiting.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::take_back(wait_op& op) noexcept {
    op.result = wait_op::result_state::waiting;
    queue_.work_started();
    due_dispatched_ -= op.where() == wait_op::location::executor ? 1 : 0;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::refuse(wait_op& op, wait_op::result_state why) noexcept {
    ++totals_.rejected;
    disconnect_slot(op);
    op.result = why;
    queue_final(op);
}

// The turn of a wait in the context's queue whose result is not final. True if the caller completes
// it.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::claim_in_queue(wait_op& op, thread_block& counts) noexcept {
    const locked guard(*this, "running handlers");
    note_turn_of(op);
    if (!is_its_turn(op)) {
        return false;
    }
    claim(op, counts);
    return true;
}

// The same for a wait whose handler has another executor. True if the caller sends it there.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::dispatch(wait_op& op) noexcept {
    const locked guard(*this, "running handlers");
    if (op.where() == wait_op::location::queue) {
        note_turn_of(op);
        if (!is_its_turn(op)) {
            return false;
        }
        if (op.owner != nullptr) { // Otherwise it was aborted in the queue.
            ++due_dispatched_;
            add_dispatched(*op.owner);
        }
    }
    op.move_to(wait_op::location::executor);
    return true;
}

// There was no memory to send a wait to its executor. It goes to the end of the queue, and tries
// again.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::dispatch_later(wait_op& op) noexcept {
    const locked guard(*this, "running handlers");
    switch (op.result) {
    case wait_op::result_state::waiting:
        op.move_to(wait_op::location::timer); // It was postponed meanwhile.
        break;
    case wait_op::result_state::due:
        op.move_to(wait_op::location::queue);
        op.queue_refs = 1;
        --due_dispatched_;
        queue_.work_started();
        ready_.push_visible(op);
        break;
    default:
        queue_.work_started();
        queue_final(op);
    }
}

// The first wait of a turn says when others had their time: see turn_share.hpp.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_turn_of(const operation& op) noexcept {
    if (share_.awaits(&op)) {
        share_.come(clock_.now());
    }
}

// Removes one reference to a wait from the queue. True if it was the last, and the wait has a
// result.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_its_turn(wait_op& op) noexcept {
    if (--op.queue_refs == 0 && op.result == wait_op::result_state::waiting) {
        op.move_to(wait_op::location::timer); // It was postponed.
    }
    return op.queue_refs == 0 && op.result != wait_op::result_state::waiting;
}

// Detaches a wait that has a result. From now on it belongs to the caller, who delivers it.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::claim(wait_op& op, thread_block& counts) noexcept {
    if (op.owner != nullptr) {
        timer_entry& entry = *op.owner;
        counts.fired();
        if (expires_when_delivered(op.kind)) {
            counts.expired(op.kind);
        }
        note_lateness(static_cast<const state&>(entry));
        ASIO_WHEEL_PROBE2(deliver, &entry, entry.note());
        detach(op);
        settle_life(entry);
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_lateness(const state& s) noexcept {
    const std::chrono::nanoseconds of_tick(s.note()); // As expire() has noted it.
    measured_.get().lateness.add(of_tick);
    if (handler_delay_) {
        const auto late = to_nanoseconds(until_saturating(s.expiry.get(), clock_.now()));
        handler_delay_->add(late - of_tick);
    }
}

// The context destroys a wait without calling its handler. True if the caller frees it: false as
// long as the queue has other references to it.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::prepare_destroy(wait_op& op) noexcept {
    if (op.where() == wait_op::location::queue_final) {
        return true;
    }
    const locked guard(*this, "destroying a wait");
    if (op.queue_refs > 1) {
        --op.queue_refs;
        return false;
    }
    if (op.owner != nullptr) {
        detach_and_unfile(op);
        counts_.here().forgotten();
    } else {
        disconnect_slot(op);
    }
    return true;
}

// A wait has arrived at its handler's executor.
template <class Clock, class WaitTraits>
typename wheel_core<Clock, WaitTraits>::arrival
wheel_core<Clock, WaitTraits>::arrive(const lifetime_ptr<wheel_core>& lifetime,
                                      wait_op& op) noexcept {
    lifetime->mutex.lock("a handler on another executor");
    const std::lock_guard<optional_mutex> lock(lifetime->mutex, std::adopt_lock);
    switch (op.result) {
    case wait_op::result_state::waiting:
        op.move_to(wait_op::location::timer);
        return arrival::waits;
    case wait_op::result_state::dropped:
        return arrival::dropped;
    default:
        if (op.owner != nullptr) {
            wheel_core& core = *lifetime->core;
            core.claim(op, core.counts_.here());
            if constexpr (context_queue::is_public) { // See may_be_all().
                static_cast<void>(core.become_idle());
            }
        } else if (op.result == wait_op::result_state::due && needs_wheel_when_delivered(op.kind)) {
            return arrival::dropped; // The core has ended.
        }
        return arrival::claimed; // Or it was aborted.
    }
}

// The executor of a wait's handler has dropped the wait, because its context has ended. The caller
// destroys the wait without the lock: the core may have ended by then.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::abandon(const lifetime_ptr<wheel_core>& lifetime,
                                            wait_op& op) noexcept {
    lifetime->mutex.lock("the end of another context");
    const std::lock_guard<optional_mutex> lock(lifetime->mutex, std::adopt_lock);
    if (op.owner == nullptr) {
        return;
    }
    wheel_core& core = *lifetime->core;
    const bool waited = op.result == wait_op::result_state::waiting;
    core.detach_and_unfile(op);
    core.counts_.here().forgotten();
    if (waited && !core.closing_) {
        core.release_work();
        if (!core.ready_.empty()) { // Under the lock, because the core may end without it.
            operation_batch ready(std::move(core.ready_));
            core.queue_.post(ready);
        }
    }
}

} // namespace asio_wheel::detail

#endif
