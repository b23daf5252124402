// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A level is one block of memory: the level itself, the keys of its tree, the states of its slots,
// and the slots.

#include <asio_wheel/detail/wheel/wheel_level.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace asio_wheel::detail {

namespace {

constexpr std::size_t in_lines(std::size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// Where the parts begin, and what the block takes.
struct layout {
    explicit layout(std::size_t count) noexcept
        : states(keys + earliest_ticks(nullptr, count).room() * sizeof(earliest_ticks::key)),
          zeros(states + count * sizeof(wheel_slot::state)), slots(in_lines(zeros)),
          size(slots + count * sizeof(wheel_slot)) {}

    // The block belongs to the level that lies in it.
    struct head {
        wheel_level level;
        zero_memory memory;
    };

    static constexpr std::size_t keys = in_lines(sizeof(head));
    std::size_t states;
    std::size_t zeros; // Up to here all has to be zero.
    std::size_t slots;
    std::size_t size;
};

} // namespace

wheel_level* wheel_level::make(std::uint32_t shift, std::uint32_t first,
                               std::size_t count) noexcept {
    const layout at(count);
    zero_memory memory(at.size, at.zeros);
    std::byte* const begin = memory.begin();
    if (begin == nullptr) {
        return nullptr;
    }
    auto* const made = new (begin) layout::head{
        {shift, first, reinterpret_cast<wheel_slot*>(begin + at.slots),
         reinterpret_cast<wheel_slot::state*>(begin + at.states),
         earliest_ticks(reinterpret_cast<earliest_ticks::key*>(begin + layout::keys), count)},
        std::move(memory)};
    return &made->level;
}

void wheel_level::destroy(wheel_level* level) noexcept {
    if (level != nullptr) {
        const zero_memory memory = std::move(reinterpret_cast<layout::head*>(level)->memory);
    }
}

std::size_t wheel_level::size(std::size_t count) noexcept {
    return layout(count).size;
}

} // namespace asio_wheel::detail
