// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Rate limiters, and their model. The model counts in parts of a token, in numbers of any size.

#ifndef ASIO_WHEEL_TEST_SUPPORT_RATE_LIMITER_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_RATE_LIMITER_EPISODE_HPP

#include <asio_wheel/error.hpp>
#include <asio_wheel/rate_limiter.hpp>

#include "paused_episode.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

namespace asio_wheel::test {

class rate_limiter_episode : public paused_episode {
public:
    explicit rate_limiter_episode(bytes& in) : paused_episode(in) { renew(); }

    void step() {
        see_served();
        switch (pick(16)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return acquire();
        case 4:
        case 5:
            return try_acquire();
        case 6:
            return cancel();
        case 7:
            return change_rate();
        case 8:
            return change_burst();
        case 9:
            return once_in(4) ? renew() : close();
        case 10:
            return emit();
        case 11:
        case 12:
            return advance_to_next();
        case 13:
            return advance();
        case 14:
            return poll_one();
        default:
            return settle();
        }
    }

    void finish() {
        finishing_ = true;
        if (coin()) {
            see_served();
            cancel();
            settle();
            require_work(false);
        }
        ended_ = true;
        if (coin()) {
            limiter_.reset();
        }
        context_.reset();
        limiter_.reset();
        require(ends_.empty() && waiting_.empty(), "the end of the context leaves nobody");
    }

    /// Its handler was destroyed without being called.
    void dropped(std::size_t id) {
        note("% is destroyed", id);
        require(ended_, "a handler is destroyed uncalled by the end of the context only");
        ends_.erase(id);
        std::erase_if(waiting_, [id](const waiter& w) { return w.id == id; });
    }

private:
    using number = boost::multiprecision::cpp_int;
    using handler = completing_handler<rate_limiter_episode>;
    friend handler;

    struct waiter {
        std::size_t id;
        std::uint64_t n;
    };

    // ---- The model

    void pass_time() {
        if (now() > at_) {
            level_ += number((now() - at_).count()) * gain_;
            level_ = std::min<number>(level_, number(burst_) * per_);
        }
        at_ = now();
    }

    [[nodiscard]] bool has(std::uint64_t n) {
        pass_time();
        return level_ >= number(std::min(n, burst_)) * per_;
    }

    void take(std::uint64_t n) { level_ -= number(n) * per_; }

    void set_rate(const token_rate& r) {
        const auto per = static_cast<std::uint64_t>(r.per.count());
        const std::uint64_t common = std::gcd(r.tokens, per);
        // In the new parts of a token, rounded down.
        number parts = level_ * (per / common);
        const number old = per_;
        per_ = per / common;
        gain_ = r.tokens / common;
        number whole = parts / old;
        if (parts < 0 && whole * old != parts) {
            --whole;
        }
        level_ = whole;
        rate_ = r;
    }

    // After how many units `n` can be taken; none if never.
    [[nodiscard]] std::optional<number> until(std::uint64_t n) const {
        const number missing = number(std::min(n, burst_)) * per_ - level_;
        if (missing <= 0) {
            return 0;
        }
        return gain_ == 0 ? std::nullopt : std::optional<number>((missing + gain_ - 1) / gain_);
    }

    [[nodiscard]] bool first_is_due() const {
        const std::optional<number> units = until(waiting_.front().n);
        return units && *units <= (now() - at_).count();
    }

    // Some of those who wait may have been served, each when its tokens were there.
    void follow() {
        while (waiting_.size() > limiter_->pending()) {
            const waiter first = waiting_.front();
            require(first_is_due(), "who waits is served in order, and never early");
            const number units = until(first.n).value();
            level_ += units * gain_ - number(first.n) * per_;
            level_ = std::min<number>(level_, number(burst_) * per_);
            at_ += duration(units.convert_to<duration::rep>());
            ends_[first.id] = {};
            waiting_.pop_front();
        }
        require(waiting_.size() == limiter_->pending(), "pending() is how many wait");
        if (waiting_.empty() || !first_is_due()) {
            pass_time();
        }
    }

    void see_served() {
        if (limiter_ == nullptr || ended_) {
            return;
        }
        follow();
        number whole = level_ / per_;
        if (level_ < 0 && whole * per_ != level_) {
            --whole;
        }
        require(number(limiter_->available()) == whole, "the bucket has exactly what it has");
    }

    // ---- What is done

    std::uint64_t any_number() {
        return once_in(8) ? std::min(in_.magnitude(61), greatest) : in_.below(12);
    }

    token_rate any_rate() {
        token_rate r;
        r.tokens = once_in(16) ? 0 : once_in(3) ? in_.magnitude(60) : 1 + in_.below(1000);
        r.per = std::chrono::nanoseconds(coin() ? static_cast<std::int64_t>(1 + in_.magnitude(60))
                                                : 1'000'000'000);
        return r;
    }

    [[nodiscard]] static bool is_exact(const token_rate& r) {
        const auto per = static_cast<std::uint64_t>(r.per.count());
        const std::uint64_t common = std::gcd(r.tokens, per);
        const number most = std::numeric_limits<std::int64_t>::max();
        return number(per / common) * (number(r.tokens / common) + 1) <= most &&
               number(per / common) < most / 2;
    }

    void renew() {
        abort_all();
        limiter_.reset();
        token_rate r = any_rate();
        while (!is_exact(r)) {
            r.tokens /= 2;
            r.per = std::max(r.per / 2, std::chrono::nanoseconds(1));
        }
        burst_ = std::max<std::uint64_t>(any_number(), 1);
        limiter_ = std::make_unique<rate_limiter>(*context_,
                                                  rate_limiter_options{.rate = r, .burst = burst_});
        closed_ = false;
        at_ = now();
        per_ = 1;
        level_ = burst_;
        set_rate(r);
        note("a limiter of % tokens in %, burst %", r.tokens, ns(r.per), burst_);
        see_served();
    }

    void acquire() {
        const std::uint64_t n = any_number();
        const std::size_t id = ++started_;
        note("% acquires %", id, n);
        if (closed_) {
            ends_[id] = error::limiter_closed;
        } else if (waiting_.empty() && has(n)) {
            take(n);
            ends_[id] = {};
        } else {
            waiting_.push_back({id, n});
        }
        handler h{{*this, id}};
        if (coin()) {
            with_signal_ = id;
            limiter_->async_acquire(
                n, boost::asio::bind_cancellation_slot(signal_.slot(), std::move(h)));
        } else {
            limiter_->async_acquire(n, std::move(h));
        }
        see_served();
    }

    void try_acquire() {
        const std::uint64_t n = any_number();
        const bool expected = !closed_ && waiting_.empty() && has(n);
        note("tries %: %", n, expected);
        require(limiter_->try_acquire(n) == expected,
                "try_acquire() takes what is there, and overtakes nobody");
        if (expected) {
            take(n);
        }
        see_served();
    }

    void completed(std::size_t id, const error_code& ec) {
        see_served();
        note("% completes, error %", id, ec.value());
        const auto end = ends_.find(id);
        require(end != ends_.end(), "who waits is not called; a handler is called once");
        require(ec == end->second, "the error says what has happened");
        ends_.erase(end);
        if (!finishing_ && coin()) {
            acquire();
        }
    }

    std::size_t abort_all() {
        const std::size_t n = waiting_.size();
        for (const waiter& w : waiting_) {
            ends_[w.id] = boost::asio::error::operation_aborted;
        }
        waiting_.clear();
        return n;
    }

    void cancel() {
        note("cancel");
        require(limiter_->cancel() == abort_all(), "cancel() counts what it aborts");
        see_served();
    }

    void close() {
        note("close");
        limiter_->close();
        closed_ = true;
        require(limiter_->closed(), "it is closed");
        see_served();
    }

    void emit() {
        note("emit for %", with_signal_);
        const auto w = std::ranges::find(waiting_, with_signal_, &waiter::id);
        if (w != waiting_.end()) {
            ends_[w->id] = boost::asio::error::operation_aborted;
            waiting_.erase(w);
        }
        signal_.emit(any_cancellation());
        see_served();
    }

    void change_rate() {
        const token_rate r = any_rate();
        note("% tokens in %", r.tokens, ns(r.per));
        bool refused = false;
        try {
            limiter_->rate(r);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        require(refused == !is_exact(r), "what can't be counted exactly is refused");
        if (!refused) {
            follow();
            set_rate(r);
        }
        require(limiter_->rate() == rate_, "the rate is as it was set");
        see_served();
    }

    void change_burst() {
        const std::uint64_t b = std::max<std::uint64_t>(any_number(), 1);
        note("burst %", b);
        limiter_->burst(b);
        follow();
        burst_ = b;
        level_ = std::min<number>(level_, number(burst_) * per_);
        require(limiter_->burst() == burst_, "the burst is as it was set");
        see_served();
    }

    void settle() {
        poll_all();
        see_served();
        require(ends_.empty(), "what has ended is delivered");
        require(waiting_.empty() || !first_is_due(), "who can be served is served");
        require(wheel_.pending() == (waiting_.empty() ? 0U : 1U), "one wait stands for all");
        require_work(!waiting_.empty());
    }

    static constexpr std::uint64_t greatest = std::numeric_limits<std::int64_t>::max() / 4;

    std::unique_ptr<rate_limiter> limiter_;
    boost::asio::cancellation_signal signal_; // Of the last operation with a slot.
    std::size_t with_signal_ = 0;
    std::size_t started_ = 0;
    bool finishing_ = false;
    bool ended_ = false;

    token_rate rate_;
    std::uint64_t gain_ = 0;
    std::uint64_t per_ = 1;
    std::uint64_t burst_ = 1;
    number level_; // In per_-ths of a token.
    time_point at_;
    bool closed_ = false;
    std::deque<waiter> waiting_;
    std::map<std::size_t, error_code> ends_; // Of those whose handlers were not called yet.
};

} // namespace asio_wheel::test

#endif
