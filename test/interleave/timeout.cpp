// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// An operation with a deadline, through the public tokens and a wheel: it starts, it completes, its
// time comes, and it is cancelled through its outer slot, on a thread each. (deadline.cpp explores
// only the deadline, but in all interleavings.)

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using boost::system::error_code;

// An operation that any thread may complete after its start, and that any other thread may cancel
// until its handler is called.
class operation {
public:
    template <class Token>
    auto start(Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [this](auto handler) {
                auto slot = asio::get_associated_cancellation_slot(handler);
                slot.assign([this](asio::cancellation_type) {
                    check(!ended_, "an operation that has ended is not cancelled");
                    cancelled_.set();
                });
                handler_ = std::make_unique<holder<decltype(handler)>>(std::move(handler));
                begun_.store(true, std::memory_order_release);
            },
            token);
    }

    // For a thread that completes it or advances time: waits for its start, and synchronises with
    // it.
    void await_begin() {
        await([this] { return begun_.load(std::memory_order_relaxed); });
        check(begun_.load(std::memory_order_acquire), "it has begun"); // Pairs with start().
    }

    // With the result of its cancellation, if it was cancelled.
    void complete() { std::exchange(handler_, nullptr)->call(result()); }

    // Called by its handler.
    void end() { ended_ = true; }

private:
    struct held {
        virtual ~held() = default;
        virtual void call(error_code ec) = 0;
    };
    template <class Handler>
    struct holder final : held {
        explicit holder(Handler&& h) : handler(std::move(h)) {}
        void call(error_code ec) override { std::move(handler)(ec); }
        Handler handler;
    };

    [[nodiscard]] error_code result() const {
        return cancelled_ ? asio::error::operation_aborted : error_code();
    }

    std::unique_ptr<held> handler_;
    std::atomic<bool> begun_{false};
    observed cancelled_;
    bool ended_ = false; // Not atomic: the deadline orders the accesses.
};

struct scene : world {
    using timer = asio_wheel::basic_waitable_timer<scripted_clock>;

    operation op;
    asio::cancellation_signal outer;
    error_code result;
    observed calls;
    timer limit{ctx};

    // With a deadline on a timer of the user's, which the handler uses again.
    void begin_on_timer() {
        const auto done = [this](error_code ec) {
            op.end();
            result = ec;
            calls.set();
            check(limit.expires_after(1h) == 0,
                  "the operation's wait is not on the timer any more");
        };
        op.start(asio_wheel::timeout(
            limit, 1s, asio::bind_executor(ctx, asio::bind_cancellation_slot(outer.slot(), done))));
    }
    void begin() {
        const auto done = [this](error_code ec) {
            op.end();
            result = ec;
            calls.set();
        };
        op.start(asio_wheel::timeout_at(
            wheel.now() + 1s,
            asio::bind_executor(ctx, asio::bind_cancellation_slot(outer.slot(), done))));
    }
    void let_pass(scripted_clock::duration d) {
        forward(d);
        ctx.poll();
    }
    void complete() { op.complete(); }

    // In a handler: an operation with a deadline completes before it, and then this one starts,
    // which gets the same timer. (Another wait is pending, because the last one would end by way of
    // the queue.)
    void begin_after_another(bool and_end) {
        asio::post(ctx, [this, and_end] {
            others.async_wait([](error_code) {});
            before.start(asio_wheel::timeout_at(
                wheel.now() + 1s, asio::bind_executor(ctx, [this](error_code) { before.end(); })));
            before.complete();
            begin();
            if (and_end) {
                complete();
            }
        });
    }
    operation before;
    timer others{ctx, 1h};
    void cancel() { outer.emit(asio::cancellation_type::terminal); }

    void finish() {
        check(calls.count() == 1, "an operation completes once");
        poll();
        check(ctx.stopped(), "a deadline ends with its operation");
        pass(1h);
        outcome(!result                                  ? "ends"
                : result == asio_wheel::error::timed_out ? "times out"
                                                         : "is cancelled");
    }
};

// The operation ends while `begin` starts it on another thread; and so does its time.
template <class Begin>
void explore_end_while_beginning(const std::string& prefix, Begin begin) {
    explore_all(prefix + "begin_complete", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"ends"}}, [begin] {
                    scene s;
                    together([&] { begin(s); },
                             [&] {
                                 s.op.await_begin();
                                 s.complete();
                             });
                    s.finish();
                });
    explore_all(prefix + "begin_complete_due", {.preemptions = 1},
                {.schedules = 100, .outcomes = {"ends", "times out"}}, [begin] {
                    scene s;
                    together([&] { begin(s); },
                             [&] {
                                 s.op.await_begin();
                                 s.complete();
                             },
                             [&] {
                                 s.op.await_begin();
                                 s.let_pass(1s);
                             });
                    s.finish();
                });
}

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_timeout)

BOOST_AUTO_TEST_CASE(an_operation_ends_or_times_out) {
    explore_all("due_complete", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"ends", "times out"}}, [] {
                    scene s;
                    s.begin();
                    together([&] { s.let_pass(1s); }, [&] { s.complete(); });
                    s.finish();
                });
}

BOOST_AUTO_TEST_CASE(an_operation_ends_while_it_begins) {
    explore_end_while_beginning("", [](scene& s) { s.begin(); });
}

BOOST_AUTO_TEST_CASE(an_operation_ends_or_is_cancelled_or_times_out) {
    explore_all("due_cancel", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"is cancelled", "times out"}}, [] {
                    scene s;
                    s.begin();
                    together([&] { s.let_pass(1s); }, [&] { s.cancel(); });
                    s.complete();
                    s.finish();
                });
    explore_all("due_cancel_complete", {.preemptions = 1},
                {.schedules = 100, .outcomes = {"ends", "is cancelled", "times out"}}, [] {
                    scene s;
                    s.begin();
                    together([&] { s.let_pass(1s); }, [&] { s.cancel(); }, [&] { s.complete(); });
                    s.finish();
                });
}

BOOST_AUTO_TEST_CASE(an_operation_uses_the_timer_of_another_one_while_its_tick_comes) {
    for (const bool ends : {false, true}) {
        explore_all(ends ? "begin_again_due_complete" : "begin_again_due", {.preemptions = 2},
                    {.schedules = 100, .outcomes = {"ends", "times out"}}, [ends] {
                        scene s;
                        s.begin_after_another(ends);
                        together([&] { s.let_pass(1s); }, [&] { s.ctx.poll(); });
                        if (!ends) {
                            s.complete();
                        }
                        s.others.cancel();
                        s.poll();
                        s.finish();
                    });
    }
}

BOOST_AUTO_TEST_CASE(an_operation_ends_or_the_wheel_is_drained) {
    explore_all("drain_complete", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"ends", "is cancelled"}}, [] {
                    scene s;
                    s.begin();
                    together(
                        [&] {
                            static_cast<void>(s.wheel.drain());
                            s.ctx.poll();
                        },
                        [&] { s.complete(); });
                    s.finish();
                });
}

BOOST_AUTO_TEST_CASE(an_operation_on_a_timer_ends_or_times_out) {
    explore_all("timer_due_complete", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"ends", "times out"}}, [] {
                    scene s;
                    s.begin_on_timer();
                    together([&] { s.let_pass(1s); }, [&] { s.complete(); });
                    s.finish();
                });
    explore_all("timer_due_cancel_complete", {.preemptions = 1},
                {.schedules = 100, .outcomes = {"ends", "is cancelled", "times out"}}, [] {
                    scene s;
                    s.begin_on_timer();
                    together([&] { s.let_pass(1s); }, [&] { s.cancel(); }, [&] { s.complete(); });
                    s.finish();
                });
}

BOOST_AUTO_TEST_CASE(an_operation_on_a_timer_ends_while_it_begins) {
    explore_end_while_beginning("timer_", [](scene& s) { s.begin_on_timer(); });
}

BOOST_AUTO_TEST_SUITE_END()
