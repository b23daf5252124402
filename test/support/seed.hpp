// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The seed of a test that generates its own input. To repeat a failed random test, set the seed
// that it printed:
//
//     ASIO_WHEEL_SEED=1234567890 ctest -R wheel_random
//
//     std::mt19937_64 random(seed());
//
// What a case prints about a failure need not name the seed: it is the first line of the output.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SEED_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SEED_HPP

#include <boost/test/unit_test.hpp>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace asio_wheel::test {

/// Returns the environment variable `name` as a number, or nothing if it is unset or empty. Throws
/// std::invalid_argument if it is not a number: a typing error must not look like a passed test.
[[nodiscard]] inline std::optional<std::uint64_t> number_from_environment(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    const std::string_view digits(text);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        throw std::invalid_argument(std::string(name) + " is \"" + text +
                                    "\", but must be a number from 0 to 2^64 - 1");
    }
    return number;
}

/// Describes how to repeat a failing run.
[[nodiscard]] inline std::string seed_note(std::uint64_t seed) {
    return "run again with ASIO_WHEEL_SEED=" + std::to_string(seed);
}

/// The seed of this run: ASIO_WHEEL_SEED if it is set, otherwise a new one. All tests of an
/// executable use the same seed.
[[nodiscard]] inline std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const auto given = number_from_environment("ASIO_WHEEL_SEED");
        std::random_device device;
        const std::uint64_t chosen = given.value_or((std::uint64_t{device()} << 32U) ^ device());
        BOOST_TEST_MESSAGE(seed_note(chosen));
        // The default log level hides messages, and after a crash only what was printed before
        // remains.
        std::cout << "ASIO_WHEEL_SEED=" << chosen << std::endl;
        return chosen;
    }();
    return value;
}

} // namespace asio_wheel::test

#endif
