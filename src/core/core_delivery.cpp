// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is done under the lock when a wait comes to its turn in a queue, or to another executor. See
// delivery.hpp.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace asio_wheel::detail {

bool core::claim_in_queue(wait_node& wait, handler_scope& scope) noexcept {
    const locked guard(*this, "running handlers");
    guard->note_turn_of(wait);
    if (!delivery::is_turn(wait)) {
        return false;
    }
    guard->claim(wait, &scope);
    return true;
}

bool core::dispatch(wait_node& wait) noexcept {
    const locked guard(*this, "running handlers");
    if (!has_dispatched_.load(std::memory_order_relaxed)) {
        has_dispatched_.store(true, std::memory_order_relaxed);
    }
    if (wait.where() == wait_node::location::queue) {
        guard->note_turn_of(wait);
    }
    return guard->delivery_.leave(wait);
}

void core::dispatch_later(wait_node& wait) noexcept {
    locked(*this, "running handlers")->delivery_.come_back(wait);
}

// The handler has returned.
void core::note_run(measured_tag& of, time_count began) noexcept {
    const locked guard(*this, "running handlers");
    const time_count time = now();
    tag_meter::ran(of, unit().between(began, time), unit().seconds_of(time) / 60);
}

// Detaches a wait that has a result. From now on it belongs to the caller, who delivers it.
// `scope`: the handler is called in it, if it is called here.
void core::guarded::claim(wait_node& wait, handler_scope* scope) noexcept {
    if (wait.owner == nullptr) {
        return;
    }
    timer_state& s = *wait.owner;
    thread_block& counts = counts_.here();
    counts.fired();
    if (expires_when_delivered(wait.kind)) {
        counts.expired(wait.kind);
    }
    const std::chrono::nanoseconds of_tick(s.spare_word()); // As expire() has noted it.
    measured_.get().lateness.add(of_tick);
    if (handlers_) {
        const time_count time = now();
        // The expiry may be another one since drain().
        const std::chrono::nanoseconds late = unit().between(s.expiry.get(), time);
        const std::chrono::nanoseconds delay(
            (std::max<std::int64_t>)(difference_saturating(of_tick.count(), late.count()), 0));
        measured_tag& of = handlers_->tags.of(wait);
        handlers_->delay.add(delay);
        tag_meter::fired(of, of_tick, delay);
        if (scope != nullptr) {
            scope->measure(of, time);
        }
    }
    ASIO_WHEEL_PROBE2(deliver, &s, s.spare_word());
    delivery_.detach(wait);
    delivery_.settle(s);
}

bool core::prepare_destroy(wait_node& wait) noexcept {
    if (wait.where() == wait_node::location::queue_final) {
        return true;
    }
    const locked guard(*this, "destroying a wait");
    if (wait.queue_refs > 1) {
        --wait.queue_refs;
        return false;
    }
    if (wait.owner != nullptr) {
        guard->delivery_.detach_and_remove(wait);
        counts_.here().forgotten();
    } else {
        delivery::disconnect_slot(wait);
    }
    return true;
}

core::arrival core::arrive(const core_lock_ptr& shared, wait_node& wait) noexcept {
    shared->mutex.lock("a handler on another executor");
    const std::lock_guard<optional_mutex> lock(shared->mutex, std::adopt_lock);
    switch (wait.result) {
    case wait_node::result_state::waiting:
        wait.move_to(wait_node::location::timer);
        return arrival::waits;
    case wait_node::result_state::dropped:
        return arrival::dropped;
    default:
        if (wait.owner != nullptr) {
            shared->core->guarded_->claim(wait, nullptr);
        } else if (wait.result == wait_node::result_state::due &&
                   needs_wheel_when_delivered(wait.kind)) {
            return arrival::dropped; // The core has ended.
        }
        if (shared->core != nullptr) {
            shared->core->guarded_->note_end_elsewhere();
        }
        return arrival::claimed; // Or it was aborted.
    }
}

// The caller destroys the wait without the lock: the core may have ended by then.
void core::abandon(const core_lock_ptr& shared, wait_node& wait) noexcept {
    shared->mutex.lock("the end of another context");
    const std::lock_guard<optional_mutex> lock(shared->mutex, std::adopt_lock);
    if (shared->core == nullptr) {
        return;
    }
    guarded& g = *shared->core->guarded_;
    if (wait.owner != nullptr) { // Otherwise it was aborted.
        const bool waited = wait.is_waiting();
        g.delivery_.detach_and_remove(wait);
        g.counts_.here().forgotten();
        if (waited && !g.closing_) {
            g.release_work();
            g.out().post(nullptr); // Under the lock, because the core may end without it.
        }
    }
    g.note_end_elsewhere();
}

// No thread of the context need have a handler now, whose end would disarm the driver if nothing is
// pending any more. See must_not_guess().
void core::guarded::note_end_elsewhere() noexcept {
    if (queue_.driver_is_work) {
        become_idle();
    }
}

// Ends work that may be the last. If no thread runs the context yet, it would stop before it has
// begun. So a turn in the queue ends the work.
void core::guarded::release_work() noexcept {
    want_turn(now());
    if (!next_turn_.count()) {
        queue_.work_finished(); // Not the last work: that turn counts, too.
    }
}

} // namespace asio_wheel::detail
