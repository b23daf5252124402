// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The table of sessions: makes them, refreshes them, forwards what they send, and lets them end.

#ifndef SESSIONS_RELAY_HPP
#define SESSIONS_RELAY_HPP

#include "meters.hpp"
#include "pulse.hpp"
#include "requests.hpp"
#include "session.hpp"
#include "settings.hpp"
#include "timers.hpp"
#include "udp_link.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>

namespace sessions {

template <class Timer>
class relay {
    using time_point = steady_clock::time_point;
    static constexpr bool has_timers = !std::is_same_v<Timer, no_timer>;

public:
    relay(asio::io_context& io, const relay_settings& s, meters& m)
        : io_(io), inside_(io, static_cast<std::uint16_t>(s.port), s.plain),
          outside_(io, 0, s.plain), idle_(from_seconds(s.idle)), meters_(m),
          requests_(io.get_executor(), from_seconds(s.deadline), m), pulse_(io) {
        table_.reserve(static_cast<std::size_t>(s.expected)); // No pause for growing.
        listen(inside_, [this](const datagram& d, const udp::endpoint& from) { hear(d, from); });
        listen(outside_, [this](const datagram& d, const udp::endpoint&) { hear_upstream(d); });
    }

    [[nodiscard]] int port() const { return inside_.endpoint().port(); }
    [[nodiscard]] std::uint64_t dropped() const { return inside_.dropped() + outside_.dropped(); }
    [[nodiscard]] const pulse& paused() const { return pulse_; }
    /// From the moment when many sessions were to end until the last of them had.
    [[nodiscard]] double together_took_ms() const { return milliseconds(together_took_); }

private:
    /// Reads what has come, then gives others a turn.
    template <class Each>
    void listen(udp_link& from, Each each) {
        from.when_readable([this, &from, each] {
            from.receive(each);
            inside_.flush();
            outside_.flush();
            listen(from, each);
        });
    }

    void hear(const datagram& d, const udp::endpoint& from) {
        datagram reply = d;
        switch (d.what) {
        case kind::data:
        case kind::request:
            return forward(d, from);
        case kind::query:
            reply.what = table_.contains(d.session) ? kind::known : kind::unknown;
            break;
        case kind::upstream:
            upstream_.port(static_cast<std::uint16_t>(d.number));
            break;
        case kind::mark:
            meters_.mark(d.number);
            break;
        case kind::together:
            reply.stamp = to_stamp(inside_.received_at()) + d.stamp;
            end_together(0, d.number, from_stamp(reply.stamp));
            break;
        default:
            return;
        }
        inside_.send(reply, from);
    }

    void forward(const datagram& d, const udp::endpoint& from) {
        const time_point now = inside_.received_at();
        ++meters_.datagrams;
        const auto [place, is_new] =
            table_.try_emplace(d.session, io_.get_executor(), d.session, from, now + idle_);
        session<Timer>& s = place->second;
        if (is_new) {
            ++meters_.made;
            s.idle.wait(when_idle(s));
        } else {
            s.idle.touch(now + idle_);
        }
        if (d.what == kind::request) {
            ++meters_.requests;
            if constexpr (has_timers) {
                give_up_request(s);
                s.pending = requests_.start(s, d, now, [this](auto& late) { time_out(late); });
            }
        }
        outside_.send(d, upstream_);
    }

    void hear_upstream(const datagram& d) {
        ++meters_.datagrams;
        const auto found = table_.find(d.session);
        if (found == table_.end()) {
            ++meters_.late_answers;
            return;
        }
        session<Timer>& s = found->second;
        if constexpr (has_timers) {
            if (s.pending == nullptr || s.pending->asked.number != d.number) {
                ++meters_.late_answers;
                return;
            }
            requests_.finish(*s.pending);
            s.pending = nullptr;
        }
        ++meters_.answered;
        inside_.send(d, s.peer);
    }

    void time_out(request<Timer>& r) {
        ++meters_.timed_out;
        datagram reply = r.asked;
        reply.what = kind::timed_out;
        inside_.send(reply, r.of->peer);
        inside_.flush();
        r.of->pending = nullptr;
    }

    void give_up_request(session<Timer>& s) {
        if constexpr (has_timers) {
            if (s.pending != nullptr) {
                ++meters_.given_up;
                requests_.finish(*s.pending);
                s.pending = nullptr;
            }
        }
    }

    auto when_idle(session<Timer>& s) {
        return [this, &s](time_point due) {
            const auto now = steady_clock::now();
            (s.ends_together ? meters_.together_late : meters_.idle_late).add(now - due);
            if (s.ends_together && --left_together_ == 0) {
                together_took_ = now - due;
                pulse_.stop();
            }
            ++meters_.timer_handlers;
            ++meters_.expired;
            give_up_request(s);
            table_.erase(std::uint32_t{s.id}); // Not a part of what is erased.
        };
    }

    /// An uplink is lost, and its sessions end together. So many are not moved in one turn.
    void end_together(std::uint32_t next, std::uint32_t count, time_point due) {
        const std::uint32_t stop = std::min(count, next + 256);
        for (; next < stop; ++next) {
            const auto found = table_.find(next);
            if (found != table_.end()) {
                found->second.ends_together = true;
                ++left_together_;
                found->second.idle.end_at(due, when_idle(found->second));
            }
        }
        if (next < count) {
            asio::post(io_, [this, next, count, due] { end_together(next, count, due); });
        } else if (left_together_ != 0) {
            pulse_.start();
        }
    }

    asio::io_context& io_;
    udp_link inside_;
    udp_link outside_;
    udp::endpoint upstream_{asio::ip::address_v4::loopback(), 0};
    steady_clock::duration idle_;
    meters& meters_;
    requests<Timer> requests_;
    std::unordered_map<std::uint32_t, session<Timer>> table_;
    pulse pulse_;
    std::uint64_t left_together_ = 0;
    steady_clock::duration together_took_{};
};

} // namespace sessions

#endif
