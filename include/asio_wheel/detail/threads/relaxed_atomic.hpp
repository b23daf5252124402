// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_THREADS_RELAXED_ATOMIC_HPP
#define ASIO_WHEEL_DETAIL_THREADS_RELAXED_ATOMIC_HPP

#include <atomic>

namespace asio_wheel::detail {

/// A number that other threads may read while it changes. It orders nothing: a reader needs another
/// way to tell whether what it has read still holds. It costs what a plain number costs.
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
    std::atomic<T> value_; // Not that of sync.hpp: the wheel is compiled without it.
};

} // namespace asio_wheel::detail

#endif
