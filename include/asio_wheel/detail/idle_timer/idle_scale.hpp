// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One factor that shortens the periods of all idle timers of a wheel.
//
// A smaller factor makes waits earlier. The wheel cannot know that by itself. So there is a list of
// the wheel's idle timers, and setting the factor goes through it in slices of `budget`: the first
// slice at once, the others by way of the context's queue. A larger factor needs no such walk: a
// wait that comes too early waits for the rest.
//
// The lock of the scale guards the list and what the scale reads of an idle watch. It is taken
// before the wheel's lock.

#ifndef ASIO_WHEEL_DETAIL_IDLE_TIMER_IDLE_SCALE_HPP
#define ASIO_WHEEL_DETAIL_IDLE_TIMER_IDLE_SCALE_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

namespace asio_wheel::detail {

/// What the scale knows of an idle timer: when it was touched, its period, and its timer.
template <class Core>
struct idle_entry : boost::intrusive::list_base_hook<> {
    using duration = typename Core::duration;
    using time_point = typename Core::time_point;

    idle_entry(const activity<Core>& a, typename Core::state& s, duration p)
        : last_activity(&a), timer(s), period(p) {}

    /// When the period is over, as short as it is now.
    [[nodiscard]] time_point expiry(double scale) const noexcept {
        return add_saturating(last_activity->last(), scale == 1 ? period : scaled_period(scale));
    }

    const activity<Core>*
        last_activity; ///< Its owner's. Written by the owner under the scale's lock.
    typename Core::state& timer;
    duration period;     ///< Written by the owner under the scale's lock.
    bool listed = false; ///< Its owner's, until the context ends.

private:
    [[nodiscard]] duration scaled_period(double scale) const noexcept {
        using exact_duration = std::chrono::duration<double, typename duration::period>;
        return ceil_saturating<duration>(exact_duration(period) * scale);
    }
};

/// A service of the context.
template <class Clock>
class idle_scale : public boost::asio::execution_context::service {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;
    using entry = idle_entry<core_type>;

public:
    using key_type = idle_scale;
    static inline boost::asio::execution_context::id id;

    explicit idle_scale(boost::asio::execution_context& context)
        : service(context), core_(core_access::of(use_wheel<Clock>(context))),
          mutex_(core_.options().locking), queue_(context) {}

    [[nodiscard]] double scale() const noexcept { return scale_.load(std::memory_order_relaxed); }

    void scale(double factor) noexcept {
        std::unique_lock<optional_mutex> lock(mutex_);
        scale_.store(factor, std::memory_order_relaxed);
        start_walk(lock);
    }

    /// Called by an idle timer after it has started a wait by an earlier value of scale(). If the
    /// wait started after the walk had passed its timer, the timer sees the new factor here,
    /// because both held the wheel's lock.
    void on_wait_started(double factor) noexcept {
        if (scale() < factor) {
            std::unique_lock<optional_mutex> lock(mutex_);
            start_walk(lock);
        }
    }

    void add(entry& e) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (!closed_) {
            entries_.push_back(e);
            e.listed = true;
        }
    }

    /// If it is listed. Otherwise the scale may have ended.
    void remove(entry& e) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto it = entries_.iterator_to(e);
        if (walk_position_ == it) {
            ++walk_position_;
        }
        entries_.erase(it);
    }

    void set_period(entry& e, typename core_type::duration period) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        e.period = period;
    }

    /// The owner of a watch has moved. If the watch is listed. Otherwise the scale may have ended.
    void move(entry& e, const activity<core_type>& last_activity) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        e.last_activity = &last_activity;
    }

private:
    // The context ends. No idle timer uses the scale from now on.
    void shutdown() noexcept override {
        while (clear_slice()) {
        }
    }

    using list = boost::intrusive::list<entry, boost::intrusive::constant_time_size<false>>;

    // Goes on where the slice before has ended.
    class walk_op : public operation {
    public:
        explicit walk_op(idle_scale& self) noexcept : operation(&walk_op::run), self_(self) {}

    private:
        static void run(void* queue, operation* op, const boost::system::error_code&, std::size_t) {
            if (queue != nullptr) {
                idle_scale& self = static_cast<walk_op*>(op)->self_;
                std::unique_lock<optional_mutex> lock(self.mutex_);
                self.walk_queued_ = false;
                self.walk(lock);
            }
        }

        idle_scale& self_;
    };

    // One slice of the end.
    bool clear_slice() noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        closed_ = true;
        walk_position_ = entries_.end();
        for (std::size_t i = 0; i < core_.options().budget && !entries_.empty(); ++i) {
            entries_.front().listed = false;
            entries_.pop_front();
        }
        return !entries_.empty();
    }

    void start_walk(std::unique_lock<optional_mutex>& lock) noexcept {
        walk_position_ = entries_.begin();
        if (!walk_queued_) {
            walk(lock);
        }
    }

    // One slice. Releases the lock.
    void walk(std::unique_lock<optional_mutex>& lock) noexcept {
        const double factor = scale();
        for (std::size_t i = 0; i < core_.options().budget && walk_position_ != entries_.end();
             ++i) {
            entry& e = *walk_position_++;
            core_.bring_forward(e.timer, e.expiry(factor));
        }
        if (walk_position_ != entries_.end()) {
            walk_queued_ = true;
            operation_batch batch;
            batch.push_visible(walk_op_ ? *walk_op_ : walk_op_.emplace(*this));
            queue_.work_started();
            lock.unlock();
            queue_.post(batch);
        }
    }

    core_type& core_;
    optional_mutex mutex_;
    list entries_;
    typename list::iterator walk_position_ = entries_.end(); // What is walked to next.
    bool closed_ = false;
    bool walk_queued_ = false; // The rest of a walk is in the queue.
    atomic<double> scale_{1};  // Written under the lock.
    context_queue queue_;
    std::optional<walk_op> walk_op_; // Made by the first long walk: most programs have none.
};

} // namespace asio_wheel::detail

#endif
