// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The settings of the two programs.

#ifndef SESSIONS_SETTINGS_HPP
#define SESSIONS_SETTINGS_HPP

namespace sessions {

/// Settings of the relay.
struct relay_settings {
    int port = 0;
    int expected = 1000;
    double idle = 30;
    double deadline = 2;
    bool plain = false;
};

/// Settings of the load generator.
struct load_settings {
    int port = 0;
    int sessions = 1000;
    double seconds = 20;
    double warm_up = 0;
    double idle = 30;
    double deadline = 2;
    int margin = 250;
    bool plain = false;
    bool traffic_only = false;
};

} // namespace sessions

#endif
