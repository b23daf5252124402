// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The first byte chooses one of the utilities. The rest is a program for it, in paused time. Each
// utility has a model that checks the results.

#include "support/choices.hpp"
#include "target.hpp"
#include "utilities_delay_queue.hpp"
#include "utilities_delayed_operations.hpp"
#include "utilities_idle.hpp"
#include "utilities_interval.hpp"
#include "utilities_scheduler.hpp"
#include "utilities_timeout.hpp"
#include "utilities_timeout_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace {

template <class World>
void run(asio_wheel::test::bytes& input) {
    World world(input);
    while (!input.empty()) {
        world.step();
    }
    world.finish();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace asio_wheel::test;
    bytes input(std::span(data, size));
    switch (input.below(8)) {
    case 0:
        run<delay_queue_world>(input);
        break;
    case 1:
        run<interval_world>(input);
        break;
    case 2:
        run<scheduler_world>(input);
        break;
    case 3:
        run<idle_timer_world>(input);
        break;
    case 4:
        run<heartbeat_world>(input);
        break;
    case 5:
        run<timeout_world>(input);
        break;
    case 6:
        run<timeout_stream_world>(input);
        break;
    default:
        run<delayed_operations_world>(input);
    }
    return 0;
}
