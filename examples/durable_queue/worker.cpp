// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// usage: worker PORT [LEASE [RESYNC]]
//
// Does the jobs of a queue in the Redis on this machine, until SIGTERM or SIGINT. Times are
// milliseconds. A job is a number: so many milliseconds of work.

#include "worker.hpp"
#include "notices.hpp"
#include "record.hpp"

#include <asio_wheel/sleep.hpp>

#include <boost/asio.hpp>
#include <boost/asio/experimental/parallel_group.hpp>

#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>

using namespace durable;

asio::awaitable<void> run(settings set) {
    const auto ex = co_await asio::this_coro::executor;
    client commands(ex, set);
    job_store store(commands, set);

    const std::string name = std::to_string(getpid());
    const auto work = [&](job j) -> asio::awaitable<void> {
        co_await record(commands, "begun", j.id, name);
        const milliseconds d(std::stol(j.data));
        co_await asio_wheel::async_sleep_for(ex, d, asio::use_awaitable);
        co_await record(commands, "done", j.id, name);
    };
    leases held(ex, store, set);
    worker w(ex, store, held, set, work);

    asio::signal_set signals(ex, SIGTERM, SIGINT);
    signals.async_wait([&](error_code ec, int) {
        if (!ec) {
            signals.clear(); // A further signal ends the program at once: Redis may be away.
            w.stop();
        }
    });

    // The first that ends, ends the others. Only run() ends without an error.
    const auto told = [&](microseconds delay) { w.look_after(delay); };
    auto all = asio::experimental::make_parallel_group(
        asio::co_spawn(ex, w.run(), asio::deferred), asio::co_spawn(ex, held.run(), asio::deferred),
        asio::co_spawn(ex, listen(set, told), asio::deferred));
    const auto [order, e0, e1, e2] =
        co_await all.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    const std::exception_ptr errors[] = {e0, e1, e2};
    rethrow(errors[order[0]]);
}

int main(int argc, char** argv) {
    try {
        settings set;
        set.port = argc > 1 ? argv[1] : set.port;
        set.lease = milliseconds(number(argc, argv, 2, set.lease.count()));
        set.resync = milliseconds(number(argc, argv, 3, set.resync.count()));
        asio::io_context ctx(1);
        asio::co_spawn(ctx, run(set), rethrow);
        ctx.run();
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "worker: " << e.what() << '\n';
        return 1;
    }
}
