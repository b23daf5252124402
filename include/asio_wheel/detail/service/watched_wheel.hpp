// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A wheel that inspectors read. Its context may end at any time, before them or after them, and on
// another thread. So an inspector does not refer to the wheel, but to a watched_wheel. A service of
// the context disconnects that when the context ends.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WATCHED_WHEEL_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WATCHED_WHEEL_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace asio_wheel {

template <class Clock, class WaitTraits>
class wheel_service;

namespace detail {

/// What was read from a wheel at once.
struct wheel_reading {
    wheel_options options;
    wheel_stats stats;
    std::vector<tag_stats> tags;
    wheel_occupancy occupancy;
    recent_lateness lateness;
    bool paused = false;
};

/// Takes the wheel's lock for some microseconds, however many slots there are.
template <class Wheel>
[[nodiscard]] wheel_reading read_wheel(Wheel& wheel) {
    constexpr std::size_t most_cells = 256; // Of a level.
    return {wheel.options(),  wheel.stats(), wheel.stats_by_tag(), wheel.occupancy(most_cells),
            wheel.lateness(), wheel.paused()};
}

/// A wheel of any clock, as long as its context lives. Thread-safe.
class watched_wheel {
public:
    watched_wheel() = default;
    watched_wheel(const watched_wheel&) = delete;
    watched_wheel& operator=(const watched_wheel&) = delete;
    virtual ~watched_wheel() = default;

    /// Reads the wheel; nothing if its context has ended.
    [[nodiscard]] virtual std::optional<wheel_reading> read() = 0;

    /// Visits all its waits, which takes about 0.1 µs for each.
    [[nodiscard]] virtual std::optional<wheel_report> report() = 0;

    /// Whether its context has ended.
    [[nodiscard]] virtual bool ended() = 0;
};

template <class Wheel>
class watched_wheel_of final : public watched_wheel {
public:
    explicit watched_wheel_of(Wheel& wheel) noexcept : wheel_(&wheel) {}

    [[nodiscard]] std::optional<wheel_reading> read() override {
        const std::lock_guard lock(mutex_);
        return wheel_ == nullptr ? std::nullopt : std::optional(read_wheel(*wheel_));
    }

    [[nodiscard]] std::optional<wheel_report> report() override {
        const std::lock_guard lock(mutex_);
        return wheel_ == nullptr ? std::nullopt : std::optional(wheel_->report());
    }

    [[nodiscard]] bool ended() override {
        const std::lock_guard lock(mutex_);
        return wheel_ == nullptr;
    }

    /// The context ends. Waits until the inspectors have finished reading.
    void disconnect() noexcept {
        const std::lock_guard lock(mutex_);
        wheel_ = nullptr;
    }

    /// Nobody reads as long as the result lives.
    [[nodiscard]] std::unique_lock<mutex> hold() { return std::unique_lock(mutex_); }

private:
    mutex mutex_; // Guards wheel_, and keeps the context from ending while its wheel is read.
    Wheel* wheel_;
};

/// Belongs to a context, for one clock. It is made after the wheel, so the context ends it before.
template <class Clock, class WaitTraits>
class watch_service : public boost::asio::execution_context::service {
    using wheel_type = wheel_service<Clock, WaitTraits>;

public:
    using key_type = watch_service;
    static inline boost::asio::execution_context::id id;

    explicit watch_service(boost::asio::execution_context& context)
        : service(context), wheel_(std::make_shared<watched_wheel_of<wheel_type>>(
                                boost::asio::use_service<wheel_type>(context))) {}

    [[nodiscard]] std::shared_ptr<watched_wheel> wheel() const noexcept { return wheel_; }

private:
    void shutdown() noexcept override { wheel_->disconnect(); }

    // The child has no thread of an inspector: what such a thread has locked would stay locked.
    void notify_fork(boost::asio::execution_context::fork_event event) override {
        during_fork_ = {};
        if (event == boost::asio::execution_context::fork_prepare) {
            during_fork_ = wheel_->hold();
        }
    }

    std::shared_ptr<watched_wheel_of<wheel_type>> wheel_;
    std::unique_lock<mutex> during_fork_;
};

} // namespace detail
} // namespace asio_wheel

#endif
