// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The options of the load generator, and the role of each client.

#ifndef ECHO_LOAD_SETTINGS_HPP
#define ECHO_LOAD_SETTINGS_HPP

#include "roles.hpp"

namespace echo {

struct load_settings {
    int port = 0;
    int connections = 10000;
    double seconds = 20;
    double idle = 5;
    int margin = 250;
    double pause = -1;
    bool active = false;
    bool slow_loris = false;
};

/// Returns the role of a client: from the default mix, or from one for benchmarks.
inline role role_for(const load_settings& s, int number) {
    if (s.active) {
        return stay_active;
    }
    return s.slow_loris ? (number % 10 == 3 ? slow_loris : stay_active) : role_of(number);
}

} // namespace echo

#endif
