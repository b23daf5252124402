// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One factor that shortens the periods of all idle timers of a wheel.
//
// A smaller factor makes pending waits end earlier, and the wheel cannot find these waits by
// itself. So the scale has a list of the wheel's idle timers. When the factor is set, it walks the
// list and brings the waits forward. It does so in slices of `budget` timers: the first slice
// immediately, the others through the context's queue. If the factor becomes larger, the walk
// changes nothing: a wait that ends too early finds that, and waits for the rest of its period.
//
// The state of a walk:
//
//   position    slice queued   meaning
//   end         no             there is no walk
//   an entry    no             a slice is running, under the lock
//   an entry    yes            the next slice is in the context's queue
//   end         yes            the same; the entries that were left were removed meanwhile
//
//   from               to                 when
//   any                slice running      the factor is set, or a wait has missed the new factor:
//                                         starts again at the first entry. If a slice is queued,
//                                         that slice does it
//   slice running      no walk            the slice has reached the end
//   slice running      slice queued       the slice has used up its budget
//   slice queued       slice running      its turn in the context's queue comes
//
// The lock of the scale guards the list, the walk and what the scale reads of an idle_entry. It is
// taken before the wheel's lock.

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
#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

namespace asio_wheel::detail {

/// What the scale knows about an idle timer.
template <class Core>
struct idle_entry : boost::intrusive::list_base_hook<> {
    using duration = typename Core::duration;
    using time_point = typename Core::time_point;

    idle_entry(const activity<Core>& a, typename Core::state& s, duration p)
        : last_activity(&a), timer(s), period(p) {}

    /// When the period ends, shortened by `scale`.
    [[nodiscard]] time_point expiry(double scale) const noexcept { return expiry(scale, 1); }

    /// When so many periods are over.
    [[nodiscard]] time_point expiry(double scale, std::size_t periods) const noexcept {
        const duration one = period_at(scale);
        using rep = typename duration::rep;
        const bool endless = one > (duration::max)() / static_cast<rep>(periods);
        return add_saturating(last_activity->last(),
                              endless ? (duration::max)() : one * static_cast<rep>(periods));
    }

    /// How many periods are over.
    [[nodiscard]] std::size_t periods(double scale, time_point now) const noexcept {
        return static_cast<std::size_t>(until_or_zero(last_activity->last(), now) /
                                        period_at(scale));
    }

    // The owner is the idle timer. It writes these under the scale's lock, and may read them
    // without it.
    const activity<Core>* last_activity;
    typename Core::state& timer;
    duration period;
    bool listed = false; ///< Whether it is in the list. The owner's, until the context ends.

private:
    [[nodiscard]] duration period_at(double scale) const noexcept {
        using exact = std::chrono::duration<double, typename duration::period>;
        return scale == 1 ? period : ceil_saturating<duration>(exact(period) * scale);
    }
};

/// A service of the execution context.
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

    /// Called by an idle timer after it has started a wait. `factor` is the value of scale() that
    /// it used. If the walk has passed the timer before the wait started, this reads the new
    /// factor: both have taken the wheel's lock in between, which orders them.
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

    /// Call it only if the entry is listed. Otherwise the scale may have ended.
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

    /// Called when the owner of the entry has moved. Call it only if the entry is listed. Otherwise
    /// the scale may have ended.
    void move(entry& e, const activity<core_type>& last_activity) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        e.last_activity = &last_activity;
    }

private:
    // The context ends. After this no entry is listed, so no idle timer uses the scale.
    void shutdown() noexcept override {
        while (clear_slice()) {
        }
    }

    using list = boost::intrusive::list<entry, boost::intrusive::constant_time_size<false>>;

    // The operation of a slice that is queued.
    class walk_op : public operation {
    public:
        explicit walk_op(idle_scale& self) noexcept : operation(&walk_op::run), self_(self) {}

    private:
        static void run(void* queue, operation* op, const boost::system::error_code&, std::size_t) {
            if (queue != nullptr) {
                idle_scale& self = static_cast<walk_op*>(op)->self_;
                std::unique_lock<optional_mutex> lock(self.mutex_);
                BOOST_ASSERT(self.walk_queued_);
                self.walk_queued_ = false;
                self.walk(lock);
            }
        }

        idle_scale& self_;
    };

    // Removes one slice of the entries. Returns whether there are more.
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

    // Runs one slice. Releases the lock if there are more.
    void walk(std::unique_lock<optional_mutex>& lock) noexcept {
        BOOST_ASSERT(!walk_queued_);
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
    typename list::iterator walk_position_ = entries_.end(); // The next entry of the walk.
    bool closed_ = false;      // The context ends: the list takes no entries any more.
    bool walk_queued_ = false; // The next slice is in the context's queue.
    // Written under the lock. on_wait_started() says what orders a reading without the lock.
    atomic<double> scale_{1};
    context_queue queue_;
    std::optional<walk_op>
        walk_op_; // Made by the first walk of several slices: few programs need it.
};

} // namespace asio_wheel::detail

#endif
