// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What each fuzz target defines. libFuzzer calls it with bytes of its own making, replay.cpp with
// those that are kept in corpus/.

#ifndef ASIO_WHEEL_TEST_FUZZ_TARGET_HPP
#define ASIO_WHEEL_TEST_FUZZ_TARGET_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

/// Always returns 0. A promise that is broken ends the program, by fail().
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace asio_wheel::test {

/// Says which promise was broken and how it came to that, and aborts: libFuzzer then keeps the
/// input.
[[noreturn]] inline void fail(const std::string& promise, const std::string& story) {
    std::cerr << "not so: " << promise << '\n' << story << std::endl;
    std::abort();
}

} // namespace asio_wheel::test

#endif
