// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All wheels of an execution context, whatever their clocks: for virtual_time, which moves the
// times of all clocks together.
//
// A context has one list. A wheel is in it from its construction to its end. While the list is
// paused, so are all wheels in it, also those that come later.
//
// Paused time is counted in nanoseconds from when virtual_time began, because the clocks may have
// different epochs and units. Each clock is read once, when the first of its wheels is paused. That
// is its time when virtual_time began, for all of its wheels, whenever they are made.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_LIST_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_LIST_HPP

#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/throw_exception.hpp>

#include <algorithm>
#include <any>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio_wheel::detail {

/// The time of a virtual_time.
class moved_time {
public:
    using nanoseconds = std::chrono::nanoseconds;

    nanoseconds now{0};                                             ///< How far it was moved.
    std::atomic<std::thread::id> mover{std::this_thread::get_id()}; ///< The thread that moves it.

    /// What a clock showed when it began.
    template <class Clock>
    struct beginning {
        typename Clock::time_point real = Clock::now();
        std::optional<typename Clock::time_point> furthest; ///< By the wheel that was ahead.
    };

    /// Valid until it is called for another clock.
    template <class Clock>
    [[nodiscard]] beginning<Clock>& beginning_of() {
        for (std::any& b : clocks_) {
            if (auto* const found = std::any_cast<beginning<Clock>>(&b)) {
                return *found;
            }
        }
        return clocks_.emplace_back().template emplace<beginning<Clock>>();
    }

private:
    std::vector<std::any> clocks_; // A beginning for each clock.
};

struct wait_totals {
    std::uint64_t ended = 0;
    std::uint64_t pending = 0;
};

/// A wheel of any clock.
class listed_wheel : public boost::intrusive::list_base_hook<> {
public:
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr nanoseconds never = (nanoseconds::max)();

    listed_wheel() = default;
    listed_wheel(const listed_wheel&) = delete;
    listed_wheel& operator=(const listed_wheel&) = delete;

    virtual void pause(moved_time& time) = 0; ///< When `time` begins.
    virtual void join(moved_time& time) = 0;  ///< The same for a new wheel, at any time.
    virtual void resume() noexcept = 0;

    /// Up to where time can be moved at once. See wheel_core::next_step().
    [[nodiscard]] virtual nanoseconds next_step() = 0;

    /// Returns how many waits become due.
    virtual std::size_t advance_to(nanoseconds t) = 0;

    /// How many waits have ended by themselves, and how many are pending.
    [[nodiscard]] virtual wait_totals totals() const = 0;

    /// A wait whose time has come, and that the context has not seen yet.
    [[nodiscard]] virtual std::optional<pending_wait> find_overdue() = 0;

protected:
    ~listed_wheel() = default;
};

template <class Core>
class listed_wheel_of final : public listed_wheel {
    using duration = typename Core::duration;
    using time_point = typename Core::time_point;
    using clock = typename Core::clock;

public:
    explicit listed_wheel_of(Core& core) noexcept : core_(core) {}

    void pause(moved_time& time) override {
        auto& begin = time.beginning_of<clock>();
        core_.pause(core_.corrected(begin.real));
        begin_ = core_.now();
        begin.furthest = (std::max)(begin_, begin.furthest.value_or(begin_));
    }

    void join(moved_time& time) override {
        const auto& begin = time.beginning_of<clock>();
        begin_ = begin.furthest.value_or(begin.real);
        core_.pause(begin_);
        advance_to(time.now);
    }

    void resume() noexcept override { core_.resume(); }

    [[nodiscard]] nanoseconds next_step() override {
        step_ = core_.next_step();
        step_at_ = step_ ? to_nanoseconds(until_saturating(begin_, *step_)) : never;
        return step_at_;
    }

    std::size_t advance_to(nanoseconds t) override {
        const time_point own = add_saturating(begin_, floor_saturating<duration>(t));
        // A clock that counts in fractions may round down to a time before the step ends.
        return core_.advance_to(step_ && t >= step_at_ ? (std::max)(own, *step_) : own);
    }

    [[nodiscard]] wait_totals totals() const override {
        const wheel_stats stats = core_.stats();
        return {stats.fired + stats.rejected, stats.pending};
    }

    [[nodiscard]] std::optional<pending_wait> find_overdue() override {
        typename Core::pending_walk walk(core_);
        for (std::vector<pending_wait> waits; walk.next(waits);) {
            for (const pending_wait& wait : waits) {
                if (wait.remaining <= nanoseconds::zero()) {
                    return wait;
                }
            }
        }
        return std::nullopt;
    }

private:
    Core& core_;
    time_point begin_;               // When the list's time began, by its own clock.
    std::optional<time_point> step_; // By its own clock,
    nanoseconds step_at_ = never;    // and by the list's time.
};

/// A service of the context. Safe for several threads.
class wheel_list : public boost::asio::execution_context::service {
public:
    using key_type = wheel_list;
    static inline boost::asio::execution_context::id id;
    using nanoseconds = std::chrono::nanoseconds;

    explicit wheel_list(boost::asio::execution_context& context) : service(context) {}

    void add(listed_wheel& w) {
        const std::lock_guard<mutex> guard(mutex_);
        if (time_ != nullptr) {
            w.join(*time_);
        }
        wheels_.push_back(w);
    }

    void remove(listed_wheel& w) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        wheels_.erase(wheels_.iterator_to(w));
    }

    /// Pauses all wheels. From now on `time` is theirs, which the caller moves.
    void pause(moved_time& time) {
        const std::lock_guard<mutex> guard(mutex_);
        if (time_ != nullptr) {
            BOOST_THROW_EXCEPTION(
                std::logic_error("asio_wheel: this context has a virtual_time already"));
        }
        scope_exit undo([this] { resume_all(); });
        for (listed_wheel& w : wheels_) {
            w.pause(time);
        }
        undo.release();
        time_ = &time;
    }

    void resume() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        time_ = nullptr;
        resume_all();
    }

    /// Called before a thread waits for paused time to pass. Throws std::logic_error if it is the
    /// thread that moves this time: it would wait for ever.
    void before_blocking() {
        const std::lock_guard<mutex> guard(mutex_);
        if (time_ != nullptr && time_->mover == std::this_thread::get_id()) {
            BOOST_THROW_EXCEPTION(std::logic_error(
                "asio_wheel: wait() blocks the thread that moves the time of a virtual_time, so "
                "the timer would never expire. Use async_wait(), and advance()"));
        }
    }

    /// Calls f(wheel) for each under the lock of the list, so `f` must run no code of the user.
    /// Wheels do not: they put what becomes due into the context's queue.
    template <class Function>
    void for_each(Function f) {
        const std::lock_guard<mutex> guard(mutex_);
        for (listed_wheel& w : wheels_) {
            f(w);
        }
    }

private:
    void shutdown() noexcept override {}

    void resume_all() noexcept {
        for (listed_wheel& w : wheels_) {
            w.resume();
        }
    }

    mutex mutex_; // Guards the following. A wheel's lock is taken while it is held.
    boost::intrusive::list<listed_wheel, boost::intrusive::constant_time_size<false>> wheels_;
    moved_time* time_ = nullptr; // Null unless paused.
};

/// The place of a core in the list of its context.
template <class Core>
class wheel_listing {
public:
    wheel_listing(boost::asio::execution_context& context, Core& core)
        : list_(boost::asio::use_service<wheel_list>(context)), wheel_(core) {
        list_.add(wheel_);
    }
    wheel_listing(const wheel_listing&) = delete;
    wheel_listing& operator=(const wheel_listing&) = delete;
    ~wheel_listing() { list_.remove(wheel_); }

private:
    wheel_list& list_; // Was made before the core's service, and so ends after it.
    listed_wheel_of<Core> wheel_;
};

} // namespace asio_wheel::detail

#endif
