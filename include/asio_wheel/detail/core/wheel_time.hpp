// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The time of a wheel: that of a clock, or one that is moved by hand.
//
// Timers ask for it, also when their context has ended. So it is apart from the wheel, in an
// anchor, which is never freed. An anchor whose wheel has ended shows the time of the clock. The
// next wheel uses it again.

#ifndef ASIO_WHEEL_DETAIL_CORE_WHEEL_TIME_HPP
#define ASIO_WHEEL_DETAIL_CORE_WHEEL_TIME_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Converts times of a clock to what a wheel counts, and back.
template <class Clock>
struct clock_counts {
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;

    // A clock that counts in fractions is counted in nanoseconds.
    using unit = std::conditional_t<std::chrono::treat_as_floating_point_v<typename duration::rep>,
                                    std::chrono::nanoseconds, duration>;

    // The same unit, in the range of what the wheel counts. A clock's own durations may have no
    // negative values.
    using units = std::chrono::duration<std::int64_t, typename unit::period>;
    using counted_time = std::chrono::time_point<Clock, units>;

    // `t + d`.
    [[nodiscard]] static constexpr time_point moved(time_point t, units d) noexcept {
        if constexpr (std::is_same_v<unit, duration>) {
            const counted_time counted(units(count_of(t)));
            return at(add_saturating(counted, d).time_since_epoch().count());
        } else {
            return add_saturating(t, d);
        }
    }

    // What a clock counts and what the wheel counts need not have the same range. What is beyond
    // the other's becomes its end.
    [[nodiscard]] static constexpr std::int64_t count_of(time_point t) noexcept {
        if constexpr (std::is_same_v<unit, duration>) {
            return saturating<std::int64_t>(t.time_since_epoch().count());
        } else {
            return saturating<std::int64_t>(
                std::chrono::duration<long double, std::nano>(t.time_since_epoch()).count());
        }
    }

    [[nodiscard]] static constexpr duration span(std::int64_t count) noexcept {
        if constexpr (std::is_same_v<unit, duration>) {
            return duration(saturating<typename duration::rep>(count));
        } else {
            return std::chrono::duration_cast<duration>(unit(count));
        }
    }

    [[nodiscard]] static constexpr time_point at(std::int64_t count) noexcept {
        return count >= count_of((time_point::max)()) ? (time_point::max)()
                                                      : time_point(span(count));
    }
};

/// Any thread may ask. Changes are guarded by the wheel's lock.
template <class Clock>
class wheel_time : clock_counts<Clock> {
    using counts = clock_counts<Clock>;
    using counts::at, counts::count_of;
    using typename counts::counted_time, typename counts::units;

public:
    using time_point = typename Clock::time_point;

    [[nodiscard]] time_point now() const { return corrected(Clock::now()); }

    /// What now() is when Clock::now() is `real`.
    [[nodiscard]] time_point corrected(time_point real) const {
        switch (mode_.load(
            std::memory_order_acquire)) { // Pairs with the stores in pause() and resume().
        case mode::real:
            break;
        case mode::frozen:
            return at(frozen_at());
        case mode::shifted:
            return counts::moved(real, units(shift()));
        }
        return real;
    }

    [[nodiscard]] bool paused() const noexcept {
        return mode_.load(std::memory_order_relaxed) == mode::frozen;
    }

    [[nodiscard]] std::int64_t frozen_at() const noexcept {
        return frozen_at_.load(std::memory_order_relaxed);
    }
    /// How far now() is ahead of the clock, unless it is paused.
    [[nodiscard]] std::int64_t shift() const noexcept {
        return shift_.load(std::memory_order_relaxed);
    }

    /// From now on time stands at `t`.
    void pause(time_point t) noexcept {
        frozen_at_.store(count_of(t), std::memory_order_relaxed);
        mode_.store(mode::frozen, std::memory_order_release);
    }

    /// Goes on from where time stands, so that no deadline jumps.
    void resume() {
        const auto stands = counted_time(units(frozen_at()));
        const auto real = counted_time(units(count_of(Clock::now())));
        shift_.store(until_saturating(real, stands).count(), std::memory_order_relaxed);
        mode_.store(mode::shifted, std::memory_order_release);
    }

    /// Sets paused time forward to `t`; it never goes back.
    void set(time_point t) noexcept {
        std::int64_t count = count_of(t);
        while (at(count) < t) { // A fraction was cut off.
            ++count;
        }
        frozen_at_.store((std::max)(frozen_at(), count), std::memory_order_relaxed);
    }

    /// Whether the wheel wants to know of each touch of an idle timer. See wheel_core::touched().
    [[nodiscard]] bool wants_touches() const noexcept {
        return wants_touches_.load(std::memory_order_relaxed);
    }
    void want_touches(bool wanted) noexcept {
        if (wants_touches() != wanted) {
            wants_touches_.store(wanted, std::memory_order_relaxed);
        }
    }

    /// The wheel has ended.
    void end() noexcept {
        want_touches(false);
        shift_.store(0, std::memory_order_relaxed);
        mode_.store(mode::real, std::memory_order_relaxed);
    }

private:
    enum class mode { real, frozen, shifted };

    atomic<mode> mode_{mode::real}; // Litmus test: paused_clock.
    atomic<std::int64_t> frozen_at_{0};
    atomic<std::int64_t> shift_{0};
    atomic<bool> wants_touches_{false}; // A hint: what it leads to is decided with the lock.
};

/// What timers know of their wheel. All of them read it, so it has a cache line of its own.
template <class Core>
class alignas(64) wheel_anchor {
public:
    /// The anchor of a core, while there is one.
    class owner {
    public:
        explicit owner(Core& core) : anchor_(take()) { anchor_.core = &core; }
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;
        ~owner() {
            anchor_.time.end();
            anchor_.core = nullptr;
            give(anchor_, anchor_);
        }

        [[nodiscard]] wheel_anchor& operator*() const noexcept { return anchor_; }

    private:
        wheel_anchor& anchor_;
    };

    wheel_time<typename Core::clock> time;
    Core* core = nullptr; ///< For timers of its context; not after the context's end.

private:
    // A thread that takes one takes all, and gives back the rest. So there is no lock, which
    // another thread could hold during fork(), and no head of a list that changes and changes back.
    [[nodiscard]] static wheel_anchor& take() {
        wheel_anchor* const first = free_.exchange(nullptr, std::memory_order_acquire);
        if (first == nullptr) {
            return *new wheel_anchor;
        }
        wheel_anchor* const rest = std::exchange(first->next_, nullptr);
        wheel_anchor* none = nullptr;
        if (rest != nullptr && !free_.compare_exchange_strong(none, rest, std::memory_order_release,
                                                              std::memory_order_relaxed)) {
            wheel_anchor* last = rest; // Another thread has given one back meanwhile.
            while (last->next_ != nullptr) {
                last = last->next_;
            }
            give(*rest, *last);
        }
        return *first;
    }

    static void give(wheel_anchor& first, wheel_anchor& last) noexcept {
        last.next_ = free_.load(std::memory_order_relaxed);
        while (!free_.compare_exchange_weak(last.next_, &first, std::memory_order_release,
                                            std::memory_order_relaxed)) {
        }
    }

    wheel_anchor* next_ = nullptr;
    // Those whose wheels have ended. Litmus test: free_anchor.
    static inline std::atomic<wheel_anchor*> free_{nullptr};
};

} // namespace asio_wheel::detail

#endif
