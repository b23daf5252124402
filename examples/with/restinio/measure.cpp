// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// RESTinio, Boost up to 1.86.

// usage: measure [CONNECTIONS [SECONDS [MILLISECONDS]]]
//
// How much processor time idle connections take in a second, with RESTinio's own timer manager, and
// with the one on wheels of 1 ms and 10 ms, in turn. The last argument is the check period.

#include "server.hpp"
#include "wheel_timer_manager.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct workload {
    int connections = 1000;
    seconds duration{10};
    milliseconds check_period{1000}; // RESTinio's default.
};

double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Spreads the connections over a second, and so their checks.
template <class TimerManager>
double measure(const workload& w, milliseconds tick) {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.tick = tick});
    server<TimerManager> server(ctx, std::chrono::hours(1), w.check_period);
    std::vector<tcp::socket> clients;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < w.connections; ++i) {
        ctx.run_until(start + seconds(1) * i / w.connections);
        clients.emplace_back(ctx).connect(server.where());
        ctx.poll(); // It is accepted, however late this is.
    }
    ctx.run_for(w.check_period);
    const double before = processor_seconds();
    ctx.run_for(w.duration);
    const double used = processor_seconds() - before;
    server.close();
    clients.clear();
    ctx.run();
    return used / static_cast<double>(w.duration.count());
}

int main(int argc, char** argv) {
    workload w;
    if (argc > 1) {
        w.connections = std::atoi(argv[1]);
    }
    if (argc > 2) {
        w.duration = seconds(std::atoi(argv[2]));
    }
    if (argc > 3) {
        w.check_period = milliseconds(std::atoi(argv[3]));
    }
    std::cout << w.connections << " connections, checked every " << w.check_period.count()
              << " ms: processor time in a second\n";
    for (int round = 0; round < 3; ++round) {
        const double stock = measure<restinio::asio_timer_manager_t>(w, milliseconds(1));
        const double fine = measure<wheel_timer_manager>(w, milliseconds(1));
        const double coarse = measure<wheel_timer_manager>(w, milliseconds(10));
        std::cout << "stock " << stock * 1000 << " ms; wheel of 1 ms " << fine * 1000 << " ms ("
                  << fine / stock << " of it); wheel of 10 ms " << coarse * 1000 << " ms ("
                  << coarse / stock << ")\n";
    }
}
