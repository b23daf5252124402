// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The input determines the shape of a wheel and the operations on it, which are compared with a
// std::multimap. All invariants are checked after each step.

#include "support/choices.hpp"
#include "support/story.hpp"
#include "support/wheel_episode.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using asio_wheel::test::bytes;
    bytes input(std::span(data, size));
    // Larger shapes behave in the same way, and are only slower to check.
    const auto bits = static_cast<unsigned>(1 + input.below(7));
    const auto levels = static_cast<unsigned>(1 + input.below(64 / bits));
    asio_wheel::test::episode current(std::size_t{1} << bits, levels, input);
    try {
        current.begin();
        while (!input.empty() && !current.at_the_end_of_time()) {
            current.step();
            current.audit();
        }
        current.finish();
    } catch (const std::logic_error& broken) {
        asio_wheel::test::fail(broken.what(), current.last_notes());
    }
    return 0;
}
