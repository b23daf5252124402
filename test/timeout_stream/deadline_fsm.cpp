// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: off

// The state machine of a stream's deadlines, on its own: each row of its tables, and the assertions
// against misuse. (deadline_model.cpp runs random programs.) The tests use no wheel, no context and
// no clock. Times and waits are numbers.

#define BOOST_ENABLE_ASSERT_HANDLER 1

#include <asio_wheel/detail/timeout_stream/deadline_fsm.hpp>

// The library looks at the version of standalone Asio, as it does at Boost's.
#if defined(BOOST_ASIO_DETAIL_CONFIG_HPP) ||                                                       \
    (defined(BOOST_ASIO_VERSION) && !defined(BOOST_ASIO_STANDALONE))
#error "the state machine includes Asio"
#endif

#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

namespace {

bool may_fail = false;
std::string failed_assertion;

} // namespace

namespace boost {

void assertion_failed(const char* expr, const char* function, const char* file, long line) {
    if (!may_fail) {
        std::fprintf(stderr, "%s:%ld: %s: assertion failed: %s\n", file, line, function, expr);
        std::abort();
    }
    failed_assertion += failed_assertion.empty() ? expr : std::string("; ") + expr;
}

void assertion_failed_msg(const char* expr, const char*, const char* function, const char* file,
                          long line) {
    assertion_failed(expr, function, file, line);
}

} // namespace boost

namespace {

using namespace std::chrono_literals;
using asio_wheel::error;
using asio_wheel::detail::deadline_fsm;
using asio_wheel::detail::direction;
using asio_wheel::detail::stream_limits;
using boost::system::error_code;
using kind = deadline_fsm::action::kind;

// No allocation, no exception.
static_assert(std::is_trivially_destructible_v<deadline_fsm>);
static_assert(noexcept(std::declval<deadline_fsm>().begin(direction::read, deadline_fsm::never,
                                                          false)));
static_assert(noexcept(std::declval<deadline_fsm>().end(direction::read, 1, deadline_fsm::never)));
static_assert(noexcept(std::declval<deadline_fsm>().wait_ended(1, deadline_fsm::never)));

// Times are whole seconds. The largest number is never.
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

deadline_fsm::time_point time_of(std::int64_t t) {
    return t == never ? deadline_fsm::never
                      : deadline_fsm::time_point(1000h) + std::chrono::seconds(t);
}

std::string seconds_of(deadline_fsm::time_point t) {
    return t == deadline_fsm::never ? "never" : std::to_string((t - time_of(0)) / 1s);
}

const std::string late = error_code(error::timed_out).message();
const std::string stopped = error_code(error::wheel_stopped).message();
const std::string refused = error_code(error::too_many_pending).message();

// What the machine has to answer to a step, if that matters.
struct answer {
    answer(std::source_location l = std::source_location::current()) : where(l) {}
    answer(const char* t, std::source_location l = std::source_location::current())
        : text(t), where(l) {}
    answer(const std::string& t, std::source_location l = std::source_location::current())
        : text(t), where(l) {}

    std::optional<std::string> text;
    std::source_location where;
};

// Calls the machine as a stream does. Each step says what the machine has to answer.
struct machine {
    using enum direction; // POSIX has functions of these names.

    deadline_fsm fsm{{}};
    std::int64_t now = 0;
    std::optional<std::size_t> unsent; // What the next layer says if it is asked.
    int looks = 0;                     // How often it was.

    machine& at(std::int64_t t) {
        now = t;
        return *this;
    }
    machine& the_peer_lacks(std::optional<std::size_t> n) {
        unsent = n;
        return *this;
    }

    // ---- Settings

    machine& set_reads(std::int64_t t, const answer& want = {}) {
        return check(fsm.set(&stream_limits::read, time_of(t)), want);
    }
    machine& set_writes(std::int64_t t, const answer& want = {}) {
        return check(fsm.set(&stream_limits::write, time_of(t)), want);
    }
    machine& set_both(std::int64_t t) { return set_reads(t).set_writes(t); }
    machine& live_until(std::int64_t t, const answer& want = {}) {
        return check(fsm.set(&stream_limits::lifetime, time_of(t)), want);
    }
    machine& idle_after(std::int64_t d, const answer& want = {}) {
        return set_period(&stream_limits::idle, d, 1, want);
    }
    machine& idle_never() { return set_no_period(&stream_limits::idle); }
    machine& write_idle_after(std::int64_t d, const answer& want = {}) {
        return set_period(&stream_limits::write_idle, d, 1, want);
    }
    machine& write_idle_never() { return set_no_period(&stream_limits::write_idle); }
    machine& least_rate(std::size_t bytes, std::int64_t per, const answer& want = {}) {
        return set_period(&stream_limits::rate, per, bytes, want);
    }
    machine& least_rate_never() { return set_no_period(&stream_limits::rate); }
    machine& scale_idle(std::int64_t d, const answer& want) {
        return check(fsm.scale_idle(std::chrono::seconds(d)), want);
    }
    machine& message_after(std::int64_t d) {
        fsm.message_after(std::chrono::seconds(d));
        return *this;
    }
    machine& try_late(bool on = true) {
        fsm.try_late(on);
        return *this;
    }

    // ---- Operations

    machine& begin(direction what, const answer& want = {}, bool empty = false) {
        const bool needs_now = fsm.begin_needs_now(what);
        return check(fsm.begin(what, needs_now ? time_of(now) : no_time(), empty), want);
    }
    machine& take_back(direction what) {
        fsm.take_back(what);
        return *this;
    }
    machine& take_back_grace(direction what) {
        fsm.take_back_grace(what);
        return *this;
    }
    // With progress, or without.
    machine& end(direction what, const answer& want = {}) { return end_with(1, what, want); }
    machine& end_in_vain(direction what, const answer& want = {}) {
        return end_with(0, what, want);
    }
    machine& end_with(std::size_t bytes, direction what, const answer& want = {}) {
        const bool needs_now = fsm.end_needs_now(what, bytes);
        const auto e = fsm.end(what, bytes, needs_now ? time_of(now) : no_time());
        return check((e.why ? e.why.message() : "ok") + (e.lingers ? ", lingers" : ""), want);
    }
    machine& settle(const answer& want = {}) { return check(fsm.settle(), want); }

    machine& block(direction what, const answer& want = {}) {
        const bool needs_now = fsm.begin_needs_now(what);
        return check(fsm.block(what, needs_now ? time_of(now) : no_time()), want);
    }
    machine& block_on(direction what, std::int64_t until, const answer& want) {
        return check(fsm.block_on(what, time_of(until), unsent, time_of(now)), want);
    }
    machine& block_ended(direction what, std::size_t bytes = 1) {
        const bool needs_now = fsm.end_needs_now(what, bytes);
        fsm.block_ended(what, bytes, needs_now ? time_of(now) : no_time());
        return *this;
    }

    // ---- The wait, and graces

    machine& wait_ended(const answer& want) { return wait_ended(fsm.turn(), want); }
    machine& wait_ended(std::uint64_t turn, const answer& want = {}) {
        return check(asked(fsm.wait_ended(turn, time_of(now))), want);
    }
    machine& wait_failed(error_code why, const answer& want = {}) {
        return wait_failed(fsm.turn(), why, want);
    }
    machine& wait_failed(std::uint64_t turn, error_code why, const answer& want = {}) {
        return check(fsm.wait_failed(turn, why), want);
    }
    machine& wait_refused(const answer& want = {}) {
        return check(fsm.wait_refused(error::too_many_pending), want);
    }
    machine& grace_ended(direction what, const answer& want) {
        return grace_ended(what, fsm.grace(), want);
    }
    machine& grace_ended(direction what, std::uint64_t grace, const answer& want = {}) {
        return check(asked(fsm.grace_ended(what, grace, time_of(now))), want);
    }

    // ---- How it is afterwards

    machine& waits_until(std::int64_t t, const answer& want = "") {
        return check(fsm.armed() ? seconds_of(fsm.wait_end()) : "no wait",
                     answer(std::to_string(t), want.where));
    }
    machine& has_no_wait(const answer& want = "") {
        return check(fsm.armed() ? "a wait" : "no wait", answer("no wait", want.where));
    }
    machine& reads(const answer& want) { return check(name_of(fsm.phase_of(read)), want); }
    machine& writes(const answer& want) { return check(name_of(fsm.phase_of(write)), want); }
    machine& reads_until(const answer& want) { return check(seconds_of(fsm.limits().read), want); }
    // Of which directions nothing is pending. A connect counts as both.
    machine& unused(const answer& want) {
        const int n = (fsm.has_no_reads() ? 1 : 0) + (fsm.has_no_writes() ? 2 : 0);
        return check(std::array{"none", "reads", "writes", "both"}.at(static_cast<std::size_t>(n)),
                     want);
    }

private:
    machine& check(const std::string& told, const answer& want) {
        BOOST_CHECK_MESSAGE(!want.text || told == *want.text,
                            "line " << want.where.line() << ": \"" << told << "\" instead of \""
                                    << want.text.value_or("") << '"');
        return *this;
    }
    machine& check(const deadline_fsm::action& a, const answer& want) {
        constexpr std::array names{"none", "arm ", "move ", "ask", "grace", "withdraw", "close"};
        const std::string name = names.at(static_cast<std::size_t>(a.what));
        const bool is_timed = a.what == kind::arm || a.what == kind::move;
        if (a.what == kind::close) {
            fsm.closed();
        }
        return check(is_timed ? name + seconds_of(a.at) : name, want);
    }
    machine& check(const std::optional<deadline_fsm::time_point>& end, const answer& want) {
        if (!end) {
            fsm.closed();
        }
        return check(end ? "until " + seconds_of(*end) : "close", want);
    }
    machine& set_period(asio_wheel::detail::progress_period stream_limits::* which, std::int64_t d,
                        std::size_t bytes, const answer& want) {
        return check(fsm.set(which, std::chrono::seconds(d), bytes, time_of(now)), want);
    }
    machine& set_no_period(asio_wheel::detail::progress_period stream_limits::* which) {
        return check(fsm.set(which, deadline_fsm::no_period, 1, no_time()), {});
    }

    deadline_fsm::action asked(const deadline_fsm::action& a) {
        looks += a.what == kind::ask ? 1 : 0;
        return a.what == kind::ask ? fsm.asked(unsent, time_of(now)) : a;
    }

    static std::string name_of(deadline_fsm::phase p) {
        return std::array{"unused", "pending", "failed"}.at(static_cast<std::size_t>(p));
    }

    // A time for calls that need none: alternately the earliest and the latest of all.
    deadline_fsm::time_point no_time() {
        first_ = !first_;
        return first_ ? deadline_fsm::time_point::min() : deadline_fsm::time_point::max();
    }

    bool first_ = false;
};

// Returns the assertion that fails in `f`.
template <class Function>
std::string assertion_failed_by(Function f) {
    failed_assertion.clear();
    may_fail = true;
    f();
    may_fail = false;
    return failed_assertion;
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_deadline_fsm, *boost::unit_test::timeout(120))

// The phases of a direction.

BOOST_FIXTURE_TEST_CASE(a_direction_is_pending_until_its_last_operation_ends, machine) {
    reads("unused").begin(read).reads("pending").writes("unused");
    begin(read).end(read, "ok").reads("pending").end(read, "ok").reads("unused");
    begin(write).reads("unused").writes("pending").end(write).writes("unused");
}

BOOST_FIXTURE_TEST_CASE(it_is_known_of_which_directions_something_is_pending, machine) {
    unused("both").begin(read).unused("writes").begin(write).unused("none");
    end(read).unused("reads").end(write).unused("both");
}

BOOST_FIXTURE_TEST_CASE(the_last_operation_that_ends_is_told_so, machine) {
    begin(read).begin(write).begin(write);
    BOOST_TEST(!fsm.end(read, 1, time_of(0)).last);
    BOOST_TEST(!fsm.end(write, 1, time_of(0)).last);
    BOOST_TEST(fsm.end(write, 1, time_of(0)).last);
}

BOOST_FIXTURE_TEST_CASE(a_connect_has_the_deadline_of_writes_and_counts_as_both, machine) {
    set_reads(10).set_writes(20);
    begin(connect, "arm 20").reads("unused").writes("pending").unused("none");
    at(20).wait_ended("close").end_in_vain(connect, late).writes("unused").unused("both");
}

BOOST_FIXTURE_TEST_CASE(a_direction_fails_when_its_deadline_has_passed_and_no_other_does, machine) {
    set_reads(30).set_writes(31).begin(read).begin(write);
    at(30).wait_ended("close").reads("failed").writes("pending");
    end_in_vain(write, "ok"); // It has the socket's result.
    end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(a_direction_that_has_failed_tells_each_of_its_operations_why, machine) {
    set_both(30).begin(read).begin(read);
    at(30).wait_ended("close").end_in_vain(read, late).reads("failed");
    end(read, late).reads("unused"); // Even if data has arrived.
    set_reads(never).begin(read).end(read, "ok");
}

BOOST_FIXTURE_TEST_CASE(what_begins_in_a_direction_that_has_failed_shares_its_fate, machine) {
    idle_after(10).begin(read);
    at(10).wait_ended("close").begin(read, "none").reads("failed");
    end_in_vain(read, late).end_in_vain(read, late);
    begin(read, "arm 20").end(read, "ok, lingers");
}

BOOST_FIXTURE_TEST_CASE(what_begins_too_late_does_not_begin_and_closes, machine) {
    set_reads(30);
    at(29).begin(read, "arm 30").end(read).settle();
    at(30).begin(read, "close").reads("unused").begin(read, "close").has_no_wait();
    begin(write, "none").end(write, "ok");
}

BOOST_FIXTURE_TEST_CASE(what_begins_too_late_finds_what_else_is_late, machine) {
    set_reads(30).set_writes(20).begin(read);
    at(29).begin(write, "close").reads("pending").waits_until(30); // The read has a second left.
    at(30).begin(write, "close").reads("failed");
    waits_until(30); // It continues until it ends or is withdrawn.
    end_in_vain(read, late + ", lingers").settle("withdraw");
}

// The wait.

BOOST_FIXTURE_TEST_CASE(without_deadlines_there_is_no_wait, machine) {
    begin(read, "none").begin(write, "none").has_no_wait();
    end(read, "ok").settle("none").end(write, "ok");
    begin(connect, "none").end(connect, "ok");
}

BOOST_FIXTURE_TEST_CASE(the_first_deadline_arms_a_wait, machine) {
    set_reads(30).begin(write, "none").begin(read, "arm 30").waits_until(30);
    BOOST_TEST(fsm.turn() == 1U);
}

BOOST_FIXTURE_TEST_CASE(an_earlier_deadline_moves_the_wait_and_a_later_one_does_not, machine) {
    set_both(30).begin(read);
    begin(write, "none").end(write);
    set_writes(40).begin(write, "none").end(write);
    set_writes(20).begin(write, "move 20").waits_until(20);
    BOOST_TEST(fsm.turn() == 1U); // It is the same wait.
}

BOOST_FIXTURE_TEST_CASE(a_wait_goes_on_when_its_operation_ends_and_serves_the_next, machine) {
    set_both(30).begin(read);
    for (const int t : {1, 2, 28, 29}) {
        const direction what = t % 2 == 0 ? read : write;
        at(t).end(read, "ok, lingers").set_both(t + 30);
        begin(what, "none").settle("none").end(what, "ok, lingers").begin(read, "none");
    }
    waits_until(30);
    BOOST_TEST(fsm.turn() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_wait_with_nothing_to_watch_is_withdrawn, machine) {
    set_both(30).begin(read).begin(write).settle("none");
    end(read, "ok").settle("none"); // The write needs it.
    end(write, "ok, lingers").settle("withdraw").has_no_wait().settle("none");
    begin(read, "arm 30");
}

BOOST_FIXTURE_TEST_CASE(what_is_pending_without_a_deadline_needs_no_wait, machine) {
    set_reads(30).begin(read).begin(write).end(read, "ok, lingers").settle("withdraw");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_ends_before_the_deadline_is_armed_again, machine) {
    set_both(30).begin(read).end(read).set_reads(50).begin(read);
    at(30).wait_ended("arm 50").waits_until(50);
    BOOST_TEST(fsm.turn() == 2U);
    at(49).wait_ended("arm 50"); // It may also be early.
    at(50).wait_ended("close").has_no_wait();
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_ends_or_fails_with_nothing_to_watch_comes_to_nothing, machine) {
    set_reads(30).begin(read).end(read);
    at(30).wait_ended("none").has_no_wait().settle("none");
    at(0).begin(read).end(read);
    wait_failed(error::wheel_stopped, "none").has_no_wait().settle("none");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_fails_fails_all_that_has_a_deadline, machine) {
    set_reads(30).set_writes(40).begin(read).begin(write);
    wait_failed(error::wheel_stopped, "close").has_no_wait();
    end_in_vain(read, stopped).end_in_vain(write, stopped);
    set_writes(never).begin(write).begin(read, "arm 30");
    wait_failed(error::wheel_stopped, "close").reads("failed");
    writes("pending"); // It needs no wait.
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_refused_is_one_that_fails, machine) {
    set_both(30).begin(read).end(read).set_both(60).begin(read);
    at(30).wait_ended("arm 60").wait_refused("close").has_no_wait();
    end_in_vain(read, refused).begin(read, "arm 60");
}

BOOST_FIXTURE_TEST_CASE(an_operation_whose_wait_does_not_start_is_taken_back, machine) {
    set_reads(30).set_writes(40);
    for (const direction what : {read, write, connect}) {
        begin(what, what == read ? "arm 30" : "arm 40").take_back(what);
        has_no_wait().reads("unused").writes("unused").unused("both");
    }
    set_reads(never).begin(read).begin(write).take_back(write).reads("pending");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_withdrawn_arrives_and_comes_to_nothing, machine) {
    set_both(30);
    for (const bool fails : {false, true}) {
        at(0).begin(read).end(read).settle("withdraw");
        const auto arrive = [&, past = fsm.turn()] {
            fails ? wait_failed(past, error::wheel_stopped, "none") : wait_ended(past, "none");
        };
        at(29);
        arrive(); // There is no wait,
        begin(read, "arm 30").at(30);
        arrive(); // and this is not the one there is.
        waits_until(30).reads("pending").end(read).settle();
    }
}

// Idle periods.

BOOST_FIXTURE_TEST_CASE(an_idle_period_fails_all_that_is_pending, machine) {
    idle_after(10).set_reads(100).begin(read, "arm 10").begin(write, "none");
    at(10).wait_ended("close").end_in_vain(write, late).end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_is_counted_from_the_last_progress, machine) {
    idle_after(10).begin(read).begin(write);
    at(4).end(write).begin(write);
    at(8).end_in_vain(write); // Nothing was written.
    at(10).wait_ended("arm 14");
    at(13).begin(write).begin(read); // Neither is progress.
    at(14).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_is_counted_from_the_first_operation, machine) {
    idle_after(10);
    at(100).begin(read, "arm 110").end(read).settle();
    at(200).begin(write, "arm 210");
}

BOOST_FIXTURE_TEST_CASE(the_first_idle_period_is_counted_from_when_it_is_set, machine) {
    begin(read);
    at(100).idle_after(10, "arm 110").begin(write, "none");
    at(110).wait_ended("close").reads("failed").writes("failed");
}

BOOST_FIXTURE_TEST_CASE(another_idle_period_is_counted_from_the_last_progress, machine) {
    idle_after(10).begin(read);
    at(2).idle_after(5, "move 5").idle_after(20, "none");
    at(5).wait_ended("arm 20").begin(write).end(write);
    at(9).idle_after(3, "move 8"); // That has passed.
    wait_ended("close").end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_is_scaled_if_there_is_one, machine) {
    scale_idle(5, "none").begin(read);
    BOOST_TEST((fsm.limits().idle.length == deadline_fsm::no_period));
    end(read).idle_after(10).begin(read).scale_idle(5, "move 5").scale_idle(10, "none");
    at(5).wait_ended("arm 10");
    at(10).wait_ended("close").end_in_vain(read);
    set_reads(0).try_late().begin(read, "grace");
    scale_idle(1, "none"); // There is no wait.
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_ends_at_once, machine) {
    idle_after(10).begin(read).idle_never().settle("withdraw");
    at(100).begin(write, "none").idle_after(10).begin(write).idle_never();
    at(200).wait_ended("none");
}

BOOST_FIXTURE_TEST_CASE(the_longest_idle_period_is_none, machine) {
    idle_after(10).begin(read).end(read).settle().idle_never();
    at(100).begin(read, "none").end(read, "ok");
    const auto a = fsm.set(&stream_limits::idle, deadline_fsm::no_period - 1ns, 1, time_of(now));
    BOOST_TEST((a.what == kind::none));
    begin(read, "none"); // That is after the last time point.
}

// What the peer takes.

BOOST_FIXTURE_TEST_CASE(a_peer_that_takes_what_was_written_is_not_idle, machine) {
    idle_after(10).begin(write);
    the_peer_lacks(500).at(10).wait_ended("arm 20"); // It is not known how much it was before.
    the_peer_lacks(499).at(20).wait_ended("arm 30");
    the_peer_lacks(0).at(30).wait_ended("arm 40");
    at(40).wait_ended("close").end_in_vain(write, late); // There was nothing to take.
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_takes_nothing_is_idle_after_the_second_look, machine) {
    idle_after(10).begin(write).the_peer_lacks(500);
    at(10).wait_ended("arm 20").at(20).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(with_nothing_to_take_or_nobody_who_knows_an_idle_period_ends_at_once,
                        machine) {
    idle_after(10);
    the_peer_lacks(0).at(0).begin(read).at(10).wait_ended("close").end_in_vain(read);
    the_peer_lacks({}).at(0).begin(read).at(10).wait_ended("close").end_in_vain(read);
}

BOOST_FIXTURE_TEST_CASE(after_progress_the_next_look_is_a_first_one, machine) {
    idle_after(10).begin(write).the_peer_lacks(500);
    at(10).wait_ended("arm 20").end(write).begin(write).the_peer_lacks(900); // More was written.
    at(20).wait_ended("arm 30").at(30).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(nobody_is_asked_about_any_other_deadline, machine) {
    idle_after(10).set_writes(10).begin(write).begin(read).the_peer_lacks(500);
    at(10).wait_ended("close");
    BOOST_TEST(looks == 0);
    end_in_vain(read, late).end_in_vain(write, late); // The read was idle, too.
    set_writes(19).begin(write).at(19).wait_ended("close");
    BOOST_TEST(looks == 0);
}

BOOST_FIXTURE_TEST_CASE(what_blocks_goes_on_while_the_peer_takes_bytes, machine) {
    idle_after(10).set_writes(25).block(write, "until 10").the_peer_lacks(500);
    at(9).block_on(write, 10, "close"); // Real time was over.
    at(10).block_on(write, 10, "until 20");
    the_peer_lacks(499).at(20).block_on(write, 20, "until 25");
    the_peer_lacks(1).at(25).block_on(write, 25, "close"); // Its deadline has passed.
    block_ended(write, 0).set_writes(never).block(write, "until 35");
    at(35).block_on(write, 35, "until 45"); // A first look again.
    at(45).block_on(write, 45, "close");
}

// Deadlines of what is pending.

BOOST_FIXTURE_TEST_CASE(a_deadline_may_be_moved_while_its_operations_are_pending, machine) {
    set_both(30).begin(read).begin(write);
    set_reads(20, "move 20").set_writes(40, "none").set_reads(50, "none");
    at(20).wait_ended("arm 40").set_writes(never, "none");
    at(40).wait_ended("arm 50").set_reads(40, "move 40"); // It passes now.
    wait_ended("close").end(write, "ok").end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_of_what_is_pending_without_one_arms_a_wait, machine) {
    for (const direction what : {read, write, connect}) {
        begin(what);
        what == read ? set_reads(30, "arm 30") : set_writes(30, "arm 30");
        at(30).wait_ended("close").end_in_vain(what, late).set_both(never).at(0);
    }
    begin(connect, "none").set_reads(30, "none"); // It is not one of connects.
}

BOOST_FIXTURE_TEST_CASE(a_setting_whose_wait_does_not_start_is_taken_back, machine) {
    begin(read).begin(write);
    const auto before = fsm.limits();
    set_reads(30, "arm 30").fsm.take_back_setting(before);
    set_writes(40, "arm 40").fsm.take_back_setting(before);
    idle_after(10, "arm 10").fsm.take_back_setting(before);
    write_idle_after(10, "arm 10").fsm.take_back_setting(before);
    least_rate(5, 10, "arm 10").fsm.take_back_setting(before);
    live_until(10, "arm 10").fsm.take_back_setting(before);
    has_no_wait().reads_until("never");
    BOOST_TEST((fsm.limits().write == deadline_fsm::never));
    BOOST_TEST((fsm.limits().idle.length == deadline_fsm::no_period));
    end(read, "ok");
}

BOOST_FIXTURE_TEST_CASE(a_message_begins_though_the_last_of_several_reads_reads_nothing, machine) {
    message_after(5).begin(read).begin(read).at(10).end(read, "ok").end_in_vain(read, "ok");
    begin(read, "arm 15");
}

BOOST_FIXTURE_TEST_CASE(a_message_that_is_set_anew_begins_anew, machine) {
    message_after(5).begin(read).begin(read).at(10).end(read, "ok").message_after(6);
    end_in_vain(read, "ok").begin(read, "none").at(20).end(read, "ok").begin(read, "arm 26");
}

BOOST_FIXTURE_TEST_CASE(a_message_that_is_set_while_a_read_is_pending_begins_with_its_bytes,
                        machine) {
    begin(read).message_after(5).at(10).end(read, "ok").begin(read, "arm 15");
}

// The lifetime.

BOOST_FIXTURE_TEST_CASE(a_lifetime_ends_all_that_is_pending, machine) {
    live_until(30).set_writes(40).begin(read, "arm 30").begin(write, "none").begin(read);
    at(29).end(read).begin(read).at(30).wait_ended("close");
    end_in_vain(read, late).end_in_vain(read, late).end_in_vain(write, late);
}

BOOST_FIXTURE_TEST_CASE(a_lifetime_may_be_set_and_moved_while_operations_are_pending, machine) {
    begin(connect).live_until(30, "arm 30").live_until(20, "move 20").live_until(40, "none");
    set_both(50).at(20).wait_ended("arm 40").end(connect);
    begin(read).live_until(never, "none").at(40).wait_ended("arm 50");
}

BOOST_FIXTURE_TEST_CASE(nothing_begins_after_the_lifetime_and_nothing_is_tried, machine) {
    live_until(30).try_late().at(30).begin(read, "close").block(write, "close");
    live_until(31).set_reads(30).begin(read, "grace").end(read).block(read, "until 30");
    at(31).begin(read, "close").block(read, "close").reads("unused");
}

BOOST_FIXTURE_TEST_CASE(a_lifetime_that_ends_during_a_grace_counts_after_it, machine) {
    try_late().set_reads(0).live_until(10).begin(read, "grace").set_reads(never).at(10);
    grace_ended(read, "close").end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(other_deadlines_leave_a_lifetime_alone, machine) {
    live_until(30).set_both(never).idle_never().begin(read, "arm 30").message_after(50);
    at(10).end(read, "ok, lingers").reads_until("60").begin(read, "none").block(read, "until 30");
    at(30).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(nobody_is_asked_at_the_end_of_a_lifetime, machine) {
    live_until(10).idle_after(10).begin(write).the_peer_lacks(500).at(10).wait_ended("close");
    BOOST_TEST(looks == 0);
}

// The idle period of writes.

BOOST_FIXTURE_TEST_CASE(writes_may_have_an_idle_period_of_their_own, machine) {
    write_idle_after(10).begin(read, "none").begin(write, "arm 10");
    at(9).end(read).begin(read); // That does not count.
    at(10).wait_ended("close").reads("pending").end_in_vain(write, late);
    end(read, "ok");
    begin(connect, "arm 20").end(connect);
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_of_writes_is_counted_from_what_was_written_or_taken,
                        machine) {
    write_idle_after(10).begin(write).begin(write);
    at(8).end(write).at(10).wait_ended("arm 18").the_peer_lacks(500);
    at(18).wait_ended("arm 28").the_peer_lacks(499).at(28).wait_ended("arm 38");
    at(38).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_of_writes_begins_with_the_first_write, machine) {
    write_idle_after(10).begin(read);
    at(100).begin(write, "arm 110").end_in_vain(write).at(105).begin(write, "none");
    at(110).wait_ended("arm 115").write_idle_after(8, "move 113").write_idle_never();
    at(113).wait_ended("none").at(120).write_idle_after(10, "arm 130");
}

BOOST_FIXTURE_TEST_CASE(both_idle_periods_go_together_and_each_remembers_its_own_look, machine) {
    idle_after(10).write_idle_after(25).begin(write).begin(read).the_peer_lacks(500);
    at(10).wait_ended("arm 20"); // It is asked for the common one.
    at(15).end(read).begin(read).at(20).wait_ended("arm 25");
    at(25).wait_ended("arm 35"); // A first look for both.
    at(34).end(read).begin(read).at(35).wait_ended("arm 44");
    at(43).end(read).begin(read).at(44).wait_ended("arm 50");
    at(50).wait_ended("close").reads("pending"); // A second look for writes.
}

BOOST_FIXTURE_TEST_CASE(the_idle_period_of_writes_is_not_scaled, machine) {
    idle_after(40).write_idle_after(10).begin(write, "arm 10").scale_idle(20, "none");
    at(10).wait_ended("close");
}

// Operations without progress, one after the other.

BOOST_FIXTURE_TEST_CASE(an_operation_that_transfers_nothing_does_not_begin_an_idle_period_anew,
                        machine) {
    idle_after(10).begin(read, "arm 10").at(6).end_in_vain(read).begin(read, "none");
    at(9).end_in_vain(read).settle("withdraw").at(100).begin(write, "arm 101");
    at(101).wait_ended("close").end_in_vain(write, late);
}

BOOST_FIXTURE_TEST_CASE(nor_does_it_begin_an_idle_period_of_writes_anew, machine) {
    write_idle_after(10).begin(read).begin(write, "arm 10").at(6).end_in_vain(write);
    at(8).end(read).begin(read).at(100).begin(write, "none").at(10).wait_ended("arm 104");
    at(104).wait_ended("close").end_in_vain(write, late);
}

BOOST_FIXTURE_TEST_CASE(after_a_close_all_periods_begin_anew, machine) {
    idle_after(10).write_idle_after(8).least_rate(5, 12).begin(read).at(7).end_in_vain(read);
    settle("withdraw").fsm.closed();
    at(20).begin(read, "arm 30").begin(write, "move 28").at(25);
    end_in_vain(read).end_in_vain(write).at(30).block(read, "until 35");
}

// The least rate.

BOOST_FIXTURE_TEST_CASE(what_is_slower_than_the_least_rate_fails, machine) {
    least_rate(100, 10).begin(read, "arm 10");
    at(9).end_with(99, read, "ok, lingers").begin(read, "none");
    at(10).wait_ended("close").end_with(1, read, late);
}

BOOST_FIXTURE_TEST_CASE(with_enough_bytes_the_next_period_of_a_rate_begins, machine) {
    least_rate(100, 10).begin(read).begin(write);
    at(5).end_with(60, read).begin(read).at(6).end_with(40, write).begin(write); // Together.
    at(10).wait_ended("arm 16").end_with(1000, read).begin(read); // More is not kept for later.
    at(16).wait_ended("arm 20").end_with(99, write).begin(write).at(20).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(time_in_which_nothing_is_pending_does_not_count_for_a_rate, machine) {
    least_rate(100, 10).at(50).begin(read, "arm 60");
    at(54).end_with(50, read).settle("withdraw");
    at(100).begin(write, "arm 106").end_with(49, write).settle();
    at(200).begin(read).end_in_vain(read).at(210).begin(read, "none").at(206).wait_ended("arm 216");
    at(213).end_in_vain(read).settle().at(300).block(read, "until 303");
    at(302).block_ended(read, 0).at(400).block(read, "until 401").block_ended(read);
    block(read, "until 410");
}

BOOST_FIXTURE_TEST_CASE(a_connect_begins_a_rate_anew, machine) {
    least_rate(100, 10).begin(read).at(10).wait_ended("close").end_in_vain(read, late);
    at(20).begin(connect, "arm 30").at(29).end(connect).settle();
    at(40).block(connect, "until 50").block_ended(connect, 0);
}

BOOST_FIXTURE_TEST_CASE(what_the_peer_takes_counts_in_place_of_what_the_layer_has, machine) {
    least_rate(100, 10).begin(write).the_peer_lacks(500);
    at(10).wait_ended("arm 20"); // It is not known how much it was before.
    at(15).end_with(90, write).begin(write).the_peer_lacks(490).at(20).wait_ended("arm 30");
    at(25).end_with(90, write).begin(write).the_peer_lacks(481).at(30).wait_ended("close"); // 99
    end_in_vain(write, late);
    at(40).least_rate_never().least_rate(100, 10).begin(read).the_peer_lacks(0);
    at(50).wait_ended("close").end_in_vain(read, late); // There is nothing to take.
}

BOOST_FIXTURE_TEST_CASE(what_the_peer_lacks_may_grow, machine) {
    least_rate(100, 10).begin(write).the_peer_lacks(500).at(10).wait_ended("arm 20");
    at(15).end_with(99, write).begin(write).the_peer_lacks(501).at(20).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(another_rate_is_counted_from_the_same_time, machine) {
    least_rate(100, 10).begin(read).at(5).end_with(60, read).begin(read);
    least_rate(61, 8, "move 8").least_rate(61, 20, "none").at(8).wait_ended("arm 20");
    at(9).least_rate(60, 5, "move 14").least_rate_never(); // That was enough.
    at(14).wait_ended("none").least_rate(1, 10, "arm 24").least_rate(100, 10, "none");
    at(20).end_with(99, read).begin(read).at(24).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(the_largest_numbers_of_a_rate, machine) {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    least_rate(most, 10).begin(read).end_with(most - 1, read).begin(read);
    end_with(most, read).begin(read).end_with(most, read).begin(read, "none");
    the_peer_lacks(most).at(10).wait_ended("arm 20");
    end_with(1, read).begin(read).the_peer_lacks(0).at(20).wait_ended("arm 30");
}

BOOST_FIXTURE_TEST_CASE(a_rate_is_not_scaled, machine) {
    idle_after(40).least_rate(100, 10).begin(read, "arm 10").scale_idle(20, "none");
    at(10).wait_ended("close");
}

// The next message.

BOOST_FIXTURE_TEST_CASE(a_message_gets_its_deadline_with_its_first_byte, machine) {
    set_reads(60).message_after(5).begin(read, "arm 60");
    at(58).end(read, "ok, lingers").reads_until("63").begin(read, "none");
    at(60).wait_ended("arm 63");
    end(read, "ok, lingers"); // The next byte begins no other message.
    at(62).begin(read, "none").at(63).wait_ended("close").end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(a_message_may_have_the_only_deadline, machine) {
    message_after(5).begin(read, "none");
    at(100).end(read, "ok").begin(write, "none"); // It is one of reads.
    begin(read, "arm 105").end(read).settle();
    fsm.message_after(deadline_fsm::duration::max());
    begin(read, "arm 105").end(read).begin(read, "none"); // That is never.
}

BOOST_FIXTURE_TEST_CASE(only_a_read_that_reads_begins_a_message, machine) {
    set_both(60).message_after(5).begin(read);
    at(1).end_in_vain(read).begin(write).end(write).begin(connect).end(connect).reads_until("60");
    begin(read).begin(read).end(read).reads_until("60"); // Another one is pending, which has that.
    at(2).end(read).reads_until("7");
}

BOOST_FIXTURE_TEST_CASE(what_is_set_before_the_first_byte_is_the_deadline_until_then, machine) {
    machine first, second;
    first.set_reads(60).message_after(5);
    second.message_after(5).set_reads(60);
    for (machine* const m : {&first, &second}) {
        m->begin(read, "arm 60").at(10).end(read).reads_until("15");
    }
    message_after(5).set_reads(never).begin(read).end(read);
    reads_until("5"); // It does not take the message's back,
    message_after(5).fsm.message_after(std::nullopt);
    set_reads(70).begin(read).end(read).reads_until("70"); // but this does.
    message_after(5).message_after(6).begin(read).end(read).reads_until("6");
    set_reads(80).reads_until("80"); // It is a deadline like any other.
}

BOOST_FIXTURE_TEST_CASE(a_message_and_an_idle_period_go_together, machine) {
    idle_after(10).message_after(15).begin(read, "arm 10");
    at(9).end(read, "ok, lingers").begin(read, "none");
    at(10).wait_ended("arm 19");                              // idle
    at(18).end(read).begin(read).at(19).wait_ended("arm 24"); // the message
    at(24).wait_ended("close");
}

BOOST_FIXTURE_TEST_CASE(a_message_whose_wait_is_refused_fails, machine) {
    set_reads(60).message_after(5).begin(read).at(59).end(read).begin(read);
    at(60).wait_ended("arm 64").wait_refused("close").end(read, refused);
}

// A grace for what begins too late.

BOOST_FIXTURE_TEST_CASE(what_begins_too_late_has_a_grace_if_it_is_to_be_tried, machine) {
    try_late().set_both(30).at(30);
    for (const direction what : {read, write, connect}) {
        begin(what, "grace").has_no_wait();
        end(what, "ok").grace_ended(what, "none");                               // It was ready.
        begin(what, "grace").grace_ended(what, "close").end_in_vain(what, late); // It was not.
    }
    BOOST_TEST(fsm.grace() == 6U);
    at(29).begin(read, "arm 30");
}

BOOST_FIXTURE_TEST_CASE(each_direction_has_a_grace_and_each_operation_a_new_one, machine) {
    try_late().set_both(30).at(30).begin(read).begin(write);
    grace_ended(read, 2, "none");                    // It is the write's.
    grace_ended(read, 1, "close").writes("pending"); // It still has its own.
    end(write).begin(write).grace_ended(write, 2, "none").grace_ended(write, 3, "close");
    end_in_vain(read, late).end_in_vain(write, late);
}

BOOST_FIXTURE_TEST_CASE(what_joins_others_that_are_late_has_their_wait_or_grace, machine) {
    try_late().set_reads(30).begin(read);
    at(30).begin(read, "none").waits_until(30); // It is about to end.
    wait_ended("close").end_in_vain(read, late).end_in_vain(read, late);
    begin(read, "grace").begin(read, "none").end(read, "ok");
    grace_ended(read, "close").end_in_vain(read, late);
}

BOOST_FIXTURE_TEST_CASE(what_is_empty_has_no_grace, machine) {
    constexpr bool empty = true;
    try_late().set_reads(30).at(30).begin(read, "close", empty).reads("unused");
    begin(read).begin(read, "none", empty); // Another one is pending.
    try_late(false).begin(read, "close");
}

BOOST_FIXTURE_TEST_CASE(during_a_grace_there_is_nothing_to_watch, machine) {
    try_late().set_reads(30).begin(read).end(read);
    set_reads(0).idle_after(10).begin(read, "grace");
    settle("withdraw"); // The wait of the last one.
    begin(write, "arm 10").at(10).wait_ended("close").writes("failed").reads("pending");
    grace_ended(read, "close").reads("failed");
}

BOOST_FIXTURE_TEST_CASE(a_grace_begins_an_idle_period_only_for_a_stream_without_operations,
                        machine) {
    try_late().set_reads(0).idle_after(10).begin(write).end(write).settle();
    at(100).begin(read).at(101).begin(write, "arm 110");
    end(read).idle_after(5, "move 106"); // The read was progress.
    begin(read).waits_until(106);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_that_is_set_during_a_grace_counts_after_it, machine) {
    try_late().set_reads(0).begin(read, "grace").set_reads(10, "none").grace_ended(read, "arm 10");
    at(10).wait_ended("close").end_in_vain(read, late);
    begin(read, "grace").set_reads(never, "none").grace_ended(read, "none").end(read, "ok");
}

BOOST_FIXTURE_TEST_CASE(an_operation_whose_grace_does_not_start_is_taken_back, machine) {
    try_late().set_both(0);
    for (const direction what : {read, write, connect}) {
        begin(what, "grace").take_back_grace(what);
        reads("unused").writes("unused").unused("both").grace_ended(what, "none");
    }
}

// Operations that block.

BOOST_FIXTURE_TEST_CASE(what_blocks_may_take_until_its_deadline, machine) {
    block(read, "until never").set_reads(30).set_writes(40);
    at(29).block(read, "until 30").block(write, "until 40").block(connect, "until 40");
    at(30).block(read, "close").try_late().block(read, "until 30");
    reads("unused").has_no_wait().unused("both");
}

BOOST_FIXTURE_TEST_CASE(what_blocks_may_take_until_the_end_of_the_idle_period, machine) {
    idle_after(10).at(100).block(read, "until 110").block_ended(read);
    at(103).begin(write, "arm 113");
    at(105).block(read, "until 113").block_ended(read).block(read, "until 115");
    block_ended(read, 0).block(read, "until 115");
    idle_after(20).block(read, "until 125").block_ended(read, 0);
    at(113).wait_ended("arm 125").end_in_vain(write).settle();              // So has the write.
    at(200).begin(read).end_in_vain(read).at(300).block(read, "until 312"); // Nothing is pending.
    idle_never().block(read, "until never");
}

BOOST_FIXTURE_TEST_CASE(what_blocks_too_long_takes_along_what_is_late, machine) {
    set_reads(30).set_writes(40).begin(read).begin(write);
    at(30).block(read, "close").reads("failed").writes("pending").block(write, "until 40");
    at(40).block_on(write, 40, "close");
    end_in_vain(write, late + ", lingers").end_in_vain(read, late + ", lingers");
}

BOOST_FIXTURE_TEST_CASE(what_blocks_begins_a_message_too, machine) {
    message_after(5).block(read).at(10).block_ended(read, 0).block(read, "until never");
    block_ended(write).at(20).block_ended(read).block(read, "until 25");
}

// The clock and the current settings.

BOOST_FIXTURE_TEST_CASE(time_is_needed_only_where_there_is_something_to_compare, machine) {
    const auto needs = [&] {
        return std::array{fsm.begin_needs_now(read), fsm.begin_needs_now(write),
                          fsm.begin_needs_now(connect), fsm.end_needs_now(read, 1),
                          fsm.end_needs_now(read, 0)};
    };
    BOOST_TEST((needs() == std::array{false, false, false, false, false}));
    set_reads(30);
    BOOST_TEST((needs() == std::array{true, false, false, false, false}));
    set_reads(never).set_writes(30);
    BOOST_TEST((needs() == std::array{false, true, true, false, false}));
    set_writes(never).idle_after(10);
    BOOST_TEST((needs() == std::array{true, true, true, true, true}));
    begin(read);
    BOOST_TEST((needs() == std::array{true, true, true, true, true}));
    end(read).idle_never().message_after(5);
    BOOST_TEST((needs() == std::array{false, false, false, true, false}));
    BOOST_TEST(!fsm.end_needs_now(write, 1));
    machine other;
    BOOST_TEST(!other.live_until(30).fsm.end_needs_now(read, 1));
    BOOST_TEST(other.fsm.begin_needs_now(read));
    BOOST_TEST(other.live_until(never).write_idle_after(10).fsm.end_needs_now(write, 1));
    BOOST_TEST(other.fsm.end_needs_now(write, 0));
    BOOST_TEST(other.write_idle_never().least_rate(1, 10).fsm.end_needs_now(write, 0));
}

BOOST_FIXTURE_TEST_CASE(what_was_set_can_be_asked, machine) {
    set_reads(1).set_writes(2).live_until(3).idle_after(4).write_idle_after(5).least_rate(6, 7);
    message_after(8).try_late();
    const deadline_fsm other(fsm.limits());
    const stream_limits& all = other.limits();
    BOOST_TEST((all.read == time_of(1) && all.write == time_of(2) && all.lifetime == time_of(3)));
    BOOST_TEST((all.idle.length == 4s && all.write_idle.length == 5s && all.rate.length == 7s));
    BOOST_TEST((all.idle.least == 1 && all.write_idle.least == 1 && all.rate.least == 6));
    BOOST_TEST((all.message == 8s && all.try_late));
    const deadline_fsm none({});
    const stream_limits& nothing = none.limits();
    for (const auto t : {nothing.read, nothing.write, nothing.lifetime}) {
        BOOST_TEST((t == deadline_fsm::never));
    }
    for (const auto& p : {nothing.idle, nothing.write_idle, nothing.rate}) {
        BOOST_TEST((p.length == deadline_fsm::no_period));
    }
    BOOST_TEST((!nothing.message && !nothing.try_late));
}

BOOST_FIXTURE_TEST_CASE(what_has_lost_its_wait_gets_another_one, machine) {
    set_reads(10);
    begin(read);
    fsm.wait_dropped(fsm.turn());
    BOOST_TEST(!fsm.armed());
    at(20).end(read);
    set_reads(30).begin(read);
    fsm.wait_dropped(fsm.turn() - 1); // A past one.
    BOOST_TEST(fsm.armed());
}

// Misuse.

BOOST_FIXTURE_TEST_CASE(taking_a_setting_back_without_a_wait_fails_an_assertion, machine) {
    BOOST_TEST(assertion_failed_by([&] { fsm.take_back_setting({}); }) == "armed_");
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_ends_without_beginning_fails_an_assertion, machine) {
    BOOST_TEST(assertion_failed_by([&] { end(read); }) == "in() != phase::unused");
    machine other;
    other.begin(read);
    BOOST_TEST(assertion_failed_by([&] { other.end(write); }) == "in() != phase::unused");
    machine third;
    third.begin(write);
    BOOST_TEST(assertion_failed_by([&] { third.end(connect); }) ==
               "what != direction::connect || connects != 0");
}

BOOST_FIXTURE_TEST_CASE(taking_back_without_a_wait_fails_an_assertion, machine) {
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { take_back(read); }) == "armed_");
}

BOOST_FIXTURE_TEST_CASE(a_grace_that_was_not_asked_for_fails_an_assertion, machine) {
    BOOST_TEST(assertion_failed_by([&] { grace_ended(read, 1); }) ==
               "grace != 0 && grace <= grace_");
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { machine(*this).grace_ended(read, 0); }) ==
               "grace != 0 && grace <= grace_");
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { take_back_grace(read); }) ==
               "directions_.part_of(what).grace == grace_ && directions_.part_of(what).count == 1");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_not_asked_for_fails_an_assertion, machine) {
    BOOST_TEST(assertion_failed_by([&] { wait_refused(); }) == "armed_");
    set_reads(30).begin(read);
    BOOST_TEST(assertion_failed_by([&] { wait_ended(fsm.turn() + 1); }) == "turn <= turn_");
    BOOST_TEST(assertion_failed_by([&] { wait_failed(fsm.turn() + 1, error::wheel_stopped); }) ==
               "turn <= turn_");
    waits_until(30);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_fails_without_a_reason_fails_an_assertion, machine) {
    set_reads(30).begin(read);
    BOOST_TEST(assertion_failed_by([&] { wait_failed({}); }) == "in() == phase::pending && reason");
}

BOOST_AUTO_TEST_SUITE_END()
