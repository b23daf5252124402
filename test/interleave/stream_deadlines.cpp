// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// The deadlines of a stream that is passed to another thread, as by use_future: the handler of an
// operation wakes that thread, which starts the next operation before settle() runs. At the same
// time, the wait that was left pending may end. The test is of the lock around the state machine,
// in detail/timeout_stream/deadlines.hpp. Other tests check the machine itself, without threads.

#include <asio_wheel/detail/service/idle_scale.hpp>
#include <asio_wheel/detail/timeout_stream/deadlines.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

namespace asio = boost::asio;
namespace detail = asio_wheel::detail;
using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using boost::system::error_code;
using detail::direction;

// The use of deadlines by a stream, without a stream. Its clock is the steady one, paused and moved
// by hand.
class stream {
    using deadlines = detail::stream_deadlines<asio::io_context::executor_type>;
    using next = deadlines::next;
    using duration = std::chrono::steady_clock::duration;

public:
    // With a completed read whose handler has not returned, so the wait for its deadline is still
    // pending.
    explicit stream(duration d)
        : wheel_(asio_wheel::make_wheel(ctx_, {.slots = 8, .levels = 8})),
          deadlines_((wheel_.pause(), ctx_.get_executor()), {}), start_(wheel_.now()) {
        begin(direction::read, d);
        const auto ending = deadlines_.end(direction::read, 1);
        check(!ending.why && ending.lingers, "the wait lingers");
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    // With a deadline this long after the start.
    void begin(direction what, duration d) {
        using limits = detail::stream_limits;
        const auto which = what == direction::read ? &limits::read : &limits::write;
        const auto setting = deadlines_.expires(which, start_ + d);
        check(!setting.needs_wait, "nothing is pending that would need it");
        begin(what);
    }

    void begin(direction what) {
        const auto answer = deadlines_.begin(what, false);
        check(answer == next::none || answer == next::arm, "it is not too late");
        if (answer == next::arm) {
            deadlines_.wait(watch(*this));
        }
    }

    void set_idle(duration d) {
        if (deadlines_.idle_after(d).needs_wait) {
            deadlines_.wait(watch(*this));
        }
    }
    void scale_idle(double factor) {
        asio::use_service<detail::idle_scale<std::chrono::steady_clock>>(ctx_).scale(factor);
    }

    // Returns whether its deadline has passed.
    bool end(direction what) {
        const auto ending = deadlines_.end(what, 1);
        check(!ending.why || ending.why == asio_wheel::error::timed_out, "it says why");
        lingers_.at(static_cast<std::size_t>(what)) = ending.lingers;
        return bool(ending.why);
    }

    void settle() { deadlines_.settle(); }
    void settle_if_it_lingers() {
        if (lingers_[0] || lingers_[1]) {
            settle();
        }
    }

    void let_pass(duration d) {
        wheel_.advance(d + wheel_.options().tick);
        ctx_.poll();
    }

    // Called by the scenario when the threads have ended.
    void pass(duration d) {
        ctx_.restart();
        let_pass(d);
    }

    // A read is pending with this deadline, and times out exactly then.
    void times_out_after(duration d) {
        pass(d - 1s);
        check(closed_.count() == 0 && !ctx_.stopped(), "it is not early, and it works until then");
        pass(1s);
        check(closed_.count() == 1, "a stream is closed when a deadline has passed");
        check(end(direction::read), "what was pending is told so");
        finish();
    }

    void finish() {
        settle_if_it_lingers();
        pass(0s);
        check(ctx_.stopped(), "an idle stream has no wait");
        check(wheel_.pending() == 0, "an idle stream has no wait");
    }

    [[nodiscard]] int closed() const { return closed_.count(); }
    [[nodiscard]] bool waits() { return wheel_.pending() != 0; }

private:
    class watch {
    public:
        explicit watch(stream& s) : stream_(s) {}
        void operator()(const error_code& ec) { stream_.on_time(*this, ec); }

        std::uint64_t turn = 0;

    private:
        stream& stream_;
    };

    void on_time(watch& w, const error_code& ec) {
        const auto answer = deadlines_.on_time(w.turn, ec);
        if (answer == next::arm) {
            deadlines_.wait(watch(*this));
        } else if (answer == next::close ||
                   (answer == next::ask && deadlines_.asked({}) == next::close)) { // Nobody knows.
            closed_.set();
        }
    }

    asio::io_context ctx_;
    asio_wheel::wheel_service<>& wheel_;
    deadlines deadlines_;
    const std::chrono::steady_clock::time_point start_;
    observed closed_;
    std::array<bool, 2> lingers_{true, false}; // Of reads and writes: what the last end() returned.
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_stream_deadlines)

// The wait is withdrawn before the next operation starts, or that operation finds it.
BOOST_AUTO_TEST_CASE(the_next_operation_begins_while_a_wait_is_withdrawn) {
    for (const auto d : {30min, 60min, 120min}) {
        explore_all("settle_begin_" + std::to_string(d.count()), {.preemptions = 4},
                    {.schedules = 200, .outcomes = {"times out"}}, [d] {
                        stream s(1h);
                        together([&] { s.settle(); }, [&] { s.begin(direction::read, d); });
                        s.times_out_after(d);
                        outcome("times out");
                    });
    }
}

// The withdrawn wait is queued as aborted, and has no effect.
BOOST_AUTO_TEST_CASE(a_wait_that_was_withdrawn_arrives_while_the_next_operation_begins) {
    explore_all("arrive_begin", {.preemptions = 2}, {.schedules = 100, .outcomes = {"times out"}},
                [] {
                    stream s(1h);
                    together(
                        [&] {
                            s.settle();
                            s.let_pass(0s);
                        },
                        [&] { s.begin(direction::read, 2h); });
                    s.times_out_after(2h);
                    outcome("times out");
                });
}

// The wait that was left pending ends while the next operation starts, which would use it.
BOOST_AUTO_TEST_CASE(the_next_operation_begins_while_a_wait_ends) {
    explore_all("on_time_begin", {.preemptions = 2}, {.schedules = 100, .outcomes = {"times out"}},
                [] {
                    stream s(1h);
                    together([&] { s.let_pass(1h); }, [&] { s.begin(direction::read, 3h); });
                    s.pass(1h);
                    check(s.closed() == 0, "it is not early");
                    s.pass(1h);
                    check(s.closed() == 1, "a stream is closed when a deadline has passed");
                    check(s.end(direction::read), "what was pending is told so");
                    s.finish();
                    outcome("times out");
                });
}

BOOST_AUTO_TEST_CASE(the_next_operation_begins_and_ends_while_a_wait_is_withdrawn) {
    explore_all("settle_begin_end", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"waits", "idle"}}, [] {
                    stream s(1h);
                    together([&] { s.settle(); },
                             [&] {
                                 s.begin(direction::read, 1h);
                                 check(!s.end(direction::read), "its deadline has not passed");
                             });
                    outcome(s.waits() ? "waits" : "idle");
                    s.finish();
                });
}

BOOST_AUTO_TEST_CASE(an_operation_ends_or_times_out) {
    explore_all("on_time_end", {.preemptions = 3},
                {.schedules = 200, .outcomes = {"ends", "times out"}}, [] {
                    stream s(1h);
                    s.begin(direction::read, 1h);
                    bool late = false;
                    together([&] { s.let_pass(1h); }, [&] { late = s.end(direction::read); });
                    check(s.closed() == (late ? 1 : 0), "it is either");
                    s.finish();
                    outcome(late ? "times out" : "ends");
                });
}

BOOST_AUTO_TEST_CASE(two_operations_end_at_once) {
    explore_all("settle_settle", {.preemptions = 4}, {.schedules = 200, .outcomes = {"idle"}}, [] {
        stream s(1h);
        s.begin(direction::write, 2h);
        s.begin(direction::read, 2h);
        together(
            [&] {
                s.end(direction::write);
                s.settle();
            },
            [&] {
                s.end(direction::read);
                s.settle();
            });
        s.pass(0s);
        check(!s.waits(), "an idle stream has no wait");
        outcome("idle");
    });
}

// The wait is shortened by the thread that scales, or by the one that starts it.
BOOST_AUTO_TEST_CASE(idle_periods_are_scaled_while_an_operation_begins) {
    explore_all("scale_begin", {.preemptions = 3}, {.schedules = 200, .outcomes = {"times out"}},
                [] {
                    stream s(1h);
                    s.settle();
                    s.set_idle(4h);
                    together([&] { s.scale_idle(0.5); }, [&] { s.begin(direction::read, 100h); });
                    s.times_out_after(2h);
                    outcome("times out");
                });
}

BOOST_AUTO_TEST_CASE(idle_periods_are_scaled_while_one_is_set) {
    explore_all("scale_set", {.preemptions = 3}, {.schedules = 200, .outcomes = {"times out"}}, [] {
        stream s(1h);
        s.settle();
        s.begin(direction::read, 100h);
        together([&] { s.scale_idle(0.5); }, [&] { s.set_idle(4h); });
        s.times_out_after(2h);
        outcome("times out");
    });
}

BOOST_AUTO_TEST_CASE(three_threads_have_to_do_with_a_stream) {
    explore_all("settle_begin_on_time", {.preemptions = 1},
                {.schedules = 200, .outcomes = {"times out"}}, [] {
                    stream s(1h);
                    together([&] { s.settle(); }, [&] { s.begin(direction::read, 3h); },
                             [&] { s.let_pass(1h); });
                    s.pass(1h);
                    check(s.closed() == 0, "it is not early");
                    s.pass(1h);
                    check(s.closed() == 1, "a stream is closed when a deadline has passed");
                    check(s.end(direction::read), "what was pending is told so");
                    s.finish();
                    outcome("times out");
                });
}

BOOST_AUTO_TEST_SUITE_END()
