// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The two directions of a stream, and what is pending in them: the data of deadline_fsm, which
// changes and explains them. Like that, this file knows no timer, no lock and no clock.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DIRECTION_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DIRECTION_HPP

#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace asio_wheel::detail {

/// What an operation of a stream does. A connect has the deadline of writes.
enum class direction : std::uint8_t { read, write, connect };

/// deadline_fsm.hpp says what they mean.
enum class direction_phase : std::uint8_t { unused, pending, failed };

/// One direction of a stream.
struct direction_state {
    using phase = direction_phase;

    unsigned count = 0;            // Of the operations that are pending.
    std::uint64_t grace = 0;       // Set in the phase `pending` alone, while there is one.
    boost::system::error_code why; // Set in the phase `failed` alone.

    [[nodiscard]] phase in() const noexcept {
        return count == 0 ? phase::unused : why ? phase::failed : phase::pending;
    }

    [[nodiscard]] bool is_watched() const noexcept { return in() == phase::pending && grace == 0; }

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
};

/// Both directions of a stream.
struct stream_directions {
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr time_point never = (time_point::max)();

    direction_state reads;
    direction_state writes; // And connects.
    unsigned connects = 0;  // How many of the writes are connects.

    [[nodiscard]] direction_state& part_of(direction what) noexcept {
        return what == direction::read ? reads : writes;
    }
    [[nodiscard]] const direction_state& part_of(direction what) const noexcept {
        return what == direction::read ? reads : writes;
    }

    [[nodiscard]] bool are_unused() const noexcept { return reads.count + writes.count == 0; }
    /// Whether an operation that is not counted, yet or any more, is a write, and none is pending.
    [[nodiscard]] bool would_be_only_write(direction what) const noexcept {
        return what != direction::read && writes.count == 0;
    }

    void join(direction what) noexcept {
        part_of(what).join();
        connects += what == direction::connect ? 1 : 0;
    }
    void leave(direction what) noexcept {
        BOOST_ASSERT(what != direction::connect || connects != 0);
        connects -= what == direction::connect ? 1 : 0;
        part_of(what).leave();
    }

    // The first end_of(direction) of those that are watched.
    template <class EndOf>
    [[nodiscard]] time_point earliest(EndOf end_of) const noexcept {
        return (std::min)(reads.is_watched() ? end_of(direction::read) : never,
                          writes.is_watched() ? end_of(direction::write) : never);
    }

    // Those that are watched fail if concerns(direction) is true. False if there are none.
    template <class Concerns>
    bool fail(const boost::system::error_code& why, Concerns concerns) noexcept {
        bool any = false;
        for (const direction what : {direction::read, direction::write}) {
            if (part_of(what).is_watched() && concerns(what)) {
                part_of(what).fail(why);
                any = true;
            }
        }
        return any;
    }
};

} // namespace asio_wheel::detail

#endif
