// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The interface from the mutex and the atomics of sync.hpp to the explorer. On a thread that is not
// explored, these functions do nothing.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_YIELD_POINTS_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_YIELD_POINTS_HPP

#include <cstdint>
#include <functional>
#include <source_location>

namespace asio_wheel::test::interleave {

/// The action of a thread at a yield point.
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

/// Returns whether the calling thread is explored.
[[nodiscard]] bool explored() noexcept;

/// Call this before an action on `object`. Returns when it is this thread's turn.
void before(action what, const void* object, const std::source_location& where);

/// Call this before locking a mutex; its flag `held` says whether it is locked. Returns when it is
/// free and it is this thread's turn.
void before_lock(const void* mutex, const bool& held);

/// Call this with whether the object of the action has ended, although its memory is still there.
void check_lives(bool ended) noexcept;

/// Records the result of the action: up to eight bytes of it.
void came_to(std::uint64_t bits) noexcept;

/// Call this after an action for which other threads may wait.
void after(const void* object);

/// Sleeps until notify() is called for `object`.
void sleep_on(const void* object, const std::source_location& where);

/// Wakes one or all of the threads that sleep on `object`.
void wake(const void* object, bool all);

/// Returns whether a comparison that could succeed must fail, as compare_exchange_weak() may.
[[nodiscard]] bool fails_spuriously();

} // namespace asio_wheel::test::interleave

#endif
