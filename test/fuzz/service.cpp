// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The input is a program of timers on two contexts, in paused time. A sequential model checks the
// contract of each wait:
//
//  - its handler is called once, or destroyed once, together with a context;
//  - its result is operation_aborted if and only if a cancel() or the like has counted it;
//  - it does not succeed before its expiry, and is complete when time has passed its expiry and the
//    contexts were polled;
//  - the waits of one timer are first come, first served;
//  - a handler runs where its executor says, and not in a context that is stopped;
//  - a context has work as long as a wait needs it, and no longer;
//  - what a wheel counts adds up.
//
// Handlers do the same operations as the program itself. They also throw, stop their context, and
// run contexts recursively.

#include "support/choices.hpp"
#include "support/run_episode.hpp"
#include "support/service_episode.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace asio_wheel::test;
    bytes input(std::span(data, size), bytes_for_the_end);
    run_episode<service_episode>(input);
    return 0;
}
