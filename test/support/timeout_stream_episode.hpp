// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A stream with deadlines over a manual layer, and its model.

#ifndef ASIO_WHEEL_TEST_SUPPORT_TIMEOUT_STREAM_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TIMEOUT_STREAM_EPISODE_HPP

#include <asio_wheel/error.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "backend.hpp"
#include "manual_layer.hpp"
#include "paused_episode.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace asio_wheel::test {

class timeout_stream_episode : public paused_episode {
public:
    explicit timeout_stream_episode(bytes& in) : paused_episode(in) { renew(); }

    void step() {
        act();
        require(wheel_.pending() <= 1, "all deadlines of a stream share one wait");
    }

    void finish() {
        if (coin()) {
            note("destroy");
            closing_ = true;
            stream_.reset();
            closing_ = false;
            settle();
            require_work(false);
        }
        ended_ = true;
        if (coin()) {
            stream_.reset();
        } else { // A context ends the operations of its sockets before these are destroyed.
            wire_->read.drop();
            wire_->write.drop();
        }
        context_.reset();
        stream_.reset();
        require(sides_[0].handlers == 0 && sides_[1].handlers == 0,
                "each handler is called or destroyed");
    }

    /// The handler of an operation was destroyed without being called.
    void dropped(std::size_t i) {
        note("the handler of % is destroyed", i);
        require(ended_, "no handler is destroyed but by the end");
        --sides_[i].handlers;
    }

private:
    using stream = timeout_stream<manual_layer>;

    /// 0 is reading, 1 is writing.
    struct side {
        time_point expiry = never;
        bool pending = false;   // Until its handler is called.
        bool late = false;      // It was too late to start; its handler is queued.
        bool tried = false;     // It has started late, and is tried.
        bool over = false;      // The stream was closed since then, perhaps because of it.
        bool timed_out = false; // The stream was closed because of it.
        bool completed = false; // By the layer; its handler is queued.
        error_code result;
        std::size_t transferred = 0;
        int handlers = 0;
    };

    using handler = completing_handler<timeout_stream_episode, std::size_t>;
    friend handler;

    void act() {
        pass();
        switch (pick(23)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return start(pick(2));
        case 4:
        case 5:
        case 6:
            return complete(pick(2));
        case 7:
        case 8:
            return set_expiry();
        case 9:
            return set_idle();
        case 10:
            return once_in(2) ? cancel() : close();
        case 11:
            return move();
        case 12:
            return once_in(4) ? renew() : advance();
        case 13:
            return advance_to_next();
        case 14:
            return advance();
        case 15:
        case 16:
            return poll_one();
        case 17:
            return set_message();
        case 18:
            return set_try_late();
        case 19:
            return set_lifetime();
        case 20:
            return coin() ? set_write_idle() : set_rate();
        case 21:
            return coin() ? set_scale() : set_min_idle();
        default:
            return settle();
        }
    }

    void renew() {
        if (running_ || sides_[0].pending || sides_[1].pending) {
            return;
        }
        note("new stream");
        closing_ = true;
        stream_.emplace(*context_);
        closing_ = false;
        wire_ = stream_->socket().wire;
        wire_->on_close = [this] { closed(); };
        wire_->on_cancel = [this] { abort_layer(); }; // On Windows, before it is closed.
        sides_ = {};
        lifetime_ = never;
        idle_ = write_idle_ = rate_ = {};
        min_idle_ = duration::zero();
        was_closed_ = false;
        message_.reset();
        try_late_ = false;
    }

    void start(std::size_t i) {
        side& s = sides_[i];
        if (s.pending || stream_ == std::nullopt) {
            return;
        }
        const bool is_over = has_passed(lifetime_);
        const bool passed = is_over || has_passed(s.expiry);
        const bool late = passed && (is_over || !try_late_);
        if (!late && !begun(0) && !begun(1) && std::exchange(was_closed_, false)) {
            for (progress* const p : {&idle_, &write_idle_, &rate_}) {
                p->restart();
            }
        }
        note("start %, expiry %, in all %", i, ns(s.expiry), ns(end_of(i)));
        s.pending = true;
        s.late = late;
        s.tried = passed && !late;
        s.over = s.timed_out = s.completed = false;
        ++s.handlers;
        beginning_late_ = late;
        handler h{must_be_called(*this, i)};
        if (i == 0) {
            stream_->async_read_some(boost::asio::buffer(buffer_), std::move(h));
        } else {
            stream_->async_write_some(boost::asio::buffer(buffer_), std::move(h));
        }
        beginning_late_ = false;
    }

    // The operations that have started and not completed.
    [[nodiscard]] bool begun(std::size_t i) const { return sides_[i].pending && !sides_[i].late; }

    [[nodiscard]] manual_operation<error_code, std::size_t>& operation(std::size_t i) const {
        return i == 0 ? wire_->read : wire_->write;
    }

    // The layer's operation completes.
    void complete(std::size_t i) {
        if (!operation(i).pending()) {
            return;
        }
        side& s = sides_[i];
        s.result = coin() ? error_code() : error_code(boost::asio::error::eof);
        s.transferred = pick(3);
        s.completed = true;
        note("complete % with error %, bytes %", i, s.result.value(), s.transferred);
        operation(i).complete(s.result, s.transferred);
    }

    // The layer aborts its pending operations.
    void abort_layer() {
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            if (operation(i).pending()) {
                sides_[i].completed = true;
                sides_[i].result = boost::asio::error::operation_aborted;
                sides_[i].transferred = 0;
            }
        }
    }

    void cancel() {
        if (stream_) {
            note("cancel");
            abort_layer();
            stream_->cancel();
        }
    }

    void close() {
        if (stream_) {
            note("close");
            closing_ = true;
            stream_->close();
            closing_ = false;
            was_closed_ = true;
        }
    }

    // The layer is being closed.
    void closed() {
        note("closed");
        if (ended_) {
            return; // Perhaps its context has ended, and there is no time any more.
        }
        pass();
        was_closed_ = true;
        if (closing_) {
            return;
        }
        bool any = beginning_late_;
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            side& s = sides_[i];
            if (begun(i) && s.tried) {
                s.over = any = true; // It is not known which of two it was.
            } else if (begun(i) && !s.timed_out && has_passed(end_of(i))) {
                s.timed_out = any = true;
            }
        }
        require(any, "a stream is not closed before a deadline of what is pending has passed");
    }

    void completed(std::size_t i, const error_code& ec, std::size_t n) {
        pass();
        side& s = sides_[i];
        note("% completes, error %, bytes %", i, ec.value(), n);
        --s.handlers;
        require(std::exchange(s.pending, false), "an operation completes once");
        if (s.late) {
            require(ec == error::timed_out && n == 0, "what begins too late has timed out");
        } else {
            lingers_ = false;
            require(s.completed, "an operation completes when that of the layer does");
            const bool may_be_late = s.over && ec == error::timed_out;
            require(ec == (s.timed_out ? make_error_code(error::timed_out) : s.result) ||
                        may_be_late,
                    "an operation has timed out if the stream was closed because of it");
            require(n == s.transferred, "the bytes are the layer's");
            idle_.transferred(n);
            rate_.transferred(n);
            write_idle_.transferred(i == 1 ? n : 0);
            if (i == 0 && n != 0 && message_) {
                s.expiry = sum(now(), *message_);
                message_.reset();
            }
        }
        if (!in_.empty() && once_in(3)) {
            act();
        }
    }

    void set_expiry() {
        if (!stream_) {
            return;
        }
        const duration d = any_duration();
        const bool never_again = once_in(4);
        const time_point t = never_again ? never : sum(now(), d);
        const std::size_t which = pick(3);
        const bool reading = begun(0);
        const bool writing = begun(1);
        const bool refused = which == 2 && reading && writing;
        note("deadline % of % (2: both)", ns(t), which);
        bool threw = false;
        try {
            switch (which) {
            case 0:
                never_again ? stream_->read_expires_never() : stream_->read_expires_after(d);
                break;
            case 1:
                never_again ? stream_->write_expires_never() : stream_->write_expires_at(t);
                break;
            default:
                never_again ? stream_->expires_never() : stream_->expires_after(d);
            }
        } catch (const std::logic_error&) {
            threw = true;
        }
        require(threw == refused, "a common deadline is for what is not pending");
        if (!refused) {
            sides_[0].expiry = which == 0 || (which == 2 && !reading) ? t : sides_[0].expiry;
            sides_[1].expiry = which == 1 || (which == 2 && !writing) ? t : sides_[1].expiry;
            lingers_ = lingers_ || never_again || t == never;
        }
    }

    void set_idle() {
        if (!stream_) {
            return;
        }
        if (once_in(4)) {
            note("idle never");
            stream_->idle_never();
            idle_.set(duration::max(), 1);
        } else {
            idle_.set(any_positive_duration(), 1);
            note("idle after %", ns(idle_.period));
            stream_->idle_after(idle_.period);
        }
        lingers_ = true;
    }

    void set_scale() {
        constexpr std::array<double, 3> scales{1, 0.5, 0.25}; // Exact, also as numbers.
        scale_ = scales[pick(scales.size())];
        note("scale to % quarters", static_cast<int>(scale_ * 4));
        scale_idle_timers(wheel_, scale_);
        lingers_ = true;
    }

    void set_min_idle() {
        if (stream_) {
            min_idle_ = any_duration();
            note("idle after % at least", ns(min_idle_));
            stream_->min_idle_period(min_idle_);
            lingers_ = true;
        }
    }

    void set_write_idle() {
        if (!stream_) {
            return;
        }
        const bool none = once_in(4);
        write_idle_.set(none ? duration::max() : any_positive_duration(), 1);
        note("writes idle after %", ns(write_idle_.period));
        none ? stream_->write_idle_never() : stream_->write_idle_after(write_idle_.period);
        lingers_ = true;
    }

    void set_rate() {
        if (!stream_) {
            return;
        }
        const bool none = once_in(4);
        const std::size_t bytes = none ? 1 : 1 + pick(5);
        rate_.set(none ? duration::max() : any_positive_duration(), bytes);
        note("% bytes in %", bytes, ns(rate_.period));
        none ? stream_->least_rate_never() : stream_->least_rate(bytes, rate_.period);
        lingers_ = true;
    }

    void set_lifetime() {
        if (!stream_) {
            return;
        }
        if (once_in(3)) {
            lifetime_ = never;
            stream_->lifetime_never();
        } else {
            const duration d = any_duration();
            const double jitter = any_jitter();
            lifetime_ = stream_->lifetime(d, jitter);
            const time_point latest = sum(sum(now(), d), share_of(d, jitter));
            require(lifetime_ >= sum(now(), d) && lifetime_ <= latest,
                    "a lifetime is longer by a share, if at all");
        }
        note("lifetime until %", ns(lifetime_));
        lingers_ = true;
    }

    void set_message() {
        if (!stream_) {
            return;
        }
        const bool none = once_in(4);
        const duration d = any_duration();
        note("message after %", none ? -1 : ns(d));
        none ? stream_->message_expires_never() : stream_->message_expires_after(d);
        message_ = none ? std::nullopt : std::optional<duration>(d);
    }

    void set_try_late() {
        if (stream_) {
            try_late_ = !try_late_;
            note(try_late_ ? "late operations are tried" : "late operations are not tried");
            stream_->try_late_operations(try_late_);
        }
    }

    void move() {
        if (stream_) {
            note("move");
            stream moved(std::move(*stream_));
            stream_.emplace(std::move(moved));
        }
    }

    void settle() {
        if (running_) {
            return;
        }
        note("poll");
        // The grace of a late operation is a timer of Asio's.
        while (run([](boost::asio::io_context& ctx) { return poll_with_timers(ctx); }) != 0 &&
               counts_only_handlers) {
        }
        pass();
        bool waits = false;
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            const side& s = sides_[i];
            require(!s.pending || !(s.late || s.completed), "what has completed is delivered");
            const time_point end = end_of(i);
            require(!begun(i) || !s.tried || s.expiry > now(),
                    "what is tried is ready at once, or times out");
            require(!begun(i) || s.timed_out || !has_passed(end),
                    "an operation whose deadline has passed has timed out");
            waits = waits || (begun(i) && !s.timed_out && end != never);
        }
        const bool lingers = lingers_ && (begun(0) || begun(1)) && wheel_.pending() == 1;
        require((waits || lingers) == (wheel_.pending() == 1),
                "there is a wait if anything has a deadline");
        require_work(waits || lingers);
    }

    [[nodiscard]] bool has_passed(time_point t) const { return t != never && t <= now(); }

    // When an operation of this side times out.
    [[nodiscard]] time_point end_of(std::size_t i) const {
        progress idle = idle_;
        if (idle.period != duration::max() && scale_ != 1) {
            idle.period = std::max(share_of(idle.period, scale_), std::min(idle.period, min_idle_));
        }
        return std::min({sides_[i].expiry, lifetime_, idle.end(now()), rate_.end(now()),
                         i == 0 ? never : write_idle_.end(now())});
    }

    // The time since the last call has passed. It counts if operations were pending.
    void pass() {
        const duration d = now() - passed_;
        idle_.used += begun(0) || begun(1) ? d : duration::zero();
        rate_.used += begun(0) || begun(1) ? d : duration::zero();
        write_idle_.used += begun(1) ? d : duration::zero();
        passed_ = now();
    }

    // A period in which so many bytes have to be transferred. The longest is none.
    struct progress {
        duration period = duration::max();
        std::size_t least = 1;
        std::size_t done = 0;
        duration used{};

        void set(duration d, std::size_t bytes) {
            if (period == duration::max() || done >= bytes) {
                restart();
            }
            period = d;
            least = bytes;
        }
        void restart() {
            done = 0;
            used = {};
        }
        void transferred(std::size_t n) {
            if (done += n; done >= least) {
                restart();
            }
        }
        [[nodiscard]] time_point end(time_point now) const {
            return period == duration::max() ? never : sum(now, period - used);
        }
    };

    std::optional<stream> stream_;
    std::shared_ptr<manual_layer::state> wire_;
    std::array<side, 2> sides_;
    time_point lifetime_ = never;
    progress idle_, write_idle_, rate_;
    duration min_idle_{};
    double scale_ = 1; // Of the context.
    std::optional<duration> message_;
    bool try_late_ = false;
    bool was_closed_ = false; // And nothing has begun since.
    time_point passed_;       // Until when it is known what has passed.
    std::array<char, 8> buffer_{};
    bool beginning_late_ = false;
    // When a deadline is taken away, the wait may stay until the pending operations complete.
    bool lingers_ = false;
    bool closing_ = false; // By the program.
    bool ended_ = false;
};

} // namespace asio_wheel::test

#endif
