// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Deadlines of streams: when they pass, which operations they affect, and what is left afterwards.

#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;
using stream = timeout_stream<manual_layer>;

// The error codes that matter here.
std::string name_of(const error_code& ec) {
    return !ec                                         ? "ok"
           : ec == asio_wheel::error::timed_out        ? "late"
           : ec == asio::error::operation_aborted      ? "aborted"
           : ec == asio_wheel::error::too_many_pending ? "too many"
           : ec == asio_wheel::error::wheel_stopped    ? "stopped"
           : ec == asio::error::eof                    ? "eof"
                                                       : ec.message();
}

struct streaming : virtual_world {
    std::optional<stream> s{std::in_place, ctx};
    std::shared_ptr<manual_layer::state> wire = s->socket().wire;
    std::array<char, 100> memory{};

    ~streaming() {
        s.reset();
        poll();
    }

    [[nodiscard]] auto note(const std::string& what) {
        return [this, what](error_code ec, std::size_t n) {
            log.text += log.text.empty() ? "" : ", ";
            log.text += what + " " + name_of(ec) + (n == 0 ? "" : " " + std::to_string(n));
        };
    }
    void read() { s->async_read_some(asio::buffer(memory), note("read")); }
    void write() { s->async_write_some(asio::buffer(memory), note("write")); }
    void complete_read(std::size_t n = 1) {
        wire->read.complete({}, n);
        poll();
    }
    void complete_write(std::size_t n = 1) {
        wire->write.complete({}, n);
        poll();
    }
};

/// Takes nothing, once.
struct throws_once {
    asio::io_context* ctx;
    bool* throws;

    [[nodiscard]] asio::io_context& query(asio::execution::context_t) const noexcept {
        return *ctx;
    }
    template <class Function>
    void execute(Function f) const {
        if (std::exchange(*throws, false)) {
            throw std::runtime_error("no");
        }
        ctx->get_executor().execute(std::move(f));
    }
    friend bool operator==(const throws_once&, const throws_once&) noexcept = default;
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(an_operation_in_time_ends_as_the_next_layers, streaming) {
    s->expires_after(30s);
    read();
    write();
    BOOST_TEST(log_after(30s - 1ns) == "");
    complete_read(7);
    wire->write.complete(asio::error::eof, 3);
    BOOST_TEST(log_now() == "read ok 7, write eof 3");
    pass(1h);
    BOOST_TEST(wire->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_that_passes_closes_the_stream_and_is_never_early, streaming) {
    s->expires_after(30s);
    read();
    pass(30s - 1ns);
    BOOST_TEST(wire->closed == 0);
    pass(1ns);
    BOOST_TEST(wire->closed == 1);
    BOOST_TEST(take_log() == "read late");
    BOOST_TEST((error_code(asio_wheel::error::timed_out) == std::errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(without_deadlines_nothing_waits, streaming) {
    read();
    write();
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(log_after(1h) == "");
}

BOOST_FIXTURE_TEST_CASE(whoever_shares_a_deadline_times_out_too, streaming) {
    s->expires_after(30s);
    read();
    write();
    BOOST_TEST(log_after(30s) == "read late, write late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(whoever_has_another_deadline_is_aborted, streaming) {
    s->read_expires_after(30s);
    s->write_expires_after(20s);
    read();
    write();
    BOOST_TEST(log_after(20s) == "read aborted, write late");
}

BOOST_FIXTURE_TEST_CASE(reads_and_writes_have_deadlines_of_their_own, streaming) {
    s->read_expires_after(10s);
    write(); // Has no deadline.
    pass(1h);
    BOOST_TEST(wire->closed == 0);
    complete_write();
    s->write_expires_at(now() + 10s);
    s->read_expires_never();
    read(); // Has no deadline.
    BOOST_TEST(log_after(1h) == "write ok 1");
    write();
    BOOST_TEST(log_now() == "read aborted, write late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_holds_for_all_that_is_started_until_it_is_set_anew, streaming) {
    s->expires_after(30s);
    asio::async_read(*s, asio::buffer(memory), note("all"));
    for (int i = 0; i < 29; ++i) {
        pass(1s);
        complete_read();
    }
    BOOST_TEST(take_log() == "");
    BOOST_TEST(log_after(1s) == "all late 29");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(what_is_pending_keeps_its_deadline_and_so_does_what_it_is_part_of,
                        streaming) {
    s->expires_after(30s);
    asio::async_read(*s, asio::buffer(memory), note("all"));
    s->expires_after(10s); // For writes.
    pass(9s);
    complete_read();
    s->expires_after(10s);
    pass(15s);
    complete_read();
    BOOST_TEST(take_log() == "");
    write();
    BOOST_TEST(log_now() == "all aborted 2, write late");
}

BOOST_FIXTURE_TEST_CASE(a_common_deadline_can_not_be_set_while_both_directions_are_pending,
                        streaming) {
    read();
    write();
    for (const auto& set : {std::function<void()>([&] { s->expires_after(1s); }),
                            std::function<void()>([&] { s->expires_at(now()); }),
                            std::function<void()>([&] { s->expires_never(); })}) {
        BOOST_TEST(message_of<std::exception>(set) ==
                   "asio_wheel: expires_after() and the like set no deadline of a timeout_stream "
                   "for what is pending, and a read and a write are pending, or a connect. Use "
                   "read_expires_after() or write_expires_after()");
        BOOST_CHECK_THROW(set(), std::logic_error);
    }
    BOOST_TEST(log_after(1h) == ""); // Nothing was changed.
}

// The write is pending no longer than its handler needs, but it still has a deadline then.
BOOST_FIXTURE_TEST_CASE(a_common_deadline_that_is_set_after_a_timeout_passes, streaming) {
    s->read_expires_after(10ms);
    s->write_expires_after(1s);
    s->async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t n) {
        note("read")(ec, n);
        s->expires_after(2s);
        read();
    });
    write();
    BOOST_TEST(log_after(10ms) == "read late, write aborted");
    BOOST_TEST(log_after(2s) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_pending_deadline_may_become_earlier_or_later, streaming) {
    s->expires_after(30s);
    read();
    write();
    pass(20s);
    s->read_expires_after(1h);
    s->write_expires_after(30s);
    BOOST_TEST(log_after(10s) == "");
    s->read_expires_after(5s);
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late, write aborted");
}

BOOST_FIXTURE_TEST_CASE(what_is_pending_without_a_deadline_may_get_one, streaming) {
    read();
    write();
    pass(1h);
    BOOST_TEST(wheel.pending() == 0U);
    s->write_expires_after(5s);
    BOOST_TEST(wheel.pending() == 1U);
    BOOST_TEST(log_after(5s) == "read aborted, write late");
}

BOOST_FIXTURE_TEST_CASE(a_pending_deadline_may_be_taken_away_and_set_again, streaming) {
    s->read_expires_after(5s);
    read();
    s->read_expires_never();
    BOOST_TEST(log_after(1h) == "");
    BOOST_TEST(wheel.pending() == 0U);
    s->read_expires_after(5s);
    BOOST_TEST(log_after(5s) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_pending_deadline_that_is_set_to_the_past_passes_on_the_next_turn,
                        streaming) {
    for (const auto d : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        s.emplace(ctx);
        wire = s->socket().wire;
        read();
        s->read_expires_after(d);
        BOOST_TEST(wire->closed == 0); // Not inside the call.
        BOOST_TEST(log_after(0ns) == "read late");
    }
}

// What a composed operation reads later has it, too.
BOOST_FIXTURE_TEST_CASE(a_composed_operation_gets_the_deadline_that_is_set_meanwhile, streaming) {
    s->read_expires_after(1h);
    asio::async_read(*s, asio::buffer(memory), note("all"));
    complete_read();
    s->read_expires_after(10s);
    pass(9s);
    complete_read();
    BOOST_TEST(log_after(1s) == "all late 2");
}

// A server that is to stop soon.
BOOST_FIXTURE_TEST_CASE(idle_connections_end_sooner_when_their_period_is_shortened, streaming) {
    s->idle_after(2min);
    read();
    pass(10s);
    s->idle_after(30s); // It has been idle for ten.
    BOOST_TEST(log_after(20s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
    s->idle_after(2min);
    read();
    pass(1min);
    s->idle_after(30s);
    BOOST_TEST(log_after(0s) == "read late");
    s->idle_after(1min);
    read();
    pass(30s);
    s->idle_after(2min);
    BOOST_TEST(log_after(90s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
}

// Where the handler of the pending operation belongs, also if that has had no deadline.
BOOST_FIXTURE_TEST_CASE(a_deadline_that_is_set_meanwhile_is_looked_at_where_the_handler_belongs,
                        streaming) {
    auto strand = asio::make_strand(ctx);
    bool inside = false;
    wire->on_close = [&] { inside = strand.running_in_this_thread(); };
    const auto read_on = [&](const auto& ex) {
        inside = false;
        s->read_expires_never();
        s->async_read_some(asio::buffer(memory), asio::bind_executor(ex, note("read")));
    };
    read_on(strand);
    s->read_expires_after(5s);
    pass(5s);
    BOOST_TEST(inside);
    read_on(asio::any_io_executor(strand));
    s->idle_after(5s);
    pass(5s);
    BOOST_TEST(inside);
    s->idle_never();
    read_on(ctx.get_executor());
    s->read_expires_after(5s);
    pass(5s);
    BOOST_TEST(!inside);
    wire->on_close = nullptr;
    BOOST_TEST(take_log() == "read late, read late, read late");
}

BOOST_FIXTURE_TEST_CASE(an_executor_that_counts_as_work_is_not_kept_by_the_stream, streaming) {
    asio::io_context other;
    s->async_read_some(asio::buffer(memory),
                       asio::bind_executor(asio::prefer(other.get_executor(),
                                                        asio::execution::outstanding_work.tracked),
                                           note("read")));
    wire->read.complete({}, 1);
    poll();
    other.poll();
    BOOST_TEST(other.stopped());
    BOOST_TEST(take_log() == "read ok 1");
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_is_started_too_late_times_out_and_does_nothing,
                        streaming) {
    for (const auto d : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        s.emplace(ctx);
        wire = s->socket().wire;
        s->expires_after(d);
        read();
        BOOST_TEST(!wire->read.pending());
        BOOST_TEST(wire->closed == 1);
        BOOST_TEST(take_log() == ""); // Not inside the call.
        BOOST_TEST(log_now() == "read late");
        write(); // Nor do later ones succeed until the deadline is set again.
        BOOST_TEST(log_now() == "write late");
        s->expires_never();
        write();
        BOOST_TEST(wire->write.pending());
        BOOST_TEST(wheel.pending() == 0U);
        complete_write(5);
        BOOST_TEST(take_log() == "write ok 5");
    }
}

BOOST_FIXTURE_TEST_CASE(who_comes_too_late_takes_along_what_is_late_already, streaming) {
    s->expires_after(30s);
    read();
    elapse(30s); // It has not been noticed yet.
    write();
    BOOST_TEST(log_now() == "read late, write late");
}

BOOST_FIXTURE_TEST_CASE(the_longest_deadlines_never_pass, streaming) {
    s->expires_after(std::chrono::hours::max());
    read();
    pass(std::chrono::hours(24) * 365 * 100);
    BOOST_TEST(wire->closed == 0);
    complete_read();
    s->expires_after(std::chrono::duration<double>(1.5e-9)); // Rounded up.
    read();
    pass(1ns);
    BOOST_TEST(wire->closed == 0);
    pass(1ms);
    BOOST_TEST(wire->closed == 1);
    s->expires_never();
    s->idle_after(std::chrono::hours::max());
    read();
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_whose_operation_has_completed_closes_nothing, streaming) {
    s->expires_after(30s);
    read();
    pass(29s);
    complete_read();
    BOOST_TEST(wheel.pending() == 0U);
    pass(1h);
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(take_log() == "read ok 1");
}

// Its handler is queued before the end of the wait.
BOOST_FIXTURE_TEST_CASE(what_completes_before_the_deadline_is_found_has_been_in_time, streaming) {
    s->expires_after(30s);
    read();
    wire->read.complete({}, 4);
    BOOST_TEST(log_after(30s) == "read ok 4");
    BOOST_TEST(wire->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(what_completes_after_the_deadline_was_found_is_late, streaming) {
    s->expires_after(30s);
    read();
    elapse(30s);
    wire->read.complete({}, 4);
    BOOST_TEST(log_now() == "read late 4"); // It is closed anyway.
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(an_earlier_deadline_moves_the_wait, streaming) {
    s->read_expires_after(1h);
    read();
    s->write_expires_after(5s);
    write();
    BOOST_TEST(wheel.pending() == 1U);
    pass(5s - 1ns);
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_after(1ns) == "read aborted, write late");
}

BOOST_FIXTURE_TEST_CASE(when_the_earlier_deadline_is_gone_the_later_one_holds, streaming) {
    s->read_expires_after(1h);
    read();
    s->write_expires_after(5s);
    write();
    complete_write();
    pass(1h - 1ns);
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_after(1ns) == "write ok 1, read late");
}

BOOST_FIXTURE_TEST_CASE(several_reads_may_be_pending, streaming) {
    // The next layer may allow it; here it is as with TLS: an empty read while another one is
    // pending.
    stream other(ctx);
    s->expires_after(30s);
    read();
    auto first = std::make_shared<manual_layer::state>(ctx.get_executor());
    std::swap(s->socket().wire, first);
    read();
    s->socket().wire->read.complete({}, 0);
    BOOST_TEST(log_now() == "read ok");
    s->read_expires_after(10s); // One is still pending.
    std::swap(s->socket().wire, first);
    BOOST_TEST(log_after(10s) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_chain_of_operations_finds_its_wait_there, streaming) {
    int left = 100'000;
    const auto before = wheel.stats();
    const auto next = [&](const auto& self) -> void {
        s->expires_after(30s);
        s->async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) {
            BOOST_REQUIRE(!ec);
            if (--left > 0) {
                self(self);
            }
        });
    };
    next(next);
    while (left > 0) {
        pass(1ms);
        wire->read.complete_inline({}, 1);
    }
    const auto after = wheel.stats();
    // In 100 s: at the end of each period of 30 s, the wait checks the actual deadline.
    BOOST_TEST(after.scheduled - before.scheduled == 4U);
    BOOST_TEST(after.postponed == before.postponed);
    BOOST_TEST(wheel.pending() == 0U); // The handler of the last one has not started another.
}

// What is said here of a read's deadline holds for each limit that is set while something is
// pending: all of them have one mechanism.
BOOST_FIXTURE_TEST_CASE(a_pending_deadline_that_moves_later_leaves_its_wait_alone, streaming) {
    s->read_expires_after(30s);
    read();
    const auto before = wheel.stats();
    for (int i = 0; i < 1000; ++i) {
        pass(20ms); // 20 s in all
        s->read_expires_after(30s);
    }
    BOOST_TEST(wheel.stats().scheduled == before.scheduled);
    BOOST_TEST(wheel.stats().postponed == before.postponed);
    BOOST_TEST(log_after(30s - 1ns) == "");
    BOOST_TEST(wheel.stats().scheduled - before.scheduled == 1U); // After the first 30 s.
    BOOST_TEST(log_after(1ns) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_pending_deadline_that_moves_earlier_moves_its_wait, streaming) {
    s->read_expires_after(30s);
    read();
    const auto before = wheel.stats();
    for (int i = 0; i < 10; ++i) {
        s->read_expires_after(20s - i * 1s);
    }
    BOOST_TEST(wheel.stats().scheduled == before.scheduled);
    BOOST_TEST(wheel.stats().postponed - before.postponed == 10U);
    BOOST_TEST(log_after(11s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
    BOOST_TEST(wheel.stats().cancelled == before.cancelled); // No handler was called for a move.
}

BOOST_FIXTURE_TEST_CASE(a_wait_is_handed_on_between_reads_and_writes, streaming) {
    const auto before = wheel.stats();
    for (int i = 0; i < 10; ++i) {
        asio::post(ctx, [&] {
            s->expires_after(30s);
            s->async_read_some(asio::buffer(memory), [&](error_code, std::size_t) {
                s->expires_after(20s);
                s->async_write_some(asio::buffer(memory), note("write"));
            });
        });
        poll();
        wire->read.complete({}, 1);
        poll();
        BOOST_TEST(wheel.pending() == 1U);
        complete_write();
        BOOST_TEST(wheel.pending() == 0U);
    }
    const auto after = wheel.stats();
    BOOST_TEST(after.scheduled - before.scheduled == 10U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_throws_leaves_no_wait, streaming) {
    s->expires_after(30s);
    s->async_read_some(asio::buffer(memory),
                       [](error_code, std::size_t) { throw std::runtime_error("thrown"); });
    wire->read.complete({}, 1);
    BOOST_TEST(message_of<std::exception>([&] { poll(); }) == "thrown");
    BOOST_TEST(wheel.pending() == 0U);
}

// The executor has thrown, so the wait was destroyed.
BOOST_FIXTURE_TEST_CASE(a_stream_that_has_lost_its_wait_gets_another_one, streaming) {
    bool throws = false;
    std::function<void()> read_there = [&] {
        const auto again = [&](error_code ec, std::size_t n) {
            note("read")(ec, n);
            if (!ec) {
                read_there();
            }
        };
        s->read_expires_after(10s);
        s->async_read_some(asio::buffer(memory),
                           asio::bind_executor(throws_once{&ctx, &throws}, again));
    };
    read_there();
    throws = true;
    BOOST_CHECK_THROW(pass(10s), std::runtime_error);
    complete_read();
    BOOST_TEST(log_after(10s) == "read ok 1, read late");
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_is_forgotten_leaves_no_wait, streaming) {
    s->expires_after(30s);
    read();
    BOOST_TEST(wheel.pending() == 1U);
    wire->read.drop();
    BOOST_TEST(wheel.pending() == 0U);
    s->read_expires_never(); // None is pending.
    pass(1h);
    BOOST_TEST(wire->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(a_stream_may_be_idle_no_longer_than_it_is_told, streaming) {
    s->idle_after(10s);
    read();
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(what_is_read_or_written_begins_an_idle_period_anew, streaming) {
    s->idle_after(10s);
    read();
    for (int i = 0; i < 20; ++i) {
        write();
        pass(9s);
        complete_write();
    }
    BOOST_TEST(take_log() == "write ok 1" + [] {
        std::string rest;
        for (int i = 1; i < 20; ++i) {
            rest += ", write ok 1";
        }
        return rest;
    }());
    write();
    pass(9s);
    wire->write.complete({}, 0); // Nothing was written.
    poll();
    BOOST_TEST(log_after(1s - 1ns) == "write ok");
    BOOST_TEST(log_after(1ns) == "read late");
}

// Such as a read with a timeout of its own, again and again.
BOOST_FIXTURE_TEST_CASE(operations_that_transfer_nothing_do_not_keep_a_stream_from_being_idle,
                        streaming) {
    s->idle_after(10s);
    read();
    pass(6s);
    wire->read.complete(make_error_code(boost::asio::error::operation_aborted), 0);
    poll();
    BOOST_TEST(take_log() == "read aborted");
    read();
    BOOST_TEST(log_after(4s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_stream_with_nothing_pending_is_not_idle, streaming) {
    s->idle_after(10s);
    pass(1h);
    read();
    BOOST_TEST(wheel.pending() == 1U);
    pass(9s);
    complete_read();
    BOOST_TEST(wheel.pending() == 0U);
    pass(1h);
    write();
    BOOST_TEST(log_after(10s - 1ns) == "read ok 1");
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_after(1ns) == "write late");
}

BOOST_FIXTURE_TEST_CASE(being_idle_and_other_deadlines_go_together, streaming) {
    s->idle_after(10s);
    s->read_expires_after(25s);
    read();
    for (int i = 0; i < 2; ++i) {
        write();
        pass(9s);
        complete_write();
    }
    BOOST_TEST(log_after(7s - 1ns) == "write ok 1, write ok 1");
    write();
    BOOST_TEST(log_after(1ns) == "read late, write aborted");
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_may_be_set_at_any_time, streaming) {
    read();
    pass(1h);
    s->idle_after(10s);
    BOOST_TEST(log_after(9s) == "");
    s->idle_after(20s);
    write();
    pass(5s);
    s->idle_never();
    BOOST_TEST(log_after(1h) == "");
    BOOST_TEST(wheel.pending() == 0U);
    s->idle_after(1s);
    complete_write();
    write();
    BOOST_TEST(log_after(1s) == "write ok 1, read late, write late");
    BOOST_TEST(message_of<std::exception>([&] { s->idle_after(0s); }) ==
               "asio_wheel: the idle period of a timeout_stream is 0 ns, but must be greater than "
               "0 ns");
    BOOST_CHECK_THROW(s->idle_after(-1h), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(the_longest_idle_period_never_passes, streaming) {
    s->idle_after(10s);
    read();
    complete_read();
    s->idle_after(std::chrono::hours::max());
    pass(1h);
    read();
    BOOST_TEST(wheel.pending() == 0U);
    pass(1h);
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(take_log() == "read ok 1");
}

BOOST_FIXTURE_TEST_CASE(a_closed_or_cancelled_stream_aborts_and_does_not_time_out, streaming) {
    s->expires_after(30s);
    read();
    s->cancel();
    BOOST_TEST(log_now() == "read aborted");
    BOOST_TEST(wire->closed == 0);
    read();
    s->close();
    BOOST_TEST(log_now() == "read aborted");
    BOOST_TEST(wire->closed == 1);
    read();
    beast_close_socket(*s);
    poll();
    BOOST_TEST(wire->closed == 2);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(no_deadline_closes_what_was_released, streaming) {
    s->expires_after(30s);
    read();
    const manual_layer released = s->release_socket();
    BOOST_TEST((released.wire == wire));
    elapse(1h);
    BOOST_TEST(log_now() == "read aborted");
    BOOST_TEST(wire->closed == 0);
    s.reset();
    BOOST_TEST(wire->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(a_moved_stream_takes_its_operations_along, streaming) {
    s->expires_after(30s);
    read();
    stream moved(std::move(*s));
    BOOST_TEST((moved.socket().wire == wire));
    moved.read_expires_after(30s); // It is pending there.
    // The remaining stream works as a new one.
    BOOST_TEST((std::as_const(*s).get_executor() == moved.get_executor()));
    write();
    BOOST_TEST(!wire->write.pending());
    s->socket().wire->write.complete({}, 2);
    BOOST_TEST(log_now() == "write ok 2");
    s.reset();
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_after(30s) == "read late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(assignment_ends_what_was_there, streaming) {
    stream other(ctx);
    const auto others = other.socket().wire;
    other.expires_after(10s);
    s->expires_after(30s);
    read();
    *s = std::move(other);
    BOOST_TEST(log_now() == "read aborted");
    BOOST_TEST(wire->closed == 1);
    BOOST_TEST((s->socket().wire == others));
    read();
    BOOST_TEST(log_after(10s) == "read late");
    auto& itself = *s;
    *s = std::move(itself);
    BOOST_TEST((s->socket().wire == others));
}

BOOST_FIXTURE_TEST_CASE(a_stream_that_is_destroyed_aborts_what_is_pending, streaming) {
    s->expires_after(30s);
    read();
    write();
    s.reset();
    BOOST_TEST(wire->closed == 1);
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_now() == "read aborted, write aborted");
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(ctx.stopped());
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_destroy_its_stream_and_what_belongs_to_it_is_gone,
                        streaming) {
    s->expires_after(30s);
    const std::weak_ptr<manual_layer::state> weak = wire;
    bool gone = false;
    s->async_read_some(asio::buffer(memory), [&](error_code, std::size_t) {
        s.reset();
        gone = weak.expired();
    });
    wire->read.complete({}, 1);
    wire.reset();
    poll();
    BOOST_TEST(gone);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_drained_wheel_closes_streams_and_says_why, streaming) {
    s->expires_after(30s);
    read();
    static_cast<void>(wheel.drain());
    BOOST_TEST(log_now() == "read stopped");
    BOOST_TEST(wire->closed == 1);
    s->expires_after(30s);
    write();
    BOOST_TEST(log_now() == "write stopped");
    s->expires_never();
    write();
    complete_write();
    BOOST_TEST(take_log() ==
               "write ok 1"); // An operation without a deadline does not need a wheel.
}

BOOST_AUTO_TEST_CASE(a_full_wheel_closes_streams_and_says_why) {
    virtual_time world({.max_pending = 1});
    timer other(world.ctx, 1h);
    other.async_wait(ignore);
    stream s(world.ctx);
    s.expires_after(30s);
    s.async_read_some(asio::mutable_buffer(),
                      [&](error_code ec, std::size_t) { world.log.text += name_of(ec); });
    BOOST_TEST(world.log_now() == "too many");
    BOOST_TEST(s.socket().wire->closed == 1);
    other.cancel();
}

BOOST_FIXTURE_TEST_CASE(deadlines_are_looked_at_where_the_handler_belongs, streaming) {
    const auto record = std::make_shared<tracker>();
    bool inside = false;
    wire->on_close = [&] { inside = record->running_here(); };
    bool handled = false;
    s->expires_after(30s);
    s->async_read_some(asio::buffer(memory),
                       asio::bind_executor(track(record, ctx), [&](error_code, std::size_t) {
                           handled = record->running_here();
                       }));
    BOOST_TEST(record->work() > 0U);
    pass(30s);
    BOOST_TEST(inside);
    BOOST_TEST(handled);
    BOOST_TEST(record->work() == 0U);
    wire->on_close = nullptr;
}

BOOST_FIXTURE_TEST_CASE(by_default_that_is_the_streams_executor, virtual_world) {
    const auto record = std::make_shared<tracker>();
    stream s(asio::any_io_executor(track(record, ctx)));
    bool inside = false;
    s.socket().wire->on_close = [&] { inside = record->running_here(); };
    for (int i = 0; i < 2;
         ++i) { // If the deadline is found late, and if the operation starts late.
        bool handled = false;
        inside = i == 1;
        s.expires_at(now() + (i == 0 ? 30s : 0s));
        s.async_read_some(asio::mutable_buffer(),
                          [&](error_code, std::size_t) { handled = record->running_here(); });
        pass(30s);
        BOOST_TEST(inside == (i == 0));
        BOOST_TEST(handled);
    }
    BOOST_TEST(record->executed() > 0U);
    s.socket().wire->on_close = nullptr;
}

BOOST_FIXTURE_TEST_CASE(a_stream_ends_with_its_context_without_a_call, streaming) {
    asio::io_context other;
    auto& others = asio_wheel::use_wheel(other);
    others.pause();
    auto ends = std::make_unique<asio::io_context>();
    std::optional<stream> late(std::in_place, *ends);
    late->expires_after(30s);
    late->async_read_some(asio::buffer(memory), note("read"));
    late.reset();
    ends.reset();
    BOOST_TEST(take_log() == "");
}

BOOST_AUTO_TEST_SUITE_END()
