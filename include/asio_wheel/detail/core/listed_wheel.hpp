// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A wheel of a context as virtual_time sees it, whatever its clock.
//
// Paused time is counted in nanoseconds from when virtual_time began, because the clocks may have
// different epochs and units. Each clock is read once, when the first of its wheels is paused. That
// is its time when virtual_time began, for all of its wheels, whenever they are made.

#ifndef ASIO_WHEEL_DETAIL_CORE_LISTED_WHEEL_HPP
#define ASIO_WHEEL_DETAIL_CORE_LISTED_WHEEL_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/pending.hpp>

#include <boost/intrusive/list_hook.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace asio_wheel::detail {

class listed_wheel;

/// The time of a virtual_time.
class moved_time {
public:
    using nanoseconds = std::chrono::nanoseconds;

    moved_time();
    moved_time(const moved_time&) = delete;
    moved_time& operator=(const moved_time&) = delete;
    ~moved_time();

    /// Lets a wheel have this time that is made while it is moved. By a pointer, so that a program
    /// without a virtual_time does not have what it needs.
    void let_join(listed_wheel& w) { join_(w, *this); }

    std::atomic<nanoseconds> now{nanoseconds(0)};                   ///< How far it was moved.
    std::atomic<std::thread::id> mover{std::this_thread::get_id()}; ///< The thread that moves it.

    mutex beginnings; ///< Guards what beginning_of() returns: any thread may make a wheel.

    /// What a clock showed when it began.
    struct beginning {
        time_count (*clock)(); ///< Of its clock_port.
        time_count real;
        std::optional<time_count> furthest; ///< By the wheel that was ahead.
    };

    /// Valid until it is called for another clock. The caller has locked `beginnings`.
    [[nodiscard]] beginning& beginning_of(const clock_port& unit);

private:
    void (*const join_)(listed_wheel&, moved_time&);
    std::vector<beginning> clocks_;
};

struct wait_totals {
    std::uint64_t ended = 0; ///< By themselves.
    std::uint64_t pending = 0;
};

class listed_wheel : public boost::intrusive::list_base_hook<> {
public:
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr nanoseconds never = (nanoseconds::max)();

    explicit listed_wheel(core& c) noexcept : core_(c) {}
    listed_wheel(const listed_wheel&) = delete;
    listed_wheel& operator=(const listed_wheel&) = delete;

    void pause(moved_time& time); ///< When `time` begins.
    void join(moved_time& time);  ///< The same for a new wheel, at any time.
    void resume() noexcept { core_.resume(); }

    /// Up to where time can be moved at once. See core::next_step().
    [[nodiscard]] nanoseconds next_step();

    /// Returns how many waits become due.
    std::size_t advance_to(nanoseconds t);

    [[nodiscard]] wait_totals totals() const;

    /// A wait whose time has come, and that the context has not seen yet.
    [[nodiscard]] std::optional<pending_wait> find_overdue();

private:
    core& core_;
    time_count begin_ = 0;           // When the list's time began, by its own clock.
    std::optional<time_count> step_; // By its own clock,
    nanoseconds step_at_ = never;    // and by the list's time.
};

} // namespace asio_wheel::detail

#endif
