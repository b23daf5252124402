// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_WAIT_KIND_HPP
#define ASIO_WHEEL_WAIT_KIND_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace asio_wheel {

/// What a wait on a wheel is part of, and what it means that something of this kind has expired.
enum class wait_kind : std::uint8_t {
    timer,     ///< `async_wait()` of a timer. Its time has come.
    sleep,     ///< `async_sleep_for()` or `async_sleep_until()`, or a pause of `async_retry()`. Its
               ///< time has come.
    timeout,   ///< A deadline of an operation: `timeout()`, `cancel_after()` and their relatives,
               ///< delayed_operations. It has passed before the operation ended.
    interval,  ///< A tick of an interval. (One that skips missed ticks may run more often.)
    scheduler, ///< A time of a scheduler's task. (A task that has missed some may run more often.)
    idle,      ///< An idle timer has reported idleness. To look after a touch does not count.
    heartbeat, ///< A heartbeat has reported that it is time to send, or that the peer is dead.
    queue,     ///< An element of a delay_queue was delivered to `async_pop()`, or tokens of a
               ///< rate_limiter to an `async_acquire()` that has waited.
    stream ///< A deadline of a timeout_stream has passed: it was closed. An operation that begins
           ///< later counts, too.
};

/// All kinds, in their order.
inline constexpr std::array all_wait_kinds{
    wait_kind::timer,     wait_kind::sleep,     wait_kind::timeout,
    wait_kind::interval,  wait_kind::scheduler, wait_kind::idle,
    wait_kind::heartbeat, wait_kind::queue,     wait_kind::stream};

/// The name of the enumerator.
[[nodiscard]] std::string_view to_string(wait_kind kind) noexcept;

/// A count for each kind.
///
///     const auto closed = asio_wheel::use_wheel(ctx).stats().expired[asio_wheel::wait_kind::idle];
class counts_by_kind {
public:
    /// The count of a kind.
    [[nodiscard]] std::uint64_t& operator[](wait_kind kind) noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] std::uint64_t operator[](wait_kind kind) const noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }

    /// Takes out what was counted in an `earlier` snapshot.
    counts_by_kind& operator-=(const counts_by_kind& earlier) noexcept {
        for (const wait_kind kind : all_wait_kinds) {
            (*this)[kind] -= earlier[kind];
        }
        return *this;
    }
    friend bool operator==(const counts_by_kind&, const counts_by_kind&) = default;

private:
    std::array<std::uint64_t, all_wait_kinds.size()> counts_{};
};

} // namespace asio_wheel

#endif
