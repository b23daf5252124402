// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Contexts to test timers on.
//
//     BOOST_FIXTURE_TEST_CASE(a_name, virtual_time) {
//         timer t(ctx, 30s);
//         t.async_wait(handler);
//         pass(30s); // calls handler
//     }
//
// What Asio promises too is checked on Asio's timers as well: that proves the test itself right.
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

/// Both kinds of timer, for what can be asked of either.
using timers = std::tuple<asio_wheel::steady_timer, boost::asio::steady_timer>;

/// A handler for waits whose result is of no interest.
inline constexpr auto ignore = [](const boost::system::error_code&) {};

inline const boost::system::error_code success;
inline const boost::system::error_code aborted = boost::asio::error::operation_aborted;

/// An io_context whose end checks that it ran out of work: a wait, a wake-up or counted work that
/// nobody ends would keep run() from returning.
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

    /// Runs whatever is ready. Returns what Asio counts, the wheel's own handlers included.
    std::size_t poll() {
        ctx.restart();
        return ctx.poll();
    }

    /// Runs until there is no work, which must come soon.
    void run() {
        ctx.restart();
        ctx.run_for(std::chrono::seconds(20));
        BOOST_TEST_REQUIRE(ctx.stopped(), "the context does not run out of work");
    }
};

/// A wheel whose time is moved by the test, on any clock.
template <class Clock>
struct virtual_time_on : drained_context {
    using timer = asio_wheel::basic_waitable_timer<Clock>;
    using duration = typename Clock::duration;

    wheel_service<Clock>& wheel;

    explicit virtual_time_on(const wheel_options& options = {})
        : wheel(make_wheel<Clock>(ctx, options)) {
        wheel.pause();
    }

    /// Lets `d` go by. Nobody runs the context meanwhile.
    void elapse(duration d) { wheel.advance(d); }

    /// Lets `d` go by, and runs the handlers. Returns how many waits became due.
    std::size_t pass(duration d) {
        const std::size_t due = wheel.advance(d);
        poll();
        return due;
    }

    /// Lets time go on to where a tick begins.
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

/// Real time. elapse() blocks until `d`, and what a timer may be late, have gone by.
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

/// Where a promise that is Asio's too is checked. Only the first one's time stands still: in the
/// others, no test may rely on something not having expired yet, unless it is an hour away.
using real_worlds =
    std::tuple<real_time<asio_wheel::steady_timer>, real_time<boost::asio::steady_timer>>;
using worlds = std::tuple<virtual_world, real_time<asio_wheel::steady_timer>,
                          real_time<boost::asio::steady_timer>>;

/// What handlers saw, in order: the number that each was given, and "!" if it was aborted, or the
/// message of another error.
class journal {
public:
    /// A handler that writes `entry`.
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

    /// What was written since the last call.
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
