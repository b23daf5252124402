// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The function of each fuzz target. libFuzzer calls it with generated input, replay.cpp with the
// files in corpus/.

#ifndef ASIO_WHEEL_TEST_FUZZ_TARGET_HPP
#define ASIO_WHEEL_TEST_FUZZ_TARGET_HPP

#include <cstddef>
#include <cstdint>

/// Always returns 0. A broken promise ends the program by fail().
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#endif
