// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Tasks that end with their session, and tasks of a server that a successor takes over.

#include <asio_wheel/scheduler.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

int main() {
    boost::asio::io_context ctx;
    asio_wheel::scheduler server(ctx);
    int reports = 0, goodbyes = 0, letters = 0;

    {
        asio_wheel::scheduler::group session(server);
        session.schedule_at_fixed_rate(1ms, 1ms, [&] { ++reports; });
        session.schedule_after(1h, [&] { ++goodbyes; });
        ctx.run_for(10ms);
    } // The tasks end with their group.

    server.schedule_after(5ms, [&] { ++letters; });
    asio_wheel::scheduler successor(ctx);
    successor.adopt(server.stop());
    ctx.restart();
    ctx.run();

    std::cout << reports << " reports, " << letters << " letter\n";
    return reports >= 1 && goodbyes == 0 && letters == 1 && server.pending() == 0 ? 0 : 1;
}
