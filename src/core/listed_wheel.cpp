// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/listed_wheel.hpp>

#include <asio_wheel/detail/core/pending_walk.hpp>
#include <asio_wheel/stats.hpp>

#include <algorithm>
#include <mutex>

namespace asio_wheel::detail {

moved_time::moved_time() : join_([](listed_wheel& w, moved_time& time) { w.join(time); }) {}

moved_time::~moved_time() = default;

moved_time::beginning& moved_time::beginning_of(const clock_port& unit) {
    for (beginning& b : clocks_) {
        if (b.clock == unit.now) {
            return b;
        }
    }
    clocks_.push_back({unit.now, unit.now(), std::nullopt});
    return clocks_.back();
}

void listed_wheel::pause(moved_time& time) {
    const std::lock_guard<mutex> guard(time.beginnings);
    auto& begin = time.beginning_of(core_.unit());
    core_.pause(core_.anchor().time.corrected(begin.real));
    begin_ = core_.now();
    begin.furthest = (std::max)(begin_, begin.furthest.value_or(begin_));
}

void listed_wheel::join(moved_time& time) {
    const std::lock_guard<mutex> guard(time.beginnings);
    const auto& begin = time.beginning_of(core_.unit());
    begin_ = begin.furthest.value_or(begin.real);
    core_.pause(begin_);
    advance_to(time.now);
}

listed_wheel::nanoseconds listed_wheel::next_step() {
    step_ = core_.next_step();
    step_at_ = step_ ? core_.unit().between(begin_, *step_) : never;
    return step_at_;
}

std::size_t listed_wheel::advance_to(nanoseconds t) {
    const time_count own = sum_saturating(begin_, core_.unit().units_of(t));
    // A coarse clock may round down to a time before the step ends.
    return core_.advance_to(step_ && t >= step_at_ ? (std::max)(own, *step_) : own);
}

wait_totals listed_wheel::totals() const {
    const wheel_stats stats = core_.stats();
    return {stats.fired + stats.rejected, stats.pending};
}

std::optional<pending_wait> listed_wheel::find_overdue() {
    core::pending_walk walk(core_);
    for (auto waits = walk.next(); !waits.empty(); waits = walk.next()) {
        for (const pending_wait& wait : waits) {
            if (wait.remaining <= nanoseconds::zero()) {
                return wait;
            }
        }
    }
    return std::nullopt;
}

} // namespace asio_wheel::detail
