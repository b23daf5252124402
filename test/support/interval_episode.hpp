// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Intervals, and their model.

#ifndef ASIO_WHEEL_TEST_SUPPORT_INTERVAL_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_INTERVAL_EPISODE_HPP

#include <asio_wheel/interval.hpp>

#include "one_wait_episode.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>

namespace asio_wheel::test {

class interval_episode : public one_wait_episode {
public:
    explicit interval_episode(bytes& in) : one_wait_episode(in) { renew(); }

    void step() {
        see_skipped();
        switch (pick(14)) {
        case 0:
        case 1:
        case 2:
            return wait();
        case 3:
            return cancel();
        case 4:
            return change_period();
        case 5:
            note("reset");
            interval_->reset();
            given_ = false;
            skipped_ = 0;
            from_ = now();
            next_ = sum(from_, period_);
            note_jitter();
            return require_expiry();
        case 6:
            given_ = true;
            skipped_ = 0;
            next_ = any_time();
            note("reset_at %", ns(next_));
            interval_->reset_at(next_);
            note_jitter();
            return require_expiry();
        case 7:
            return renew();
        case 8:
            return emit();
        case 9:
        case 10:
            return advance_to_next();
        case 11:
            return advance();
        case 12:
            return poll_one();
        default:
            return settle();
        }
    }

    void finish() {
        one_wait_episode::finish(interval_, [this] {
            cancel();
            settle();
        });
    }

private:
    using handler = completing_handler<interval_episode, std::size_t>;
    friend handler;

    void renew() {
        abort();
        interval_.reset();
        constexpr std::array<asio_wheel::missed, 3> policies{missed::coalesce, missed::skip,
                                                             missed::catch_up};
        period_ = any_positive_duration();
        options_ = {};
        options_.missed = policies[pick(policies.size())];
        options_.fixed_delay = once_in(4);
        if (once_in(3)) {
            options_.first = std::chrono::milliseconds(pick(64));
        }
        if (once_in(3)) {
            options_.jitter = static_cast<double>(pick(101)) / 100;
        }
        interval_ = std::make_unique<interval>(*context_, period_, options_);
        given_ = options_.first.has_value();
        skipped_ = 0;
        from_ = now();
        next_ = sum(from_, options_.first ? duration(*options_.first) : period_);
        note("an interval of %, missed ticks %, fixed delay %, jitter %, first at %", ns(period_),
             static_cast<int>(options_.missed), options_.fixed_delay, options_.jitter, ns(next_));
        require_expiry();
    }

    void wait() {
        handler h{begin(*this)};
        if (options_.fixed_delay && !given_) {
            from_ = now();
            next_ = sum(from_, period_);
        }
        if (coin()) {
            with_signal_ = pending_;
            interval_->async_tick(
                boost::asio::bind_cancellation_slot(signal_.slot(), std::move(h)));
        } else {
            interval_->async_tick(std::move(h));
        }
        note_jitter();
        require_expiry();
    }

    void completed(std::size_t id, const error_code& ec, std::size_t periods) {
        if (!end(id, ec)) {
            require(periods == 0, "with an error no period has passed");
            return;
        }
        take(periods);
        require_expiry();
        if (coin()) {
            wait();
        }
    }

    // As documented. What was missed by less than a period and the jitter was not missed.
    void take(std::size_t periods) {
        require(periods > skipped_, "a tick stands for all periods since the one before");
        const std::size_t missed_now = periods - 1 - std::exchange(skipped_, 0);
        // (With jitter, the next tick after those that are skipped may be due at once.)
        require(missed_now == 0 || (options_.missed != missed::catch_up && !options_.fixed_delay),
                "a tick stands for others if that was asked for");
        given_ = false;
        const time_point due = next_ + period_ * static_cast<duration::rep>(missed_now);
        require(now() >= due, "no tick is early");
        if (!options_.fixed_delay) {
            require(options_.missed == missed::catch_up || now() - due - latest_ < period_,
                    "a tick stands for all that were missed");
            from_ = due;
            next_ = sum(from_, period_);
        }
    }

    // The interval may have skipped ticks that are late.
    void see_skipped() {
        const time_point expiry = interval_->expiry();
        if (options_.missed != missed::skip || options_.fixed_delay || expiry <= next_) {
            return;
        }
        require(expiry == never || ((expiry - next_) % period_ == duration::zero() &&
                                    now() - next_ >= period_ && expiry <= sum(now(), period_)),
                "ticks that are late are skipped, and the rate is kept");
        skipped_ += static_cast<std::size_t>((expiry - next_) / period_);
        from_ = expiry - period_;
        next_ = expiry;
        given_ = false;
        note_jitter();
    }

    void change_period() {
        const duration fresh = coin() ? any_positive_duration() : -any_duration();
        note("period %", ns(fresh));
        bool refused = false;
        try {
            interval_->period(fresh);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        require(refused == (fresh <= duration::zero()),
                "a period is refused if it is not positive");
        if (!refused) {
            period_ = fresh;
            const duration before = given_ ? latest_ : duration::zero();
            next_ = given_ ? next_ : sum(from_, period_);
            note_jitter();
            // A wait until a given time goes on, with the jitter of the former period.
            latest_ = std::max(latest_, before);
        }
        require(interval_->period() == period_, "the period is as it was set");
        require_expiry();
    }

    void cancel() {
        note("cancel");
        require(abort() == interval_->cancel(), "cancel() counts what it aborts");
    }

    void settle() {
        poll_all();
        see_skipped();
        require(pending_ == nobody || now() < sum(next_, latest_) || next_ == never,
                "a tick that is due is taken");
        require_settled();
    }

    // The jitter of the pending tick depends on the current period.
    void note_jitter() {
        const duration window = std::min(share_of(period_, options_.jitter), period_);
        latest_ = std::max(window - duration(1), duration::zero());
    }

    void require_expiry() {
        see_skipped();
        require(interval_->expiry() == next_, "expiry() says when the next tick is due");
    }

    std::unique_ptr<interval> interval_; // As in idle_episode.hpp.
    interval_options options_;
    duration period_{};
    duration latest_{}; // The maximum jitter of the pending tick.
    time_point from_;
    time_point next_;
    bool given_ = false;
    std::size_t skipped_ = 0;
};

} // namespace asio_wheel::test

#endif
