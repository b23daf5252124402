// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Claims jobs when they are due, and does them. Between them it sleeps.

#ifndef DURABLE_QUEUE_WORKER_HPP
#define DURABLE_QUEUE_WORKER_HPP

#include "jobs.hpp"
#include "leases.hpp"

#include <asio_wheel/delay_queue.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <utility>

namespace durable {

class worker {
public:
    using work = std::function<asio::awaitable<void>(job)>;

    worker(const asio::any_io_executor& ex, job_store& store, leases& held, const settings& set,
           work w)
        : executor_(ex), store_(store), work_(std::move(w)), leases_(held), window_(ex), set_(set),
          places_(set.places) {}

    /// Something may be due in this time.
    void look_after(microseconds delay) { window_.push(delay, {}); }

    /// Claims and does jobs until stop() was called, and those that it does then are done.
    ///
    /// When this waits, the window has the time at which the first job can be claimed, or an
    /// earlier one: every claim puts it there, and every notice that there is an earlier one. A
    /// claim by another worker only makes it later. `resync` is for lost notices.
    asio::awaitable<void> run() {
        look_after(set_.resync);
        while (!stopping_ || places_ < set_.places) {
            co_await window_.async_pop(asio::use_awaitable);
            if (places_ == 0 || stopping_) {
                continue; // The job that ends next looks again.
            }
            window_.clear(); // Before the claim, because a notice may come before its answer.
            claimed c = co_await store_.claim(places_);
            look_after(set_.resync);
            if (c.next) {
                look_after(*c.next);
            }
            for (job& j : c.jobs) {
                --places_;
                leases_.hold(j);
                asio::co_spawn(executor_, finish(std::move(j)), rethrow);
            }
        }
    }

    void stop() {
        stopping_ = true;
        look_after(0s);
    }

private:
    /// Does the job. If that fails, the job is left alone: it can be claimed again after its lease.
    asio::awaitable<void> finish(job j) {
        try {
            co_await work_(j);
            co_await store_.done(j);
        } catch (const std::exception& e) {
            std::cerr << "job " << j.id << ": " << e.what() << '\n';
        }
        leases_.let_go(j);
        if (places_++ == 0 || stopping_) {
            look_after(0s);
        }
    }

    struct time_to_look {};

    asio::any_io_executor executor_;
    job_store& store_;
    work work_;
    leases& leases_;
    asio_wheel::delay_queue<time_to_look> window_;
    settings set_;
    std::size_t places_; // Free ones.
    bool stopping_ = false;
};

} // namespace durable

#endif
