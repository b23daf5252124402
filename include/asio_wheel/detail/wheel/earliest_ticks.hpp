// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A tick for each of many slots, and the smallest of all.
//
// It is a tree. Its leaves are the ticks of the slots; each node above has the smallest of eight
// children, which lie in one cache line. A tick that becomes smaller is told upwards as far as it
// is the smallest; one that is forgotten, as far as it was. Most are neither, and stop at once.
//
// A tick is kept with all bits inverted. So no_tick is zero: memory that is all zeros is a tree in
// which no slot has a tick, and has not to be touched.

#ifndef ASIO_WHEEL_DETAIL_WHEEL_EARLIEST_TICKS_HPP
#define ASIO_WHEEL_DETAIL_WHEEL_EARLIEST_TICKS_HPP

#include <asio_wheel/tick.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace asio_wheel::detail {

class earliest_ticks {
public:
    /// What a slot has is the inverse of its tick.
    using key = std::uint64_t;

    /// Those of a tree of so many slots are to be zero, and should be aligned to a cache line.
    earliest_ticks(key* keys, std::size_t slots) noexcept;

    /// How many keys there are.
    [[nodiscard]] std::size_t room() const noexcept { return room_; }

    /// What a slot has.
    [[nodiscard]] tick_t operator[](std::size_t slot) const noexcept { return ~keys_[slot]; }

    /// The smallest of all; no_tick if no slot has one.
    [[nodiscard]] tick_t smallest() const noexcept { return ~keys_[begin_[height_]]; }

    /// The first slot from `begin` on that has a tick; `end` if there is none before that. Passes
    /// those that have none in steps that grow.
    [[nodiscard]] std::size_t first_between(std::size_t begin, std::size_t end) const noexcept;

    /// Gives a slot a tick that is smaller than what it has.
    void lower(std::size_t slot, tick_t tick) noexcept;

    /// Takes a slot's tick away.
    void forget(std::size_t slot) noexcept;

private:
    static constexpr std::size_t fan = 8;
    static constexpr unsigned highest = 10; // 8 to the 10th slots: more than a wheel can have.

    [[nodiscard]] static key greatest(const key* children) noexcept;

    key* keys_;
    std::size_t room_ = 0;
    unsigned height_ = 0;                          // Of the root above the leaves.
    std::array<std::size_t, highest + 1> begin_{}; // Where the keys of each height begin.
};

} // namespace asio_wheel::detail

#endif
