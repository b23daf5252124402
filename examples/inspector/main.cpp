// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program with some thousand timers, and a page that shows them. With the number of a port, it
// runs until it is stopped. Otherwise it runs for a second, and prints /wheel.json, or what is at
// the path in its argument, such as /metrics.

#include "load.hpp"

#include <asio_wheel/inspector.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

namespace http = boost::beast::http;

// Asks the inspector as a browser does.
std::string get(std::uint16_t port, const std::string& path) {
    boost::asio::io_context ctx;
    boost::asio::ip::tcp::socket socket(ctx);
    socket.connect({boost::asio::ip::address_v4::loopback(), port});
    http::request<http::empty_body> request(http::verb::get, path, 11);
    request.set(http::field::host, "localhost:" + std::to_string(port));
    http::write(socket, request);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    http::read(socket, buffer, response);
    return response.body();
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::string argument = argc > 1 ? argv[1] : "/wheel.json";
        const auto port = static_cast<std::uint16_t>(std::atoi(argument.c_str()));
        boost::asio::io_context ctx;
        asio_wheel::make_wheel(ctx, {.measure_handlers = true});
        asio_wheel::inspector inspector(ctx, {.port = port});
        inspected::load server(ctx);
        if (port != 0) {
            std::cout << "Open " << inspector.url() << " in a browser." << std::endl;
            boost::asio::signal_set stop(ctx, SIGINT, SIGTERM);
            stop.async_wait([&](boost::system::error_code, int) { ctx.stop(); });
            ctx.run();
            return 0;
        }
        ctx.run_for(std::chrono::seconds(1));
        const std::string text = get(inspector.port(), argument);
        std::cout << text;
        return text.find("\"tag\":\"database query\"") != std::string::npos ||
                       text.find("asio_wheel_pending{context=\"main\"}") != std::string::npos
                   ? 0
                   : 1;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
