// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A client of an inspector that sends exactly what a test says.

#ifndef ASIO_WHEEL_TEST_INSPECTOR_CLIENT_HPP
#define ASIO_WHEEL_TEST_INSPECTOR_CLIENT_HPP

#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace asio_wheel::test {

/// Throws if something is not so that a test cannot go on without. (Clients also run on threads
/// where the checks of Boost.Test must not be used.)
inline void require(bool fact, const std::string& otherwise) {
    if (!fact) {
        throw std::runtime_error(otherwise);
    }
}

/// A connection. While it waits, it calls `meanwhile`, which runs the server's context if nobody
/// else does. It gives up after a minute.
class http_client {
public:
    using tcp = asio::ip::tcp;

    explicit http_client(const tcp::endpoint& where, std::function<void()> meanwhile = {})
        : meanwhile_(std::move(meanwhile)) {
        socket_.connect(where);
        socket_.non_blocking(true);
    }

    void send(std::string_view text) {
        error_code ignored; // The server may have closed the connection already.
        asio::write(socket_, asio::buffer(text.data(), text.size()), ignored);
    }

    /// Reads until the server closes the connection, which is an error unless `with_reset`.
    [[nodiscard]] std::string read_all(bool with_reset = false) {
        while (read_some(with_reset)) {
            wait();
        }
        return std::exchange(received_, {});
    }

    /// Reads up to the end of `text`.
    [[nodiscard]] std::string read_until(std::string_view text) {
        for (;;) {
            const bool open = read_some(false);
            if (const auto at = received_.find(text); at != std::string::npos) {
                const auto end = received_.begin() + static_cast<std::ptrdiff_t>(at + text.size());
                std::string result(received_.begin(), end);
                received_.erase(received_.begin(), end);
                return result;
            }
            require(open, "the server has closed the connection");
            wait();
        }
    }

    /// Whether the server has closed the connection.
    [[nodiscard]] bool is_closed() { return !read_some(true); }

    [[nodiscard]] tcp::socket& socket() noexcept { return socket_; }

private:
    // Reads what is there. Returns whether more may come.
    bool read_some(bool with_reset) {
        std::array<char, 65536> bytes;
        for (;;) {
            error_code ec;
            const std::size_t n = socket_.read_some(asio::buffer(bytes), ec);
            received_.append(bytes.data(), n);
            if (ec == asio::error::would_block) {
                return true;
            }
            if (ec) {
                require(ec == asio::error::eof || with_reset, ec.message());
                return false;
            }
        }
    }

    void wait() {
        require(std::chrono::steady_clock::now() < give_up_, "a minute has passed");
        if (meanwhile_) {
            meanwhile_();
        }
        std::this_thread::sleep_for(1ms);
    }

    std::function<void()> meanwhile_;
    asio::io_context ctx_;
    tcp::socket socket_{ctx_};
    std::string received_;
    const std::chrono::steady_clock::time_point give_up_ = std::chrono::steady_clock::now() + 60s;
};

/// An answer.
struct http_answer {
    explicit http_answer(std::string text) {
        const auto end = text.find("\r\n\r\n");
        require(end != std::string::npos, "no header: " + text);
        header = text.substr(0, end + 2);
        body = text.substr(end + 4);
        require(header.starts_with("HTTP/1.1 "), header);
        status = std::stoi(header.substr(9, 3));
    }

    /// The value of a field; empty if it is not there.
    [[nodiscard]] std::string field(const std::string& name) const {
        const auto at = header.find("\r\n" + name + ": ");
        if (at == std::string::npos) {
            return "";
        }
        const auto begin = at + name.size() + 4;
        return header.substr(begin, header.find("\r\n", begin) - begin);
    }

    int status = 0;
    std::string header;
    std::string body;
};

/// The lines of a request, after which the connection ends.
[[nodiscard]] inline std::string request_for(const std::string& target, std::uint16_t port,
                                             const std::string& more = "",
                                             const std::string& method = "GET") {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost:" + std::to_string(port) +
           "\r\nConnection: close\r\n" + more + "\r\n";
}

/// Where an inspector listens.
template <class Inspector>
[[nodiscard]] asio::ip::tcp::endpoint where(const Inspector& inspector) {
    return {asio::ip::address_v4::loopback(), inspector.port()};
}

/// Sends one request.
template <class Inspector>
[[nodiscard]] http_answer get(const Inspector& inspector, const std::string& target) {
    http_client client(where(inspector));
    client.send(request_for(target, inspector.port()));
    return http_answer(client.read_all());
}

[[nodiscard]] inline boost::property_tree::ptree parsed(const std::string& json) {
    std::istringstream text(json);
    boost::property_tree::ptree tree;
    boost::property_tree::read_json(text, tree);
    return tree;
}

/// The wheel of this name in what /wheel.json has answered.
[[nodiscard]] inline boost::property_tree::ptree wheel_of(const std::string& json,
                                                          const std::string& name) {
    const boost::property_tree::ptree all = parsed(json);
    for (const auto& [key, wheel] : all.get_child("wheels")) {
        if (wheel.get<std::string>("name") == name) {
            return wheel;
        }
    }
    throw std::runtime_error("no wheel " + name + " in " + json);
}

} // namespace asio_wheel::test

#endif
