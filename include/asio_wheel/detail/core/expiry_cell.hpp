// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_EXPIRY_CELL_HPP
#define ASIO_WHEEL_DETAIL_CORE_EXPIRY_CELL_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <atomic>

namespace asio_wheel::detail {

/// A point of time that its owner may change while the wheel reads it.
class expiry_cell {
public:
    [[nodiscard]] time_count get() const noexcept { return value_.load(std::memory_order_relaxed); }

    /// What a visit sees. Pairs with set_then_look().
    [[nodiscard]] time_count get_in_visit() const noexcept {
        return value_.load(std::memory_order_seq_cst);
    }

    void set(time_count t) noexcept { value_.store(t, std::memory_order_relaxed); }

    /// As set(), before the owner looks for a visit. `concurrent`: there is more than one thread.
    void set_then_look(time_count t, bool concurrent) noexcept {
        if (concurrent) {
            value_.store(t, std::memory_order_seq_cst);
        } else {
            set(t);
        }
    }

    /// By another thread than the owner's: only if it is `expected` still.
    [[nodiscard]] bool change(time_count expected, time_count t) noexcept {
        return value_.compare_exchange_strong(expected, t, std::memory_order_relaxed);
    }

private:
    atomic<time_count> value_{0}; // Litmus test: postpone_visit.
};

} // namespace asio_wheel::detail

#endif
