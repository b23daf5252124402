// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The settings of a trial.

#ifndef DEMO_TRIAL_SETTINGS_HPP
#define DEMO_TRIAL_SETTINGS_HPP

#include "coroutine.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace demo {

/// A program in the same folder, and its options.
struct program {
    std::string name;
    std::vector<std::string> options;
};

struct trial_settings {
    std::filesystem::path folder; ///< The folder of the two programs.
    std::string timer;            ///< The name of the outcome.
    program server;               ///< Prints `listening on ADDRESS:PORT`; ends at SIGTERM.
    program load;                 ///< Started with `--port PORT` in addition; ends on its own.
    steady_clock::duration at_most{};
};

struct interrupted : std::runtime_error {
    interrupted() : std::runtime_error("interrupted") {}
};

} // namespace demo

#endif
