// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A trial of the demo: the timers, and the options of its two programs.

#ifndef SESSIONS_DEMO_TRIAL_HPP
#define SESSIONS_DEMO_TRIAL_HPP

#include "../support/start_process.hpp"
#include "../support/trial_settings.hpp"
#include "protocol.hpp"

#include <string>
#include <vector>

namespace sessions {

struct demo_settings {
    int count = 1'000'000;
    double seconds = 0; // 0: main() chooses this and the next two.
    double idle = 0;
    double deadline = 0;
    int margin_ms = 250;
    bool plain = false;
};

/// A variant of the server: the name of its timers, and the option for them.
struct variant {
    std::string timer;
    std::string option;
};

inline trial_settings plan(const demo_settings& s, const char* argv0, const variant& v) {
    std::vector<std::string> both{"--idle", std::to_string(s.idle), "--deadline",
                                  std::to_string(s.deadline)};
    if (s.plain) {
        both.emplace_back("--plain");
    }
    std::vector<std::string> server = both;
    server.insert(server.end(), {"--expected", std::to_string(s.count)});
    if (!v.option.empty()) {
        server.push_back(v.option);
    }
    // Measuring begins when the first timeouts have passed, so that timers expire all the time
    // while it lasts.
    std::vector<std::string> load = both;
    load.insert(load.end(),
                {"--sessions", std::to_string(s.count), "--seconds", std::to_string(s.seconds),
                 "--warm-up", std::to_string(s.idle), "--margin", std::to_string(s.margin_ms)});
    return {.folder = own_folder(argv0),
            .timer = v.timer,
            .server = {"session_server", server},
            .load = {"session_load", load},
            // Time to open the sessions and to let them end, and a reserve for slow machines.
            .at_most = from_seconds(s.seconds + 2 * s.idle + s.count / 10'000.0 + 30)};
}

} // namespace sessions

#endif
