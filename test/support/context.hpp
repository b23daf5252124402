// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Contexts for tests of timers.
//
//     BOOST_FIXTURE_TEST_CASE(a_name, virtual_time) {
//         timer t(ctx, 30s);
//         t.async_wait(handler);
//         pass(30s); // calls handler
//     }
//
// Promises that Asio makes too are also checked on Asio's timers. This validates the test itself.
//
//     BOOST_AUTO_TEST_CASE_TEMPLATE(a_name, World, worlds) {
//         World world;
//         typename World::timer t(world.ctx, 5ms);
//         t.async_wait(handler);
//         world.pass(5ms); // calls handler

#ifndef ASIO_WHEEL_TEST_SUPPORT_CONTEXT_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CONTEXT_HPP

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_options.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

namespace asio_wheel::test {

/// Both kinds of timer, for properties that both have.
using timers = std::tuple<asio_wheel::steady_timer, boost::asio::steady_timer>;

/// A handler that ignores the result.
inline constexpr auto ignore = [](const boost::system::error_code&) {};

inline const boost::system::error_code success;
inline const boost::system::error_code aborted = boost::asio::error::operation_aborted;

/// A log of handler results, in order: the number of each handler, followed by "!" if it was
/// aborted, or by the message of another error. A test may also write its text in another form.
struct journal {
    std::string text;

    /// Returns a handler that appends `entry`.
    [[nodiscard]] auto note(std::string entry) {
        return [this, entry = std::move(entry)](const boost::system::error_code& ec = {}) {
            add(entry, ec);
        };
    }
    [[nodiscard]] auto note(int entry) { return note(std::to_string(entry)); }

    void add(const std::string& entry, const boost::system::error_code& ec = {}) {
        text += text.empty() ? "" : " ";
        text += entry;
        if (ec) {
            text += ec == aborted ? "!" : "(" + ec.message() + ")";
        }
        ++size_;
    }

    /// Returns what was written since the last call.
    std::string take() {
        size_ = 0;
        return std::exchange(text, {});
    }

    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::size_t size_ = 0;
};

/// An io_context whose destructor checks that it ran out of work. A wait, a wake-up or a unit of
/// work that never ends would keep run() from returning.
struct drained_context {
    boost::asio::io_context ctx;
    /// Real sockets take part. On Windows, the system reports the end of their operations a little
    /// later, and poll() waits for it.
    bool has_sockets = false;
    journal log;

    drained_context() = default;
    explicit drained_context(int concurrency_hint) : ctx(concurrency_hint) {}
    drained_context(const drained_context&) = delete;
    drained_context& operator=(const drained_context&) = delete;

    ~drained_context() {
        poll();
        BOOST_TEST(ctx.stopped(), "the context still has work");
    }

    /// Runs all ready handlers, and those of timers that have expired. Returns the number that Asio
    /// reports, which includes the wheel's own.
    std::size_t poll() {
        ctx.restart();
        return poll_with_timers(ctx) + poll_sockets();
    }

    /// The same. Returns what was logged since the last call.
    std::string log_now() { return log_now(log); }
    std::string log_now(journal& j) {
        poll();
        return j.take();
    }
    [[nodiscard]] std::string take_log() { return log.take(); }

    /// Runs until there is no work, which must happen soon.
    void run() {
        ctx.restart();
        ctx.run_for(std::chrono::seconds(20));
        BOOST_TEST_REQUIRE(ctx.stopped(), "the context does not run out of work");
    }

protected:
    std::size_t poll_sockets() {
        std::size_t sum = 0;
        if (on_completion_port && has_sockets) {
            while (!ctx.stopped() && ctx.run_one_for(std::chrono::milliseconds(50)) != 0) {
                sum += 1 + ctx.poll();
            }
        }
        return sum;
    }
};

/// A wheel whose time the test moves, on any clock.
template <class Clock>
struct virtual_time_on : drained_context {
    using timer = asio_wheel::basic_waitable_timer<Clock>;
    using duration = typename Clock::duration;

    wheel_service<Clock>& wheel;

    explicit virtual_time_on(const wheel_options& options = {})
        : wheel(make_wheel<Clock>(ctx, options)) {
        wheel.pause();
    }

    /// Runs all ready handlers. No timer of the system is among them.
    std::size_t poll() {
        ctx.restart();
        return ctx.poll() + poll_sockets();
    }

    /// Advances time by `d` without running the context.
    void elapse(duration d) { wheel.advance(d); }

    /// Advances time by `d` and runs the handlers. Returns how many waits became due.
    std::size_t pass(duration d) {
        const std::size_t due = wheel.advance(d);
        poll();
        return due;
    }

    /// As pass() and poll(). Returns what was logged since the last call.
    std::string log_after(duration d) { return log_after(d, log); }
    std::string log_after(duration d, journal& j) {
        pass(d);
        return j.take();
    }
    std::string log_now() { return log_now(log); }
    std::string log_now(journal& j) {
        poll();
        return j.take();
    }

    /// Advances time to the start of a tick.
    void align() {
        timer t(ctx, std::chrono::nanoseconds(1));
        t.async_wait([](const boost::system::error_code&) {});
        BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
        poll();
    }

    [[nodiscard]] auto now() const { return wheel.now(); }
};

using virtual_time = virtual_time_on<std::chrono::steady_clock>;
using timer = virtual_time::timer;

/// Real time. elapse() blocks for `d` and the lateness that a timer may have. On Windows, until the
/// thread of another context has seen a timer that expires later, so that of this context most
/// likely has, too.
template <class Timer>
struct real_time : drained_context {
    using timer = Timer;

    void elapse(typename Timer::duration d) {
        std::this_thread::sleep_until(now() + d + std::chrono::milliseconds(2));
        if constexpr (on_completion_port) {
            boost::asio::io_context other;
            boost::asio::steady_timer later(other, std::chrono::milliseconds(5));
            later.async_wait(ignore);
            other.run();
        }
    }

    void pass(typename Timer::duration d) {
        elapse(d);
        poll();
    }
    std::string log_after(typename Timer::duration d, journal& j) {
        pass(d);
        return j.take();
    }

    [[nodiscard]] auto now() const { return Timer::clock_type::now(); }
};

struct virtual_world : virtual_time {
    explicit virtual_world(const wheel_options& options = {}) : virtual_time(options) { align(); }
};

/// Worlds for promises that Asio makes too. Only in the first one does time stand still. In the
/// others, no test may assume that something has not expired yet, unless it is an hour away.
using real_worlds =
    std::tuple<real_time<asio_wheel::steady_timer>, real_time<boost::asio::steady_timer>>;
using worlds = std::tuple<virtual_world, real_time<asio_wheel::steady_timer>,
                          real_time<boost::asio::steady_timer>>;

} // namespace asio_wheel::test

#endif
