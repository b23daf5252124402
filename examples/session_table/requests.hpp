// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Requests that wait for an answer, each with a deadline.
//
// One datagram in ten is a request, so most sessions have no pending request. Requests and their
// timers come from a pool, and a session holds a pointer.

#ifndef SESSIONS_REQUESTS_HPP
#define SESSIONS_REQUESTS_HPP

#include "meters.hpp"
#include "timers.hpp"

#include <cstdint>
#include <deque>
#include <type_traits>
#include <vector>

namespace sessions {

template <class Timer>
struct session;

template <class Timer>
struct request {
    explicit request(const executor& ex) : deadline(ex) {}

    plain_timer<Timer> deadline;
    session<Timer>* of = nullptr; ///< Null if it was answered.
    datagram asked;
};

/// With `no_timer`, requests are only forwarded.
template <>
struct request<no_timer> {};

template <class Timer>
class requests {
public:
    requests(const executor& ex, steady_clock::duration within, meters& m)
        : executor_(ex), within_(within), meters_(m) {}

    /// Starts a request. Calls `late(request)` if it is not answered in time.
    template <class Late>
    request<Timer>* start(session<Timer>& of, const datagram& d, steady_clock::time_point now,
                          Late late) {
        request<Timer>& r = take();
        r.of = &of;
        r.asked = d;
        r.deadline.expires_at(now + within_);
        r.deadline.async_wait([this, &r, late](error_code ec) {
            ++meters_.timer_handlers;
            // Asio's timers may report success although the answer arrived before the handler ran.
            if (ec != asio::error::operation_aborted && r.of != nullptr) {
                meters_.deadline_late.add(steady_clock::now() - r.deadline.expiry());
                late(r);
            }
            unused_.push_back(&r);
        });
        return &r;
    }

    /// Ends a request whose answer has arrived or is no longer wanted.
    void finish(request<Timer>& r) {
        r.of = nullptr;
        r.deadline.cancel(); // The handler returns the request to the pool.
    }

    /// Ends the pending request of a session that has ended or sends another request.
    void give_up(session<Timer>& s) {
        if constexpr (!std::is_same_v<Timer, no_timer>) {
            if (s.pending != nullptr) {
                ++meters_.given_up;
                finish(*s.pending);
                s.pending = nullptr;
            }
        }
    }

private:
    request<Timer>& take() {
        if (unused_.empty()) {
            return all_.emplace_back(executor_);
        }
        request<Timer>& r = *unused_.back();
        unused_.pop_back();
        return r;
    }

    executor executor_;
    steady_clock::duration within_;
    meters& meters_;
    std::deque<request<Timer>> all_;
    std::vector<request<Timer>*> unused_;
};

} // namespace sessions

#endif
