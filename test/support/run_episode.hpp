// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_RUN_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_RUN_EPISODE_HPP

#include "choices.hpp"

#include <cstddef>

namespace asio_wheel::test {

/// How many bytes of the input of an episode decide how it ends.
constexpr std::size_t bytes_for_the_end = 8;

/// Runs an episode as long as there is input, and returns its number of steps. A broken promise
/// ends the program.
template <class Episode>
std::size_t run_episode(bytes& input) {
    Episode episode(input);
    std::size_t steps = 0;
    for (; !input.empty(); ++steps) {
        episode.step();
    }
    episode.finish();
    return steps;
}

} // namespace asio_wheel::test

#endif
