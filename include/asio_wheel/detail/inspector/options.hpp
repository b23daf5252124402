// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_INSPECTOR_OPTIONS_HPP
#define ASIO_WHEEL_DETAIL_INSPECTOR_OPTIONS_HPP

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/address_v4.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace asio_wheel {

/// Where an inspector listens, and what it allows.
///
///     asio_wheel::inspector inspector(ctx, {.port = 9464});
struct inspector_options {
    /// The address. By default, only programs on this machine can connect. The inspector has no
    /// passwords and no encryption: with another address, each program that can connect to it sees
    /// all of the page.
    boost::asio::ip::address address = boost::asio::ip::address_v4::loopback();

    /// The port; with 0, the system chooses one, which inspector::local_endpoint() returns.
    std::uint16_t port = 0;

    /// The name of the wheel of the constructor, on the page, and in metrics as the label
    /// `context`.
    std::string name = "main";

    /// How often the page gets new numbers while it is open. At least 10 ms.
    std::chrono::milliseconds period{500};

    /// How many connections there may be at once. A further one is closed at once. At least 1. A
    /// page takes one, and a browser opens some more for a short time.
    std::size_t max_connections = 64;

    /// Names by which clients reach the server, such as `host` or `host:port`, besides localhost
    /// and the address itself. Needed for a proxy, or for `ssh -L 8080:localhost:9464`:
    /// `{"localhost:8080"}`. A name without a port allows any port.
    // NOLINTNEXTLINE(readability-redundant-member-init): so that it can be left out.
    std::vector<std::string> allowed_hosts{};
};

} // namespace asio_wheel

#endif
