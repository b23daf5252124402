// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wheel_options.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace asio_wheel {

namespace {

constexpr std::size_t max_slots = std::size_t{1} << 20;
constexpr std::size_t max_budget = std::size_t{1} << 16;
constexpr unsigned bits_of_a_tick = 64;

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const std::string& allowed) {
    throw std::invalid_argument("asio_wheel: wheel_options::" + option + " is " + value +
                                ", but must be " + allowed);
}

} // namespace

void validate(const wheel_options& options) {
    using std::to_string;
    if (options.tick <= std::chrono::nanoseconds::zero()) {
        refuse("tick", to_string(options.tick.count()) + " ns", "greater than 0 ns");
    }
    if (options.slots == 0 || options.slots > max_slots) {
        refuse("slots", to_string(options.slots), "1 to " + to_string(max_slots));
    }
    const auto bits = static_cast<unsigned>(
        std::bit_width(std::bit_ceil(options.slots < 2 ? std::size_t{2} : options.slots)) - 1);
    const unsigned max_levels = bits_of_a_tick / bits;
    if (options.levels == 0 || options.levels > max_levels) {
        refuse("levels", to_string(options.levels),
               "1 to " + to_string(max_levels) + " with " + to_string(options.slots) + " slots");
    }
    if (options.budget == 0 || options.budget > max_budget) {
        refuse("budget", to_string(options.budget), "1 to " + to_string(max_budget));
    }
    const auto longest_tick = std::numeric_limits<std::int64_t>::max() >> bits;
    if (options.tick.count() > longest_tick) {
        refuse("tick", to_string(options.tick.count()) + " ns",
               "1 to " + to_string(longest_tick) + " ns with " + to_string(options.slots) +
                   " slots, so that one turn of the wheel fits the clock");
    }
}

} // namespace asio_wheel
