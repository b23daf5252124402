// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// usage: rules_test PORT
//
// What holds for the jobs in Redis, whatever workers do.

#include "jobs.hpp"

#include <boost/asio.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace durable;

void check(bool holds, const char* what) {
    std::cout << (holds ? "ok: " : "FAILED: ") << what << '\n';
    if (!holds) {
        throw std::runtime_error(what);
    }
}

/// Asks until there is a job.
asio::awaitable<job> claim_one(job_store& store) {
    claimed c;
    while (c.jobs.empty()) {
        c = co_await store.claim(1);
    }
    co_return c.jobs[0];
}

template <class T, class... Words>
asio::awaitable<T> send(client& c, Words... words) {
    redis::request r;
    r.push(words...);
    return c.call<T>(std::move(r));
}

asio::awaitable<void> rules(settings set) {
    const auto ex = co_await asio::this_coro::executor;
    set.timeout = 1h;
    set.lease = 1h;
    client commands(ex, set);
    job_store lasting(commands, set);
    set.lease = 100ms;
    job_store store(commands, set);

    const auto due = co_await store.put("a", 300ms, "one");
    check(co_await store.put("a", 0ms, "two") == 0, "put() can be repeated");
    const job first = co_await claim_one(store);
    const auto time = co_await send<std::vector<std::string>>(commands, "TIME");
    check(std::stoll(time[0]) * 1'000'000 + std::stoll(time[1]) >= due, "no job is early");
    check(first.data == "one", "a job has its data");

    const job second = co_await claim_one(lasting);
    check(second.id == "a", "a job is claimed again when its lease has ended");
    check(std::stoll(second.token) > std::stoll(first.token), "tokens grow");
    check(!co_await store.renew(first), "a worker that has lost a job cannot renew it");
    check(!co_await store.done(first), "nor acknowledge it");
    const claimed none = co_await store.claim(1);
    check(none.jobs.empty(), "a job has one worker");
    check(none.next && *none.next > 0s, "the next time is the end of its lease");
    check(co_await store.renew(second), "a lease can be renewed");
    check(co_await store.done(second), "a job can be acknowledged");
    check(!(co_await store.claim(1)).next, "then nothing is left");

    check(co_await store.put("a", 0ms, "three") > 0, "its id can be used again");
    const job third = co_await claim_one(lasting);
    check(!co_await store.done(second), "it is another job then");
    check(co_await store.done(third), "which can be acknowledged, too");

    co_await store.put("b", 0ms, "");
    co_await store.put("c", 0ms, "");
    const claimed some = co_await lasting.claim(1);
    check(some.jobs.size() == 1 && *some.next <= 0s, "no more jobs are claimed than wanted");
    check((co_await lasting.claim(9)).jobs.size() == 1, "the others are left");

    set.timeout = 200ms;
    client impatient(ex, set);
    co_await send<std::string>(commands, "CLIENT", "PAUSE", 500);
    co_await job_store(impatient, set).put("d", 0ms, "");
    check((co_await claim_one(store)).id == "d", "commands are repeated after a timeout");
    co_await send<int>(impatient, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    check(co_await store.put("e", 0ms, "") > 0, "and when the connection is lost");
}

int main(int argc, char** argv) {
    settings set;
    set.port = argc > 1 ? argv[1] : set.port;
    asio::io_context ctx(1);
    bool well = false;
    asio::co_spawn(ctx, rules(set), [&](std::exception_ptr error) { well = !error; });
    ctx.run();
    return well ? 0 : 1;
}
