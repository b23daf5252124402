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
struct idle_watch : boost::intrusive::list_base_hook<> {
    using duration = typename Core::duration;
    using time_point = typename Core::time_point;

    idle_watch(const activity<Core>& a, typename Core::state& s, duration p)
        : touched(&a), timer(s), period(p) {}

    /// When the period is over, as short as it is now.
    [[nodiscard]] time_point end(double scale) const noexcept {
        return add_saturating(touched->last(), scale == 1 ? period : shortened(scale));
    }

    const activity<Core>* touched; ///< Its owner's. Written by the owner under the scale's lock.
    typename Core::state& timer;
    duration period;     ///< Written by the owner under the scale's lock.
    bool listed = false; ///< Its owner's, until the context ends.

private:
    [[nodiscard]] duration shortened(double scale) const noexcept {
        using wide = std::chrono::duration<double, typename duration::period>;
        return ceil_saturating<duration>(wide(period) * scale);
    }
};

/// A service of the context.
template <class Clock>
class idle_scale : public boost::asio::execution_context::service {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;
    using watch = idle_watch<core_type>;

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
        begin_walk(lock);
    }

    /// Called by an idle timer after it has started a wait by an earlier value of scale(). If the
    /// wait started after the walk had passed its timer, the timer sees the new factor here,
    /// because both held the wheel's lock.
    void waits_by(double factor) noexcept {
        if (scale() < factor) {
            std::unique_lock<optional_mutex> lock(mutex_);
            begin_walk(lock);
        }
    }

    void add(watch& w) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (!closed_) {
            watches_.push_back(w);
            w.listed = true;
        }
    }

    /// If it is listed. Otherwise the scale may have ended.
    void remove(watch& w) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto it = watches_.iterator_to(w);
        if (next_ == it) {
            ++next_;
        }
        watches_.erase(it);
    }

    void set_period(watch& w, typename core_type::duration period) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        w.period = period;
    }

    /// The owner of a watch has moved. If the watch is listed. Otherwise the scale may have ended.
    void move(watch& w, const activity<core_type>& touched) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        w.touched = &touched;
    }

private:
    // The context ends. No idle timer uses the scale from now on.
    void shutdown() noexcept override {
        while (forget_some()) {
        }
    }

    using list = boost::intrusive::list<watch, boost::intrusive::constant_time_size<false>>;

    // Goes on where the slice before has ended.
    class rest_of_walk : public operation {
    public:
        explicit rest_of_walk(idle_scale& self) noexcept
            : operation(&rest_of_walk::run), self_(self) {}

    private:
        static void run(void* queue, operation* op, const boost::system::error_code&, std::size_t) {
            if (queue != nullptr) {
                idle_scale& self = static_cast<rest_of_walk*>(op)->self_;
                std::unique_lock<optional_mutex> lock(self.mutex_);
                self.queued_ = false;
                self.walk(lock);
            }
        }

        idle_scale& self_;
    };

    // One slice of the end.
    bool forget_some() noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        closed_ = true;
        next_ = watches_.end();
        for (std::size_t i = 0; i < core_.options().budget && !watches_.empty(); ++i) {
            watches_.front().listed = false;
            watches_.pop_front();
        }
        return !watches_.empty();
    }

    void begin_walk(std::unique_lock<optional_mutex>& lock) noexcept {
        next_ = watches_.begin();
        if (!queued_) {
            walk(lock);
        }
    }

    // One slice. Releases the lock.
    void walk(std::unique_lock<optional_mutex>& lock) noexcept {
        const double factor = scale();
        for (std::size_t i = 0; i < core_.options().budget && next_ != watches_.end(); ++i) {
            watch& w = *next_++;
            core_.bring_forward(w.timer, w.end(factor));
        }
        if (next_ != watches_.end()) {
            queued_ = true;
            operation_batch batch;
            batch.push_visible(rest_ ? *rest_ : rest_.emplace(*this));
            queue_.work_started();
            lock.unlock();
            queue_.post(batch);
        }
    }

    core_type& core_;
    optional_mutex mutex_;
    list watches_;
    typename list::iterator next_ = watches_.end(); // What is walked to next.
    bool closed_ = false;
    bool queued_ = false;     // The rest of a walk is in the queue.
    atomic<double> scale_{1}; // Written under the lock.
    context_queue queue_;
    std::optional<rest_of_walk> rest_; // Made by the first long walk: most programs have none.
};

} // namespace asio_wheel::detail

#endif
