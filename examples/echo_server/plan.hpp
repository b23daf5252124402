// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Validates the settings of a run.

#ifndef ECHO_PLAN_HPP
#define ECHO_PLAN_HPP

#include "../support/options.hpp"

#include <string>

namespace echo {

using namespace demo;

/// Returns an error message, or an empty string if the settings are valid. Each connection needs
/// time to start, to send lines, to go idle and to be closed before the run ends.
inline std::string error_in_plan(double seconds, double idle, int margin_ms) {
    const std::string run = " of a run of " + shown(seconds) + " seconds";
    if (idle > seconds / 3) {
        return "--idle: " + shown(idle) + " is more than a third" + run;
    }
    if (margin_ms > seconds * 1000 / 4) {
        return "--margin: " + shown(margin_ms) + " is more than a quarter" + run;
    }
    return "";
}

} // namespace echo

#endif
