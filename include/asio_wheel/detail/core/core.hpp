// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The core of a wheel's service: its lock, and what is done under it.
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
//  4. Until it is claimed, a wait that is due belongs to the core. It can still be aborted, or be
//     postponed and wait again. The claim and the result are one step under the lock. So handlers
//     see exactly what cancel() has counted. A wait in location::queue_final is out of everybody's
//     reach, and needs no lock.
//  5. A wait counts as work of the context, as Asio's waits do: from its start until it has
//     returned from the context's queue. On its way through another executor it does not count,
//     because that executor counts it. Neither the driver's wait nor a queued turn counts; whenever
//     one is needed, a wait that counts is pending.
//  6. While any wait is pending, the driver is armed for the next expiry or earlier. It is moved
//     earlier at once. It is never moved later: it wakes up, and is armed anew. When no wait is
//     pending, the driver is disarmed and `idle_` is set. A thread that starts a wait without the
//     lock must not look at it again: see timer_entry.hpp. It looks at `idle_` alone, and if that
//     is set, takes the lock and arms the driver. All else is up to those that walk the wheel, and
//     find the wait there: the next tick, drain(), and the end of the context. No wait is pending
//     if as many have ended as were started. A thread checks that when it has ended as many as it
//     has started, and each wake-up checks it. Where an armed driver is work of the context, the
//     end of each handler may have to: see must_not_guess().

#ifndef ASIO_WHEEL_DETAIL_CORE_CORE_HPP
#define ASIO_WHEEL_DETAIL_CORE_CORE_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/core_lock.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/probe.hpp>
#include <asio_wheel/detail/core/spare_timers.hpp>
#include <asio_wheel/detail/core/thread_counts.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/visit_count.hpp>
#include <asio_wheel/detail/core/wait_list.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/core/wake_up_history.hpp>
#include <asio_wheel/detail/core/wheel_clock.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/assert.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace asio_wheel::detail {

struct measured_tag; // See tag_meter.hpp.

class core {
public:
    /// `misuse`: see optional_mutex. The ports need not exist before this returns.
    core(const wheel_options& options, const clock_port& unit, wheel_anchor::list& anchors,
         queue_port& queue, driver_port& driver, optional_mutex::complaint misuse);
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core();

    [[nodiscard]] wheel_anchor& anchor() const noexcept { return *anchor_; }
    [[nodiscard]] const wheel_options& options() const noexcept { return options_; }
    [[nodiscard]] const core_lock_ptr& shared_lock() const noexcept { return lock_; }

    // ---- For timers. One thread at a time may use a timer; several may use different ones.

    // Without the lock. start_unlocked() is false, and end_unlocked() null, if it takes the lock.
    [[nodiscard]] bool start_unlocked(timer_state& s, wait_node& wait) noexcept;
    /// Ends the wait of a timer in the state `waiting`.
    [[nodiscard]] wait_node* end_unlocked(timer_state& s) noexcept;
    [[nodiscard]] bool is_crowded() const noexcept {
        return crowded_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool set_expiry_unlocked(timer_state& s, time_count expiry) noexcept;
    /// Returns how many waits it has moved.
    std::size_t postpone(timer_state& s, time_count expiry) noexcept;

    // With the lock.
    void start(timer_state& s, wait_node& wait) noexcept;
    /// Each of these returns how many waits were aborted.
    std::size_t abort_all(timer_state& s) noexcept;
    std::size_t abort_first(timer_state& s) noexcept;
    std::size_t set_expiry(timer_state& s, time_count expiry) noexcept;
    void bring_forward(timer_state& s, time_count expiry) noexcept; // By any thread; never later.
    /// While wheel_time::wants_touches(): a touch makes the expiry later of a wait that is pending,
    /// without moving it. By any thread.
    void touched(timer_state& s) noexcept;
    /// Puts `to`, whose life is `inactive`, in the place of `from`.
    void move(timer_state& from, timer_state& to) noexcept;
    void remove(timer_state& s) noexcept; // Before its end.
    /// Removes the one wait on the timer of an operation that has ended. Returns the wait, which
    /// the caller destroys. Returns null if it was delivered, or will be delivered as aborted.
    [[nodiscard]] wait_node* withdraw(timer_state& s) noexcept;

    // A timer that another operation of the calling thread has used. Null if there is none.
    [[nodiscard]] spare_timer* take_spare() noexcept;
    // Keeps the timer of an operation that has ended. False if there are enough.
    [[nodiscard]] bool keep_spare(spare_timer& t) noexcept;

    // ---- For cancellation slots.

    /// Before the wait starts.
    static void bind(cancel_link& link, slotted_node& wait) noexcept {
        link.wait.store(&wait, std::memory_order_relaxed);
        wait.cancel = &link;
    }
    void unbind(cancel_link& link) noexcept;
    void cancel(cancel_link& link) noexcept;

    // ---- For what the context runs or destroys.

    class handler_scope; // See core_unlocked.hpp.
    /// A wait's turn in the queue. True if the caller completes it. Else it must not touch it.
    /// The scope measures the handler, if that is asked for.
    [[nodiscard]] bool claim_in_queue(wait_node& wait, handler_scope& scope) noexcept;
    /// The same for a wait whose handler has another executor. True if the caller dispatches it.
    [[nodiscard]] bool dispatch(wait_node& wait) noexcept;
    /// There was no memory to dispatch it. It goes to the end of the queue, and tries again.
    void dispatch_later(wait_node& wait) noexcept;
    /// The context destroys a wait without calling its handler. True if the caller frees it: false
    /// as long as the queue has other references to it.
    [[nodiscard]] bool prepare_destroy(wait_node& wait) noexcept;
    /// Each of these returns the first wait that it made ready, or what stands for it. The context
    /// completes that. Null if nothing became due.
    [[nodiscard]] void* on_wake_up(std::uint64_t turn) noexcept;
    [[nodiscard]] void* on_turn() noexcept;

    // ---- For waits that arrive at their handler's executor. The core may have ended.

    enum class arrival : std::uint8_t {
        waits,   ///< The caller must not touch it: it waits again, or is on its way.
        claimed, ///< The caller completes it.
        dropped  ///< The caller destroys it.
    };
    [[nodiscard]] static arrival arrive(const core_lock_ptr& shared, wait_node& wait) noexcept;
    /// The executor has dropped the wait, because its context has ended.
    static void abandon(const core_lock_ptr& shared, wait_node& wait) noexcept;

    // ---- For the service.

    /// Something has expired for the user, on a thread that may use timers. For the kinds where the
    /// delivery of a wait does not mean that.
    void expired(wait_kind kind) noexcept {
        BOOST_ASSERT(!expires_when_delivered(kind));
        counts_.here().expired(kind);
    }

    class pending_walk; // See pending_walk.hpp.
    [[nodiscard]] wheel_occupancy occupancy(std::size_t most_cells) const;
    [[nodiscard]] wake_up_history::counts recent_wake_ups() const;
    [[nodiscard]] recent_lateness lateness();
    [[nodiscard]] wheel_stats stats() const;
    [[nodiscard]] std::vector<tag_stats> stats_by_tag() const;
    [[nodiscard]] std::size_t pending() const;

    [[nodiscard]] const clock_port& unit() const noexcept { return clock_.unit(); }
    [[nodiscard]] time_count now() const { return clock_.now(); }
    [[nodiscard]] bool paused() const noexcept { return anchor_->time.paused(); }
    void pause();                       // At the time that it shows.
    void pause(time_count at) noexcept; // At a time that it has shown, or at any if it is new.
    void resume() noexcept;
    std::size_t advance_to(time_count t);
    std::size_t advance_to_next();
    /// Up to where paused time can be moved at once: no wait is due before, and those that are due
    /// then are the next. But if the tick of the next wait has not begun, it is the first time in
    /// that tick. None if no wait will ever be due.
    [[nodiscard]] std::optional<time_count> next_step();

    void after_fork(); // In the child.
    /// No wait starts from now on. Returns how many there may be.
    std::size_t stop() noexcept;
    void undo_stop() noexcept; // There is no memory for what follows.
    /// Then: one slice of the end of all waits. Puts their expiries into `expiries`, which has room
    /// for `budget`. Returns how many these are; `more` is set if there is another slice.
    [[nodiscard]] std::size_t drain(std::span<time_count> expiries, bool& more) noexcept;
    /// One slice of the end of the context: detaches waits from their timers. Those at a timer go
    /// into `doomed`, which the caller destroys. The context destroys those in its queue. Those on
    /// the way to another executor go on, and that executor calls their handlers. False if there
    /// was nothing to do.
    bool end(wait_list& doomed) noexcept;
    /// The last call: nothing refers to the core any more.
    void end() noexcept;

private:
    friend struct core_inspector; // Defined by a test, to see the states.

    struct guarded; // What the lock guards: see core_guarded.hpp.
    // See core_scopes.hpp and core_unlocked.hpp.
    class locked;
    class visit;
    class sole_use;

    // What those without the lock do if they have to take it.
    void arm_for_new_wait() noexcept;
    [[nodiscard]] bool was_cancelled(timer_state& s) noexcept;
    std::size_t postpone(timer_state& s, time_count expiry, time_count before) noexcept;
    void disarm_if_idle() noexcept;
    void note_run(measured_tag& of, time_count began) noexcept;

    template <class Finish>
    std::size_t abort_all(timer_state& s, const char* purpose, Finish finish) noexcept;
    [[nodiscard]] bool must_not_guess() const noexcept;

    // Used without the lock, and constant. Exceptions: in `counts_` each thread changes a cache
    // line of its own; the time changes when it is paused or set back.
    const wheel_options options_;
    const core_lock_ptr lock_;
    const bool lock_free_; // Whether timers can be used without the lock.
    const wheel_anchor::owner anchor_;
    queue_port& queue_;
    wheel_clock clock_;
    mutable thread_counts counts_; // Who sums them up drops those of threads that have ended.
    const std::unique_ptr<guarded> guarded_;

    // Read without the lock, and written under it. The litmus tests are in test/memory_model/.
    //
    alignas(64) visit_count visits_;
    // True if no wait is pending, and the driver is not armed. A thread that starts a wait without
    // the lock reads this flag after it has counted the wait. If the flag is set, the thread takes
    // the lock, and arms the driver. Either this thread sees the flag, or the thread that sets the
    // flag sees the new wait counted: see thread_count; litmus tests: start_idle,
    // start_idle_shared, start_idle_new_thread. For a moment, it may be set though a wait is
    // pending: see become_idle().
    atomic<bool> idle_{true};
    // True once a wait was sent to another executor.
    atomic<bool> has_dispatched_{false};
    // True if there are more timers than caches are likely to hold.
    atomic<bool> crowded_{false};
};

} // namespace asio_wheel::detail

#include <asio_wheel/detail/core/core_unlocked.hpp>

#endif
