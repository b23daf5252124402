// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program with some thousand timers, and a page that shows them. With the number of a port, runs
// until it is stopped. Without, runs for a second, and prints what the page would show.

#include "load.hpp"

#include <asio_wheel/inspector.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

namespace http = boost::beast::http;

// Asks the inspector as a browser does.
std::string get(const boost::asio::ip::tcp::endpoint& where, const char* path) {
    boost::asio::io_context ctx;
    boost::asio::ip::tcp::socket socket(ctx);
    socket.connect(where);
    http::request<http::empty_body> request(http::verb::get, path, 11);
    request.set(http::field::host, "localhost:" + std::to_string(where.port()));
    http::write(socket, request);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    http::read(socket, buffer, response);
    return response.body();
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int port = argc > 1 ? std::atoi(argv[1]) : 0;
        boost::asio::io_context ctx;
        asio_wheel::inspector inspector(asio_wheel::on_own_thread, ctx,
                                        {.port = static_cast<std::uint16_t>(port)});
        std::cout << "Open " << inspector.url() << " in a browser." << std::endl;

        inspected::load server(ctx);
        if (port != 0) {
            boost::asio::signal_set stop(ctx, SIGINT, SIGTERM);
            stop.async_wait([&](boost::system::error_code, int) { ctx.stop(); });
            ctx.run();
            return 0;
        }
        ctx.run_for(std::chrono::seconds(1));
        const std::string json = get(inspector.local_endpoint(), "/wheel.json");
        std::cout << json;
        return json.find("database query") != std::string::npos ? 0 : 1;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
