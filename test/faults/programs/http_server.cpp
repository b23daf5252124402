// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The HTTP server of the example.

#include "failing_memory.hpp"

#include "../../../examples/15_http_server/server.hpp"
#include "host.hpp"

#include <cstdio>

using namespace http_server;

int main(int argc, char** argv) {
    asio_wheel::test::let_memory_fail();
    record seen;
    asio_wheel::test::host(argc, argv,
                           [&](tcp::acceptor& acceptor) { return server(acceptor, seen); });
    std::printf("result failures=%llu answered=%d late_request=%d late_header=%d late_body=%d "
                "late_response=%d\n",
                static_cast<unsigned long long>(asio_wheel::test::memory_fails.failures),
                seen.answered, seen.late["a request"], seen.late["a header"], seen.late["a body"],
                seen.late["the end of a response"]);
}
