// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// RESTinio's timer manager on a wheel: what asio_timer_manager_t is, with another timer.
//
// RESTinio asks each connection once per check period whether one of its time limits has passed. So
// each connection has a timer that is armed again and again, most of the time in vain. Most of its
// cost is waking up. On a wheel, all connections whose timers expire within a tick share a wake-up.
// A limit may be exceeded by the check period anyway, so a coarse tick does no harm:
//
//     asio_wheel::make_wheel(ctx, {.tick = 10ms});

#ifndef WHEEL_TIMER_MANAGER_HPP
#define WHEEL_TIMER_MANAGER_HPP

#include <asio_wheel/steady_timer.hpp>

#include <restinio/all.hpp>

#include <chrono>
#include <memory>
#include <utility>

class wheel_timer_manager {
public:
    using duration = std::chrono::steady_clock::duration;

    wheel_timer_manager(boost::asio::io_context& ctx, duration check_period)
        : ctx_(ctx), check_period_(check_period) {}

    // One for each connection, which calls it on its strand only.
    class timer_guard_t {
    public:
        timer_guard_t(boost::asio::io_context& ctx, duration check_period)
            : timer_(ctx), check_period_(check_period) {}

        // Asks the connection after the check period, if it still exists then.
        void schedule(restinio::tcp_connection_ctx_weak_handle_t connection) {
            if (refused_) { // RESTinio closes the connection then.
                throw boost::system::system_error(refused_);
            }
            timer_.expires_after(check_period_);
            timer_.async_wait([this, weak = std::move(connection)](boost::system::error_code ec) {
                if (ec == boost::asio::error::operation_aborted) {
                    return;
                }
                if (auto held = weak.lock()) { // And with it, this guard.
                    refused_ = ec;
                    held->check_timeout(held);
                }
            });
        }

        void cancel() noexcept { timer_.cancel(); }

    private:
        asio_wheel::steady_timer timer_;
        const duration check_period_;
        boost::system::error_code refused_; // By a wheel at its limit, or drained.
    };

    timer_guard_t create_timer_guard() const { return {ctx_, check_period_}; }
    void start() const noexcept {}
    void stop() const noexcept {}

    // Its arguments are those of the server's setting timer_manager().
    struct factory_t {
        duration check_period = std::chrono::seconds(1);

        auto create(boost::asio::io_context& ctx) const {
            return std::make_shared<wheel_timer_manager>(ctx, check_period);
        }
    };

private:
    boost::asio::io_context& ctx_;
    const duration check_period_;
};

#endif
