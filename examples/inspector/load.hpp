// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Something to look at: the timers of a server with some hundred sessions, without the server.

#ifndef INSPECTOR_LOAD_HPP
#define INSPECTOR_LOAD_HPP

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <memory>
#include <random>
#include <vector>

namespace load {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio_wheel::tag;
using boost::system::error_code;

inline int random_below(int most) {
    static std::minstd_rand random;
    return std::uniform_int_distribution(0, most - 1)(random);
}

// A session ends when it is idle for 8 s, and sends a sign of life after some seconds of silence.
struct session {
    explicit session(asio::io_context& ctx)
        : idle(ctx, 8s), pulse(ctx, 2s + 1ms * random_below(2000), 10s), lease(ctx) {}

    asio_wheel::idle_timer idle;
    asio_wheel::heartbeat pulse;
    asio_wheel::steady_timer lease;

    void watch() {
        auto next_client = [this](error_code ec) {
            if (!ec) {
                idle.touch();
                watch();
            }
        };
        idle.async_wait(tag("session idle", next_client));
    }
    void hold_lease() {
        lease.expires_after(10min + 1s * random_below(3600));
        lease.async_wait(tag("lease", [](error_code) {}));
    }
    void beat() {
        auto next = [this](error_code ec, asio_wheel::heartbeat_event) {
            if (!ec) {
                pulse.sent();
                pulse.received();
                beat();
            }
        };
        pulse.async_next(tag("session alive", next));
    }
};

// Requests to a database: one in twenty takes longer than its timeout.
inline void request(asio::io_context& ctx) {
    const auto work = random_below(20) == 0 ? 900ms : 1ms * random_below(200);
    auto again = [&ctx](error_code ec) {
        if (ec != asio::error::operation_aborted) {
            request(ctx);
        }
    };
    asio_wheel::async_sleep_for(ctx, work,
                                asio_wheel::timeout(500ms, tag("database query", again)));
}

struct load {
    explicit load(asio::io_context& ctx) : tasks(ctx) {
        for (int i = 0; i < 400; ++i) {
            sessions.push_back(std::make_unique<session>(ctx));
            sessions.back()->watch();
            sessions.back()->beat();
            sessions.back()->hold_lease();
        }
        for (int i = 0; i < 40; ++i) {
            request(ctx);
            tasks.schedule_after(1min * random_below(600), [] {}); // Reminders.
        }
        tasks.schedule_at_fixed_rate(20ms, 20ms, [this] { // Clients say something.
            auto& s = *sessions[static_cast<std::size_t>(random_below(400))];
            s.idle.touch();
            static_cast<void>(s.lease.postpone(1h + 1s * random_below(36000)));
        });
    }

    asio_wheel::scheduler tasks;
    std::vector<std::unique_ptr<session>> sessions;
};

} // namespace load

#endif
