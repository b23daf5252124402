// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A shared object with its own copy of the library, as plugins have it.

#include "uses.hpp"

extern "C"
#if defined(__GNUC__)
    [[gnu::visibility("default")]]
#endif
    const asio_wheel::test::plugin_functions* asio_wheel_test_plugin() {
    return &uses;
}
