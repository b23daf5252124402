// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel is asked what waits on it. See wheel_core.hpp for the ground rules.
//
// A walk takes the lock for one slice of `budget` timers at a time, and timers move meanwhile. So
// each walk has a number, and marks the timers that it has seen. If a timer that it has not seen is
// filed again, it may be where the walk has been already: then another pass follows. A timer that
// is filed anew has a wait that started during the walk, or that was due; so it counts as seen.
// Outside of walks, a timer that is filed anew gets the number 0, which no walk has.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_PENDING_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_PENDING_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>
#include <asio_wheel/detail/wheel/wheel_walk.hpp>
#include <asio_wheel/pending.hpp>

#include <boost/throw_exception.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

/// There is one at a time for a wheel. Another thread waits for it.
template <class Clock, class WaitTraits>
class wheel_core<Clock, WaitTraits>::pending_walk {
public:
    explicit pending_walk(wheel_core& core)
        : core_(core), turn_(core.walks_), found_(core.options_.budget),
          walk_(core.wheel_, bookmark_) {
        if (core_.last_walk_ == max_walk) {
            // The numbers begin anew. A walk that ended early has left older ones on some timers.
            begin(0);
            while (!ended_) {
                slice([](state&, time_point) {});
            }
        }
        begin(core_.last_walk_ + 1U);
    }
    pending_walk(const pending_walk&) = delete;
    pending_walk& operator=(const pending_walk&) = delete;
    ~pending_walk() {
        const locked guard(core_, "for_each_pending()");
        walk_.take_bookmark();
        bookmark_.set_life(timer_life::unknown);
        core_.walk_ = 0;
    }

    /// Replaces `waits` by the next ones. False if there are no more.
    [[nodiscard]] bool next(std::vector<pending_wait>& waits) {
        waits.clear();
        waits.reserve(found_.size());
        while (waits.empty() && !ended_) {
            slice([&](state& s, time_point now) { see(s, now, waits); });
        }
        return !waits.empty();
    }

private:
    // The thread that walks. A walk inside a walk would wait for itself.
    class turn {
    public:
        explicit turn(walk_turns& turns) : turns_(turns) {
            if (turns_.walker.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
                BOOST_THROW_EXCEPTION(
                    std::logic_error("asio_wheel: the function of for_each_pending() has called "
                                     "for_each_pending() or report() for the same wheel"));
            }
            turns_.one.lock();
            turns_.walker.store(std::this_thread::get_id(), std::memory_order_relaxed);
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn() {
            turns_.walker.store(std::thread::id(), std::memory_order_relaxed);
            turns_.one.unlock();
        }

    private:
        walk_turns& turns_;
    };

    void begin(unsigned number) {
        const locked guard(core_, "for_each_pending()");
        core_.last_walk_ = static_cast<std::uint8_t>(number);
        core_.walk_ = core_.last_walk_;
        core_.missed_ = false;
        ended_ = false;
    }

    // Calls see(timer, now) for the next timers that this walk has not seen. Sets ended_ after the
    // last ones.
    template <class See>
    void slice(See see) {
        const locked guard(core_, "for_each_pending()");
        const visit others(core_);
        const wheel_walk::progress passed = walk_.step(found_);
        bookmark_.set_life(passed.more ? timer_life::tombstone : timer_life::unknown);
        const time_point now = core_.clock_.now();
        for (std::size_t i = 0; i < passed.found; ++i) {
            auto& s = static_cast<state&>(*found_[i]);
            if (std::exchange(s.seen_by_walk, core_.walk_) != core_.walk_) {
                see(s, now);
            }
        }
        if (!passed.more) {
            ended_ = !std::exchange(core_.missed_, false);
        }
    }

    static void see(state& s, time_point now, std::vector<pending_wait>& waits) {
        const timer_life life = s.life_in_visit();
        if (life != timer_life::waiting && life != timer_life::guarded) {
            return;
        }
        const auto remaining = to_nanoseconds(until_saturating(now, s.expiry.get_in_visit()));
        s.ops.for_each([&](const wait_op& op) {
            const wait_description what = op.description();
            waits.push_back({.kind = op.kind,
                             .tag = what.tag != nullptr ? what.tag : "",
                             .place = what.place,
                             .remaining = remaining,
                             .on_other_executor = op.is_dispatched});
        });
    }

    static constexpr unsigned max_walk = (std::numeric_limits<std::uint8_t>::max)();

    wheel_core& core_;
    const turn turn_;
    std::vector<wheel_entry*> found_;
    state bookmark_;
    wheel_walk walk_;
    bool ended_ = false;
};

// Called before a timer with waits is filed again that is, or was, in the wheel.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_moved(const state& s) noexcept {
    missed_ = missed_ || s.seen_by_walk != walk_;
}

template <class Clock, class WaitTraits>
wake_up_history::counts wheel_core<Clock, WaitTraits>::recent_wake_ups() const {
    const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
    const auto& measured = measured_.if_any();
    return measured ? measured->wake_ups.until(second_of(clock_.now())) : wake_up_history::counts();
}

// The system is asked without the lock.
template <class Clock, class WaitTraits>
recent_lateness wheel_core<Clock, WaitTraits>::lateness() {
    lateness_meter::sample now;
    {
        const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
        const auto& measured = measured_.if_any();
        if (!measured) {
            return {};
        }
        now.thread = measured->meter.thread();
    }
    now.time = processor_time_of(now.thread);
    const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
    now.lag = measured_.get().loop_lag.sum();
    now.when = to_nanoseconds(clock_.now().time_since_epoch());
    return measured_.get().meter.recent(now);
}

template <class Clock, class WaitTraits>
std::int64_t wheel_core<Clock, WaitTraits>::second_of(time_point t) noexcept {
    return floor_saturating<std::chrono::seconds>(t.time_since_epoch()).count();
}

// The lock is held for so many slots at a time that it takes some microseconds, full or empty.
template <class Clock, class WaitTraits>
wheel_occupancy wheel_core<Clock, WaitTraits>::occupancy(std::size_t most_cells) const {
    constexpr std::size_t most_looks = 16; // Of a cell.
    const std::size_t slots = wheel_.slots();
    const std::size_t size = std::bit_ceil((slots - 1) / most_cells + 1); // Of a cell, in slots.
    const std::size_t at_once = wheel_walk::most_slots / (std::min)(size, most_looks * most_looks);
    wheel_occupancy result;
    result.levels.resize(wheel_.levels());
    for (auto& level : result.levels) {
        level.slots = slots;
        level.fill.resize(slots / size);
    }
    const auto tick = static_cast<tick_t>(options_.tick.count());
    const auto longest = static_cast<tick_t>((std::chrono::nanoseconds::max)().count());
    for (unsigned number = 0; number < wheel_.levels(); ++number) {
        auto& level = result.levels[number];
        const tick_t width = wheel_.width(number);
        level.slot_width = std::chrono::nanoseconds(
            static_cast<std::int64_t>(width > longest / tick ? longest : width * tick));
        for (std::size_t cell = 0; cell < level.fill.size();) {
            const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
            level.current =
                static_cast<std::size_t>(clock_.round_down(clock_.now()) / width % slots);
            const std::size_t end = (std::min)(cell + at_once, level.fill.size());
            for (; cell < end; ++cell) {
                level.fill[cell] = static_cast<std::uint8_t>(
                    size == 1 ? wheel_.fill(number, cell)
                              : wheel_.fullest(number, cell * size, size, most_looks));
            }
        }
    }
    return result;
}

} // namespace asio_wheel::detail

#endif
