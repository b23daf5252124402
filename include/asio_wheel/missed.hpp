// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_MISSED_HPP
#define ASIO_WHEEL_MISSED_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <cstdint>

namespace asio_wheel {

/// What becomes of the times of a fixed rate that were missed: the ticks of an interval, and the
/// calls of a scheduler's task. One is missed if it is late by a period or more, because the
/// process was suspended, because a handler took long, or because nobody asked for the tick.
enum class missed : std::uint8_t {
    coalesce, ///< One tick or call for all that were missed. It counts as the last one of them.
    catch_up, ///< All of them, one after the other.
    skip      ///< None of them. The next one is at the next time of the rate. If the period is
              ///< shorter than the wheel's tick, all may be missed.
};

} // namespace asio_wheel

#endif
