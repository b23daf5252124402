// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of a heartbeat.
//
// A heartbeat has two deadlines: for the next sending, counted from the last sending; and for the
// death of the peer, counted from the last receipt. It waits for the earlier one. When the wait
// ends, it checks both again, because something may have been sent or received meanwhile.
//
// Jitter makes a sending earlier. Only the owner's waits have it: what was sent or received on
// another thread moves a wait to the end of the whole period, which is later.
//
// The user may move a heartbeat. This part stays where it is, because the pending wait points to
// it. The times of the last sending and the last receipt are in the part that moves; activity_
// points there.

#ifndef ASIO_WHEEL_DETAIL_HEARTBEAT_IMPL_HPP
#define ASIO_WHEEL_DETAIL_HEARTBEAT_IMPL_HPP

#include <asio_wheel/heartbeat.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/intermediate_handler.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/service/wait_anew.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/jitter.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace asio_wheel::detail {

template <class Clock, class Executor>
class heartbeat_impl {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using activity_type = heartbeat_activity<Clock>;

    heartbeat_impl(const executor_type& ex, const heartbeat_options& options,
                   activity_type& activity)
        : wheel_(wheel_of<Clock>(ex)), timer_(ex),
          send_every_(positive<duration>("a heartbeat's send_every", options.send_every)),
          dead_after_(positive<duration>("a heartbeat's dead_after", options.dead_after)),
          jitter_(require_share("heartbeat_options::jitter", options.jitter)),
          activity_(&activity) {
        draw_jitter();
    }

    heartbeat_impl(const heartbeat_impl&) = delete;
    heartbeat_impl& operator=(const heartbeat_impl&) = delete;

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    /// Called when the user has moved the heartbeat, and its times with it.
    void on_move(activity_type& activity) noexcept { activity_ = &activity; }

    /// Called when something was sent or received. If the clock was set back, the pending wait may
    /// have to end earlier.
    void on_touch() {
        auto& core = core_access::of(wheel_);
        if constexpr (!steady_clock<Clock>) {
            wait_end_.bring_forward(core, core_access::state_of(timer_), next_expiry(send_every_));
        }
        if (activity_->received.is_watched() &&
            core_access::state_of(timer_).life() != timer_life::inactive) {
            core.touched(core_access::state_of(timer_));
        }
    }

    template <class Handler>
    void start(Handler&& handler) {
        wait(intermediate_handler<Handler, on_wait>(std::forward<Handler>(handler), on_wait{this}));
    }

    std::size_t cancel() { return timer_.cancel(); }

private:
    // Called when the wait for the earlier deadline has ended.
    struct on_wait {
        static constexpr wait_kind kind_of_wait = wait_kind::heartbeat;
        heartbeat_impl* self;

        template <class Operation>
        void operator()(Operation& op, const boost::system::error_code& ec) const {
            if (ec) {
                return op.complete(ec, heartbeat_event::send);
            }
            const time_point now = self->wheel_.now();
            const bool sends = now >= self->send_expiry(self->send_after_);
            if (now >= self->peer_expiry()) {
                core_access::of(self->wheel_).expired(kind_of_wait);
                op.complete(ec, heartbeat_event::dead);
            } else if (sends) {
                self->activity_->sent.touch();
                self->on_touch();
                core_access::of(self->wheel_).expired(kind_of_wait);
                op.complete(ec, heartbeat_event::send);
            } else {
                start_next_wait(
                    op, [this, &op] { self->wait(std::move(op)); }, heartbeat_event::send);
            }
        }
    };

    template <class Operation>
    void wait(Operation&& op) {
        draw_jitter_if_sent();
        const time_point next = next_expiry(send_after_);
        wait_anew(wheel_, timer_, std::forward<Operation>(op), [&] {
            wait_end_.set(next);
            timer_.expires_at(next);
        });
    }

    [[nodiscard]] time_point next_expiry(duration send_after) const noexcept {
        return (std::min)(send_expiry(send_after), peer_expiry());
    }

    [[nodiscard]] time_point send_expiry(duration send_after) const noexcept {
        return add_saturating(activity_->sent.last(), send_after);
    }
    [[nodiscard]] time_point peer_expiry() const noexcept {
        return add_saturating(activity_->received.last(), dead_after_);
    }

    // Once for each period: would each wait draw it, the smallest of the draws would count.
    void draw_jitter_if_sent() {
        const time_point last = activity_->sent.last();
        if (begun_ != last) {
            begun_ = last;
            draw_jitter();
        }
    }
    void draw_jitter() {
        const bool ends = send_every_ != (duration::max)();
        const duration early =
            ends ? floor_saturating<duration>(random_share(to_nanoseconds(send_every_), jitter_))
                 : duration::zero();
        send_after_ = send_every_ - early;
    }

    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    duration send_every_;
    duration dead_after_;
    const double jitter_;
    duration send_after_{};   // Less jitter. The waits' owner's: other threads use send_every_.
    time_point begun_;        // The sending with which the period of that has begun.
    activity_type* activity_; // Not null.
    ASIO_WHEEL_NO_UNIQUE_ADDRESS published_wait_end<core_type> wait_end_;
};

} // namespace asio_wheel::detail

#endif
