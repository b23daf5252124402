// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a timer's owner does with the lock, and what cancellation slots do.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <algorithm>

namespace asio_wheel::detail {

core::core(const wheel_options& options, const clock_port& unit, wheel_anchor::list& anchors,
           queue_port& queue, driver_port& driver, optional_mutex::complaint misuse)
    : options_(options), lock_(new core_lock(*this, options.locking, misuse)),
      lock_free_(options.max_pending == 0), anchor_(*this, anchors), queue_(queue),
      clock_(anchor_->time, unit), counts_(options.locking), guarded_(new guarded(*this, driver)) {}

core::guarded::guarded(core& c, driver_port& driver)
    : core_(c), options_(c.options_), queue_(c.queue_), clock_(c.clock_), counts_(c.counts_),
      book_(options_, clock_), delivery_(queue_, book_), alarm_(driver),
      share_(options_.budget, unit()), stall_(options_.stall) {
    if (options_.measure_handlers) {
        handlers_ = std::make_unique<measured_handlers>();
    }
}

// ---- Waits that start

void core::start(timer_state& s, wait_node& wait) noexcept {
    locked(*this, "async_wait()")->start(s, wait);
}

void core::guarded::start(timer_state& s, wait_node& wait) noexcept {
    if (stopped() || closing_) { // A context that ends destroys it in its queue.
        return refuse(s, wait, wait_node::result_state::stopped);
    }
    if (options_.max_pending != 0 && counts_.pending() >= options_.max_pending) {
        return refuse(s, wait, wait_node::result_state::too_many);
    }
    thread_block& counts = counts_.here();
    counts.scheduled();
    if (s.life() == timer_life::due && !unit().is_steady && !book::is_due(s.expiry.get(), now())) {
        refile(s); // The clock was set back: earlier waits for this expiry wait again, too.
    }
    const bool due = s.life() == timer_life::due; // Earlier waits for this expiry are.
    if (!due && !s.filed()) {
        file(s);
    } else if (core_.idle_.load(std::memory_order_relaxed)) {
        keep_armed();
    }
    delivery_.attach(s, wait);
    if (due) {
        make_ready(wait, wait_node::result_state::due);
    }
    note_peak(counts);
}

void core::arm_for_new_wait() noexcept {
    locked(*this, "async_wait()")->keep_armed();
}

void core::guarded::refuse(const timer_state& s, wait_node& wait,
                           wait_node::result_state why) noexcept {
    ++rejected_;
    delivery::disconnect_slot(wait);
    delivery_.finish(wait, s.replaces_asios ? wait_node::result_state::aborted : why);
}

// With n threads, each n-th time: the counts of all of them must be read.
void core::guarded::note_peak(const thread_block& counts) noexcept {
    const std::size_t threads = counts_.size();
    if (++starts_since_peak_ >= threads) {
        starts_since_peak_ = 0;
        const std::uint64_t pending = threads == 1 ? counts.balance() : counts_.surely_pending();
        peak_pending_ = (std::max)(peak_pending_, pending);
    }
}

// Files a timer by its expiry, or moves it if it is filed. Arms the driver if this is the next
// expiry.
void core::guarded::file(timer_state& s) noexcept {
    delivery_.unlist(s);
    book_.file(s);
    note_crowd();
    if (!next_turn_.is_nothing() ? s.deadline() != book_.tick_read() + 1
                                 : s.deadline() > alarm_.armed_for()) {
        return; // The turn under way, the next one, or the driver's wake-up comes in time.
    }
    // This is now the earliest expiry, so read the clock. If it has already passed, queue a turn
    // instead of arming the driver, and do not wait until the timer's own tick begins. But if the
    // driver is overdue, and judges a stall, its wake-up comes first.
    const time_count now = clock_.now();
    const std::chrono::nanoseconds late = unit().between(alarm_.due(), now);
    const bool judges = (behind_ || holds_back()) && late >= std::chrono::nanoseconds(0);
    if (alarm_.armed() && (judges || is_stall(late))) {
        filed_late_ = true;
        if (book::is_due(s.expiry.get(), now)) {
            book_.file_due(s);
        }
        if (!unit().is_steady && s.deadline() < alarm_.armed_for()) {
            // It comes at once, even if the clock is set back meanwhile. Without memory, all is as
            // it was.
            static_cast<void>(arm(s.deadline(), before_all, clock_.real(), alarm_.due()));
        }
        return;
    }
    book_.note_reading(now);
    if (book::is_due(s.expiry.get(), now)) {
        book_.file_due(s);
        want_turn(now);
        return;
    }
    if (follow_set_back(now)) {
        // Ticks mean other times now.
        book_.file_at(s, clock_.round_up(s.expiry.get()));
    }
    keep_armed();
}

// Notes whether operations are most likely out of the caches.
void core::guarded::note_crowd() noexcept {
    constexpr std::size_t many = 16'384; // More operations than caches are likely to hold.
    const bool crowded = book_.entries().size() > many;
    if (crowded != core_.is_crowded()) {
        core_.crowded_.store(crowded, std::memory_order_relaxed);
    }
}

// ---- Waits that are aborted

// Aborts all waits of a timer, in slices. Then calls finish() under the lock. By the timer's owner.
template <class Finish>
std::size_t core::abort_all(timer_state& s, const char* purpose, Finish finish) noexcept {
    std::size_t aborted = 0;
    for (;;) {
        const locked guard(*this, purpose);
        aborted += guard->abort_some(s, options_.budget);
        if (s.waits.empty()) {
            finish(*guard.operator->());
            guard->delivery_.settle(s);
            return aborted;
        }
    }
}

std::size_t core::abort_all(timer_state& s) noexcept {
    return abort_all(s, "cancel()", [](guarded&) {});
}

std::size_t core::set_expiry(timer_state& s, time_count expiry) noexcept {
    return abort_all(s, "expires_at()",
                     [&](guarded& g) { g.book_.set_idle_expiry(s, expiry, g.alarm_.armed_for()); });
}

void core::remove(timer_state& s) noexcept {
    abort_all(s, "the end of a timer", [&](guarded& g) { g.book_.remove(s); });
}

std::size_t core::abort_first(timer_state& s) noexcept {
    const locked guard(*this, "cancel_one()");
    const std::size_t aborted = guard->abort_some(s, 1);
    guard->delivery_.settle(s);
    return aborted;
}

// Aborts no more than `most` waits of a timer. Leaves the timer filed. The caller calls settle().
std::size_t core::guarded::abort_some(timer_state& s, std::size_t most) noexcept {
    std::size_t done = 0;
    if (!s.waits.empty()) {
        note_saved(s.expiry.get());
    }
    if (most != 0 && s.life() == timer_life::waiting) {
        wait_node& wait = s.waits.front();
        s.waits.clear();
        if (!core_.is_crowded() || !out().push_proxy(wait, queue_port::proxy::abort)) {
            wait.owner = nullptr;
            delivery_.finish(wait, wait_node::result_state::aborted);
        }
        done = 1;
    }
    for (; !s.waits.empty() && done < most; ++done) {
        wait_node& wait = s.waits.front();
        delivery_.detach(wait);
        make_ready(wait, wait_node::result_state::aborted);
    }
    counts_.here().cancelled(done);
    if (done != 0) {
        ASIO_WHEEL_PROBE2(cancel, &s, done);
    }
    return done;
}

// Aborts a wait that is attached.
void core::guarded::abort(wait_node& wait) noexcept {
    ASIO_WHEEL_PROBE2(cancel, wait.owner, 1);
    note_saved(wait.owner->expiry.get());
    delivery_.detach_and_remove(wait);
    counts_.here().cancelled();
    make_ready(wait, wait_node::result_state::aborted);
}

void core::guarded::make_ready(wait_node& wait, wait_node::result_state how) noexcept {
    if (!delivery_.make_ready(wait, how)) {
        release_work();
    }
}

// end_unlocked() has met a visit.
bool core::was_cancelled(timer_state& s) noexcept {
    return locked(*this, "cancel()")->was_cancelled(s);
}

bool core::guarded::was_cancelled(const timer_state& s) noexcept {
    const bool cancelled = s.was_cancelled();
    if (cancelled) {
        note_saved(s.expiry.get());
    }
    return cancelled;
}

// The wait's work can end here if it is not the last, or if a handler of the context is running.
// Otherwise the context might stop before it has begun to run. The last wait of all is aborted by
// way of the context's queue, and its turn disarms the driver.
wait_node* core::withdraw(timer_state& s) noexcept {
    if (!must_not_guess() && counts_.here().balance() != 1 && queue_.running_in_this_thread()) {
        if (wait_node* const wait = end_unlocked(s)) {
            queue_.work_finished();
            wait->finish_as_aborted();
            return wait;
        }
    }
    return locked(*this, "the end of an operation with a deadline")->withdraw(s);
}

wait_node* core::guarded::withdraw(timer_state& s) noexcept {
    if (s.waits.empty()) {
        return nullptr;
    }
    wait_node& wait = s.waits.front();
    const bool waits = wait.where() == wait_node::location::timer && wait.is_waiting();
    if (!waits || counts_.surely_pending() <= delivery_.due_elsewhere() + 1) {
        abort(wait);
        return nullptr;
    }
    note_saved(s.expiry.get());
    delivery_.detach_and_remove(wait);
    counts_.here().cancelled();
    ASIO_WHEEL_PROBE2(cancel, &s, 1);
    queue_.work_finished();
    wait.finish_as_aborted();
    return &wait;
}

// ---- Waits that are moved

// `before`: the expiry, if it was changed already.
std::size_t core::postpone(timer_state& s, time_count expiry, time_count before) noexcept {
    return locked(*this, "postpone()")->postpone(s, expiry, before);
}

std::size_t core::guarded::postpone(timer_state& s, time_count expiry, time_count before) noexcept {
    if (s.waits.empty()) {
        book_.set_idle_expiry(s, expiry, alarm_.armed_for());
        delivery_.settle(s);
        return 0;
    }
    note_saved(before);
    s.expiry.set(expiry);
    if (stopped()) {
        return 0; // After drain(), what is due cannot wait again.
    }
    const std::size_t moved = s.waits.size();
    counts_.here().postponed(moved);
    ASIO_WHEEL_PROBE2(postpone, &s, expiry);
    refile(s);
    return moved;
}

// The expiry of a timer has changed, or the clock was set back: its waits go on waiting.
void core::guarded::refile(timer_state& s) noexcept {
    const bool due = s.life() == timer_life::due; // But no wait was claimed yet.
    if (due) {
        s.waits.for_each([this](wait_node& wait) { delivery_.take_back(wait); });
    }
    file(s);
    if (due) {
        s.set_life(timer_life::guarded);
    }
}

void core::bring_forward(timer_state& s, time_count expiry) noexcept {
    locked(*this, "scale()")->bring_forward(s, expiry);
}

void core::guarded::bring_forward(timer_state& s, time_count expiry) noexcept {
    const visit others(core_);
    for (;;) {
        const timer_life life = s.life_in_visit();
        const time_count present = s.expiry.get_in_visit();
        if ((life != timer_life::waiting && life != timer_life::guarded) || present <= expiry) {
            return;
        }
        if (s.expiry.change(present, expiry)) {
            counts_.here().postponed(1);
            ASIO_WHEEL_PROBE2(postpone, &s, expiry);
            file(s);
            return;
        }
    }
}

void core::touched(timer_state& s) noexcept {
    locked(*this, "touch()")->touched(s);
}

void core::guarded::touched(timer_state& s) noexcept {
    const timer_life life = s.life_in_visit();
    if (life == timer_life::waiting || life == timer_life::guarded) {
        note_saved(s.expiry.get());
    }
}

void core::move(timer_state& from, timer_state& to) noexcept {
    locked(*this, "moving a timer")->move(from, to);
}

void core::guarded::move(timer_state& from, timer_state& to) noexcept {
    book_.replace(from, to);
    to.waits.swap(from.waits);
    to.waits.for_each([&to](wait_node& wait) { wait.owner = &to; });
    if (from.listed) {
        delivery_.list(to);
        delivery_.unlist(from);
    }
    to.take_life(from);
}

// ---- Spare timers, cancellation slots

spare_timer* core::take_spare() noexcept {
    spare_timers* const spares = counts_.here().spares();
    spare_timer* const mine = spares != nullptr ? spares->take() : nullptr;
    return mine != nullptr ? mine : counts_.take_left();
}

bool core::keep_spare(spare_timer& t) noexcept {
    spare_timers* const spares = counts_.here().spares();
    return spares != nullptr && spares->keep(t);
}

void core::unbind(cancel_link& link) noexcept {
    if (link.wait.load(std::memory_order_acquire) == nullptr) {
        return; // It was claimed. The service may have ended.
    }
    const locked guard(*this, "a cancellation slot");
    if (slotted_node* const wait = link.wait.load(std::memory_order_relaxed)) {
        wait->cancel = nullptr;
    }
}

void core::cancel(cancel_link& link) noexcept {
    if (link.wait.load(std::memory_order_acquire) == nullptr) {
        return;
    }
    const locked guard(*this, "a cancellation slot");
    slotted_node* const wait = link.wait.load(std::memory_order_relaxed);
    if (wait != nullptr && wait->owner != nullptr) {
        guard->abort(*wait);
    }
}

} // namespace asio_wheel::detail
