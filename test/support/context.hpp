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

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
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

/// On Windows, poll() waits for another thread. Random tests with very many polls take fewer steps.
#ifdef BOOST_ASIO_HAS_IOCP
inline constexpr bool polls_are_slow = true;
#else
inline constexpr bool polls_are_slow = false;
#endif

/// An io_context whose destructor checks that it ran out of work. A wait, a wake-up or a unit of
/// work that never ends would keep run() from returning.
struct drained_context {
    boost::asio::io_context ctx;

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
#ifdef BOOST_ASIO_HAS_IOCP
        return poll_with_timers();
#else
        return ctx.poll();
#endif
    }

    /// Runs until there is no work, which must happen soon.
    void run() {
        ctx.restart();
        ctx.run_for(std::chrono::seconds(20));
        BOOST_TEST_REQUIRE(ctx.stopped(), "the context does not run out of work");
    }

#ifdef BOOST_ASIO_HAS_IOCP
private:
    // On Windows, a thread of Asio waits for the timers, and tells the context when one has
    // expired. Until it has, poll() does not find the handler. So wait for a timer that expires
    // now: when its handler is called, those of all earlier timers are in the queue. They may start
    // other timers, so repeat this until it finds nothing.
    std::size_t poll_with_timers() {
        std::size_t sum = ctx.poll();
        if (ctx.stopped()) {
            return sum;
        }
        auto work = boost::asio::make_work_guard(ctx); // So only a handler stops the context.
        for (std::size_t found = 1; found != 0 && !ctx.stopped(); sum += found) {
            const auto expired = std::make_shared<bool>(false);
            boost::asio::steady_timer now(ctx, std::chrono::steady_clock::now());
            now.async_wait([expired](const boost::system::error_code&) { *expired = true; });
            found = 0;
            while (!*expired && !ctx.stopped()) {
                found += ctx.run_one();
            }
            found -= *expired ? 1 : 0;
            found += ctx.poll();
        }
        work.reset();
        return sum + ctx.poll();
    }
#endif
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
        return ctx.poll();
    }

    /// Advances time by `d` without running the context.
    void elapse(duration d) { wheel.advance(d); }

    /// Advances time by `d` and runs the handlers. Returns how many waits became due.
    std::size_t pass(duration d) {
        const std::size_t due = wheel.advance(d);
        poll();
        return due;
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

/// Real time. elapse() blocks for `d` and the lateness that a timer may have.
template <class Timer>
struct real_time : drained_context {
    using timer = Timer;

    void elapse(typename Timer::duration d) {
        std::this_thread::sleep_until(now() + d + std::chrono::milliseconds(2));
    }

    void pass(typename Timer::duration d) {
        elapse(d);
        poll();
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

/// A log of handler results, in order: the number of each handler, followed by "!" if it was
/// aborted, or by the message of another error.
class journal {
public:
    /// Returns a handler that appends `entry`.
    [[nodiscard]] auto note(std::string entry) {
        return [this, entry = std::move(entry)](const boost::system::error_code& ec = {}) {
            add(entry, ec);
        };
    }
    [[nodiscard]] auto note(int entry) { return note(std::to_string(entry)); }

    void add(const std::string& entry, const boost::system::error_code& ec = {}) {
        text_ += text_.empty() ? "" : " ";
        text_ += entry;
        if (ec) {
            text_ += ec == aborted ? "!" : "(" + ec.message() + ")";
        }
        ++size_;
    }

    /// Returns what was written since the last call.
    std::string take() {
        size_ = 0;
        return std::exchange(text_, {});
    }

    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::string text_;
    std::size_t size_ = 0;
};

} // namespace asio_wheel::test

#endif
