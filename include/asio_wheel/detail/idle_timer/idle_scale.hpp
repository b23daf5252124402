// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The overload valve: one factor that shortens the periods of all idle timers of a wheel.
//
// A smaller factor makes waits earlier, which a wheel can't know by itself; so the valve has a list of
// the wheel's idle timers, and goes through it: in slices of `budget`, the first by whoever set the
// factor and the others by way of the context's queue. A larger one needs nothing: waits that are due
// too early by it are looked at, and wait on.
//
// The valve's lock guards the list and what the valve reads of an idle watch. It is taken before the
// wheel's.

#ifndef ASIO_WHEEL_DETAIL_IDLE_TIMER_IDLE_SCALE_HPP
#define ASIO_WHEEL_DETAIL_IDLE_TIMER_IDLE_SCALE_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/service/wheel_clock.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

namespace asio_wheel::detail {

/// What the valve knows of an idle timer: when it was touched, its period, and its timer.
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

    const activity<Core>* touched; ///< Its owner's. Written by the owner under the valve's lock.
    typename Core::state& timer;
    duration period;     ///< Written by the owner under the valve's lock.
    bool listed = false; ///< Its owner's, until the context ends.

private:
    [[nodiscard]] duration shortened(double scale) const noexcept {
        using wide = std::chrono::duration<double, typename duration::period>;
        return ceil_saturating<duration>(wide(period) * scale);
    }
};

template <class Core>
class valve {
    using watch = idle_watch<Core>;

public:
    valve(boost::asio::execution_context& context, Core& core)
        : mutex_(core.options().locking), core_(core), queue_(context) {}
    valve(const valve&) = delete;
    valve& operator=(const valve&) = delete;

    [[nodiscard]] double scale() const noexcept { return scale_.load(std::memory_order_relaxed); }

    void scale(double factor) noexcept {
        std::unique_lock<optional_mutex> lock(mutex_);
        scale_.store(factor, std::memory_order_relaxed);
        begin_walk(lock);
    }

    /// What an idle timer does that now waits by what scale() was before. If it came to the wheel
    /// after the valve had come by, it sees the new factor here, for both held the wheel's lock.
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

    /// If it is listed; else there may be no valve any more.
    void remove(watch& w) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto it = watches_.iterator_to(w);
        if (next_ == it) {
            ++next_;
        }
        watches_.erase(it);
    }

    void set_period(watch& w, typename Core::duration period) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        w.period = period;
    }

    /// The owner of a watch has moved. If the watch is listed; else there may be no valve any more.
    void move(watch& w, const activity<Core>& touched) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        w.touched = &touched;
    }

    /// The context ends: no idle timer asks for the valve from now on.
    void close() noexcept {
        while (forget_some()) {
        }
    }

private:
    using list = boost::intrusive::list<watch, boost::intrusive::constant_time_size<false>>;

    // Goes on where the slice before has ended.
    class rest_of_walk : public operation {
    public:
        explicit rest_of_walk(valve& self) noexcept : operation(&rest_of_walk::run), self_(self) {}

    private:
        static void run(void* queue, operation* op, const boost::system::error_code&, std::size_t) {
            if (queue != nullptr) {
                valve& self = static_cast<rest_of_walk*>(op)->self_;
                std::unique_lock<optional_mutex> lock(self.mutex_);
                self.queued_ = false;
                self.walk(lock);
            }
        }

        valve& self_;
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

    optional_mutex mutex_;
    Core& core_;
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
