// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The first byte chooses one of the utilities. The rest is a program for it, in paused time. Each
// utility has a model that checks the results.

#include "support/choices.hpp"
#include "support/delay_queue_episode.hpp"
#include "support/delayed_operations_episode.hpp"
#include "support/idle_episode.hpp"
#include "support/interval_episode.hpp"
#include "support/rate_limiter_episode.hpp"
#include "support/run_episode.hpp"
#include "support/scheduler_episode.hpp"
#include "support/timeout_episode.hpp"
#include "support/timeout_stream_episode.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace asio_wheel::test;
    bytes input(std::span(data, size), bytes_for_the_end);
    switch (input.below(9)) {
    case 0:
        run_episode<delay_queue_episode>(input);
        break;
    case 1:
        run_episode<interval_episode>(input);
        break;
    case 2:
        run_episode<scheduler_episode<>>(input);
        break;
    case 3:
        run_episode<idle_timer_episode>(input);
        break;
    case 4:
        run_episode<heartbeat_episode>(input);
        break;
    case 5:
        run_episode<timeout_episode>(input);
        break;
    case 6:
        run_episode<timeout_stream_episode>(input);
        break;
    case 7:
        run_episode<rate_limiter_episode>(input);
        break;
    default:
        run_episode<delayed_operations_episode>(input);
    }
    return 0;
}
