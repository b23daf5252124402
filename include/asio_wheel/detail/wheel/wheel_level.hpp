// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A level of a wheel: its slots, and the tree of their earliest ticks.
//
// A slot is not one list but eight, filled in turn and emptied in turn. One list would be walked at
// the speed of one cache miss after the other; eight overlap theirs. Each slot knows where it is
// filled and emptied next, so it hands out entries in the order in which they came. (But if some
// were erased, those behind them in their lists come earlier.)
//
// An empty list is nothing but a bit that is not set: its first entry makes it a list. So the lists
// of a new level are not touched before they are used.

#ifndef ASIO_WHEEL_DETAIL_WHEEL_WHEEL_LEVEL_HPP
#define ASIO_WHEEL_DETAIL_WHEEL_WHEEL_LEVEL_HPP

#include <asio_wheel/detail/memory/zero_memory.hpp>
#include <asio_wheel/detail/wheel/earliest_ticks.hpp>
#include <asio_wheel/detail/wheel/wheel_entry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace asio_wheel::detail {

struct wheel_slot {
    static constexpr unsigned stripes = 8;

    using list_set = std::uint8_t; // Bit i stands for list i of a slot.
    static_assert(std::numeric_limits<list_set>::digits == stripes);

    using node = wheel_hook::hooktags::node_traits::node;

    // What a slot's lists have, and which of them have their turns next: counted modulo 256, a
    // multiple of `stripes`.
    struct state {
        list_set filled;
        std::uint8_t front; // The list that the next entry is taken from, unless it is empty.
        std::uint8_t back;  // The list where the next entry is filed.
    };

    // A list that is filled begins and ends with its node here.
    alignas(64) std::array<node, stripes> lists;
};
static_assert(std::is_trivial_v<wheel_slot>);

/// The first members are what filing an entry reads: they lie in one cache line.
struct wheel_level {
    std::uint32_t shift; ///< A slot is 2 to this power of ticks wide.
    std::uint32_t first; ///< The number of its first slot.
    wheel_slot* slots;
    wheel_slot::state* states; ///< Zeros if all slots are empty.
    earliest_ticks earliest;   ///< Of each slot; no_tick if that is empty.

    /// Makes a level of so many slots, all empty. Null if there is no memory.
    [[nodiscard]] static wheel_level* make(std::uint32_t shift, std::uint32_t first,
                                           std::size_t count) noexcept;
    static void destroy(wheel_level* level) noexcept;

    /// How much memory a level takes.
    [[nodiscard]] static std::size_t size(std::size_t count) noexcept;
};

} // namespace asio_wheel::detail

#endif
