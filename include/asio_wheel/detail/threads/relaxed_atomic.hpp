// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A number that threads may read while another thread changes it.
//
// All of its operations are relaxed: it pairs with nothing and orders nothing. A reader needs
// another way to tell whether the value that it has read is still valid. Such a number costs as
// much as a plain one.

#ifndef ASIO_WHEEL_DETAIL_THREADS_RELAXED_ATOMIC_HPP
#define ASIO_WHEEL_DETAIL_THREADS_RELAXED_ATOMIC_HPP

#include <atomic>

namespace asio_wheel::detail {

/// Converts from and to T, as a plain T would. Copyable.
template <class T>
class relaxed_atomic {
public:
    constexpr relaxed_atomic(T value = {}) noexcept : value_(value) {} // NOLINT(*-explicit-*)
    constexpr relaxed_atomic(const relaxed_atomic& other) noexcept : value_(other) {}
    ~relaxed_atomic() = default;
    relaxed_atomic& operator=(const relaxed_atomic& other) noexcept { return *this = T(other); }
    relaxed_atomic& operator=(T value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }
    operator T() const noexcept { // NOLINT(*-explicit-*)
        return value_.load(std::memory_order_relaxed);
    }

private:
    // Not the atomic of sync.hpp, which tests replace: src/ is compiled without that replacement,
    // and both must agree on the layout of wheel_entry.
    std::atomic<T> value_;
};

} // namespace asio_wheel::detail

#endif
