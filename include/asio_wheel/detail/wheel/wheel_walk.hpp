// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A walk through all entries of a wheel, in steps. The wheel may be used between two steps.
//
// If a step ends within a slot, a bookmark is filed in front of the next entry. It is an entry
// like any other, with the latest of all deadlines. So when time reaches its slot, the wheel asks
// for its present deadline: the answer must be no_tick, and the bookmark is out of the wheel. Then
// the walk goes on with the beginning of the list in which it was.
//
// What is filed again between two steps, from behind the bookmark to a place before it, is not
// found, and may be found twice the other way round. The caller can tell: the wheel asks for the
// deadline of each entry that it files again.

#ifndef ASIO_WHEEL_DETAIL_WHEEL_WHEEL_WALK_HPP
#define ASIO_WHEEL_DETAIL_WHEEL_WHEEL_WALK_HPP

#include <asio_wheel/wheel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace asio_wheel::detail {

class wheel_walk {
public:
    /// `bookmark` must not be filed. It stays where it is until the walk has ended.
    wheel_walk(wheel& w, wheel_entry& bookmark) noexcept : wheel_(w), bookmark_(bookmark) {}

    wheel_walk(const wheel_walk&) = delete;
    wheel_walk& operator=(const wheel_walk&) = delete;
    ~wheel_walk() { take_bookmark(); }

    /// As long as it takes to pass so many empty ones, a lock may be held: some microseconds.
    static constexpr std::uint32_t most_slots = 4096;

    struct progress {
        std::size_t found; ///< How many elements of `found` it filled in.
        bool more;         ///< False if it has come to the end. The next step begins anew.
    };

    /// Finds the next entries, no more than found.size() >= 1. Passes no more than `most_slots`, so
    /// it may find none before the end.
    progress step(std::span<wheel_entry*> found) noexcept;

    /// Takes the bookmark out of the wheel, if it is there.
    void take_bookmark() noexcept;

private:
    wheel& wheel_;
    wheel_entry& bookmark_;
    // Where it goes on: in this place in its order of slots, and in this list there.
    std::uint32_t place_ = 0;
    unsigned list_ = 0;
};

} // namespace asio_wheel::detail

#endif
