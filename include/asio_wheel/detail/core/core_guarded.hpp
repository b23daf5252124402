// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the lock of a core guards, and what is done under it. Only the compiled library knows this:
// programs that use timers see core.hpp.
//
// Nothing here takes the lock. Who holds it, a core::locked, gets here. Only turn() releases it,
// between two slices.

#ifndef ASIO_WHEEL_DETAIL_CORE_CORE_GUARDED_HPP
#define ASIO_WHEEL_DETAIL_CORE_CORE_GUARDED_HPP

#include <asio_wheel/detail/core/alarm.hpp>
#include <asio_wheel/detail/core/book.hpp>
#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/delivery.hpp>
#include <asio_wheel/detail/core/measured.hpp>
#include <asio_wheel/detail/core/next_turn.hpp>
#include <asio_wheel/detail/core/stall_guard.hpp>
#include <asio_wheel/detail/core/tag_meter.hpp>
#include <asio_wheel/detail/core/turn_share.hpp>
#include <asio_wheel/detail/core/wait_list.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/stats.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace asio_wheel::detail {

struct alignas(64) core::guarded {
    // What one slice has done.
    struct progress {
        std::size_t due; // Waits.
        std::size_t looked_at;
        bool more;
    };

    // For wheel_options::measure_handlers.
    struct measured_handlers {
        lateness_histogram delay;
        tag_meter tags;
    };

    struct walk_turns {
        mutex one; // Taken before the lock, and held while code of the user runs.
        std::atomic<std::thread::id> walker; // The thread that holds it.
    };

    guarded(core& c, driver_port& driver);

    [[nodiscard]] const clock_port& unit() const noexcept { return clock_.unit(); }
    [[nodiscard]] time_count now() const { return clock_.now(); }
    [[nodiscard]] bool paused() const noexcept { return clock_.paused(); }
    [[nodiscard]] bool stopped() const noexcept { return stops_ != 0; }
    [[nodiscard]] outbox& out() noexcept { return delivery_.out(); }

    // Timers and waits.
    void start(timer_state& s, wait_node& wait) noexcept;
    void file(timer_state& s) noexcept;
    void refile(timer_state& s) noexcept;
    std::size_t abort_some(timer_state& s, std::size_t most) noexcept;
    void abort(wait_node& wait) noexcept;
    [[nodiscard]] bool was_cancelled(const timer_state& s) noexcept;
    [[nodiscard]] wait_node* withdraw(timer_state& s) noexcept;
    std::size_t postpone(timer_state& s, time_count expiry, time_count before) noexcept;
    void bring_forward(timer_state& s, time_count expiry) noexcept;
    void touched(timer_state& s) noexcept;
    void move(timer_state& from, timer_state& to) noexcept;
    void make_ready(wait_node& wait, wait_node::result_state how) noexcept;
    void refuse(const timer_state& s, wait_node& wait, wait_node::result_state why) noexcept;
    void claim(wait_node& wait, handler_scope* scope) noexcept;
    void note_end_elsewhere() noexcept;
    std::size_t detach_some(timer_state& s, wait_list& doomed, std::size_t most) noexcept;
    void note_crowd() noexcept;
    void note_peak(const thread_block& counts) noexcept;

    // Turns. turn() releases the lock between slices.
    [[nodiscard]] void* on_wake_up(locked& guard, std::uint64_t turn) noexcept;
    [[nodiscard]] void* on_turn(locked& guard) noexcept;
    [[nodiscard]] void* wake_up(locked& guard, time_count now) noexcept;
    [[nodiscard]] void* turn(locked& guard, time_count until, std::size_t entries,
                             bool completes_first) noexcept;
    std::size_t expire(timer_state& s, time_count now) noexcept;
    progress slice(time_count now) noexcept;
    [[nodiscard]] bool must_end_turn() const noexcept;
    void count_turn(void* first, bool counts) noexcept;
    void want_turn(time_count now) noexcept;
    void queue_turn() noexcept;
    [[nodiscard]] bool aborted_since() const noexcept;
    [[nodiscard]] bool is_stall(std::chrono::nanoseconds late) const noexcept;
    [[nodiscard]] bool holds_back() const noexcept;
    [[nodiscard]] bool gives_way(std::chrono::nanoseconds late) noexcept;
    [[nodiscard]] std::chrono::nanoseconds busy_until(time_count now) const noexcept;
    void note_turn_of(const wait_node& wait) noexcept;
    [[nodiscard]] std::chrono::nanoseconds overdue(time_count now) const noexcept;
    void note_saved(time_count expiry) noexcept;
    void forget_late() noexcept;
    void note_jump(time_count now) noexcept;
    void end_stall() noexcept;
    bool follow_set_back(time_count now) noexcept;

    // The driver.
    void keep_armed() noexcept;
    [[nodiscard]] bool arm(tick_t tick, time_count time, time_count real, time_count due) noexcept;
    bool become_idle() noexcept;
    void note_busy() noexcept;
    [[nodiscard]] bool any_wait_pending() const noexcept {
        return counts_.pending() != delivery_.due_elsewhere();
    }

    // Paused time, and the end.
    void pause(time_count at) noexcept;
    void resume() noexcept;
    void require_paused() const;
    [[nodiscard]] bool each_counts() const noexcept { return queue_.ends_without_work && closing_; }
    void begin_to_close() noexcept;
    void forget_work() noexcept;
    void release_work() noexcept;

    // Of the core: none of these needs the lock.
    core& core_;
    const wheel_options& options_;
    queue_port& queue_;
    wheel_clock& clock_;
    thread_counts& counts_;

    book book_;
    delivery delivery_;
    alarm alarm_;
    next_turn next_turn_;
    bool closing_ = false;    // The context ends.
    bool behind_ = false;     // The last turn has left out what became due while others were busy.
    bool filed_late_ = false; // What is due was filed since, for a wake-up that judges a stall.
    bool turn_came_first_ = false; // A turn has ended after the driver was due.
    std::uint8_t last_walk_ = 0;   // The number of the last walk. Read by walks without the lock.
    // How many waits all threads had aborted when the last turn ended, or the next one was queued.
    std::uint64_t aborted_before_ = 0;
    unsigned stops_ = 0; // How many calls of drain() have stopped the wheel: none that has failed.
    std::size_t starts_since_peak_ = 0; // Since the peak was compared with what is pending.
    turn_share share_;
    stall_guard stall_;

    // What is counted and measured here. Threads count the rest: see thread_counts.
    std::uint64_t peak_pending_ = 0;
    std::uint64_t rejected_ = 0;
    std::uint64_t wake_ups_ = 0;
    std::uint64_t spurious_wake_ups_ = 0;
    measured measured_;
    std::unique_ptr<measured_handlers> handlers_; // Null unless that is asked for.

    walk_turns walks_; // It has a lock of its own.
};

} // namespace asio_wheel::detail

#endif
