// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wheel_options.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace asio_wheel {

namespace {

constexpr std::size_t max_slots = std::size_t{1} << 20;
constexpr std::size_t max_budget = std::size_t{1} << 16;
constexpr unsigned bits_of_a_tick = 64;

// `text` is one of printf(), with `values`.
template <class... Values>
[[noreturn]] void refuse(const char* text, Values... values) {
    std::array<char, 256> what{};
    std::snprintf(what.data(), what.size(), text, values...);
    throw std::invalid_argument(what.data());
}

} // namespace

void validate(const wheel_options& options) {
    const long long tick = options.tick.count();
    if (tick <= 0) {
        refuse("asio_wheel: wheel_options::tick is %lld ns, but must be greater than 0 ns", tick);
    }
    if (options.slots == 0 || options.slots > max_slots) {
        refuse("asio_wheel: wheel_options::slots is %zu, but must be 1 to %zu", options.slots,
               max_slots);
    }
    const auto bits = static_cast<unsigned>(
        std::bit_width(std::bit_ceil(options.slots < 2 ? std::size_t{2} : options.slots)) - 1);
    const unsigned max_levels = bits_of_a_tick / bits;
    if (options.levels == 0 || options.levels > max_levels) {
        refuse("asio_wheel: wheel_options::levels is %u, but must be 1 to %u with %zu slots",
               options.levels, max_levels, options.slots);
    }
    if (options.budget == 0 || options.budget > max_budget) {
        refuse("asio_wheel: wheel_options::budget is %zu, but must be 1 to %zu", options.budget,
               max_budget);
    }
    const long long longest_tick = std::numeric_limits<std::int64_t>::max() >> bits;
    if (tick > longest_tick) {
        refuse(
            "asio_wheel: wheel_options::tick is %lld ns, but must be 1 to %lld ns with %zu slots, "
            "so that one turn of the wheel fits the clock",
            tick, longest_tick, options.slots);
    }
}

} // namespace asio_wheel
