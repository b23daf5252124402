// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include "asio_peer.hpp"

#include <boost/asio/steady_timer.hpp>

int main(int argc, char** argv) {
    return bench::peer_main<bench::asio_peer<boost::asio::steady_timer>>("asio", argc, argv);
}
