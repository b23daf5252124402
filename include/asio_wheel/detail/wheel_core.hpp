// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The mechanics of a wheel's service: one wheel, one driver, one lock, and the way from a due entry
// to its handler.
//
// Ground rules.
//
//  1. One lock guards everything here, and in the timers and operations, unless said otherwise. It
//     is held for O(1) work, or for one slice of `budget` entries.
//  2. No code of the user runs under it: no handler, nor its constructors and destructors, no
//     allocator, no executor. What has to go into the context's queue is noted under the lock, and
//     put there after it, by ~locked.
//  3. An operation that has become ready, by expiry or by cancellation, goes into the context's
//     queue itself. So n waits make n handlers of the context, which stop(), run_one(), exceptions
//     and other threads see as they are.
//  4. Until claim(), an operation that is due belongs to the service and can be decided otherwise:
//     aborted, or taken back to wait on. claim() and its result are one step under the lock, so what
//     cancel() has counted is what the handlers see. One that was decided before it went into the
//     queue is nobody's any more, and needs no lock.
//  5. The driver is armed for the next expiry, or earlier, as long as any operation waits, and so
//     keeps the context running; an operation in the queue does so by itself. The driver is moved
//     earlier at once, and never later: it finds that out when it wakes up. It is disarmed when no
//     operation waits, but only after the handler that was the last one has returned, since that
//     handler often starts the next wait ("settle").

#ifndef ASIO_WHEEL_DETAIL_WHEEL_CORE_HPP
#define ASIO_WHEEL_DETAIL_WHEEL_CORE_HPP

#include <asio_wheel/detail/context_queue.hpp>
#include <asio_wheel/detail/core_lifetime.hpp>
#include <asio_wheel/detail/driver.hpp>
#include <asio_wheel/detail/handler_ops.hpp>
#include <asio_wheel/detail/optional_mutex.hpp>
#include <asio_wheel/detail/sync.hpp>
#include <asio_wheel/detail/timer_entry.hpp>
#include <asio_wheel/detail/wait_op.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

template <class Clock, class WaitTraits>
class wheel_core {
public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using state = timer_state<Clock>;

    wheel_core(boost::asio::execution_context& context, const wheel_options& options)
        : options_(options), lifetime_(new core_lifetime<wheel_core>(*this, options.locking)),
          clock_(options.tick), wheel_(options.slots, options.levels), due_(options.budget),
          order_(options.budget), driver_(context), queue_(context), rest_of_tick_(*this) {}

    wheel_core(const wheel_core&) = delete;
    wheel_core& operator=(const wheel_core&) = delete;

    ~wheel_core() {
        destroy_all(); // What handlers started while shutdown() destroyed them.
        const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
        lifetime_->core = nullptr;
    }

    [[nodiscard]] time_point now() const { return clock_.now(); }
    [[nodiscard]] time_point corrected(time_point real) const { return clock_.corrected(real); }
    [[nodiscard]] const wheel_options& options() const noexcept { return options_; }

    // What timers do. `s` is used by one thread at a time; different timers by different threads.
    // All but schedule() are for timers that were linked a moment ago.
    void schedule(state& s, wait_op& op) noexcept;
    std::size_t cancel(state& s) noexcept;
    std::size_t cancel_one(state& s) noexcept;
    std::size_t set_expiry(state& s, time_point expiry) noexcept;
    std::size_t postpone(state& s, time_point expiry) noexcept;
    void bring_forward(state& s, time_point expiry) noexcept; // By anybody: if it waits for later.
    void move(state& from, state& to) noexcept;

    // What cancellation slots do.
    void bind(cancel_link& link, slotted_op& op) noexcept;
    void unbind(cancel_link& link) noexcept;
    void cancel(cancel_link& link) noexcept;

    // What operations do whose end makes a wait pointless. Gives back the wait, to be destroyed,
    // unless it is delivered as aborted, or was delivered already.
    [[nodiscard]] wait_op* withdraw(cancel_link& link) noexcept;

    // What operations do when the context runs or forgets them.
    [[nodiscard]] bool hop(wait_op& op) noexcept;
    void send_later(wait_op& op) noexcept;
    [[nodiscard]] bool forget(wait_op& op) noexcept;

    // What operations do at their handler's executor. The core may have ended.
    enum class arrival {
        waits,   ///< It was postponed on its way, and waits again.
        claimed, ///< It is the caller's, to be completed.
        dropped  ///< It is the caller's, to be destroyed.
    };
    [[nodiscard]] static arrival arrive(const lifetime_ptr<wheel_core>& lifetime,
                                        wait_op& op) noexcept;
    static void abandon(const lifetime_ptr<wheel_core>& lifetime, wait_op& op) noexcept;
    [[nodiscard]] const lifetime_ptr<wheel_core>& lifetime() const noexcept { return lifetime_; }

    // What the service does.
    [[nodiscard]] wheel_stats stats() const;
    [[nodiscard]] std::size_t pending() const;
    [[nodiscard]] bool paused() const noexcept { return clock_.paused(); }
    void pause() noexcept;
    void resume() noexcept;
    std::size_t advance_to(time_point t);
    std::size_t advance_to_next();
    std::vector<time_point> drain();
    void destroy_all() noexcept;

    // Is held while a thread of the context is busy for the wheel: settles when that has returned or
    // thrown, unless somebody else will.
    class handler_scope {
    public:
        explicit handler_scope(wheel_core& core, bool responsible = true) noexcept
            : core_(core), responsible_(responsible),
              decided_(core.decided_.load(std::memory_order_relaxed)) {
            core.lifetime_->mutex.enter("running handlers");
        }
        handler_scope(const handler_scope&) = delete;
        handler_scope& operator=(const handler_scope&) = delete;
        ~handler_scope() {
            // Unlocked, for whoever ends the last operation looks after doing so. What was decided
            // meanwhile will have its turn, and look then.
            if (responsible_ && core_.alive_.load(std::memory_order_relaxed) == 0 &&
                core_.decided_.load(std::memory_order_relaxed) == decided_) {
                const locked guard(core_, "running handlers");
                core_.settle();
            }
            core_.lifetime_->mutex.leave();
        }

    private:
        wheel_core& core_;
        const bool responsible_;
        const std::uint64_t decided_;
    };

    // An operation's turn in the context's queue. claimed() tells whether it is to be completed now;
    // else it is not the caller's.
    class delivery {
    public:
        delivery(wheel_core& core, wait_op& op) noexcept
            : delivery(core, op, op.way == wait_op::flight::decided) {}
        [[nodiscard]] bool claimed() const noexcept { return claimed_; }

    private:
        delivery(wheel_core& core, wait_op& op, bool decided) noexcept
            : claimed_(decided || core.claim(op)), scope_(core, !decided || core.is_last(op)) {}

        const bool claimed_;
        const handler_scope scope_;
    };

private:
    // What one slice of a tick came to.
    struct slice {
        std::size_t due; // Waits that became due.
        bool more;       // Whether the budget ended before the work did.
    };

    using timer_list =
        boost::intrusive::list<timer_entry, boost::intrusive::constant_time_size<false>>;

    struct due_timer {
        time_point expiry;
        state* timer;
    };

    // Holds the lock; puts into the context's queue, after releasing it, what has come together
    // meanwhile.
    class locked {
    public:
        // `purpose` tells what for, should there be a thread too many.
        locked(wheel_core& core, const char* purpose)
            : core_(core), lock_(core.lifetime_->mutex, std::defer_lock) {
            core.lifetime_->mutex.lock(purpose);
            lock_ = std::unique_lock(core.lifetime_->mutex, std::adopt_lock);
        }
        locked(const locked&) = delete;
        locked& operator=(const locked&) = delete;
        ~locked() {
            if (lock_.owns_lock()) {
                release();
            }
        }
        void release() noexcept {
            if (core_.ready_.empty()) {
                lock_.unlock();
            } else {
                core_.flush(lock_);
            }
        }

    private:
        wheel_core& core_;
        std::unique_lock<optional_mutex> lock_;
    };

    // Goes on with a tick that was not done with its first slice.
    class rest_of_tick : public operation {
    public:
        explicit rest_of_tick(wheel_core& core) noexcept
            : operation(&rest_of_tick::run), core_(core) {}

    private:
        static void run(void* queue, operation* self, const boost::system::error_code&,
                        std::size_t) {
            if (queue != nullptr) {
                static_cast<rest_of_tick*>(self)->core_.on_rest_of_tick();
            }
        }

        wheel_core& core_;
    };

    template <class Finish>
    std::size_t abort_all(state& s, const char* purpose, Finish finish) noexcept;
    void on_wake_up(std::uint64_t turn);
    void on_rest_of_tick();

    // All of these are called with the lock held; run_first() releases it.
    void file(state& s) noexcept;
    void list(timer_entry& entry) noexcept;
    void unlist(timer_entry& entry) noexcept;
    void relink(timer_entry& entry) noexcept;
    void attach(state& s, wait_op& op) noexcept;
    void detach(wait_op& op) noexcept;
    static void cut(wait_op& op) noexcept;
    void leave(wait_op& op) noexcept;
    void abort(wait_op& op) noexcept;
    std::size_t abort_some(timer_entry& entry, std::size_t most) noexcept;
    bool abort_unseen(timer_entry& entry) noexcept;
    std::size_t refile(state& s) noexcept;
    void unfile(timer_entry& entry) noexcept;
    void park(timer_entry& entry) noexcept;
    void unpark() noexcept;
    std::size_t tick() noexcept;
    slice collect(time_point now) noexcept;
    std::size_t expire(state& s, time_point now) noexcept;
    [[nodiscard]] static bool is_due(const state& s, time_point now) noexcept;
    bool find_first(tick_t tick, std::optional<time_point>& first) noexcept;
    void begin_pass() noexcept;
    [[nodiscard]] tick_t tick_at(time_point now) const noexcept;
    bool follow_set_back(time_point now) noexcept;
    void make_ready(wait_op& op, wait_op::outcome how) noexcept;
    void take_back(wait_op& op) noexcept;
    void refuse(wait_op& op, wait_op::outcome why) noexcept;
    void run_first(locked& guard);
    [[nodiscard]] bool claim(wait_op& op) noexcept;
    [[nodiscard]] static bool is_its_turn(wait_op& op) noexcept;
    [[nodiscard]] bool is_last(const wait_op& op) const noexcept;
    void send_decided(wait_op& op) noexcept;
    void send_decided(operation& at, const wait_op& op) noexcept;
    void take(wait_op& op) noexcept;
    void arm();
    void keep_armed() noexcept;
    void go_on_ticking() noexcept;
    void settle() noexcept;
    void flush(std::unique_lock<optional_mutex>& lock) noexcept;
    void require_paused() const;
    bool detach_some(op_list& doomed) noexcept;
    std::size_t detach(state& s, op_list& doomed, std::size_t most) noexcept;
    // Alive is an operation that needs the wheel and the context: one that waits, or is in the
    // queue and not decided yet.
    void count(std::ptrdiff_t change) noexcept {
        alive_.store(alive_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
                     std::memory_order_relaxed);
    }

    static constexpr std::size_t many = 16'384; // More operations than caches are likely to hold.
    static constexpr std::uint8_t max_places = std::numeric_limits<std::uint8_t>::max();

    const wheel_options options_;
    const lifetime_ptr<wheel_core> lifetime_;
    wheel_clock<Clock> clock_;
    wheel wheel_;
    std::vector<wheel_entry*> due_; // Where a slice's expired entries are put,
    std::vector<due_timer> order_;  // and in which order they complete.
    timer_entry* parked_ = nullptr; // The one timer that is filed though nobody waits for it.
    bool ticking_ = false;  // The rest of a tick is in the context's queue, or ready to go there.
    bool in_pass_ = false;  // The last slice did not finish its pass over what is due.
    bool stopped_ = false;  // drain() was called.
    bool closing_ = false;  // The context ends.
    tick_t seen_ = 0;       // What the clock showed when it was last looked at.
    operation_batch ready_; // What is to go into the context's queue.
    timer_list dispatched_; // Timers that are not filed, with operations on their way elsewhere.
    op_list unwanted_; // Operations started after the end. They are destroyed with the service.
    std::size_t pending_ = 0; // Operations attached to timers.
    // Written under the lock, read by anyone:
    atomic<std::size_t> alive_{0};        // See count().
    atomic<std::uint64_t> decided_{0};    // How many went into the queue as decided,
    atomic<const wait_op*> last_decided_; // and the last one of these.
    wheel_stats stats_;
    driver<Clock, WaitTraits> driver_;
    context_queue queue_;
    rest_of_tick rest_of_tick_;
};

} // namespace asio_wheel::detail

#include <asio_wheel/detail/impl/wheel_core_delivery.hpp>
#include <asio_wheel/detail/impl/wheel_core_service.hpp>
#include <asio_wheel/detail/impl/wheel_core_timers.hpp>

#endif
