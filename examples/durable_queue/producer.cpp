// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// usage: producer PORT NAME [JOBS [FIRST [SPAN [WORK]]]]
//
// Puts JOBS jobs, NAME-0, NAME-1, …, into a queue in the Redis on this machine. They are due FIRST
// to FIRST + SPAN milliseconds later, in no order, and take WORK milliseconds. Prints a line
// `put ID DUE` for each, the time in microseconds of Redis' clock.

#include "jobs.hpp"

#include <boost/asio.hpp>

#include <exception>
#include <iostream>
#include <string>

using namespace durable;

struct plan {
    std::string name;
    long jobs;
    milliseconds first;
    milliseconds span;
    std::string work;
};

asio::awaitable<void> put_all(settings set, plan p) {
    client commands(co_await asio::this_coro::executor, set);
    job_store store(commands, set);
    for (long i = 0; i < p.jobs; ++i) {
        const microseconds later = p.span;
        const auto delay = p.first + later * (i * 7919 % p.jobs) / p.jobs;
        const std::string id = p.name + '-' + std::to_string(i);
        const auto due = co_await store.put(id, delay, p.work);
        if (due != 0) { // Otherwise, it was put before, and the answer was lost.
            std::cout << "put " << id << ' ' << due << '\n';
        }
    }
}

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: producer PORT NAME [JOBS [FIRST [SPAN [WORK]]]]\n";
        return 2;
    }
    try {
        settings set;
        set.port = argv[1];
        const plan p{argv[2], number(argc, argv, 3, 1), milliseconds(number(argc, argv, 4, 0)),
                     milliseconds(number(argc, argv, 5, 0)), argc > 6 ? argv[6] : "0"};
        asio::io_context ctx(1);
        std::exception_ptr error;
        asio::co_spawn(ctx, put_all(set, p), [&](std::exception_ptr e) { error = e; });
        ctx.run();
        if (error) {
            std::rethrow_exception(error);
        }
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "producer: " << e.what() << '\n';
        return 1;
    }
}
