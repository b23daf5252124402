// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a wheel tells of itself.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <asio_wheel/detail/core/processor_time.hpp>
#include <asio_wheel/detail/wheel/wheel_walk.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace asio_wheel::detail {

wheel_stats core::stats() const {
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    counts_.forget_ended();
    const wait_counts counts = counts_.sum();
    wheel_stats result;
    guarded& g = *guarded_;
    result.rejected = g.rejected_;
    result.wake_ups = g.wake_ups_;
    result.spurious_wake_ups = g.spurious_wake_ups_;
    result.stalls = g.stall_.stalls();
    result.stalled = g.stall_.stalled();
    if (const auto& measured = g.measured_.if_any()) {
        result.lateness = measured->lateness;
        result.loop_lag = measured->loop_lag;
    }
    result.pending = counts.pending();
    result.peak_pending = g.peak_pending_ = (std::max)(g.peak_pending_, result.pending);
    result.scheduled = counts.scheduled;
    result.fired = counts.fired;
    result.expired = counts.expired;
    result.cancelled = counts.cancelled;
    result.dropped = counts.forgotten;
    result.postponed = counts.postponed;
    result.cascaded = g.book_.cascaded();
    if (g.handlers_) {
        result.handler_delay = g.handlers_->delay;
    }
    return result;
}

std::vector<tag_stats> core::stats_by_tag() const {
    if (!options().measure_handlers) {
        return {};
    }
    // Only the copy is made with the lock: texts are compared without it.
    const auto copy = std::make_unique<tag_meter>();
    time_count time{};
    {
        const std::lock_guard<optional_mutex> guard(lock_->mutex);
        *copy = guarded_->handlers_->tags;
        time = now();
    }
    return copy->all(unit().seconds_of(time) / 60);
}

std::size_t core::pending() const {
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    counts_.forget_ended();
    return static_cast<std::size_t>(counts_.surely_pending());
}

wake_up_history::counts core::recent_wake_ups() const {
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    const auto& measured = guarded_->measured_.if_any();
    return measured ? measured->wake_ups.until(unit().seconds_of(now()))
                    : wake_up_history::counts();
}

// The system is asked without the lock.
recent_lateness core::lateness() {
    lateness_meter::sample latest;
    {
        const std::lock_guard<optional_mutex> guard(lock_->mutex);
        const auto& measured = guarded_->measured_.if_any();
        if (!measured) {
            recent_lateness none;
            none.overdue = guarded_->overdue(now());
            return none;
        }
        latest.thread = measured->meter.thread();
    }
    latest.time = processor_time_of(latest.thread);
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    const time_count time = now();
    measured::everything& measured = guarded_->measured_.get();
    latest.lag = measured.meter.lag();
    latest.when = unit().nanoseconds_of(time);
    recent_lateness recent = measured.meter.recent(latest);
    recent.overdue = guarded_->overdue(time);
    return recent;
}

// The lock is held for so many slots at a time that it takes some microseconds, full or empty.
wheel_occupancy core::occupancy(std::size_t most_cells) const {
    constexpr std::size_t most_looks = 16; // Of a cell.
    const wheel& entries = guarded_->book_.entries();
    const std::size_t slots = entries.slots();
    const std::size_t size = std::bit_ceil((slots - 1) / most_cells + 1); // Of a cell, in slots.
    const std::size_t at_once = wheel_walk::most_slots / (std::min)(size, most_looks * most_looks);
    wheel_occupancy result;
    result.levels.resize(entries.levels());
    for (auto& level : result.levels) {
        level.slots = slots;
        level.fill.resize(slots / size);
    }
    const auto tick = static_cast<tick_t>(options_.tick.count());
    const auto longest = static_cast<tick_t>((std::chrono::nanoseconds::max)().count());
    for (unsigned number = 0; number < entries.levels(); ++number) {
        auto& level = result.levels[number];
        const tick_t width = entries.width(number);
        level.slot_width = std::chrono::nanoseconds(
            static_cast<std::int64_t>(width > longest / tick ? longest : width * tick));
        for (std::size_t cell = 0; cell < level.fill.size();) {
            const std::lock_guard<optional_mutex> guard(lock_->mutex);
            level.current = static_cast<std::size_t>(clock_.round_down(now()) / width % slots);
            const std::size_t end = (std::min)(cell + at_once, level.fill.size());
            for (; cell < end; ++cell) {
                level.fill[cell] = static_cast<std::uint8_t>(
                    size == 1 ? entries.fill(number, cell)
                              : entries.fullest(number, cell * size, size, most_looks));
            }
        }
    }
    return result;
}

} // namespace asio_wheel::detail
