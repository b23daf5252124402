// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The common part of the episodes of the utilities: a context in paused time, choices, and a log.

#ifndef ASIO_WHEEL_TEST_SUPPORT_PAUSED_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_PAUSED_EPISODE_HPP

#include <asio_wheel/wheel_options.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "any_short_duration.hpp"
#include "choices.hpp"
#include "episode_base.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

namespace asio_wheel::test {

class paused_episode : protected episode_base {
protected:
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;
    using duration = clock::duration;
    using error_code = boost::system::error_code;

    static constexpr time_point never = time_point::max(); // The end of the clock never comes.
    static constexpr time_point last_hour = never - std::chrono::hours(1);

    explicit paused_episode(bytes& in)
        : episode_base(in), context_(std::make_unique<boost::asio::io_context>()),
          wheel_(make_wheel(*context_, options(in))) {
        wheel_.pause();
    }
    ~paused_episode() = default;

    // ---- Choices

    // Mostly close, so that much happens.
    duration any_duration() {
        switch (pick(8)) {
        case 0:
            return duration::zero();
        case 1:
            return duration(static_cast<duration::rep>(in_.magnitude(61)));
        case 2:
            return duration::max();
        case 3: // Not a whole number of ticks.
            return duration(static_cast<duration::rep>(pick(50'000'000)));
        default:
            return any_short_duration(in_);
        }
    }

    duration any_positive_duration() { return std::max(any_duration(), duration(1)); }

    double any_jitter() {
        constexpr std::array<double, 3> shares{0, 0.5, 1};
        return shares[pick(shares.size())];
    }

    time_point any_time() {
        return coin() ? sum(now(), any_duration()) : now() - std::chrono::milliseconds(pick(64));
    }

    boost::asio::cancellation_type any_cancellation() {
        using type = boost::asio::cancellation_type;
        constexpr std::array<type, 3> types{type::terminal, type::partial, type::total};
        return types[pick(types.size())];
    }

    // ---- Time, and running the context

    [[nodiscard]] time_point now() const { return wheel_.now(); }

    [[nodiscard]] static time_point sum(time_point t, duration d) {
        return d > duration::zero() && t > time_point::max() - d ? time_point::max() : t + d;
    }

    // Rounded up.
    [[nodiscard]] static duration share_of(duration d, double share) {
        const double length = std::ceil(static_cast<double>(d.count()) * share);
        return length >= 9.2e18 ? duration::max() : duration(static_cast<duration::rep>(length));
    }

    [[nodiscard]] static auto ns(time_point t) { return t.time_since_epoch().count(); }
    [[nodiscard]] static auto ns(duration d) { return d.count(); }

    // Not to the last tick of the clock, because nothing happens after that.
    void advance() {
        if (now() < last_hour) {
            wheel_.advance(
                std::min<duration>({any_duration(), std::chrono::hours(1000), last_hour - now()}));
        }
        note("advance to %", ns(now()));
    }

    void advance_to_next() {
        if (now() < last_hour) {
            wheel_.advance_to_next();
        }
        note("advance to the next, %", ns(now()));
    }

    // Runs the context, unless the caller is a handler: handlers here do not run it recursively.
    template <class Function>
    std::size_t run(Function f) {
        if (running_) {
            return 0;
        }
        running_ = true;
        context_->restart();
        const std::size_t count = f(*context_);
        running_ = false;
        return count;
    }

    void poll_one() {
        note("poll_one");
        run([](boost::asio::io_context& ctx) { return ctx.poll_one(); });
    }

    void poll_all() {
        note("poll");
        while (run([](boost::asio::io_context& ctx) { return ctx.poll(); }) != 0) {
        }
    }

    // Checks after poll_all().
    void require_work(bool some) const {
        require(context_->stopped() != some,
                "the context has work as long as something waits, and no longer");
    }

    std::unique_ptr<boost::asio::io_context> context_;
    wheel_service<clock>& wheel_; // Destroyed with the context.

    bool running_ = false;

private:
    [[nodiscard]] static wheel_options options(bytes& in) {
        using namespace std::chrono_literals;
        constexpr std::array<std::chrono::nanoseconds, 4> ticks{1ms, 7ms, 100us, 1s};
        constexpr std::array<std::size_t, 4> budgets{256, 1, 2, 5};
        wheel_options o;
        o.tick = ticks[in.below(ticks.size())];
        o.slots = in.below(2) == 0 ? 256 : 2;
        o.levels = o.slots == 2 ? 30 : 4;
        o.budget = budgets[in.below(budgets.size())];
        return o;
    }
};

/// Part of a handler, which moves with it: calls episode.dropped(id) if the handler is destroyed
/// without being called.
template <class Episode>
class must_be_called {
public:
    must_be_called(Episode& episode, std::size_t id) noexcept : episode_(&episode), id_(id) {}
    must_be_called(must_be_called&& other) noexcept
        : episode_(std::exchange(other.episode_, nullptr)), id_(other.id_) {}
    must_be_called& operator=(must_be_called&&) = delete;
    ~must_be_called() {
        if (episode_ != nullptr) {
            episode_->dropped(id_);
        }
    }

    /// It is called. Returns the episode and the number.
    std::pair<Episode&, std::size_t> called() noexcept {
        return {*std::exchange(episode_, nullptr), id_};
    }

private:
    Episode* episode_;
    std::size_t id_;
};

/// A handler that calls episode.completed(id, ec, results...).
template <class Episode, class... Results>
struct completing_handler {
    must_be_called<Episode> inside;

    void operator()(const boost::system::error_code& ec, Results... results) {
        auto [episode, id] = inside.called();
        episode.completed(id, ec, results...);
    }
};

} // namespace asio_wheel::test

#endif
