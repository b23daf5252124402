// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The two directions of a stream, what is set for them, and the idle period: the data of
// deadline_fsm, which changes them, and explains them. Like that, this file knows no timer, no lock
// and no clock.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DIRECTION_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DIRECTION_HPP

#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
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

/// Both directions of a stream.
struct stream_directions {
    using time_point = direction_state::time_point;

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

    void join(direction what) noexcept {
        part_of(what).join();
        connects += what == direction::connect ? 1 : 0;
    }
    void leave(direction what) noexcept {
        BOOST_ASSERT(what != direction::connect || connects != 0);
        connects -= what == direction::connect ? 1 : 0;
        part_of(what).leave();
    }

    // When the first of them fails.
    [[nodiscard]] time_point earliest(time_point idle_end) const noexcept {
        return (std::min)(reads.expiry(idle_end), writes.expiry(idle_end));
    }

    // Those fail that have a deadline for which concerns() is true. False if there are none.
    template <class Concerns>
    bool fail(const boost::system::error_code& why, time_point idle_end,
              Concerns concerns) noexcept {
        bool any = false;
        for (direction_state* const d : {&reads, &writes}) {
            const time_point expiry = d->expiry(idle_end);
            if (expiry != direction_state::never && concerns(expiry)) {
                d->fail(why);
                any = true;
            }
        }
        return any;
    }
};

/// The idle period of a stream.
struct idle_state {
    using time_point = stream_options::clock::time_point;
    using duration = stream_options::clock::duration;

    static constexpr time_point never = (time_point::max)();
    static constexpr duration none = (duration::max)();

    duration period = none;
    time_point since;                  // When it was last counted anew.
    std::optional<std::size_t> unsent; // Set when it was counted anew because of that.

    void restart(time_point now) noexcept {
        since = now;
        unsent.reset();
    }

    [[nodiscard]] time_point end() const noexcept {
        return period == none ? never : add_saturating(since, period);
    }

    // The period has ended, and the next layer has `n` bytes that the peer has not taken. Whether
    // that is a reason to count it anew. At the first look, it is not known whether there were more
    // before: so they count as taken if there are any. Later there have to be fewer.
    [[nodiscard]] bool restart_if_taken(std::optional<std::size_t> n, time_point now) noexcept {
        if (!n || (unsent ? *n >= *unsent : *n == 0)) {
            return false;
        }
        since = now;
        unsent = n;
        return true;
    }
};

} // namespace asio_wheel::detail

#endif
