// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What each fuzz target defines. libFuzzer calls it with bytes of its own making, replay.cpp with
// those that are kept in corpus/.

#ifndef ASIO_WHEEL_TEST_FUZZ_TARGET_HPP
#define ASIO_WHEEL_TEST_FUZZ_TARGET_HPP

#include <cstddef>
#include <cstdint>

/// Returns 0. Throws a std::exception that says which promise was broken.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#endif
