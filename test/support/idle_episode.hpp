// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Idle timers and heartbeats, and their model.

#ifndef ASIO_WHEEL_TEST_SUPPORT_IDLE_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_IDLE_EPISODE_HPP

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>

#include "one_wait_episode.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

namespace asio_wheel::test {

class idle_timer_episode : public one_wait_episode {
public:
    explicit idle_timer_episode(bytes& in) : one_wait_episode(in) { renew(); }

    void step() {
        switch (pick(13)) {
        case 0:
        case 1:
            return wait();
        case 2:
        case 3:
            return touch();
        case 4:
            return change_period();
        case 5:
            return scale();
        case 6:
            return cancel();
        case 7:
            return renew();
        case 8:
            return emit();
        case 9:
            return advance_to_next();
        case 10:
            return advance();
        case 11:
            return poll_one();
        default:
            return settle();
        }
    }

    void finish() {
        one_wait_episode::finish(timer_, [this] {
            cancel();
            settle();
        });
    }

private:
    using handler = completing_handler<idle_timer_episode>;
    friend handler;

    void renew() {
        abort();
        timer_.reset();
        period_ = any_positive_duration();
        options_ = {.jitter = any_jitter(), .min_period = any_duration()};
        timer_ = std::make_unique<idle_timer>(*context_, period_, options_);
        touched_ = now();
        note("an idle timer of % at %, jitter %, not below %", ns(period_), ns(touched_),
             options_.jitter, ns(options_.min_period));
    }

    void wait() {
        handler h{begin(*this)};
        if (coin()) {
            with_signal_ = pending_;
            timer_->async_wait(boost::asio::bind_cancellation_slot(signal_.slot(), std::move(h)));
        } else {
            timer_->async_wait(std::move(h));
        }
    }

    void completed(std::size_t id, const error_code& ec) {
        if (end(id, ec)) {
            require(now() >= end_of_period(), "no idle timer is early");
        }
    }

    void touch() {
        note("touch");
        timer_->touch();
        touched_ = now();
        require(timer_->idle_for() == duration::zero(), "idle_for() begins with a touch");
    }

    void change_period() {
        period_ = any_positive_duration();
        note("period %", ns(period_));
        timer_->period(period_);
        require(timer_->period() == period_, "the period is as it was set");
    }

    void scale() {
        constexpr std::array<double, 4> factors{1, 0.5, 0.25, 0.0009765625};
        scale_ = factors[pick(factors.size())];
        note("scale by 1/%", 1 / scale_);
        asio_wheel::scale_idle_timers(wheel_, scale_);
    }

    void cancel() {
        note("cancel");
        require(abort() == timer_->cancel(), "cancel() counts what it aborts");
    }

    void settle() {
        poll_all();
        require(pending_ == nobody || now() < latest_end() || latest_end() == never,
                "an idle timer completes when it was idle for its period");
        require(timer_->idle_for() == now() - touched_, "idle_for() counts from the last touch");
        require_settled();
    }

    [[nodiscard]] time_point end_of_period() const { return sum(touched_, scaled_period()); }

    [[nodiscard]] time_point latest_end() const {
        return sum(end_of_period(), share_of(scaled_period(), options_.jitter));
    }

    [[nodiscard]] duration scaled_period() const {
        return scale_ == 1 || period_ == duration::max() // The longest one is none.
                   ? period_
                   : std::max(share_of(period_, scale_), std::min(period_, options_.min_period));
    }

    std::unique_ptr<idle_timer>
        timer_; // Not an optional: g++ 12 would warn that it is uninitialised.
    duration period_{};
    idle_timer_options options_;
    double scale_ = 1;
    time_point touched_;
};

class heartbeat_episode : public one_wait_episode {
public:
    explicit heartbeat_episode(bytes& in)
        : one_wait_episode(in), send_every_(any_positive_duration()),
          dead_after_(any_positive_duration()), jitter_(any_jitter()), sent_(now()),
          received_(now()) {
        pulse_ = std::make_unique<heartbeat>(
            *context_, asio_wheel::heartbeat_options{.send_every = send_every_,
                                                     .dead_after = dead_after_,
                                                     .jitter = jitter_});
        note("a heartbeat, to send every %, dead after %, jitter %", ns(send_every_),
             ns(dead_after_), jitter_);
    }

    void step() {
        switch (pick(10)) {
        case 0:
        case 1:
            return wait();
        case 2:
            note("sent");
            pulse_->sent();
            sent_ = now();
            return;
        case 3:
            note("received");
            pulse_->received();
            received_ = now();
            return;
        case 4:
            return cancel();
        case 5:
            return emit();
        case 6:
            return advance_to_next();
        case 7:
            return advance();
        case 8:
            return poll_one();
        default:
            return settle();
        }
    }

    void finish() {
        one_wait_episode::finish(pulse_, [this] {
            cancel();
            settle();
        });
    }

private:
    using handler = completing_handler<heartbeat_episode, heartbeat_event>;
    friend handler;

    void wait() {
        handler h{begin(*this)};
        if (coin()) {
            with_signal_ = pending_;
            pulse_->async_next(boost::asio::bind_cancellation_slot(signal_.slot(), std::move(h)));
        } else {
            pulse_->async_next(std::move(h));
        }
    }

    void completed(std::size_t id, const error_code& ec, heartbeat_event event) {
        if (!end(id, ec)) {
            return;
        }
        if (event == heartbeat_event::dead) {
            require(now() >= sum(received_, dead_after_), "nobody is given up early");
        } else {
            require(now() >= sum(sent_, least_pause()), "no sign of life is early");
            require(now() < sum(received_, dead_after_), "if both are due, it is too late to send");
            sent_ = now();
        }
        if (coin()) {
            wait();
        }
    }

    void cancel() {
        note("cancel");
        require(abort() == pulse_->cancel(), "cancel() counts what it aborts");
    }

    void settle() {
        poll_all();
        const time_point end = std::min(sum(sent_, send_every_), sum(received_, dead_after_));
        require(pending_ == nobody || now() < end || end == never,
                "a heartbeat completes when there is something to do");
        require_settled();
    }

    [[nodiscard]] duration least_pause() const {
        return send_every_ == duration::max() ? send_every_
                                              : send_every_ - share_of(send_every_, jitter_);
    }

    duration send_every_;
    duration dead_after_;
    double jitter_;
    time_point sent_;
    time_point received_;
    std::unique_ptr<heartbeat> pulse_;
};

} // namespace asio_wheel::test

#endif
