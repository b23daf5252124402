// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The two directions of a stream, and what is set for them: the data of deadline_fsm, which changes
// them, and explains them. Like that, this file knows no timer, no lock and no clock.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DIRECTION_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DIRECTION_HPP

#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace asio_wheel::detail {

/// What an operation of a stream does. A connect has the deadline of writes.
enum class direction : std::uint8_t { read, write, connect };

/// What was set. The last time point and the longest period mean that there is none.
struct stream_options {
    using clock = std::chrono::steady_clock;

    clock::time_point read = (clock::time_point::max)();
    clock::time_point write = (clock::time_point::max)();
    clock::duration idle = (clock::duration::max)();
    std::optional<clock::duration> message; ///< From the first byte of the next one.
    bool try_late = false;                  ///< Try operations that begin after their deadline.
};

/// deadline_fsm.hpp says what they mean.
enum class direction_phase : std::uint8_t { unused, pending, failed };

/// One direction of a stream.
struct direction_state {
    using time_point = stream_options::clock::time_point;

    using phase = direction_phase;

    static constexpr time_point never = (time_point::max)();

    time_point deadline = never;
    unsigned count = 0;            // Of the operations that are pending.
    std::uint64_t grace = 0;       // Set in the phase `pending` alone, while there is one.
    boost::system::error_code why; // Set in the phase `failed` alone.

    [[nodiscard]] phase in() const noexcept {
        return count == 0 ? phase::unused : why ? phase::failed : phase::pending;
    }

    void join() noexcept { ++count; }

    void leave() noexcept {
        BOOST_ASSERT(in() != phase::unused);
        if (--count == 0) {
            why = {};
            grace = 0;
        }
    }

    void fail(const boost::system::error_code& reason) noexcept {
        BOOST_ASSERT(in() == phase::pending && reason);
        why = reason;
    }

    // When it fails. `never` if it is not watched.
    [[nodiscard]] time_point expiry(time_point idle_end) const noexcept {
        return in() == phase::pending && grace == 0 ? (std::min)(deadline, idle_end) : never;
    }
};

} // namespace asio_wheel::detail

#endif
