// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The server of an inspector on a context of the test, whose time is virtual. So the test decides
// when the next event is due, and when a client was silent for too long.

#ifndef ASIO_WHEEL_TEST_INSPECTOR_SERVED_HPP
#define ASIO_WHEEL_TEST_INSPECTOR_SERVED_HPP

#include "../src/inspector/server.hpp"

#include <asio_wheel/inspector.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "inspector/client.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace asio_wheel::test {

/// Shows the wheel that it runs on, as "main".
struct served_wheel {
    asio::io_context ctx;
    wheel_service<>& wheel = use_wheel(ctx);
    asio_wheel::detail::inspected_wheels wheels;
    asio::ip::tcp::endpoint where;

    explicit served_wheel(inspector_options options = {.history = 0min}) {
        wheel.pause();
        wheels.add(options.name, wheel.watched());
        const auto server =
            std::make_shared<asio_wheel::detail::inspector_server>(ctx, options, wheels);
        where = server->endpoint();
        server->start();
    }

    [[nodiscard]] std::string port() const { return std::to_string(where.port()); }

    void poll() {
        ctx.restart();
        poll_with_timers(ctx);
        if (on_completion_port) { // The system reports the end of an operation a little later.
            while (ctx.run_one_for(50ms) != 0) {
            }
        }
    }
    std::size_t pass(std::chrono::nanoseconds d) {
        const std::size_t due = wheel.advance(d);
        poll();
        return due;
    }

    [[nodiscard]] std::unique_ptr<http_client> client() {
        return std::make_unique<http_client>(where, [this] { poll(); });
    }
    /// Sends some text, and reads until the connection ends.
    [[nodiscard]] http_answer ask(const std::string& text) {
        const auto c = client();
        c->send(text);
        return http_answer(c->read_all());
    }
    [[nodiscard]] std::string request(const std::string& target) const {
        return request_for(target, where.port());
    }
    [[nodiscard]] http_answer get(const std::string& target, const std::string& more = "") {
        return ask(request_for(target, where.port(), more));
    }

    /// Runs the context until `n` waits are pending, which are the deadlines of the connections.
    void wait_for_pending(std::size_t n) {
        for (int i = 0; i < 10000 && wheel.pending() != n; ++i) {
            poll();
            std::this_thread::sleep_for(1ms);
        }
        BOOST_TEST_REQUIRE(wheel.pending() == n);
    }
};

} // namespace asio_wheel::test

#endif
