// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Substitutes for the library's atomics, for tests of one thread. They remember in which order they
// were stored to, and let another thread be faster: what it would do is done between two operations
// of this one. For programs that define ASIO_WHEEL_SYNC_HEADER as "support/watched_sync.hpp".

#ifndef ASIO_WHEEL_TEST_SUPPORT_WATCHED_SYNC_HPP
#define ASIO_WHEEL_TEST_SUPPORT_WATCHED_SYNC_HPP

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace asio_wheel::test {

/// The order of the last store to any atomic.
inline std::memory_order last_store = std::memory_order_relaxed;

/// Is called once, before the next compare-exchange of any atomic.
inline std::function<void()> before_exchange;

} // namespace asio_wheel::test

namespace asio_wheel::detail {

using mutex = std::mutex;

template <class T>
class atomic : public std::atomic<T> {
public:
    using std::atomic<T>::atomic;
    using std::atomic<T>::operator=;

    void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
        test::last_store = order;
        std::atomic<T>::store(value, order);
    }

    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
        if (const auto faster = std::exchange(test::before_exchange, nullptr)) {
            faster();
        }
        return std::atomic<T>::compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order) noexcept {
        return std::atomic<T>::compare_exchange_strong(expected, desired, order);
    }
};

} // namespace asio_wheel::detail

#endif
