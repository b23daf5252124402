// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The functions of plugin.hpp. The plugin and the program each compile their own copy.

#ifndef ASIO_WHEEL_TEST_FAULTS_PLUGIN_USES_HPP
#define ASIO_WHEEL_TEST_FAULTS_PLUGIN_USES_HPP

#include "plugin.hpp"

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>

namespace {

using boost::system::error_code;

std::size_t use_expire(boost::asio::io_context& ctx, std::size_t count) {
    std::size_t called = 0;
    std::deque<asio_wheel::steady_timer> timers;
    for (std::size_t i = 0; i < count; ++i) {
        timers.emplace_back(ctx, std::chrono::seconds(-1))
            .async_wait([&called](const error_code& ec) { called += ec ? 0 : 1; });
    }
    ctx.restart();
    ctx.run();
    return called;
}

std::size_t use_cancel(boost::asio::io_context& ctx, std::size_t count) {
    std::size_t called = 0;
    std::deque<asio_wheel::steady_timer> timers;
    for (std::size_t i = 0; i < count; ++i) {
        timers.emplace_back(ctx, std::chrono::hours(1)).async_wait([&called](const error_code& ec) {
            called += ec == boost::asio::error::operation_aborted ? 1 : 0;
        });
    }
    for (auto& timer : timers) {
        timer.cancel();
    }
    ctx.restart();
    ctx.run();
    return called;
}

struct counts_its_end {
    explicit counts_its_end(int& n) noexcept : ended(n) {}
    counts_its_end(const counts_its_end&) = delete;
    counts_its_end& operator=(const counts_its_end&) = delete;
    ~counts_its_end() { ++ended; }
    int& ended;
};

void use_leave(boost::asio::io_context& ctx, int& ended) {
    const auto timer = std::make_shared<asio_wheel::steady_timer>(ctx, std::chrono::hours(1));
    const auto counts = std::make_shared<counts_its_end>(ended);
    timer->async_wait([timer, counts](const error_code&) {});
}

const void* use_wheel_of(boost::asio::io_context& ctx, std::size_t& pending) {
    const auto& wheel = asio_wheel::use_wheel(ctx);
    pending = wheel.pending();
    return &wheel;
}

constexpr asio_wheel::test::plugin_functions uses{use_expire, use_cancel, use_leave, use_wheel_of};

} // namespace

#endif
