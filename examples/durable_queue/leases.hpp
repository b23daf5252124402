// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Renews the leases of jobs that take longer than a lease.

#ifndef DURABLE_QUEUE_LEASES_HPP
#define DURABLE_QUEUE_LEASES_HPP

#include "jobs.hpp"

#include <asio_wheel/delay_queue.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <set>
#include <string>
#include <utility>

namespace durable {

class leases {
public:
    leases(const asio::any_io_executor& ex, job_store& store, const settings& set)
        : store_(store), renewals_(ex), period_(set.lease / 3) {}

    /// From now on, the lease of the job is renewed three times in its time.
    void hold(const job& j) {
        held_.insert(name(j));
        renewals_.push(period_, j);
    }

    void let_go(const job& j) { held_.erase(name(j)); }

    /// Renews leases for ever.
    asio::awaitable<void> run() {
        for (;;) {
            job j = co_await renewals_.async_pop(asio::use_awaitable);
            if (!held_.contains(name(j))) {
                continue; // Done.
            }
            const bool ours = co_await store_.renew(j);
            if (!ours && held_.contains(name(j))) {
                std::cerr << "job " << j.id << " was too slow: it has another worker now\n";
                let_go(j);
            }
            if (ours) {
                renewals_.push(period_, std::move(j));
            }
        }
    }

private:
    // A job that this worker has lost and claimed again is another one.
    static std::pair<std::string, std::string> name(const job& j) { return {j.id, j.token}; }

    job_store& store_;
    asio_wheel::delay_queue<job> renewals_;
    std::set<std::pair<std::string, std::string>> held_{};
    milliseconds period_;
};

} // namespace durable

#endif
