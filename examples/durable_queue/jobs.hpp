// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The jobs in Redis: the scripts as functions.

#ifndef DURABLE_QUEUE_JOBS_HPP
#define DURABLE_QUEUE_JOBS_HPP

#include "client.hpp"
#include "scripts.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace durable {

struct job {
    std::string id;
    std::string data;
    // Of the claim. A later claim of the same job has a greater one. So what the job writes to can
    // refuse a worker that is slow but not dead.
    std::string token;
};

struct claimed {
    std::vector<job> jobs{};
    std::optional<microseconds> next{}; // The time from now to the next one.
};

class job_store {
public:
    job_store(client& c, const settings& set) : client_(c), set_(set) {}

    /// Adds a job that is due after `delay`, and returns its due time. If there is a job with this
    /// id, nothing happens, and it returns 0.
    asio::awaitable<long long> put(std::string id, microseconds delay, std::string data) {
        return call<long long>(scripts::put, id, delay.count(), data);
    }

    /// Claims jobs that are due, for the time of a lease.
    asio::awaitable<claimed> claim(std::size_t most) {
        const auto answer = co_await call<std::vector<std::string>>(scripts::claim, most, lease());
        claimed result;
        if (!answer[0].empty()) {
            result.next = microseconds(std::stoll(answer[0]));
        }
        for (std::size_t i = 2; i + 1 < answer.size(); i += 2) {
            result.jobs.push_back({answer[i], answer[i + 1], answer[1]});
        }
        co_return result;
    }

    /// Begins the lease anew. False if the job is not this worker's any more.
    asio::awaitable<bool> renew(job j) {
        co_return co_await call<int>(scripts::renew, j.id, j.token, lease()) == 1;
    }

    /// Acknowledges the job. Until then, it may be done again. False as for renew().
    asio::awaitable<bool> done(job j) {
        co_return co_await call<int>(scripts::done, j.id, j.token) == 1;
    }

private:
    [[nodiscard]] std::int64_t lease() const { return microseconds(set_.lease).count(); }

    template <class T, class... Args>
    asio::awaitable<T> call(const char* script, const Args&... args) {
        redis::request r; // Redis compiles the script once, and finds it by its text.
        r.push("EVAL", std::string(scripts::now) + script, 4, set_.queue + ":due",
               set_.queue + ":data", set_.queue + ":tokens", set_.queue + ":last", args...);
        return client_.call<T>(std::move(r));
    }

    client& client_;
    settings set_;
};

} // namespace durable

#endif
