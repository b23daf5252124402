// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The input is a program of timers on a core without Asio: see manual_core.hpp. So it runs much
// faster than the target `service`, and reaches what a real context hides: a clock that is set,
// late wake-ups, no memory at any step, and stalls. A sequential model checks the contract:
//
//  - each wait ends once: it is delivered, aborted, refused, or destroyed with the core;
//  - it is aborted if and only if a call has counted it, and refused only for a reason;
//  - it is never early, and a tick late at most if the context is punctual;
//  - waits complete in the order of their expiry, and those of one timer in the order of their
//    start;
//  - when all is run whose time has come, nothing that is due is left;
//  - the driver is armed for what waits, and disarmed if nothing does;
//  - the context's count of work is exact;
//  - what a core counts, what it visits and what it drains is what waits.
//
// Handlers do the same operations as the program itself. Only stalls depend on real time, because
// their guard has a clock of its own.

#include "support/choices.hpp"
#include "support/core_episode.hpp"
#include "support/run_episode.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace asio_wheel::test;
    bytes input(std::span(data, size), bytes_for_the_end);
    run_episode<core_episode>(input);
    return 0;
}
