// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the mutex and the atomics of sync.hpp tell the explorer. Nothing here does anything on a
// thread that is not explored.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_YIELD_POINTS_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_YIELD_POINTS_HPP

#include <cstdint>
#include <functional>
#include <source_location>

namespace asio_wheel::test::interleave {

/// What a thread does at a yield point.
enum class action : std::uint8_t {
    start,    ///< Begins. It has done nothing yet.
    load,     ///< Reads an atomic.
    store,    ///< Writes an atomic.
    modify,   ///< Reads and writes an atomic; or reads it only, if a comparison fails.
    wait,     ///< Sleeps in atomic::wait(). Can go on when it has been notified.
    notify,   ///< Wakes threads that sleep on an atomic.
    lock,     ///< Takes a mutex. Can go on when it is free.
    try_lock, ///< Takes a mutex if it is free.
    unlock,   ///< Releases a mutex.
    await,    ///< Can go on when a condition of the test is true.
    go_on     ///< Has done what others may have waited for; goes on behind it.
};

/// Whether the calling thread is explored.
[[nodiscard]] bool explored() noexcept;

/// Before an action on `object`. Returns when it is this thread's turn.
void before(action what, const void* object, const std::source_location& where);

/// Before a mutex is taken, whose flag `held` says whether it is. Returns when it is free and it is
/// this thread's turn.
void before_lock(const void* mutex, const bool& held);

/// What the action came to, for the record: up to eight bytes of it.
void came_to(std::uint64_t bits) noexcept;

/// After an action that other threads may wait for.
void after(const void* object);

/// Sleeps until notify() is called for `object`.
void sleep_on(const void* object, const std::source_location& where);

/// Wakes one, or all, of those that sleep on `object`.
void wake(const void* object, bool all);

/// Whether a comparison that could succeed is to fail nevertheless, as compare_exchange_weak() may.
[[nodiscard]] bool fails_spuriously();

} // namespace asio_wheel::test::interleave

#endif
