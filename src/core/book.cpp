// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/book.hpp>

#include <algorithm>

namespace asio_wheel::detail {

book::book(const wheel_options& options, wheel_clock& clock)
    : clock_(clock), wheel_(options.slots, options.levels, &book::query_deadline, this),
      budget_(options.budget), found_(new wheel_entry*[options.budget]),
      order_(new due_timer[options.budget]) {}

tick_t book::next() const noexcept {
    if (wheel_.empty()) {
        return no_tick;
    }
    return wheel_.holds() ? (std::max)(wheel_.next_expiry(), wheel_.now()) : wheel_.next_expiry();
}

void book::file(timer_state& s) noexcept {
    const tick_t deadline = clock_.round_up(s.expiry.get());
    if (s.filed()) {
        note_moved(s);
        if (in_pass_ && wheel_.holds()) {
            // It may be held back. Then this pass would not visit it again.
            wheel_.erase(s);
        }
    } else {
        s.seen_by_walk = walk_; // Its wait starts now, or was due until now.
    }
    if (s.filed()) {
        wheel_.reschedule(s, deadline);
    } else {
        wheel_.insert(s, deadline);
    }
}

void book::replace(timer_state& from, timer_state& to) noexcept {
    to.expiry.set(from.expiry.get());
    to.spare_word(from.spare_word());
    to.seen_by_walk = from.seen_by_walk;
    wheel_.replace(from, to);
}

void book::set_idle_expiry(timer_state& s, time_count expiry, tick_t armed_for) noexcept {
    if (s.filed() && expiry < s.expiry.get()) {
        const tick_t deadline = clock_.round_up(expiry);
        if (deadline > armed_for) {
            wheel_.reschedule(s, deadline);
        } else {
            wheel_.erase(s);
        }
    }
    s.expiry.set(expiry);
}

book::slice book::collect(time_count now, bool hold) noexcept {
    begin_pass();
    tick_read_ = tick_at(now);
    pass_time_ = now;
    const auto [expired, more] = wheel_.advance(tick_read_, budget_, found());
    in_pass_ = more;
    // The timers are in the cache now, their waits are not: fetch them for who makes them ready.
    due_timer* const begin = order_.get();
    due_timer* end = begin;
    for (std::size_t i = 0; i < expired; ++i) {
        auto& s = static_cast<timer_state&>(*found_[i]);
        if (make_due_or_refile(s, now, hold)) {
            s.waits.prefetch();
            *end++ = {s.expiry.get(), i, &s};
        }
    }
    if (!std::is_sorted(begin, end)) {
        std::sort(begin, end);
    }
    return {std::span<const due_timer>(begin, end), more ? budget_ : expired, more};
}

bool book::find_first(tick_t tick, std::optional<time_count>& first) noexcept {
    begin_pass();
    const wheel::progress passed = wheel_.advance(tick, budget_, found());
    in_pass_ = passed.more;
    for (std::size_t i = 0; i < passed.expired; ++i) {
        auto& s = static_cast<timer_state&>(*found_[i]);
        if (s.drop_if_tombstone() == timer_life::inactive) {
            continue;
        }
        const time_count expiry = s.expiry.get_in_visit();
        if (file_again(s)) {
            first = first ? (std::min)(*first, expiry) : expiry;
        }
    }
    return passed.more;
}

void book::begin_walk(std::uint8_t number) noexcept {
    walk_ = number;
    walk_missed_ = false;
}

// Tells the wheel for which tick to file a timer that it has taken out. A tombstone leaves the
// wheel.
tick_t book::query_deadline(void* self, wheel_entry& entry) noexcept {
    auto& b = *static_cast<book*>(self);
    auto& s = static_cast<timer_state&>(entry);
    if (s.drop_if_tombstone() == timer_life::inactive) {
        return no_tick;
    }
    b.note_moved(s);
    const time_count expiry = s.expiry.get_in_visit();
    const tick_t deadline = s.deadline(); // The expiry is in this tick or a later one.
    // Most often nothing has changed, and no division is needed. And what is due already does not
    // wait for its tick to begin.
    if (expiry <= b.clock_.begin_of(deadline) ||
        (expiry <= b.pass_time_ && deadline >= b.tick_read_)) {
        return deadline;
    }
    return b.clock_.round_up(expiry);
}

// The wheel has handed out a timer. True if its waits are due. Otherwise files the timer again, or
// drops a tombstone. A timer is not due if the clock was set back after it was filed, if paused
// time stands in the middle of its tick, or if its owner has just postponed it.
bool book::make_due_or_refile(timer_state& s, time_count now, bool hold) noexcept {
    const timer_life life = s.drop_if_tombstone();
    if (life == timer_life::inactive) {
        return false;
    }
    if (!is_due(s.expiry.get_in_visit(), now)) {
        file_again(s);
        return false;
    }
    // The waits may be read, because a visit is under way.
    if (hold && guards_io(s.waits.front().kind)) {
        note_moved(s);
        wheel_.hold(s);
        return false;
    }
    s.overwrite_life(life, timer_life::due);
    return true;
}

// Files a timer again that the wheel has handed out too early. True if its tick has begun already:
// then it is held back.
bool book::file_again(timer_state& s) noexcept {
    const tick_t deadline = clock_.round_up(s.expiry.get());
    note_moved(s);
    if (deadline > wheel_.now()) {
        wheel_.insert(s, deadline);
        ++refiled_;
        return false;
    }
    wheel_.hold(s);
    return true;
}

// As make_due_or_refile(), for a wheel that ends. True if the timer has waits.
bool book::take_over(timer_state& s) noexcept {
    const timer_life life = s.drop_if_tombstone();
    if (life == timer_life::waiting) {
        s.overwrite_life(life, timer_life::guarded);
    }
    return life != timer_life::inactive;
}

void book::begin_pass() noexcept {
    if (!in_pass_) {
        wheel_.release_held();
    }
}

} // namespace asio_wheel::detail
