// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The echo server of the example, whose allocations may fail.

#include "failing_memory.hpp"

#define main example_main
#include "../../../examples/echo_server/echo_server.cpp"
#undef main

#include <cstdio>

int main(int argc, char** argv) {
    asio_wheel::test::let_memory_fail();
    const int status = example_main(argc, argv);
    std::fprintf(stderr, "%llu failures of memory\n",
                 static_cast<unsigned long long>(asio_wheel::test::memory_fails.failures));
    return status;
}
