// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The core of a wheel's service: one wheel, one driver timer, one lock, and the way of a wait from
// its timer to its handler.
//
// Ground rules.
//
//  1. The lock guards the wheel, the driver, and the waits that are due. It is held for O(1) work,
//     or for one slice of `budget` entries. The owner of a timer does not need the lock for a
//     change that leaves the wheel as it is. So it can start a wait on a timer that is filed early
//     enough. And it can cancel and postpone a wait that nobody else can cancel. timer_entry.hpp
//     has the states.
//  2. No code of the user runs under the lock: no handler, no constructor or destructor of one, no
//     allocator, no executor. Under the lock, the core only collects what goes into the context's
//     queue. ~locked puts it there after releasing the lock.
//  3. A wait that is due or aborted goes into the context's queue itself. So n waits are n handlers
//     of the context for stop(), run_one(), exceptions and other threads.
//  4. Until claim(), a wait that is due belongs to the core. It can still be aborted, or be
//     postponed and wait again. claim() and the result are one step under the lock. So handlers see
//     exactly what cancel() has counted. A wait in location::queue_final is out of everybody's
//     reach, and needs no lock.
//  5. A wait counts as work of the context, as Asio's waits do: from its start until it has
//     returned from the context's queue. On its way through another executor it does not count,
//     because that executor counts it. The driver's wait and the rest of a turn do not count: waits
//     that do are pending as long as these are needed.
//  6. While any wait is pending, the driver is armed for the next expiry or earlier. It is moved
//     earlier at once. It is never moved later: it wakes up, and is armed anew. When no wait is
//     pending, the driver is disarmed and `idle_` is set. A thread that starts a wait without the
//     lock must not look at it again: see timer_entry.hpp. It looks at `idle_` alone, and if that
//     is set, takes the lock and arms the driver. All else is up to those that walk the wheel, and
//     find the wait there: the next tick, drain(), and the end of the context. No wait is pending
//     if as many have ended as were started. A thread checks that when it has ended as many as it
//     has started, and each wake-up checks it.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/core/core_lifetime.hpp>
#include <asio_wheel/detail/core/measured.hpp>
#include <asio_wheel/detail/core/op_list.hpp>
#include <asio_wheel/detail/core/probe.hpp>
#include <asio_wheel/detail/core/spare_timers.hpp>
#include <asio_wheel/detail/core/stall_guard.hpp>
#include <asio_wheel/detail/core/thread_counts.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/turn_share.hpp>
#include <asio_wheel/detail/core/visit_count.hpp>
#include <asio_wheel/detail/core/wheel_clock.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/detail/service/driver.hpp>
#include <asio_wheel/detail/service/handler_ops.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/pending.hpp>
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
#include <thread>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

template <class Clock, class WaitTraits>
class wheel_core {
public:
    using clock = Clock;
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using state = timer_state<Clock>;

    wheel_core(boost::asio::execution_context& context, const wheel_options& options)
        : options_(with_real_tick(options)),
          lifetime_(new core_lifetime<wheel_core>(*this, options.locking)),
          lock_free_(options.max_pending == 0 && decltype(state::expiry)::is_atomic),
          anchor_(*this), clock_(anchor().time, options.tick), queue_(context),
          counts_(options.locking),
          wheel_(options.slots, options.levels, &wheel_core::query_deadline, this),
          due_(options.budget), order_(options.budget), share_(options.budget),
          stall_(options.stall), driver_(context), rest_of_turn_(*this) {
        if (options.measure_handlers) {
            handler_delay_ = std::make_unique<lateness_histogram>();
        }
    }

    wheel_core(const wheel_core&) = delete;
    wheel_core& operator=(const wheel_core&) = delete;

    ~wheel_core() {
        destroy_all(); // What handlers started while shutdown() destroyed them.
        const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
        lifetime_->core = nullptr;
    }

    [[nodiscard]] time_point now() const { return clock_.now(); }
    [[nodiscard]] time_point corrected(time_point real) const { return clock_.corrected(real); }
    [[nodiscard]] wheel_anchor<wheel_core>& anchor() const noexcept { return *anchor_; }
    [[nodiscard]] const wheel_options& options() const noexcept { return options_; }

    // For timers. One thread at a time may use a timer; several threads may use different timers.
    void schedule(state& s, wait_op& op) noexcept;
    std::size_t cancel(state& s) noexcept;
    std::size_t cancel_one(state& s) noexcept;
    std::size_t set_expiry(state& s, time_point expiry) noexcept;
    std::size_t postpone(state& s, time_point expiry) noexcept;
    void bring_forward(state& s, time_point expiry) noexcept; // By any thread; never later.

    // While wheel_time::wants_touches(): a touch makes the expiry later of a wait that is pending,
    // without moving it. By any thread.
    void touched(state& s) noexcept;
    void move(state& from, state& to) noexcept;
    void remove(state& s) noexcept; // Before its end.

    // Removes the one wait on the timer of an operation that has ended. Returns the wait, which the
    // caller destroys. Returns null if the wait was delivered, or will be delivered as aborted.
    [[nodiscard]] wait_op* withdraw(state& s) noexcept;

    // A timer that another operation of the calling thread has used. Null if there is none.
    [[nodiscard]] spare_timer* take_spare() noexcept;
    // Keeps the timer of an operation that has ended. False if there are enough.
    [[nodiscard]] bool keep_spare(spare_timer& t) noexcept;

    // For cancellation slots.
    void bind(cancel_link& link, slotted_op& op) noexcept;
    void unbind(cancel_link& link) noexcept;
    void cancel(cancel_link& link) noexcept;

    // For operations that the context runs or destroys.
    [[nodiscard]] bool dispatch(wait_op& op) noexcept;
    void dispatch_later(wait_op& op) noexcept;
    [[nodiscard]] bool prepare_destroy(wait_op& op) noexcept;

    // For operations that arrive at their handler's executor. The core may have ended.
    enum class arrival {
        waits,   ///< The caller must not touch it: it waits again, or is on its way.
        claimed, ///< The caller completes it.
        dropped  ///< The caller destroys it.
    };
    [[nodiscard]] static arrival arrive(const lifetime_ptr<wheel_core>& lifetime,
                                        wait_op& op) noexcept;
    static void abandon(const lifetime_ptr<wheel_core>& lifetime, wait_op& op) noexcept;
    [[nodiscard]] const lifetime_ptr<wheel_core>& lifetime() const noexcept { return lifetime_; }

    // Something has expired for the user, on a thread that may use timers. For the kinds where the
    // delivery of a wait does not mean that.
    void expired(wait_kind kind) noexcept {
        BOOST_ASSERT(!expires_when_delivered(kind));
        counts_.here().expired(kind);
    }

    // For the service.
    class pending_walk; // See wheel_core_pending.hpp.
    [[nodiscard]] wheel_occupancy occupancy(std::size_t most_cells) const;
    [[nodiscard]] wake_up_history::counts recent_wake_ups() const;
    [[nodiscard]] recent_lateness lateness();
    [[nodiscard]] wheel_stats stats() const;
    [[nodiscard]] std::size_t pending() const;
    [[nodiscard]] bool paused() const noexcept { return clock_.paused(); }
    void pause(time_point at) noexcept; // At a time that it has shown, or at any if it is new.
    void resume() noexcept;
    void after_fork(); // In the child.
    std::size_t advance_to(time_point t);
    std::size_t advance_to_next();
    /// Up to where paused time can be moved at once: no wait is due before, and those that are due
    /// then are the next. But if the tick of the next wait has not begun, it is the first time in
    /// that tick. None if no wait will ever be due.
    [[nodiscard]] std::optional<time_point> next_step();
    std::vector<time_point> drain();
    void destroy_all() noexcept;

    // See wheel_core_scopes.hpp.
    class handler_scope;
    class delivery;

private:
    class locked;
    class visit;
    class sole_use;

    struct walk_turns {
        mutex one; // Taken before the lock, and held while code of the user runs.
        std::atomic<std::thread::id> walker; // The thread that holds it.
    };

    // What is counted under the lock.
    struct totals {
        std::uint64_t peak_pending = 0;
        std::uint64_t rejected = 0;
        std::uint64_t cascaded = 0; // By the core itself, not inside of the wheel.
        std::uint64_t wake_ups = 0;
        std::uint64_t spurious_wake_ups = 0;
    };

    // The result of one slice of a turn.
    struct slice {
        std::size_t due;       // Waits that became due.
        std::size_t looked_at; // Entries.
        bool more;             // Whether the budget ended before the work did.
    };

    // What follows the last turn.
    //
    //   from     to       when
    //   nothing  running  the driver wakes the wheel up
    //            queued   a wait is due when it starts; a wait ends its work outside of the context
    //   queued   running  its turn in the context's queue comes
    //   running  nothing  the turn ends, and nothing that is due is left: the driver is armed
    //            queued   the turn ends, and something is left
    //            wanted   between two slices, the same happens as in the second row
    //   wanted   queued   the turn ends
    enum class rest : std::uint8_t { nothing, queued, running, wanted };

    using timer_list =
        boost::intrusive::list<timer_entry, boost::intrusive::constant_time_size<false>>;

    struct due_timer {
        time_point expiry;
        std::size_t place; // Among those that the wheel has handed out.
        state* timer;

        friend bool operator<(const due_timer& a, const due_timer& b) noexcept {
            return a.expiry < b.expiry || (a.expiry == b.expiry && a.place < b.place);
        }
    };

    // The place in the context's queue of the next turn, if one follows without a wake-up.
    class rest_of_turn : public operation {
    public:
        explicit rest_of_turn(wheel_core& core) noexcept
            : operation(&rest_of_turn::run), core_(core) {}

    private:
        static void run(void* queue, operation* self, const boost::system::error_code&,
                        std::size_t) {
            if (queue != nullptr) {
                static_cast<rest_of_turn*>(self)->core_.on_rest_of_turn();
            }
        }

        wheel_core& core_;
    };

    [[nodiscard]] static wheel_options with_real_tick(wheel_options options) noexcept {
        options.tick = wheel_clock<Clock>::tick_for(options.tick);
        return options;
    }

    // Without the lock, by the timer's owner:
    [[nodiscard]] bool start_unlocked(state& s, wait_op& op) noexcept;
    [[nodiscard]] wait_op* end_unlocked(state& s) noexcept;
    [[nodiscard]] bool abort_unlocked(state& s) noexcept;
    [[nodiscard]] operation& aborted(wait_op& op) noexcept;
    [[nodiscard]] bool is_filed_for(const state& s, time_point expiry) const noexcept;

    template <class Finish>
    std::size_t abort_all(state& s, const char* purpose, Finish finish) noexcept;
    void on_wake_up(std::uint64_t turn);
    void on_rest_of_turn();

    // With the lock. turn() releases it between slices, and run_first() for good.
    void file(state& s) noexcept;
    void note_moved(const state& s) noexcept;
    [[nodiscard]] static std::int64_t second_of(time_point t) noexcept;
    void add_dispatched(timer_entry& entry) noexcept;
    void remove_dispatched(timer_entry& entry) noexcept;
    void settle_life(timer_entry& entry) noexcept;
    void set_idle_expiry(state& s, time_point expiry) noexcept;
    void attach(state& s, wait_op& op) noexcept;
    void detach(wait_op& op) noexcept;
    static void disconnect_slot(wait_op& op) noexcept;
    void detach_and_unfile(wait_op& op) noexcept;
    void abort(wait_op& op) noexcept;
    std::size_t abort_some(timer_entry& entry, std::size_t most) noexcept;
    std::size_t refile(state& s) noexcept;
    void unfile(timer_entry& entry) noexcept;
    [[nodiscard]] static tick_t query_deadline(void* core, wheel_entry& entry) noexcept;
    [[nodiscard]] bool take_over(state& s) noexcept;
    [[nodiscard]] bool becomes_due(state& s, time_point now) noexcept;
    bool file_again(state& s) noexcept;
    [[nodiscard]] operation* wake_up(locked& guard, time_point now);
    [[nodiscard]] bool is_stall(std::chrono::nanoseconds late) const noexcept;
    [[nodiscard]] bool gives_way(std::chrono::nanoseconds late) noexcept;
    [[nodiscard]] std::chrono::nanoseconds busy_until(time_point now) const noexcept;
    [[nodiscard]] operation* turn(locked& guard, time_point until, std::size_t entries);
    [[nodiscard]] bool must_end_turn() const noexcept;
    slice collect(time_point now) noexcept;
    std::size_t expire(state& s, time_point now) noexcept;
    [[nodiscard]] static bool is_due(time_point expiry, time_point now) noexcept;
    bool find_first(tick_t tick, std::optional<time_point>& first) noexcept;
    void begin_pass() noexcept;
    [[nodiscard]] tick_t tick_at(time_point now) const noexcept;
    bool follow_set_back(time_point now) noexcept;
    void make_ready(wait_op& op, wait_op::result_state how) noexcept;
    void take_back(wait_op& op) noexcept;
    void refuse(wait_op& op, wait_op::result_state why) noexcept;
    void run_first(locked& guard, operation* first, bool counts);
    void begin_to_close() noexcept;
    [[nodiscard]] bool each_counts() const noexcept { return ends_without_work && closing_; }
    void forget_work() noexcept;
    [[nodiscard]] bool claim_in_queue(wait_op& op, thread_block& counts) noexcept;
    void note_turn_of(const operation& op) noexcept;
    [[nodiscard]] static bool is_its_turn(wait_op& op) noexcept;
    void queue_final(wait_op& op) noexcept;
    void claim(wait_op& op, thread_block& counts) noexcept;
    void note_lateness(const state& s) noexcept;
    void arm();
    void keep_armed() noexcept;
    void want_turn(time_point now) noexcept;
    void queue_rest() noexcept;
    void end_stall() noexcept;
    void note_jump(time_point now) noexcept;
    void note_saved(time_point expiry) noexcept;
    [[nodiscard]] bool holds_back(const state& s) const noexcept;
    [[nodiscard]] bool become_idle() noexcept;
    [[nodiscard]] bool any_wait_pending() const noexcept;
    [[nodiscard]] bool may_be_all(const thread_block& counts, std::uint64_t waits) const noexcept;
    void note_crowd() noexcept;
    void note_peak(const thread_block& counts) noexcept;
    void release_work() noexcept;
    void require_paused() const;
    bool detach_some(op_list& doomed) noexcept;
    std::size_t detach(state& s, op_list& doomed, std::size_t most) noexcept;

    static constexpr std::size_t many = 16'384; // More operations than caches are likely to hold.
    // Windows: see begin_to_close().
    static constexpr bool ends_without_work = !context_queue::serves_thread_pools;
    static constexpr std::uint8_t max_queue_refs = (std::numeric_limits<std::uint8_t>::max)();

    // Used without the lock, and constant. Exceptions: in `counts_` each thread changes a cache
    // line of its own; the clock changes when it is paused or set back.
    const wheel_options options_;
    const lifetime_ptr<wheel_core> lifetime_;
    const bool lock_free_; // Whether timers can be used without the lock.
    const typename wheel_anchor<wheel_core>::owner anchor_;
    wheel_clock<Clock> clock_;
    context_queue queue_;
    mutable thread_counts counts_; // Who sums them up drops those of threads that have ended.

    // Read without the lock, and written under it. The litmus tests are in test/memory_model/.
    //
    alignas(64) visit_count visits_;
    // True if the driver is not armed because no wait is pending. A thread that starts a wait
    // without the lock must then take it. Either this thread sees the flag, or the thread that sets
    // the flag sees the new wait counted: see thread_count; litmus tests: start_idle,
    // start_idle_shared, start_idle_new_thread.
    atomic<bool> idle_{true};
    // True if there are more timers than caches are likely to hold.
    atomic<bool> crowded_{false};

    // Guarded by the lock.
    alignas(64) wheel wheel_;
    std::vector<wheel_entry*> due_; // Where a slice's expired entries are put,
    std::vector<due_timer> order_;  // and in which order they complete.
    rest rest_ = rest::nothing;
    bool rest_counts_ = false; // It counts as work by itself. Without, it needs waits that do.
    bool in_pass_ = false;     // The last slice did not finish its pass over what is due.
    bool stopped_ = false;     // drain() was called.
    bool closing_ = false;     // The context ends.
    tick_t seen_ = 0;          // The last reading of the clock.
    time_point pass_time_ = (time_point::min)(); // And the reading by the last slice.
    operation_batch ready_;                      // What is to go into the context's queue.
    timer_list dispatched_; // Timers that are not filed, with operations on their way elsewhere.
    std::size_t due_dispatched_ = 0; // How many due operations are on their way there.
    op_list unwanted_; // Operations started after the end. They are destroyed with the service.
    std::uint8_t walk_ = 0;      // The number of the walk that is under way, or 0.
    std::uint8_t last_walk_ = 0; // The number of the last walk. Read by walks without the lock.
    bool missed_ = false;        // This walk may have missed a timer that was moved.
    std::size_t unseen_ = 0;     // Waits that started since the peak was compared.
    turn_share<time_point> share_;
    stall_guard stall_;
    bool behind_ = false; // The last turn has left out what became due while others were busy.
    totals totals_;
    measured measured_;
    std::unique_ptr<lateness_histogram> handler_delay_; // Null unless it is asked for.
    driver<Clock, WaitTraits> driver_;
    std::size_t wake_ups_to_come_ = 0; // Handlers of the driver that have not been called yet.
    time_point driver_due_;            // When it comes, if the context is not late.
    rest_of_turn rest_of_turn_;

    walk_turns walks_;
};

} // namespace asio_wheel::detail

#include <asio_wheel/detail/service/wheel_core_scopes.hpp>

#include <asio_wheel/detail/service/wheel_core_delivery.hpp>
#include <asio_wheel/detail/service/wheel_core_pending.hpp>
#include <asio_wheel/detail/service/wheel_core_service.hpp>
#include <asio_wheel/detail/service/wheel_core_tick.hpp>
#include <asio_wheel/detail/service/wheel_core_timers.hpp>
#include <asio_wheel/detail/service/wheel_core_turn.hpp>
#include <asio_wheel/detail/service/wheel_core_waits.hpp>

#endif
