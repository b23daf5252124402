// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Something to look at: the timers of a server with some hundred sessions, without the server.

#ifndef INSPECTOR_LOAD_HPP
#define INSPECTOR_LOAD_HPP

#include "session.hpp"

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace inspected {

// Requests to a database: one in twenty takes longer than its timeout.
inline void request(asio::io_context& ctx) {
    const auto work = random_below(20) == 0 ? 900ms : 1ms * random_below(200);
    auto again = [&ctx](error_code ec) {
        if (!ec || ec == asio_wheel::error::timed_out) { // A refused wait would not pause the loop.
            request(ctx);
        }
    };
    asio_wheel::async_sleep_for(ctx, work,
                                asio_wheel::timeout(500ms, tag("database query", again)));
}

class load {
public:
    explicit load(asio::io_context& ctx) : tasks(ctx) {
        for (int i = 0; i < 400; ++i) {
            sessions.push_back(std::make_unique<session>(ctx));
            sessions.back()->watch();
            sessions.back()->beat();
            sessions.back()->hold_lease();
        }
        for (int i = 0; i < 40; ++i) {
            request(ctx);
            tasks.schedule_after(1min * random_below(600), tag("reminder", [] {}));
        }
        const auto clients_talk = [this] {
            auto& s = *sessions[static_cast<std::size_t>(random_below(400))];
            s.idle.touch();
            static_cast<void>(s.lease.postpone(1h + 1s * random_below(36000)));
        };
        tasks.schedule_at_fixed_rate(20ms, 20ms, tag("clients talk", clients_talk));
    }

private:
    asio_wheel::scheduler tasks;
    std::vector<std::unique_ptr<session>> sessions;
};

} // namespace inspected

#endif
