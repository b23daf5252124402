// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The timers of echo_server without sockets: four short phases, each about something that the
// choice of a timer changes. They take about two seconds.

#include "../support/options.hpp"
#include "../support/record.hpp"
#include "burst_phase.hpp"
#include "busy_phase.hpp"
#include "memory_phase.hpp"
#include "spread_phase.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstdio>
#include <exception>

namespace {

using namespace echo;

template <class Timer>
record all_phases() {
    record all = memory_phase<Timer>();
    all.merge(burst_phase<Timer>());
    all.merge(busy_phase<Timer>());
    all.merge(spread_phase<Timer>());
    return all;
}

} // namespace

int main(int argc, char** argv) {
    bool on_asio = false;
    const command_line options("echo_timers", "Measure the timers of echo_server without sockets.",
                               {{"--asio", &on_asio, "use boost::asio::steady_timer"}});
    options.parse(argc, argv);
    try {
        print_result(on_asio ? all_phases<asio::steady_timer>()
                             : all_phases<asio_wheel::steady_timer>());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_timers: %s\n", e.what());
        return 1;
    }
}
