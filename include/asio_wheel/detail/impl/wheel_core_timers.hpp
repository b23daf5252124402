// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What timers and cancellation slots do to a wheel. See wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_TIMERS_HPP
#define ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_TIMERS_HPP

#include <asio_wheel/detail/wheel_core.hpp>

namespace asio_wheel::detail {

// Takes `op` over.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::schedule(state& s, wait_op& op) noexcept {
    const locked guard(*this, "async_wait()");
    if (closing_) {
        unwanted_.push_back(op);
        return;
    }
    if (stopped_) {
        return refuse(op, wait_op::outcome::stopped);
    }
    if (options_.max_pending != 0 && pending_ >= options_.max_pending) {
        return refuse(op, wait_op::outcome::too_many);
    }
    const bool due = !s.filed() && !s.ops.empty(); // As earlier waits for the same expiry are.
    if (!due && (!s.filed() || parked_ == &s)) {
        if (s.filed()) {
            parked_ = nullptr;
        }
        file(s);
    }
    attach(s, op);
    if (due) {
        make_ready(op, wait_op::outcome::due);
    }
}

// Files a timer by its expiry, or moves it if it is filed, and makes sure that its time will be
// noticed.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::file(state& s) noexcept {
    const tick_t deadline = clock_.round_up(s.expiry);
    unlist(s);
    if (s.filed() && in_pass_ && wheel_.holds()) {
        // It may be held, and the pass under way would not look at it again.
        wheel_.erase(s);
    }
    if (s.filed()) {
        wheel_.reschedule(s, deadline);
    } else {
        wheel_.insert(s, deadline);
    }
    if (ticking_ ? s.deadline() != seen_ + 1 : s.deadline() > driver_.armed_for()) {
        return; // The tick under way, the one to come, or the driver will come by in time.
    }
    // The next of all: worth a look at the clock. What is due already need not wait for the driver,
    // nor for its own tick to begin. If that has begun it stays there, before what is due later.
    const time_point now = clock_.now();
    seen_ = tick_at(now);
    if (is_due(s, now)) {
        if (s.deadline() > seen_) {
            wheel_.reschedule(s, seen_);
        }
        go_on_ticking();
        return;
    }
    if (follow_set_back(now)) {
        wheel_.reschedule(s, clock_.round_up(s.expiry)); // By what ticks mean now.
    }
    keep_armed();
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::cancel(state& s) noexcept {
    return abort_all(s, "cancel()", [&] { unfile(s); });
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::cancel_one(state& s) noexcept {
    const locked guard(*this, "cancel_one()");
    if (s.ops.empty()) {
        return 0;
    }
    abort(s.ops.front());
    return 1;
}

// Aborts what waits for the old expiry. The timer stays where it is filed: most likely a wait for
// the new one follows, and finds a place already.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::set_expiry(state& s, time_point expiry) noexcept {
    return abort_all(s, "expires_at()", [&] {
        if (s.filed()) {
            park(s);
        }
        s.expiry = expiry;
    });
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::postpone(state& s, time_point expiry) noexcept {
    const locked guard(*this, "postpone()");
    s.expiry = expiry;
    if (s.ops.empty() || stopped_) {
        return 0; // Nobody waits; or what waits is due, and a wheel that was drained takes nothing.
    }
    return refile(s);
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::bring_forward(state& s, time_point expiry) noexcept {
    const locked guard(*this, "scale()");
    if (s.filed() && !s.ops.empty() && expiry < s.expiry) {
        s.expiry = expiry;
        refile(s);
    }
}

// What waits on a timer goes on waiting, for what its expiry is now. Returns how many waits these
// are.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::refile(state& s) noexcept {
    if (!s.filed()) {
        // Due, but not delivered yet.
        s.ops.for_each([this](wait_op& op) { take_back(op); });
    }
    const std::size_t moved = s.ops.size();
    stats_.postponed += moved;
    file(s);
    return moved;
}

// Puts `to`, which is not linked, in the place of `from`.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::move(state& from, state& to) noexcept {
    const locked guard(*this, "moving a timer");
    to.expiry = from.expiry;
    to.note(from.note());
    wheel_.replace(from, to);
    to.ops.swap(from.ops);
    to.ops.for_each([&to](wait_op& op) { op.owner = &to; });
    if (from.listed) {
        list(to);
        unlist(from);
    }
    if (parked_ == &from) {
        parked_ = &to;
    }
    relink(to);
    relink(from);
}

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

// Only the last of all has to be delivered: the driver is not given up before what the context does
// now is done, which most likely starts the next one.
template <class Clock, class WaitTraits>
wait_op* wheel_core<Clock, WaitTraits>::withdraw(cancel_link& link) noexcept {
    if (link.op.load(std::memory_order_acquire) == nullptr) {
        return nullptr;
    }
    const locked guard(*this, "the end of an operation with a deadline");
    slotted_op* const op = link.op.load(std::memory_order_relaxed);
    if (op == nullptr || op->owner == nullptr) {
        return nullptr;
    }
    if (op->way != wait_op::flight::none || alive_.load(std::memory_order_relaxed) <= 1) {
        abort(*op);
        return nullptr;
    }
    leave(*op);
    ++stats_.cancelled;
    count(-1);
    op->how = wait_op::outcome::aborted;
    op->way = wait_op::flight::decided; // Nobody else knows of it any more.
    return op;
}

// Attaches `op` as a waiting operation.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::attach(state& s, wait_op& op) noexcept {
    op.owner = &s;
    s.ops.push_back(op);
    s.linked.store(
        true, std::memory_order_relaxed); // By the timer's owner, who is the one that reads it.
    stats_.peak_pending = std::max<std::uint64_t>(stats_.peak_pending, ++pending_);
    ++stats_.scheduled;
    count(+1);
}

// Leaves the owner's `linked` to the caller, who may have more to do with it.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::detach(wait_op& op) noexcept {
    op.owner->ops.erase(op);
    op.owner = nullptr;
    --pending_;
    cut(op);
}

// Takes an operation out of the reach of its cancellation slot. (Pairs with unbind() and cancel().)
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::cut(wait_op& op) noexcept {
    if (cancel_link* const link = op.link()) {
        static_cast<slotted_op&>(op).cancel = nullptr;
        link->op.store(nullptr, std::memory_order_release);
    }
}

// Detaches an operation, and takes its timer out of the wheel with the last one.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::leave(wait_op& op) noexcept {
    timer_entry& entry = *op.owner;
    detach(op);
    if (entry.ops.empty()) {
        unfile(entry);
    }
    relink(entry);
}

// Aborts one attached operation.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::abort(wait_op& op) noexcept {
    leave(op);
    ++stats_.cancelled;
    make_ready(op, wait_op::outcome::aborted);
}

// Aborts all, in slices, for a timer may have very many waits. Calls finish() with the lock when none
// is left.
template <class Clock, class WaitTraits>
template <class Finish>
std::size_t wheel_core<Clock, WaitTraits>::abort_all(state& s, const char* purpose,
                                                     Finish finish) noexcept {
    std::size_t aborted = 0;
    for (;;) {
        const locked guard(*this, purpose);
        aborted += abort_some(s, options_.budget);
        if (s.ops.empty()) {
            finish();
            relink(s);
            return aborted;
        }
    }
}

// Aborts no more than `most`; leaves the timer filed if it is.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::abort_some(timer_entry& entry,
                                                      std::size_t most) noexcept {
    if (most != 0 && pending_ > many && entry.ops.plain() && abort_unseen(entry)) {
        return 1;
    }
    std::size_t aborted = 0;
    for (; !entry.ops.empty() && aborted < most; ++aborted) {
        wait_op& op = entry.ops.front();
        detach(op);
        make_ready(op, wait_op::outcome::aborted);
    }
    stats_.cancelled += aborted;
    return aborted;
}

// Aborts the one plain operation of a timer without waiting for its memory: that would be half of
// what moving one of a million timeouts costs. False without memory for its place.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::abort_unseen(timer_entry& entry) noexcept {
    wait_op& op = entry.ops.front();
    place* const its_place = place::make(op, place::purpose::abort);
    if (its_place == nullptr) {
        return false;
    }
    entry.ops.prefetch();
    entry.ops.clear();
    --pending_;
    count(-1);
    ++stats_.cancelled;
    send_decided(*its_place, op);
    return true;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unfile(timer_entry& entry) noexcept {
    if (parked_ == &entry) {
        parked_ = nullptr;
    }
    if (entry.filed()) {
        wheel_.erase(entry);
    }
}

// Notes that operations of a timer that is not filed are on their way to other executors.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::list(timer_entry& entry) noexcept {
    if (!std::exchange(entry.listed, true)) {
        dispatched_.push_back(entry);
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unlist(timer_entry& entry) noexcept {
    if (std::exchange(entry.listed, false)) {
        dispatched_.erase(dispatched_.iterator_to(entry));
    }
}

// The last thing to be done with a timer, of which something was changed.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::relink(timer_entry& entry) noexcept {
    if (entry.ops.empty()) {
        unlist(entry);
    }
    entry.relink();
}

// Lets a timer stay filed though nobody waits for it. No more than one may: it must neither cause a
// wake-up nor cost more than the next one's parking.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::park(timer_entry& entry) noexcept {
    if (parked_ != &entry) {
        unpark();
        parked_ = &entry;
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::unpark() noexcept {
    if (parked_ != nullptr) {
        timer_entry& entry = *parked_;
        unfile(entry);
        relink(entry);
    }
}

} // namespace asio_wheel::detail

#endif
