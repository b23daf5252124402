// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_EXPIRY_CELL_HPP
#define ASIO_WHEEL_DETAIL_CORE_EXPIRY_CELL_HPP

#include <asio_wheel/detail/threads/sync.hpp>

#include <atomic>
#include <type_traits>

namespace asio_wheel::detail {

/// A point of time that its owner may change while the wheel reads it; if such points are too large
/// for that, it is guarded by the wheel's lock.
template <class TimePoint>
class expiry_cell {
    [[nodiscard]] static constexpr bool fits() noexcept {
        if constexpr (std::is_trivially_copyable_v<TimePoint>) {
            return std::atomic<TimePoint>::is_always_lock_free;
        } else {
            return false;
        }
    }

public:
    static constexpr bool is_atomic = fits();

    [[nodiscard]] TimePoint get() const noexcept {
        if constexpr (is_atomic) {
            return value_.load(std::memory_order_relaxed);
        } else {
            return value_;
        }
    }

    /// What a visit sees. Pairs with set_then_look().
    [[nodiscard]] TimePoint get_in_visit() const noexcept {
        if constexpr (is_atomic) {
            return value_.load(std::memory_order_seq_cst);
        } else {
            return value_;
        }
    }

    void set(TimePoint t) noexcept {
        if constexpr (is_atomic) {
            value_.store(t, std::memory_order_relaxed);
        } else {
            value_ = t;
        }
    }

    /// As set(), before the owner looks for a visit. `concurrent`: there is more than one thread.
    void set_then_look(TimePoint t, bool concurrent) noexcept {
        if constexpr (is_atomic) {
            if (concurrent) {
                value_.store(t, std::memory_order_seq_cst);
                return;
            }
        }
        set(t);
    }

    /// By another thread than the owner's: only if it is `expected` still.
    [[nodiscard]] bool change(TimePoint expected, TimePoint t) noexcept {
        if constexpr (is_atomic) {
            return value_.compare_exchange_strong(expected, t, std::memory_order_relaxed);
        } else {
            value_ = t;
            return true;
        }
    }

private:
    std::conditional_t<is_atomic, atomic<TimePoint>, TimePoint> value_{}; // See postpone_visit.
};

} // namespace asio_wheel::detail

#endif
