// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One factor that shortens the idle periods of a wheel: those of idle timers, and of streams.
//
// A smaller factor makes pending waits end earlier, and the wheel cannot find these waits by
// itself. So the scale has a list of what has an idle period. When the factor is set, it walks the
// list and brings the waits forward. It does so in slices of `budget` waits: the first slice
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
// The lock of the scale guards the list, the walk and what the scale reads of an idle timer. It is
// taken before the locks of streams and of the wheel.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_IDLE_SCALE_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_IDLE_SCALE_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

namespace asio_wheel::detail {

/// `period`, shortened by `scale`, but not to less than `least`. A period that is shorter by itself
/// stays, and so does the longest one, which is none.
template <class Duration>
[[nodiscard]] Duration scaled_period(Duration period, double scale, Duration least) noexcept {
    using exact = std::chrono::duration<double, typename Duration::period>;
    return scale == 1 || period == (Duration::max)()
               ? period
               : (std::max)(ceil_saturating<Duration>(exact(period) * scale),
                            (std::min)(period, least));
}

/// What the scale knows about a wait for the end of an idle period.
template <class Core>
struct scaled_wait : boost::intrusive::list_base_hook<> {
    /// When the wait has to end with this scale. Called under the scale's lock, by any thread.
    using expiry_function = typename Core::time_point (*)(scaled_wait&, double) noexcept;

    scaled_wait(typename Core::state& s, expiry_function f) noexcept : timer(s), expiry_at(f) {}

    typename Core::state& timer;
    expiry_function expiry_at;
    bool listed = false; ///< Whether it is in the list. The owner's, until the context ends.
};

/// A service of the execution context.
template <class Clock>
class idle_scale : public boost::asio::execution_context::service {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;
    using entry = scaled_wait<core_type>;

public:
    using key_type = idle_scale;
    static inline boost::asio::execution_context::id id;

    explicit idle_scale(boost::asio::execution_context& context)
        : service(context), core_(core_access::of(use_wheel<Clock>(context))),
          mutex_(core_.options().locking), queue_(context) {}

    [[nodiscard]] double scale() const noexcept { return scale_.load(std::memory_order_relaxed); }

    void scale(double factor) noexcept {
        std::unique_lock<optional_mutex> lock(mutex_);
        scale_.store(factor, std::memory_order_seq_cst);
        start_walk(lock);
    }

    /// Called by an idle timer after it has started a wait. `factor` is the value of scale() that
    /// it used. If the walk has passed the timer before the wait started, this reads the new
    /// factor.
    void on_wait_started(double factor) noexcept {
        if (scale_.load(std::memory_order_seq_cst) < factor) {
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

    /// Calls f(), which changes what entries read, under the lock. Call it only if the entry is
    /// listed. Otherwise the scale may have ended.
    template <class Function>
    void change(Function f) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        f();
    }

private:
    // The context ends. After this no entry is listed, so nothing uses the scale.
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
            core_.bring_forward(e.timer, e.expiry_at(e, factor));
        }
        if (walk_position_ != entries_.end()) {
            walk_queued_ = true;
            operation_batch batch;
            batch.push(walk_op_ ? *walk_op_ : walk_op_.emplace(*this));
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
    // Written under the lock. What orders a reading without the lock is in the litmus test
    // start_scale.
    atomic<double> scale_{1};
    context_queue queue_;
    std::optional<walk_op>
        walk_op_; // Made by the first walk of several slices: few programs need it.
};

} // namespace asio_wheel::detail

#endif
