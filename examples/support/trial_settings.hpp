// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a trial of the demo runs.

#ifndef DEMO_TRIAL_SETTINGS_HPP
#define DEMO_TRIAL_SETTINGS_HPP

#include "coroutine.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace demo {

/// A program beside this one, and its options.
struct program {
    std::string name;
    std::vector<std::string> options;
};

struct trial_settings {
    std::filesystem::path folder; ///< Where the two programs are.
    std::string timer;            ///< What the outcome is called.
    program server;               ///< Says `listening on ADDRESS:PORT`; ends at SIGTERM.
    program load;                 ///< Gets `--port PORT` besides; ends by itself.
    steady_clock::duration at_most{};
};

struct interrupted : std::runtime_error {
    interrupted() : std::runtime_error("interrupted") {}
};

} // namespace demo

#endif
