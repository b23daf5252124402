// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The check of a wheel's options. A tick is a 64-bit number, so slots and levels have limits: each
// level needs as many bits as the number of a slot has.

#include <asio_wheel/wheel_options.hpp>

#include <asio_wheel/detail/bad_argument.hpp>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace asio_wheel {

namespace {

constexpr std::size_t max_slots = std::size_t{1} << 20;
constexpr std::size_t max_budget = std::size_t{1} << 16;
constexpr unsigned tick_bits = 64;

} // namespace

void validate(const wheel_options& options) {
    using detail::bad_argument;
    using detail::in_ns;
    using std::to_string;
    using std::chrono::nanoseconds;

    if (options.tick.count() <= 0) {
        bad_argument("wheel_options::tick", in_ns(options.tick), "greater than 0 ns");
    }
    if (options.slots == 0 || options.slots > max_slots) {
        bad_argument("wheel_options::slots", to_string(options.slots),
                     "1 to " + to_string(max_slots));
    }
    const auto bits = static_cast<unsigned>(
        std::bit_width(std::bit_ceil(options.slots < 2 ? std::size_t{2} : options.slots)) - 1);
    const unsigned max_levels = tick_bits / bits;
    if (options.levels == 0 || options.levels > max_levels) {
        bad_argument("wheel_options::levels", to_string(options.levels),
                     "1 to " + to_string(max_levels) + " with " + to_string(options.slots) +
                         " slots");
    }
    if (options.stall.count() < 0) {
        bad_argument("wheel_options::stall", in_ns(options.stall), "0 ns or more");
    }
    if (options.budget == 0 || options.budget > max_budget) {
        bad_argument("wheel_options::budget", to_string(options.budget),
                     "1 to " + to_string(max_budget));
    }
    const nanoseconds longest_tick((std::numeric_limits<std::int64_t>::max)() >> bits);
    if (options.tick > longest_tick) {
        bad_argument("wheel_options::tick", in_ns(options.tick),
                     "1 to " + in_ns(longest_tick) + " with " + to_string(options.slots) +
                         " slots, so that one turn of the wheel fits the clock");
    }
}

} // namespace asio_wheel
