// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The time of a wheel: that of a clock, or one that is moved by hand.
//
// Timers ask for it, also when their context has ended. So it is apart from the wheel, in an
// anchor, which is never freed. An anchor whose wheel has ended shows the time of the clock. The
// next wheel uses it again.

#ifndef ASIO_WHEEL_DETAIL_CORE_WHEEL_TIME_HPP
#define ASIO_WHEEL_DETAIL_CORE_WHEEL_TIME_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

class core;

/// Any thread may ask. Changes are guarded by the wheel's lock.
class wheel_time {
public:
    /// Whether it is that of the clock.
    [[nodiscard]] bool is_real() const noexcept { return now_is() == mode::real; }

    /// What it is when the clock shows `real`.
    [[nodiscard]] time_count corrected(time_count real) const noexcept {
        switch (now_is()) {
        case mode::real:
            break;
        case mode::frozen:
            return frozen_at();
        case mode::shifted:
            return sum_saturating(real, shift());
        }
        return real;
    }

    [[nodiscard]] bool paused() const noexcept {
        return mode_.load(std::memory_order_relaxed) == mode::frozen;
    }

    [[nodiscard]] time_count frozen_at() const noexcept {
        return frozen_at_.load(std::memory_order_relaxed);
    }
    /// How far now() is ahead of the clock, unless it is paused.
    [[nodiscard]] time_count shift() const noexcept {
        return shift_.load(std::memory_order_relaxed);
    }

    /// From now on time stands at `t`.
    void pause(time_count t) noexcept {
        frozen_at_.store(t, std::memory_order_relaxed);
        mode_.store(mode::frozen, std::memory_order_release);
    }

    /// Goes on from where time stands, so that no deadline jumps.
    void resume(time_count real) noexcept {
        shift_.store(difference_saturating(real, frozen_at()), std::memory_order_relaxed);
        mode_.store(mode::shifted, std::memory_order_release);
    }

    /// Sets paused time forward to `t`; it never goes back.
    void set(time_count t) noexcept {
        frozen_at_.store((std::max)(frozen_at(), t), std::memory_order_relaxed);
    }

    /// Whether the wheel wants to know of each touch of an idle timer. See core::touched().
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
    enum class mode : std::uint8_t { real, frozen, shifted };

    [[nodiscard]] mode now_is() const noexcept {
        return mode_.load(std::memory_order_acquire); // Pairs with pause() and resume().
    }

    atomic<mode> mode_{mode::real}; // Litmus test: paused_clock.
    atomic<time_count> frozen_at_{0};
    atomic<time_count> shift_{0};
    atomic<bool> wants_touches_{false}; // A hint: what it leads to is decided with the lock.
};

/// What timers know of their wheel. All of them read it, so it has a cache line of its own.
class alignas(64) wheel_anchor {
public:
    /// Those of one clock whose wheels have ended.
    struct list {
        std::atomic<wheel_anchor*> first{nullptr}; // Litmus test: free_anchor.
    };

    /// The anchor of a core, while there is one.
    class owner {
    public:
        owner(core& c, list& free) : anchor_(take(free)), free_(free) { anchor_.wheel = &c; }
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;
        ~owner() {
            anchor_.time.end();
            anchor_.wheel = nullptr;
            give(free_, anchor_, anchor_);
        }

        [[nodiscard]] wheel_anchor& operator*() const noexcept { return anchor_; }
        [[nodiscard]] wheel_anchor* operator->() const noexcept { return &anchor_; }

    private:
        wheel_anchor& anchor_;
        list& free_;
    };

    wheel_time time;
    core* wheel = nullptr; ///< For timers of its context; not after the context's end.

    /// Whether it has the time of the clock, for what belongs to the context that context_of()
    /// returns. After the end of that, another wheel may use the anchor, and move its own time. (If
    /// that has a context at the same address, it is taken for the old one.)
    template <class ContextOf>
    [[nodiscard]] bool is_real(ContextOf context_of) const noexcept {
        return time.is_real() || context() != context_of(); // Only tests need to ask.
    }

    /// The context of the wheel; of the last one, if there is no wheel.
    [[nodiscard]] const void* context() const noexcept {
        return context_.load(std::memory_order_relaxed);
    }
    void context(const void* c) noexcept { context_.store(c, std::memory_order_relaxed); }

private:
    // A thread that takes one takes all, and gives back the rest. So there is no lock, which
    // another thread could hold during fork(), and no head of a list that changes and changes back.
    [[nodiscard]] static wheel_anchor& take(list& free) {
        wheel_anchor* const first = free.first.exchange(nullptr, std::memory_order_acquire);
        if (first == nullptr) {
            return *new wheel_anchor;
        }
        wheel_anchor* const rest = std::exchange(first->next_, nullptr);
        wheel_anchor* none = nullptr;
        if (rest != nullptr &&
            !free.first.compare_exchange_strong(none, rest, std::memory_order_release,
                                                std::memory_order_relaxed)) {
            wheel_anchor* last = rest; // Another thread has given one back meanwhile.
            while (last->next_ != nullptr) {
                last = last->next_;
            }
            give(free, *rest, *last);
        }
        return *first;
    }

    static void give(list& free, wheel_anchor& first, wheel_anchor& last) noexcept {
        last.next_ = free.first.load(std::memory_order_relaxed);
        while (!free.first.compare_exchange_weak(last.next_, &first, std::memory_order_release,
                                                 std::memory_order_relaxed)) {
        }
    }

    std::atomic<const void*> context_{nullptr}; // What it leads to is not read through it.
    wheel_anchor* next_ = nullptr;
};

} // namespace asio_wheel::detail

#endif
