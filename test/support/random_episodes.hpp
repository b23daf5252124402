// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Episodes with random input. The fuzzers run the same episodes.

#ifndef ASIO_WHEEL_TEST_SUPPORT_RANDOM_EPISODES_HPP
#define ASIO_WHEEL_TEST_SUPPORT_RANDOM_EPISODES_HPP

#include "run_episode.hpp"
#include "seed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace asio_wheel::test {

/// Returns so many random bytes.
inline std::vector<std::uint8_t> random_bytes(std::mt19937_64& random, std::size_t size) {
    std::vector<std::uint8_t> input(size);
    std::ranges::generate(input, [&random] { return static_cast<std::uint8_t>(random()); });
    return input;
}

/// Runs `count` episodes of up to 2048 bytes, as in the fuzzers. A broken promise ends the program,
/// which has printed its seed.
template <class Episode>
void run_random_episodes(int count) {
    std::mt19937_64 random(seed());
    std::size_t steps = 0;
    for (int i = 0; i < count; ++i) {
        const std::vector<std::uint8_t> data =
            random_bytes(random, bytes_for_the_end + random() % 2048);
        bytes input(data, bytes_for_the_end);
        steps += run_episode<Episode>(input);
    }
    BOOST_TEST(steps > static_cast<std::size_t>(count) * 50);
}

} // namespace asio_wheel::test

#endif
