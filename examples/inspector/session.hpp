// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef INSPECTOR_SESSION_HPP
#define INSPECTOR_SESSION_HPP

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <random>

namespace inspected {

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
        : idle(ctx, 8s),
          pulse(ctx, {.send_every = 2s + 1ms * random_below(2000), .dead_after = 10s}), lease(ctx) {
    }

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

} // namespace inspected

#endif
