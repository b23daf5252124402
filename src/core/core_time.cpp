// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Paused time.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <boost/throw_exception.hpp>

#include <stdexcept>

namespace asio_wheel::detail {

void core::pause() {
    const locked guard(*this, "pause()");
    guard->pause(now());
}

void core::pause(time_count at) noexcept {
    locked(*this, "pause()")->pause(at);
}

void core::guarded::pause(time_count at) noexcept {
    if (paused()) {
        return;
    }
    static_cast<void>(follow_set_back(now()));
    clock_.pause(at);
    if (book_.entries().now() == 0 && book_.entries().empty()) {
        // Of a new wheel. Then the order of what is due at one time does not depend on how long ago
        // it was made: a test with virtual_time does the same each time.
        clock_.begin_ticks();
    }
    {
        const visit others(core_);
        note_jump(now());
    }
    alarm_.disarm();
    if (book_.entries().next_expiry() <= book_.tick_at(now())) {
        want_turn(now()); // It is overdue, and the driver will not look again.
    }
    keep_armed();
}

void core::resume() noexcept {
    // If others use the timers, they must not guess while this thread arms the driver.
    static_cast<void>(counts_.here());
    locked(*this, "resume()")->resume();
}

void core::guarded::resume() noexcept {
    if (paused()) {
        clock_.resume();
        {
            const visit others(core_);
            note_jump(now());
        }
        alarm_.disarm();
        keep_armed();
    }
}

std::size_t core::advance_to(time_count t) {
    std::size_t due = 0;
    for (bool first = true, more = true; more; first = false) {
        const locked guard(*this, "advance()");
        guard->require_paused();
        clock_.set(t);
        if (first) {
            guard->book_.release_held(); // It may be due now.
        }
        const guarded::progress found = guard->slice(now());
        due += found.due;
        more = found.more;
    }
    return due;
}

std::size_t core::advance_to_next() {
    while (const std::optional<time_count> step = next_step()) {
        if (const std::size_t due = advance_to(*step)) {
            return due;
        }
    }
    return 0;
}

// The wheel knows the tick of the next wait, its timers know the exact times. They can be compared
// when time stands in that tick; so the way to a later tick has two steps.
std::optional<time_count> core::next_step() {
    for (;;) {
        std::optional<tick_t> next;
        {
            const locked guard(*this, "advance_to_next()");
            guard->require_paused();
            if (guard->book_.in_pass()) {
                return now(); // What a turn has left over comes first.
            }
            const visit others(*this);
            next = guard->book_.entries().find_next_expiry(options_.budget);
            if (!next) {
                continue; // That was one slice.
            }
            if (*next >= last_tick || clock_.begin_of(*next) == never) {
                return std::nullopt;
            }
            if (*next > guard->book_.tick_at(now())) {
                return clock_.first_in(*next);
            }
        }
        std::optional<time_count> first;
        for (bool more = true; more;) {
            const locked guard(*this, "advance_to_next()");
            const visit others(*this);
            more = guard->book_.find_first(*next, first);
        }
        if (first == never) {
            return std::nullopt;
        }
        if (first) { // Else another thread has cancelled the waits.
            return first;
        }
    }
}

void core::guarded::require_paused() const {
    if (!paused()) {
        BOOST_THROW_EXCEPTION(
            std::logic_error("asio_wheel: only paused time can be advanced; pause() comes first"));
    }
}

} // namespace asio_wheel::detail
