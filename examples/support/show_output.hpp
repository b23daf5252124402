// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Forwards the output of a child process and parses its result.

#ifndef DEMO_SHOW_OUTPUT_HPP
#define DEMO_SHOW_OUTPUT_HPP

#include "child_process.hpp"
#include "coroutine.hpp"
#include "record.hpp"

#include <cstdio>
#include <utility>

namespace demo {

/// Prints the lines of the child until it ends. Stores the line with its result in `result`
/// instead.
inline asio::awaitable<void> show_output(child_process& child, record& result) {
    for (;;) {
        const auto line = co_await child.next_line();
        if (!line) {
            co_return;
        }
        if (auto values = parse_result(*line)) {
            result = std::move(*values);
        } else {
            std::printf("%s\n", line->c_str());
            std::fflush(stdout);
        }
    }
}

} // namespace demo

#endif
