// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the service does with a wheel as a whole. See wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_SERVICE_HPP
#define ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_SERVICE_HPP

#include <asio_wheel/detail/wheel_core.hpp>

#include <stdexcept>

namespace asio_wheel::detail {

template <class Clock, class WaitTraits>
wheel_stats wheel_core<Clock, WaitTraits>::stats() const {
    const std::lock_guard<optional_mutex> guard(gate_->mutex);
    wheel_stats result = stats_;
    result.pending = pending_;
    result.cascaded = wheel_.cascaded();
    return result;
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::pending() const {
    const std::lock_guard<optional_mutex> guard(gate_->mutex);
    return pending_;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::pause() noexcept {
    const locked guard(*this);
    if (!clock_.paused()) {
        clock_.pause();
        driver_.disarm();
        if (wheel_.next_expiry() <= clock_.round_down(clock_.now())) {
            go_on_ticking(); // Overdue, and the driver would not look again.
        }
        keep_armed();
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::resume() noexcept {
    const locked guard(*this);
    if (clock_.paused()) {
        clock_.resume();
        driver_.disarm();
        keep_armed();
    }
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::advance_to(time_point t) {
    std::size_t due = 0;
    for (bool more = true; more;) {
        const locked guard(*this);
        require_paused();
        clock_.set(t);
        const slice found = collect(clock_.now());
        due += found.due;
        more = found.more;
    }
    return due;
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::advance_to_next() {
    for (;;) {
        tick_t next = no_tick;
        {
            const locked guard(*this);
            require_paused();
            unpark();
            next = wheel_.find_next_expiry();
        }
        if (next >= last_tick || clock_.begin_of(next) == time_point::max()) {
            return 0;
        }
        // Nothing is due then after all only if another thread was faster.
        if (const std::size_t due = advance_to(clock_.begin_of(next))) {
            return due;
        }
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::require_paused() const {
    if (!clock_.paused()) {
        throw std::logic_error("asio_wheel: only paused time can be advanced; pause() comes first");
    }
}

template <class Clock, class WaitTraits>
std::vector<typename Clock::time_point> wheel_core<Clock, WaitTraits>::drain() {
    std::vector<time_point> expiries;
    std::size_t room = 0;
    {
        const locked guard(*this);
        stopped_ = true; // So that no more come.
        unpark();
        room = pending_;
    }
    expiries.reserve(room);
    for (bool more = true; more;) {
        const locked guard(*this);
        const wheel::progress passed = wheel_.advance(last_tick, options_.budget, due_);
        for (std::size_t i = 0; i < passed.expired; ++i) {
            auto& s = static_cast<state&>(*due_[i]);
            expiries.insert(expiries.end(), abort_all(s), s.expiry);
            s.relink();
        }
        more = passed.more;
    }
    std::sort(expiries.begin(), expiries.end());
    return expiries;
}

// May be called more than once. What handlers start while they are destroyed is destroyed too.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::destroy_all() noexcept {
    do {
        destroy_present();
    } while (!unwanted_.empty());
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::destroy_present() noexcept {
    op_list doomed;
    {
        const std::lock_guard<optional_mutex> guard(gate_->mutex);
        gate_->closed = true;
        unpark();
        for (bool more = true; more;) {
            const wheel::progress passed = wheel_.advance(last_tick, options_.budget, due_);
            for (std::size_t i = 0; i < passed.expired; ++i) {
                auto& s = static_cast<state&>(*due_[i]);
                s.ops.for_each([&](wait_op& op) {
                    if (op.way == wait_op::flight::none) {
                        detach(op);
                        doomed.push_back(op);
                    } else {
                        op.how = wait_op::outcome::aborted; // Its carrier will destroy it.
                    }
                });
                s.relink();
            }
            more = passed.more;
        }
        while (!hopping_.empty()) {
            hopping_op_base& op = hopping_.front();
            hopping_.pop_front();
            if (op.owner != nullptr) {
                leave(op);
            }
            doomed.push_back(op);
        }
        while (!unwanted_.empty()) {
            wait_op& op = unwanted_.front();
            unwanted_.erase(op);
            doomed.push_back(op);
        }
        alive_.store(0, std::memory_order_relaxed);
    }
    while (!doomed.empty()) {
        wait_op& op = doomed.front();
        doomed.erase(op);
        op.destroy();
    }
}

} // namespace asio_wheel::detail

#endif
