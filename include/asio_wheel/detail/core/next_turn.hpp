// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What follows the last turn of a wheel: nothing, or another turn, which is in the context's queue
// or under way.
//
//   from     to       when
//   nothing  running  begin(): the driver wakes the wheel up
//            queued   queue(): a wait is due when it starts, or is postponed into the past; a wait
//                     ends its work outside of the context; there is no memory for the driver;
//                     paused time begins, and something is overdue
//   queued   running  begin(): its turn in the context's queue comes
//   running  nothing  end(): nothing that is due is left, and the driver is armed
//            queued   end(), and queue(): something is left
//            wanted   want(): the same happens meanwhile as in the second row
//   wanted   queued   end(), and queue()
//
// A turn in the queue does not count as work of the context, because a wait that is due does. It
// counts by itself if it has to end the work of a wait, or if the context ends.

#ifndef ASIO_WHEEL_DETAIL_CORE_NEXT_TURN_HPP
#define ASIO_WHEEL_DETAIL_CORE_NEXT_TURN_HPP

#include <boost/assert.hpp>

#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class next_turn {
public:
    enum class state : std::uint8_t { nothing, queued, running, wanted };

    [[nodiscard]] state now() const noexcept { return state_; }
    [[nodiscard]] bool is_nothing() const noexcept { return state_ == state::nothing; }
    [[nodiscard]] bool is_queued() const noexcept { return state_ == state::queued; }
    [[nodiscard]] bool is_under_way() const noexcept {
        return state_ == state::running || state_ == state::wanted;
    }

    /// A turn begins. True if it has counted as work.
    bool begin() noexcept {
        BOOST_ASSERT(!is_under_way());
        BOOST_ASSERT(!counts_ || is_queued());
        state_ = state::running;
        return std::exchange(counts_, false);
    }

    /// The turn ends. True if the caller must queue another one.
    [[nodiscard]] bool end() noexcept {
        BOOST_ASSERT(is_under_way());
        return std::exchange(state_, state::nothing) == state::wanted || counts_;
    }

    /// Another turn must come. True if the caller must queue it.
    [[nodiscard]] bool want() noexcept {
        if (state_ == state::running) {
            state_ = state::wanted;
        }
        return is_nothing();
    }

    void queue() noexcept {
        BOOST_ASSERT(is_nothing());
        state_ = state::queued;
    }

    /// From now on it counts as work, if it comes. False if it has done so already.
    [[nodiscard]] bool count() noexcept {
        BOOST_ASSERT(!is_nothing());
        return !std::exchange(counts_, true);
    }

private:
    state state_ = state::nothing;
    bool counts_ = false;
};

} // namespace asio_wheel::detail

#endif
