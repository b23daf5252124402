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
using boost::system::error_code;
using kind = deadline_fsm::action::kind;

// No allocation, no exception.
static_assert(std::is_trivially_destructible_v<deadline_fsm>);
static_assert(noexcept(std::declval<deadline_fsm>().begin(direction::read, deadline_fsm::never)));
static_assert(noexcept(std::declval<deadline_fsm>().end(direction::read, true,
                                                        deadline_fsm::never)));
static_assert(noexcept(std::declval<deadline_fsm>().wait_ended(1, deadline_fsm::never)));

// Times are whole seconds. The largest number is never.
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

deadline_fsm::time_point at(std::int64_t t) {
    return t == never ? deadline_fsm::never
                      : deadline_fsm::time_point(1000h) + std::chrono::seconds(t);
}

std::int64_t seconds_of(deadline_fsm::time_point t) {
    return t == deadline_fsm::never ? never : (t - at(0)) / 1s;
}

// Calls the machine as a stream does, and returns its answers as text.
struct machine {
    using enum direction; // POSIX has functions of these names.

    deadline_fsm fsm{{}};
    std::int64_t now = 0;
    std::optional<std::size_t> unsent; // What the next layer says if it is asked.
    int looks = 0;                     // How often it was.

    std::string set_reads(std::int64_t t) { return name_of(fsm.set_reads(at(t))); }
    std::string set_writes(std::int64_t t) { return name_of(fsm.set_writes(at(t))); }
    void set_both(std::int64_t t) {
        set_reads(t);
        set_writes(t);
    }
    std::string idle_after(std::int64_t d) {
        return name_of(fsm.idle_after(std::chrono::seconds(d), at(now)));
    }
    std::string idle_never() { return name_of(fsm.idle_after(deadline_fsm::no_period, no_time())); }
    std::string scale_idle(std::int64_t d) {
        return name_of(fsm.scale_idle(std::chrono::seconds(d)));
    }

    void message_after(std::int64_t d) { fsm.message_after(std::chrono::seconds(d)); }

    std::string begin(direction what, bool empty = false) {
        return name_of(fsm.begin(what, fsm.begin_needs_now(what) ? at(now) : no_time(), empty));
    }
    std::string grace_ended(direction what) { return grace_ended(what, fsm.grace()); }
    std::string grace_ended(direction what, std::uint64_t grace) {
        return name_of(answered(fsm.grace_ended(what, grace, at(now))));
    }
    std::string block(direction what) {
        const auto end = fsm.block(what, fsm.begin_needs_now(what) ? at(now) : no_time());
        return !end                          ? "close"
               : *end == deadline_fsm::never ? "until never"
                                             : "until " + std::to_string(seconds_of(*end));
    }
    void block_ended(direction what, bool progress = true) {
        const bool needs_now = fsm.end_needs_now(what, progress);
        fsm.block_ended(what, progress, needs_now ? at(now) : no_time());
    }
    std::string end(direction what, bool progress = true) {
        const auto e =
            fsm.end(what, progress, fsm.end_needs_now(what, progress) ? at(now) : no_time());
        return (e.why ? e.why.message() : "ok") + (e.lingers ? ", lingers" : "");
    }
    std::string settle() { return name_of(fsm.settle()); }
    std::string wait_ended() { return wait_ended(fsm.turn()); }
    std::string wait_ended(std::uint64_t turn) {
        return name_of(answered(fsm.wait_ended(turn, at(now))));
    }
    std::string block_on(direction what, std::int64_t until) {
        const auto end = fsm.block_on(what, at(until), unsent, at(now));
        return end ? "until " + std::to_string(seconds_of(*end)) : "close";
    }
    std::string wait_failed(error_code why) { return wait_failed(fsm.turn(), why); }
    std::string wait_failed(std::uint64_t turn, error_code why) {
        return name_of(fsm.wait_failed(turn, why));
    }
    std::string wait_refused(error_code why) { return name_of(fsm.wait_refused(why)); }

    [[nodiscard]] std::string wait() const {
        return fsm.armed() ? "ends at " + std::to_string(seconds_of(fsm.wait_end())) : "none";
    }
    [[nodiscard]] std::string reads() const { return name_of(fsm.phase_of(read)); }
    [[nodiscard]] std::string writes() const { return name_of(fsm.phase_of(write)); }

    static std::string name_of(const deadline_fsm::action& a) {
        switch (a.what) {
        case kind::none:
            break;
        case kind::arm:
            return "arm " + std::to_string(seconds_of(a.at));
        case kind::move:
            return "move " + std::to_string(seconds_of(a.at));
        case kind::grace:
            return "grace";
        case kind::ask:
            return "ask";
        case kind::withdraw:
            return "withdraw";
        case kind::close:
            return "close";
        }
        return "none";
    }

private:
    deadline_fsm::action answered(const deadline_fsm::action& a) {
        looks += a.what == kind::ask ? 1 : 0;
        return a.what == kind::ask ? fsm.asked(unsent, at(now)) : a;
    }

    static std::string name_of(deadline_fsm::phase p) {
        using enum asio_wheel::detail::direction_phase;
        return p == unused ? "unused" : p == pending ? "pending" : "failed";
    }

    // A time for calls that need none: alternately the earliest and the latest of all.
    deadline_fsm::time_point no_time() {
        first_ = !first_;
        return first_ ? deadline_fsm::time_point::min() : deadline_fsm::time_point::max();
    }

    bool first_ = false;
};

const std::string late = error_code(error::timed_out).message();
const std::string stopped = error_code(error::wheel_stopped).message();

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
    BOOST_TEST(reads() == "unused");
    begin(read);
    BOOST_TEST(reads() == "pending");
    BOOST_TEST(writes() == "unused");
    begin(read);
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(reads() == "pending");
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(reads() == "unused");
    begin(write);
    BOOST_TEST(reads() == "unused");
    BOOST_TEST(writes() == "pending");
    end(write);
    BOOST_TEST(writes() == "unused");
}

BOOST_FIXTURE_TEST_CASE(it_is_known_of_which_directions_something_is_pending, machine) {
    BOOST_TEST((fsm.has_no_reads() && fsm.has_no_writes()));
    begin(read);
    BOOST_TEST((!fsm.has_no_reads() && fsm.has_no_writes()));
    begin(write);
    BOOST_TEST((!fsm.has_no_reads() && !fsm.has_no_writes()));
    end(read);
    BOOST_TEST((fsm.has_no_reads() && !fsm.has_no_writes()));
    end(write);
    BOOST_TEST((fsm.has_no_reads() && fsm.has_no_writes()));
}

BOOST_FIXTURE_TEST_CASE(the_last_operation_that_ends_is_told_so, machine) {
    begin(read);
    begin(write);
    begin(write);
    BOOST_TEST(!fsm.end(read, true, at(0)).last);
    BOOST_TEST(!fsm.end(write, true, at(0)).last);
    BOOST_TEST(fsm.end(write, true, at(0)).last);
}

BOOST_FIXTURE_TEST_CASE(a_connect_has_the_deadline_of_writes_and_counts_as_both, machine) {
    set_reads(10);
    set_writes(20);
    BOOST_TEST(begin(connect) == "arm 20");
    BOOST_TEST(reads() == "unused");
    BOOST_TEST(writes() == "pending");
    BOOST_TEST((!fsm.has_no_reads() && !fsm.has_no_writes()));
    now = 20;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(connect, false) == late);
    BOOST_TEST(writes() == "unused");
    BOOST_TEST((fsm.has_no_reads() && fsm.has_no_writes()));
}

BOOST_FIXTURE_TEST_CASE(a_direction_fails_when_its_deadline_has_passed_and_no_other_does, machine) {
    set_reads(30);
    set_writes(31);
    begin(read);
    begin(write);
    now = 30;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(reads() == "failed");
    BOOST_TEST(writes() == "pending");
    BOOST_TEST(end(write, false) == "ok"); // It has the socket's result.
    BOOST_TEST(end(read, false) == late);
}

BOOST_FIXTURE_TEST_CASE(a_direction_that_has_failed_tells_each_of_its_operations_why, machine) {
    set_both(30);
    begin(read);
    begin(read);
    now = 30;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(reads() == "failed");
    BOOST_TEST(end(read) == late); // Even if data has arrived.
    BOOST_TEST(reads() == "unused");
    set_reads(never);
    begin(read);
    BOOST_TEST(end(read) == "ok");
}

BOOST_FIXTURE_TEST_CASE(what_begins_in_a_direction_that_has_failed_shares_its_fate, machine) {
    idle_after(10);
    begin(read);
    now = 10;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(begin(read) == "none");
    BOOST_TEST(reads() == "failed");
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(begin(read) == "arm 20");
    BOOST_TEST(end(read) == "ok, lingers");
}

BOOST_FIXTURE_TEST_CASE(what_begins_too_late_does_not_begin_and_closes, machine) {
    set_reads(30);
    now = 29;
    BOOST_TEST(begin(read) == "arm 30");
    end(read);
    settle();
    now = 30;
    BOOST_TEST(begin(read) == "close");
    BOOST_TEST(reads() == "unused");
    BOOST_TEST(begin(read) == "close");
    BOOST_TEST(wait() == "none");
    BOOST_TEST(begin(write) == "none");
    BOOST_TEST(end(write) == "ok");
}

BOOST_FIXTURE_TEST_CASE(what_begins_too_late_finds_what_else_is_late, machine) {
    set_reads(30);
    set_writes(20);
    begin(read);
    now = 29;
    BOOST_TEST(begin(write) == "close"); // The read has a second left.
    BOOST_TEST(reads() == "pending");
    BOOST_TEST(wait() == "ends at 30");
    now = 30;
    BOOST_TEST(begin(write) == "close");
    BOOST_TEST(reads() == "failed");
    BOOST_TEST(wait() == "ends at 30"); // It continues until it ends or is withdrawn.
    BOOST_TEST(end(read, false) == late + ", lingers");
    BOOST_TEST(settle() == "withdraw");
}

// The wait.

BOOST_FIXTURE_TEST_CASE(without_deadlines_there_is_no_wait, machine) {
    BOOST_TEST(begin(read) == "none");
    BOOST_TEST(begin(write) == "none");
    BOOST_TEST(wait() == "none");
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(settle() == "none");
    BOOST_TEST(end(write) == "ok");
    BOOST_TEST(begin(connect) == "none");
    BOOST_TEST(end(connect) == "ok");
}

BOOST_FIXTURE_TEST_CASE(the_first_deadline_arms_a_wait, machine) {
    set_reads(30);
    BOOST_TEST(begin(write) == "none");
    BOOST_TEST(begin(read) == "arm 30");
    BOOST_TEST(wait() == "ends at 30");
    BOOST_TEST(fsm.turn() == 1U);
}

BOOST_FIXTURE_TEST_CASE(an_earlier_deadline_moves_the_wait_and_a_later_one_does_not, machine) {
    set_reads(30);
    set_writes(30);
    begin(read);
    BOOST_TEST(begin(write) == "none");
    end(write);
    set_writes(40);
    BOOST_TEST(begin(write) == "none");
    end(write);
    set_writes(20);
    BOOST_TEST(begin(write) == "move 20");
    BOOST_TEST(wait() == "ends at 20");
    BOOST_TEST(fsm.turn() == 1U); // It is the same wait.
}

BOOST_FIXTURE_TEST_CASE(a_wait_goes_on_when_its_operation_ends_and_serves_the_next, machine) {
    set_both(30);
    begin(read);
    for (now = 1; now < 30; ++now) {
        BOOST_TEST(end(read) == "ok, lingers");
        set_both(now + 30);
        BOOST_TEST(begin(now % 2 == 0 ? read : write) == "none");
        BOOST_TEST(settle() == "none");
        BOOST_TEST(end(now % 2 == 0 ? read : write) == "ok, lingers");
        BOOST_TEST(begin(read) == "none");
    }
    BOOST_TEST(wait() == "ends at 30");
    BOOST_TEST(fsm.turn() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_wait_with_nothing_to_watch_is_withdrawn, machine) {
    set_both(30);
    begin(read);
    begin(write);
    BOOST_TEST(settle() == "none");
    BOOST_TEST(end(read) == "ok"); // The write needs it.
    BOOST_TEST(settle() == "none");
    BOOST_TEST(end(write) == "ok, lingers");
    BOOST_TEST(settle() == "withdraw");
    BOOST_TEST(wait() == "none");
    BOOST_TEST(settle() == "none");
    BOOST_TEST(begin(read) == "arm 30");
}

BOOST_FIXTURE_TEST_CASE(what_is_pending_without_a_deadline_needs_no_wait, machine) {
    set_reads(30);
    begin(read);
    begin(write);
    BOOST_TEST(end(read) == "ok, lingers");
    BOOST_TEST(settle() == "withdraw");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_ends_before_the_deadline_is_armed_again, machine) {
    set_both(30);
    begin(read);
    end(read);
    set_reads(50);
    begin(read);
    now = 30;
    BOOST_TEST(wait_ended() == "arm 50");
    BOOST_TEST(wait() == "ends at 50");
    BOOST_TEST(fsm.turn() == 2U);
    now = 49;
    BOOST_TEST(wait_ended() == "arm 50"); // It may also be early.
    now = 50;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(wait() == "none");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_ends_or_fails_with_nothing_to_watch_comes_to_nothing, machine) {
    set_reads(30);
    for (const bool fails : {false, true}) {
        now = 0;
        begin(read);
        end(read);
        now = 30;
        BOOST_TEST((fails ? wait_failed(error::wheel_stopped) : wait_ended()) == "none");
        BOOST_TEST(wait() == "none");
        BOOST_TEST(settle() == "none");
    }
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_fails_fails_all_that_has_a_deadline, machine) {
    set_reads(30);
    set_writes(40);
    begin(read);
    begin(write);
    BOOST_TEST(wait_failed(error::wheel_stopped) == "close");
    BOOST_TEST(wait() == "none");
    BOOST_TEST(end(read, false) == stopped);
    BOOST_TEST(end(write, false) == stopped);
    set_writes(never);
    begin(write);
    BOOST_TEST(begin(read) == "arm 30");
    BOOST_TEST(wait_failed(error::wheel_stopped) == "close");
    BOOST_TEST(writes() == "pending"); // It needs no wait.
    BOOST_TEST(reads() == "failed");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_refused_is_one_that_fails, machine) {
    set_both(30);
    begin(read);
    end(read);
    set_both(60);
    begin(read);
    now = 30;
    BOOST_TEST(wait_ended() == "arm 60");
    BOOST_TEST(wait_refused(error::too_many_pending) == "close");
    BOOST_TEST(wait() == "none");
    BOOST_TEST(end(read, false) == error_code(error::too_many_pending).message());
    BOOST_TEST(begin(read) == "arm 60");
}

BOOST_FIXTURE_TEST_CASE(an_operation_whose_wait_does_not_start_is_taken_back, machine) {
    set_reads(30);
    set_writes(40);
    for (const direction what : {read, write, connect}) {
        BOOST_TEST(begin(what) == (what == read ? "arm 30" : "arm 40"));
        fsm.take_back(what);
        BOOST_TEST(wait() == "none");
        BOOST_TEST(reads() == "unused");
        BOOST_TEST(writes() == "unused");
        BOOST_TEST((fsm.has_no_reads() && fsm.has_no_writes()));
    }
    set_reads(never);
    begin(read);
    begin(write);
    fsm.take_back(write);
    BOOST_TEST(reads() == "pending");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_withdrawn_arrives_and_comes_to_nothing, machine) {
    set_both(30);
    for (const bool fails : {false, true}) {
        now = 0;
        begin(read);
        end(read);
        BOOST_TEST(settle() == "withdraw");
        const std::uint64_t past = fsm.turn();
        const auto arrive = [&] {
            return fails ? wait_failed(past, error::wheel_stopped) : wait_ended(past);
        };
        now = 29;
        BOOST_TEST(arrive() == "none"); // There is no wait,
        BOOST_TEST(begin(read) == "arm 30");
        now = 30;
        BOOST_TEST(arrive() == "none"); // and this is not the one there is.
        BOOST_TEST(wait() == "ends at 30");
        BOOST_TEST(reads() == "pending");
        end(read);
        settle();
    }
}

// Idle periods.

BOOST_FIXTURE_TEST_CASE(an_idle_period_fails_all_that_is_pending, machine) {
    idle_after(10);
    set_reads(100);
    BOOST_TEST(begin(read) == "arm 10");
    BOOST_TEST(begin(write) == "none");
    now = 10;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(write, false) == late);
    BOOST_TEST(end(read, false) == late);
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_is_counted_from_the_last_progress, machine) {
    idle_after(10);
    begin(read);
    begin(write);
    now = 4;
    end(write, true);
    begin(write);
    now = 8;
    end(write, false); // Nothing was written.
    now = 10;
    BOOST_TEST(wait_ended() == "arm 14");
    now = 13;
    begin(write); // That is no progress,
    begin(read);  // and neither is this.
    now = 14;
    BOOST_TEST(wait_ended() == "close");
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_is_counted_from_the_first_operation, machine) {
    idle_after(10);
    now = 100;
    BOOST_TEST(begin(read) == "arm 110");
    end(read);
    settle();
    now = 200;
    BOOST_TEST(begin(write) == "arm 210");
}

BOOST_FIXTURE_TEST_CASE(the_first_idle_period_is_counted_from_when_it_is_set, machine) {
    begin(read);
    now = 100;
    BOOST_TEST(idle_after(10) == "arm 110");
    BOOST_TEST(begin(write) == "none");
    now = 110;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(reads() == "failed");
    BOOST_TEST(writes() == "failed");
}

BOOST_FIXTURE_TEST_CASE(another_idle_period_is_counted_from_the_last_progress, machine) {
    idle_after(10);
    begin(read);
    now = 2;
    BOOST_TEST(idle_after(5) == "move 5");
    BOOST_TEST(idle_after(20) == "none");
    now = 5;
    BOOST_TEST(wait_ended() == "arm 20");
    begin(write);
    end(write);
    now = 9;
    BOOST_TEST(idle_after(3) == "move 8"); // That has passed.
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(read, false) == late);
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_is_scaled_if_there_is_one, machine) {
    BOOST_TEST(scale_idle(5) == "none");
    begin(read);
    BOOST_TEST((fsm.current().idle == deadline_fsm::no_period));
    end(read);
    idle_after(10);
    begin(read);
    BOOST_TEST(scale_idle(5) == "move 5");
    BOOST_TEST(scale_idle(10) == "none");
    now = 5;
    BOOST_TEST(wait_ended() == "arm 10");
    now = 10;
    BOOST_TEST(wait_ended() == "close");
    end(read, false);
    set_reads(0);
    fsm.try_late(true);
    BOOST_TEST(begin(read) == "grace");
    BOOST_TEST(scale_idle(1) == "none"); // There is no wait.
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_ends_at_once, machine) {
    idle_after(10);
    begin(read);
    idle_never();
    BOOST_TEST(settle() == "withdraw");
    now = 100;
    BOOST_TEST(begin(write) == "none");
    idle_after(10);
    begin(write);
    idle_never();
    now = 200;
    BOOST_TEST(wait_ended() == "none");
}

BOOST_FIXTURE_TEST_CASE(the_longest_idle_period_is_none, machine) {
    idle_after(10);
    begin(read);
    end(read);
    settle();
    idle_never();
    now = 100;
    BOOST_TEST(begin(read) == "none");
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(name_of(fsm.idle_after(deadline_fsm::no_period - 1ns, at(now))) == "none");
    BOOST_TEST(begin(read) == "none"); // That is after the last time point.
}

// What the peer takes.

BOOST_FIXTURE_TEST_CASE(a_peer_that_takes_what_was_written_is_not_idle, machine) {
    idle_after(10);
    begin(write);
    unsent = 500; // It is not known how much it was before.
    now = 10;
    BOOST_TEST(wait_ended() == "arm 20");
    unsent = 499;
    now = 20;
    BOOST_TEST(wait_ended() == "arm 30");
    unsent = 0;
    now = 30;
    BOOST_TEST(wait_ended() == "arm 40");
    now = 40;
    BOOST_TEST(wait_ended() == "close"); // There was nothing to take.
    BOOST_TEST(end(write, false) == late);
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_takes_nothing_is_idle_after_the_second_look, machine) {
    idle_after(10);
    begin(write);
    unsent = 500;
    now = 10;
    BOOST_TEST(wait_ended() == "arm 20");
    now = 20;
    BOOST_TEST(wait_ended() == "close");
}

BOOST_FIXTURE_TEST_CASE(with_nothing_to_take_or_nobody_who_knows_an_idle_period_ends_at_once,
                        machine) {
    idle_after(10);
    for (const std::optional<std::size_t> n : {std::optional<std::size_t>(0), {}}) {
        unsent = n;
        now = 0;
        begin(read);
        now = 10;
        BOOST_TEST(wait_ended() == "close");
        end(read, false);
    }
}

BOOST_FIXTURE_TEST_CASE(after_progress_the_next_look_is_a_first_one, machine) {
    idle_after(10);
    begin(write);
    unsent = 500;
    now = 10;
    BOOST_TEST(wait_ended() == "arm 20");
    end(write); // More was written.
    begin(write);
    unsent = 900;
    now = 20;
    BOOST_TEST(wait_ended() == "arm 30");
    now = 30;
    BOOST_TEST(wait_ended() == "close");
}

BOOST_FIXTURE_TEST_CASE(nobody_is_asked_about_any_other_deadline, machine) {
    idle_after(10);
    set_writes(10);
    begin(write);
    begin(read);
    unsent = 500;
    now = 10;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(looks == 0);
    BOOST_TEST(end(read, false) == late); // It was idle, too.
    BOOST_TEST(end(write, false) == late);
    set_writes(19);
    begin(write);
    now = 19;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(looks == 0);
}

BOOST_FIXTURE_TEST_CASE(what_blocks_goes_on_while_the_peer_takes_bytes, machine) {
    idle_after(10);
    set_writes(25);
    BOOST_TEST(block(write) == "until 10");
    unsent = 500;
    now = 9;
    BOOST_TEST(block_on(write, 10) == "close"); // Real time was over.
    now = 10;
    BOOST_TEST(block_on(write, 10) == "until 20");
    unsent = 499;
    now = 20;
    BOOST_TEST(block_on(write, 20) == "until 25");
    unsent = 1;
    now = 25;
    BOOST_TEST(block_on(write, 25) == "close"); // Its deadline has passed.
    block_ended(write, false);
    set_writes(never);
    BOOST_TEST(block(write) == "until 35");
    now = 35;
    BOOST_TEST(block_on(write, 35) == "until 45"); // A first look again.
    now = 45;
    BOOST_TEST(block_on(write, 45) == "close");
}

// Deadlines of what is pending.

BOOST_FIXTURE_TEST_CASE(a_deadline_may_be_moved_while_its_operations_are_pending, machine) {
    set_both(30);
    begin(read);
    begin(write);
    BOOST_TEST(set_reads(20) == "move 20");
    BOOST_TEST(set_writes(40) == "none");
    BOOST_TEST(set_reads(50) == "none");
    now = 20;
    BOOST_TEST(wait_ended() == "arm 40");
    BOOST_TEST(set_writes(never) == "none");
    now = 40;
    BOOST_TEST(wait_ended() == "arm 50");
    BOOST_TEST(set_reads(40) == "move 40"); // It passes now.
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(write) == "ok");
    BOOST_TEST(end(read, false) == late);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_of_what_is_pending_without_one_arms_a_wait, machine) {
    for (const direction what : {read, write, connect}) {
        begin(what);
        BOOST_TEST((what == read ? set_reads(30) : set_writes(30)) == "arm 30");
        now = 30;
        BOOST_TEST(wait_ended() == "close");
        BOOST_TEST(end(what, false) == late);
        set_both(never);
        now = 0;
    }
    BOOST_TEST(begin(connect) == "none");
    BOOST_TEST(set_reads(30) == "none"); // It is not one of connects.
}

BOOST_FIXTURE_TEST_CASE(a_setting_whose_wait_does_not_start_is_taken_back, machine) {
    begin(read);
    begin(write);
    const auto before = fsm.current();
    BOOST_TEST(set_reads(30) == "arm 30");
    fsm.take_back_setting(before);
    BOOST_TEST(set_writes(40) == "arm 40");
    fsm.take_back_setting(before);
    BOOST_TEST(idle_after(10) == "arm 10");
    fsm.take_back_setting(before);
    BOOST_TEST(wait() == "none");
    BOOST_TEST((fsm.current().read == deadline_fsm::never));
    BOOST_TEST((fsm.current().write == deadline_fsm::never));
    BOOST_TEST((fsm.current().idle == deadline_fsm::no_period));
    BOOST_TEST(end(read) == "ok");
}

BOOST_FIXTURE_TEST_CASE(a_message_that_is_set_while_a_read_is_pending_begins_with_its_bytes,
                        machine) {
    begin(read);
    message_after(5);
    now = 10;
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(begin(read) == "arm 15");
}

// The next message.

BOOST_FIXTURE_TEST_CASE(a_message_gets_its_deadline_with_its_first_byte, machine) {
    set_reads(60);
    message_after(5);
    BOOST_TEST(begin(read) == "arm 60");
    now = 58;
    BOOST_TEST(end(read) == "ok, lingers");
    BOOST_TEST((fsm.current().read == at(63)));
    BOOST_TEST(begin(read) == "none");
    now = 60;
    BOOST_TEST(wait_ended() == "arm 63");
    BOOST_TEST(end(read) == "ok, lingers"); // The next byte begins no other message.
    now = 62;
    BOOST_TEST(begin(read) == "none");
    now = 63;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(read, false) == late);
}

BOOST_FIXTURE_TEST_CASE(a_message_may_have_the_only_deadline, machine) {
    message_after(5);
    BOOST_TEST(begin(read) == "none");
    now = 100;
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(begin(write) == "none"); // It is one of reads.
    BOOST_TEST(begin(read) == "arm 105");
    end(read);
    settle();
    fsm.message_after(deadline_fsm::duration::max());
    BOOST_TEST(begin(read) == "arm 105");
    end(read);
    BOOST_TEST(begin(read) == "none"); // That is never.
}

BOOST_FIXTURE_TEST_CASE(only_a_read_that_reads_begins_a_message, machine) {
    set_both(60);
    message_after(5);
    begin(read);
    now = 1;
    end(read, false);
    begin(write);
    end(write);
    begin(connect);
    end(connect);
    BOOST_TEST((fsm.current().read == at(60)));
    begin(read);
    begin(read);
    end(read);
    BOOST_TEST((fsm.current().read == at(60))); // Another one is pending, which has that.
    now = 2;
    end(read);
    BOOST_TEST((fsm.current().read == at(7)));
}

BOOST_FIXTURE_TEST_CASE(what_is_set_before_the_first_byte_is_the_deadline_until_then, machine) {
    for (const bool first : {false, true}) {
        machine m;
        if (first) {
            m.set_reads(60);
        }
        m.message_after(5);
        if (!first) {
            m.set_reads(60);
        }
        BOOST_TEST(m.begin(read) == "arm 60");
        m.now = 10;
        m.end(read);
        BOOST_TEST((m.fsm.current().read == at(15)));
    }
    message_after(5);
    set_reads(never); // It does not take the message's back,
    begin(read);
    end(read);
    BOOST_TEST((fsm.current().read == at(5)));
    message_after(5);
    fsm.message_after(std::nullopt); // but this does.
    set_reads(70);
    begin(read);
    end(read);
    BOOST_TEST((fsm.current().read == at(70)));
    message_after(5);
    message_after(6);
    begin(read);
    end(read);
    BOOST_TEST((fsm.current().read == at(6)));
    set_reads(80); // It is a deadline like any other.
    BOOST_TEST((fsm.current().read == at(80)));
}

BOOST_FIXTURE_TEST_CASE(a_message_and_an_idle_period_go_together, machine) {
    idle_after(10);
    message_after(15);
    BOOST_TEST(begin(read) == "arm 10");
    now = 9;
    BOOST_TEST(end(read) == "ok, lingers");
    BOOST_TEST(begin(read) == "none");
    now = 10;
    BOOST_TEST(wait_ended() == "arm 19"); // idle
    now = 18;
    end(read);
    begin(read);
    now = 19;
    BOOST_TEST(wait_ended() == "arm 24"); // the message
    now = 24;
    BOOST_TEST(wait_ended() == "close");
}

BOOST_FIXTURE_TEST_CASE(a_message_whose_wait_is_refused_fails, machine) {
    set_reads(60);
    message_after(5);
    begin(read);
    now = 59;
    end(read);
    begin(read);
    now = 60;
    BOOST_TEST(wait_ended() == "arm 64");
    BOOST_TEST(wait_refused(error::too_many_pending) == "close");
    BOOST_TEST(end(read) == error_code(error::too_many_pending).message());
}

// A grace for what begins too late.

BOOST_FIXTURE_TEST_CASE(what_begins_too_late_has_a_grace_if_it_is_to_be_tried, machine) {
    fsm.try_late(true);
    set_both(30);
    now = 30;
    for (const direction what : {read, write, connect}) {
        BOOST_TEST(begin(what) == "grace");
        BOOST_TEST(wait() == "none");
        BOOST_TEST(end(what) == "ok"); // It was ready.
        BOOST_TEST(grace_ended(what) == "none");
        BOOST_TEST(begin(what) == "grace");
        BOOST_TEST(grace_ended(what) == "close"); // It was not.
        BOOST_TEST(end(what, false) == late);
    }
    BOOST_TEST(fsm.grace() == 6U);
    now = 29;
    BOOST_TEST(begin(read) == "arm 30");
}

BOOST_FIXTURE_TEST_CASE(each_direction_has_a_grace_and_each_operation_a_new_one, machine) {
    fsm.try_late(true);
    set_both(30);
    now = 30;
    begin(read);
    begin(write);
    BOOST_TEST(grace_ended(read, 2) == "none"); // It is the write's.
    BOOST_TEST(grace_ended(read, 1) == "close");
    BOOST_TEST(writes() == "pending"); // It still has its own.
    end(write);
    begin(write);
    BOOST_TEST(grace_ended(write, 2) == "none");
    BOOST_TEST(grace_ended(write, 3) == "close");
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(end(write, false) == late);
}

BOOST_FIXTURE_TEST_CASE(what_joins_others_that_are_late_has_their_wait_or_grace, machine) {
    fsm.try_late(true);
    set_reads(30);
    begin(read);
    now = 30;
    BOOST_TEST(begin(read) == "none");
    BOOST_TEST(wait() == "ends at 30"); // It is about to end.
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(begin(read) == "grace");
    BOOST_TEST(begin(read) == "none");
    BOOST_TEST(end(read) == "ok");
    BOOST_TEST(grace_ended(read) == "close");
    BOOST_TEST(end(read, false) == late);
}

BOOST_FIXTURE_TEST_CASE(what_is_empty_has_no_grace, machine) {
    fsm.try_late(true);
    set_reads(30);
    now = 30;
    BOOST_TEST(begin(read, true) == "close");
    BOOST_TEST(reads() == "unused");
    begin(read);
    BOOST_TEST(begin(read, true) == "none"); // Another one is pending.
    fsm.try_late(false);
    BOOST_TEST(begin(read) == "close");
}

BOOST_FIXTURE_TEST_CASE(during_a_grace_there_is_nothing_to_watch, machine) {
    fsm.try_late(true);
    set_reads(30);
    begin(read);
    end(read);
    set_reads(0);
    idle_after(10);
    BOOST_TEST(begin(read) == "grace");
    BOOST_TEST(settle() == "withdraw"); // The wait of the last one.
    BOOST_TEST(begin(write) == "arm 10");
    now = 10;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(writes() == "failed");
    BOOST_TEST(reads() == "pending");
    BOOST_TEST(grace_ended(read) == "close");
    BOOST_TEST(reads() == "failed");
}

BOOST_FIXTURE_TEST_CASE(a_grace_begins_an_idle_period_only_for_a_stream_without_operations,
                        machine) {
    fsm.try_late(true);
    set_reads(0);
    idle_after(10);
    begin(write);
    end(write);
    settle();
    now = 100;
    begin(read);
    now = 101;
    BOOST_TEST(begin(write) == "arm 110");
    end(read);
    BOOST_TEST(idle_after(5) == "move 106"); // The read was progress.
    begin(read);
    BOOST_TEST(wait() == "ends at 106");
}

BOOST_FIXTURE_TEST_CASE(a_deadline_that_is_set_during_a_grace_counts_after_it, machine) {
    fsm.try_late(true);
    set_reads(0);
    BOOST_TEST(begin(read) == "grace");
    BOOST_TEST(set_reads(10) == "none");
    BOOST_TEST(grace_ended(read) == "arm 10");
    now = 10;
    BOOST_TEST(wait_ended() == "close");
    BOOST_TEST(end(read, false) == late);
    BOOST_TEST(begin(read) == "grace");
    BOOST_TEST(set_reads(never) == "none");
    BOOST_TEST(grace_ended(read) == "none");
    BOOST_TEST(end(read) == "ok");
}

BOOST_FIXTURE_TEST_CASE(an_operation_whose_grace_does_not_start_is_taken_back, machine) {
    fsm.try_late(true);
    set_both(0);
    for (const direction what : {read, write, connect}) {
        BOOST_TEST(begin(what) == "grace");
        fsm.take_back_grace(what);
        BOOST_TEST(reads() == "unused");
        BOOST_TEST(writes() == "unused");
        BOOST_TEST((fsm.has_no_reads() && fsm.has_no_writes()));
        BOOST_TEST(grace_ended(what) == "none");
    }
}

// Operations that block.

BOOST_FIXTURE_TEST_CASE(what_blocks_may_take_until_its_deadline, machine) {
    BOOST_TEST(block(read) == "until never");
    set_reads(30);
    set_writes(40);
    now = 29;
    BOOST_TEST(block(read) == "until 30");
    BOOST_TEST(block(write) == "until 40");
    BOOST_TEST(block(connect) == "until 40");
    now = 30;
    BOOST_TEST(block(read) == "close");
    fsm.try_late(true);
    BOOST_TEST(block(read) == "until 30");
    BOOST_TEST(reads() == "unused");
    BOOST_TEST(wait() == "none");
    BOOST_TEST((fsm.has_no_reads() && fsm.has_no_writes()));
}

BOOST_FIXTURE_TEST_CASE(what_blocks_may_take_until_the_end_of_the_idle_period, machine) {
    idle_after(10);
    now = 100;
    BOOST_TEST(block(read) == "until 110");
    block_ended(read);
    now = 103;
    BOOST_TEST(begin(write) == "arm 113");
    now = 105;
    BOOST_TEST(block(read) == "until 113");
    block_ended(read);
    BOOST_TEST(block(read) == "until 115");
    block_ended(read, false);
    BOOST_TEST(block(read) == "until 115");
    idle_after(20);
    BOOST_TEST(block(read) == "until 125");
    block_ended(read, false);
    now = 113;
    BOOST_TEST(wait_ended() == "arm 125"); // So has the write.
    end(write, false);
    settle();
    now = 200;
    begin(read);
    end(read, false);
    now = 300;
    BOOST_TEST(block(read) == "until 320"); // Nothing else is pending.
    idle_never();
    BOOST_TEST(block(read) == "until never");
}

BOOST_FIXTURE_TEST_CASE(what_blocks_too_long_takes_along_what_is_late, machine) {
    set_reads(30);
    set_writes(40);
    begin(read);
    begin(write);
    now = 30;
    BOOST_TEST(block(read) == "close");
    BOOST_TEST(reads() == "failed");
    BOOST_TEST(writes() == "pending");
    BOOST_TEST(block(write) == "until 40");
    now = 40;
    BOOST_TEST(block_on(write, 40) == "close");
    BOOST_TEST(end(write, false) == late + ", lingers");
    BOOST_TEST(end(read, false) == late + ", lingers");
}

BOOST_FIXTURE_TEST_CASE(what_blocks_begins_a_message_too, machine) {
    message_after(5);
    block(read);
    now = 10;
    block_ended(read, false);
    BOOST_TEST(block(read) == "until never");
    block_ended(write);
    now = 20;
    block_ended(read);
    BOOST_TEST(block(read) == "until 25");
}

// The clock and the current settings.

BOOST_FIXTURE_TEST_CASE(time_is_needed_only_where_there_is_something_to_compare, machine) {
    const auto needs = [&] {
        return std::array{fsm.begin_needs_now(read), fsm.begin_needs_now(write),
                          fsm.begin_needs_now(connect), fsm.end_needs_now(read, true),
                          fsm.end_needs_now(read, false)};
    };
    BOOST_TEST((needs() == std::array{false, false, false, false, false}));
    set_reads(30);
    BOOST_TEST((needs() == std::array{true, false, false, false, false}));
    set_reads(never);
    set_writes(30);
    BOOST_TEST((needs() == std::array{false, true, true, false, false}));
    set_writes(never);
    idle_after(10);
    BOOST_TEST((needs() == std::array{true, true, true, true, false}));
    begin(read);
    BOOST_TEST((needs() == std::array{true, true, true, true, false}));
    end(read);
    idle_never();
    message_after(5);
    BOOST_TEST((needs() == std::array{false, false, false, true, false}));
    BOOST_TEST(!fsm.end_needs_now(write, true));
}

BOOST_AUTO_TEST_CASE(what_was_set_can_be_asked) {
    const deadline_fsm fsm({at(1), at(2), 3s, 4s, true});
    BOOST_TEST((fsm.current().read == at(1)));
    BOOST_TEST((fsm.current().write == at(2)));
    BOOST_TEST((fsm.current().idle == 3s));
    BOOST_TEST((fsm.current().message == 4s));
    BOOST_TEST(fsm.current().try_late);
    const deadline_fsm none({});
    BOOST_TEST((none.current().read == deadline_fsm::never));
    BOOST_TEST((none.current().write == deadline_fsm::never));
    BOOST_TEST((none.current().idle == deadline_fsm::no_period));
    BOOST_TEST(!none.current().message);
    BOOST_TEST(!none.current().try_late);
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
    BOOST_TEST(assertion_failed_by([&] { fsm.take_back(read); }) == "armed_");
}

BOOST_FIXTURE_TEST_CASE(a_grace_that_was_not_asked_for_fails_an_assertion, machine) {
    BOOST_TEST(assertion_failed_by([&] { grace_ended(read, 1); }) ==
               "grace != 0 && grace <= grace_");
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { machine(*this).grace_ended(read, 0); }) ==
               "grace != 0 && grace <= grace_");
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { fsm.take_back_grace(read); }) ==
               "directions_.part_of(what).grace == grace_ && directions_.part_of(what).count == 1");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_not_asked_for_fails_an_assertion, machine) {
    BOOST_TEST(assertion_failed_by([&] { wait_refused(error::wheel_stopped); }) == "armed_");
    set_reads(30);
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { wait_ended(fsm.turn() + 1); }) == "turn <= turn_");
    BOOST_TEST(assertion_failed_by([&] { wait_failed(fsm.turn() + 1, error::wheel_stopped); }) ==
               "turn <= turn_");
    BOOST_TEST(wait() == "ends at 30");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_fails_without_a_reason_fails_an_assertion, machine) {
    set_reads(30);
    begin(read);
    BOOST_TEST(assertion_failed_by([&] { wait_failed({}); }) == "in() == phase::pending && reason");
}

BOOST_AUTO_TEST_SUITE_END()
