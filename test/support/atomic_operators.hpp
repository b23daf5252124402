// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The arithmetic operators of std::atomic, for the atomics that tests substitute for the library's.

#ifndef ASIO_WHEEL_TEST_SUPPORT_ATOMIC_OPERATORS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_ATOMIC_OPERATORS_HPP

#include <cstddef>
#include <type_traits>

namespace asio_wheel::test {

/// Base class of `Atomic`, which must have fetch_add() and fetch_sub().
template <class Atomic, class T>
class atomic_operators {
public:
    using change_type = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

    T operator++() { return static_cast<T>(self().fetch_add(1) + 1); }
    T operator++(int) { return self().fetch_add(1); }
    T operator--() { return static_cast<T>(self().fetch_sub(1) - 1); }
    T operator--(int) { return self().fetch_sub(1); }
    T operator+=(change_type change) { return static_cast<T>(self().fetch_add(change) + change); }
    T operator-=(change_type change) { return static_cast<T>(self().fetch_sub(change) - change); }

private:
    [[nodiscard]] Atomic& self() noexcept { return static_cast<Atomic&>(*this); }
};

} // namespace asio_wheel::test

#endif
