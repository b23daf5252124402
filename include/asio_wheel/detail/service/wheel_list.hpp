// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All wheels of an execution context, whatever their clocks: for virtual_time, which moves the
// times of all clocks together.
//
// A context has one list. A wheel is in it from its construction to its end. While the list is
// paused, so are all wheels in it, also those that come later.
//
// Paused time is counted in nanoseconds from when virtual_time began, because the clocks may have
// different epochs and units.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_LIST_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_LIST_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/throw_exception.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace asio_wheel::detail {

/// A wheel of any clock.
class listed_wheel : public boost::intrusive::list_base_hook<> {
public:
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr nanoseconds never = (nanoseconds::max)();

    listed_wheel() = default;
    listed_wheel(const listed_wheel&) = delete;
    listed_wheel& operator=(const listed_wheel&) = delete;

    virtual void pause(nanoseconds at) noexcept = 0; ///< Its time is `at` from now on.
    virtual void resume() noexcept = 0;

    /// Up to where time can be moved at once. See wheel_core::next_step().
    [[nodiscard]] virtual nanoseconds next_step() = 0;

    /// Returns how many waits become due.
    virtual std::size_t advance_to(nanoseconds t) = 0;

protected:
    ~listed_wheel() = default;
};

template <class Core>
class listed_wheel_of final : public listed_wheel {
    using duration = typename Core::duration;
    using time_point = typename Core::time_point;

public:
    explicit listed_wheel_of(Core& core) noexcept : core_(core) {}

    void pause(nanoseconds at) noexcept override {
        core_.pause();
        paused_at_ = core_.now();
        paused_for_ = at;
    }

    void resume() noexcept override { core_.resume(); }

    [[nodiscard]] nanoseconds next_step() override {
        step_ = core_.next_step();
        step_at_ = step_ ? add_saturating(paused_for_,
                                          to_nanoseconds(until_saturating(paused_at_, *step_)))
                         : never;
        return step_at_;
    }

    std::size_t advance_to(nanoseconds t) override {
        const time_point own =
            add_saturating(paused_at_, floor_saturating<duration>(t - paused_for_));
        // A clock that counts in fractions may round down to a time before the step ends.
        return core_.advance_to(step_ && t >= step_at_ ? (std::max)(own, *step_) : own);
    }

private:
    Core& core_;
    time_point paused_at_;           // When it was paused, by its own clock,
    nanoseconds paused_for_{};       // and by the list's time.
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
        if (now_ != nullptr) {
            w.pause(*now_);
        }
        wheels_.push_back(w);
    }

    void remove(listed_wheel& w) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        wheels_.erase(wheels_.iterator_to(w));
    }

    /// Pauses all wheels. From now on `*now` is their time, which the caller moves.
    void pause(const nanoseconds* now) {
        const std::lock_guard<mutex> guard(mutex_);
        if (now_ != nullptr) {
            BOOST_THROW_EXCEPTION(
                std::logic_error("asio_wheel: this context has a virtual_time already"));
        }
        now_ = now;
        for (listed_wheel& w : wheels_) {
            w.pause(*now_);
        }
    }

    void resume() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        now_ = nullptr;
        for (listed_wheel& w : wheels_) {
            w.resume();
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

    mutex mutex_; // Guards the following. A wheel's lock is taken while it is held.
    boost::intrusive::list<listed_wheel, boost::intrusive::constant_time_size<false>> wheels_;
    const nanoseconds* now_ = nullptr; // Null unless paused.
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
