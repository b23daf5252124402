// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// wheel_report: what it counts, and what it prints.

#include <asio_wheel/pending.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <asio_wheel/detail/core/wake_up_history.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::pending_wait;
using asio_wheel::wait_kind;
using asio_wheel::wake_ups_in_second;
using asio_wheel::wheel_report;
using asio_wheel::detail::wake_up_history;
using std::chrono::nanoseconds;

pending_wait wait_of(wait_kind kind, std::string_view tag, nanoseconds remaining) {
    pending_wait w;
    w.kind = kind;
    w.tag = tag;
    w.remaining = remaining;
    return w;
}

std::string printed(const wheel_report& report) {
    std::ostringstream out;
    out << report;
    return out.str();
}

} // namespace

BOOST_AUTO_TEST_SUITE(service_report)

BOOST_AUTO_TEST_CASE(waits_are_counted_by_kind_and_tag) {
    wheel_report report;
    for (int i = 0; i < 3; ++i) {
        report.add(wait_of(wait_kind::timer, "b", 1s));
        report.add(wait_of(wait_kind::timer, "a", 1s));
        report.add(wait_of(wait_kind::sleep, "a", 1s));
        report.add(wait_of(wait_kind::idle, "", 1s));
    }
    report.add(wait_of(wait_kind::idle, "", 500ms));
    BOOST_TEST(report.waits() == 13U);
    const std::vector<wheel_report::group> expected{{wait_kind::idle, "", 4, 500ms},
                                                    {wait_kind::timer, "a", 3, 1s},
                                                    {wait_kind::timer, "b", 3, 1s},
                                                    {wait_kind::sleep, "a", 3, 1s}};
    BOOST_TEST((report.groups() == expected));
}

// The same words at another address, as two sources have them.
BOOST_AUTO_TEST_CASE(equal_tags_of_different_sources_are_one) {
    const std::string other("session");
    wheel_report report;
    report.add(wait_of(wait_kind::timer, "session", 1s));
    report.add(wait_of(wait_kind::timer, other, 1s));
    BOOST_TEST(report.groups().size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_next_ten_are_in_order) {
    wheel_report report;
    for (const int n : {50, 7, 3, 99, 12, 8, 1, 60, 61, 62, 63, 64, 2, 4, 100}) {
        report.add(wait_of(wait_kind::timer, "", std::chrono::seconds(n)));
    }
    std::vector<nanoseconds> next;
    for (const pending_wait& w : report.next()) {
        next.push_back(w.remaining);
    }
    BOOST_TEST((next == std::vector<nanoseconds>{1s, 2s, 3s, 4s, 7s, 8s, 12s, 50s, 60s, 61s}));
    BOOST_TEST(report.remaining().count() == 15U);
    BOOST_TEST((report.remaining().max() == 100s));
}

BOOST_AUTO_TEST_CASE(the_list_of_a_temporary_report_can_be_walked) {
    virtual_time world;
    timer t(world.ctx, 1s);
    t.async_wait(ignore);
    int waits = 0;
    for (const pending_wait& w : world.wheel.report().next()) {
        waits += w.remaining == 1s ? 1 : 0;
    }
    BOOST_TEST(waits == 1);
    world.pass(1s);
}

BOOST_AUTO_TEST_CASE(it_prints_what_a_reader_asks_for) {
    wheel_report report;
    report.add(wait_of(wait_kind::timeout, "login", 250ms));
    report.add(wait_of(wait_kind::timer, "session idle", 90s));
    report.add(wait_of(wait_kind::timer, "session idle", 49h));
    report.add(wait_of(wait_kind::sleep, "", -4'500us));
    std::array<wake_ups_in_second, wheel_report::seconds> wake_ups{};
    wake_ups[0] = {.due = 3, .nothing_due = 2, .moved = 1};
    wake_ups[9] = {.due = 1'000'000, .nothing_due = 0, .moved = 0};
    report.wake_ups(wake_ups);
    BOOST_TEST(printed(report) == "4 waits are pending.\n"
                                  "by kind and tag\n"
                                  "          2  timer      session idle\n"
                                  "          1  sleep\n"
                                  "          1  timeout    login\n"
                                  "the next\n"
                                  "  -4.50 ms  sleep\n"
                                  "    250 ms  timeout    login\n"
                                  "  1.50 min  timer      session idle\n"
                                  "    2.04 d  timer      session idle\n"
                                  "time that remains\n"
                                  "          1  up to about 1 ms\n"
                                  "          1  up to about 1 s\n"
                                  "          1  up to about 10 min\n"
                                  "          1  longer\n"
                                  "wake-ups             what was due   nothing due   moved\n"
                                  "  this second                   3             2       1\n"
                                  "  9 s ago                 1000000             0       0\n");
}

BOOST_AUTO_TEST_CASE(an_empty_report_is_short) {
    BOOST_TEST(printed(wheel_report()) == "0 waits are pending.\n"
                                          "no wake-ups in the last 10 s\n");
}

// Of the line of a wait, what follows its time.
std::string printed_name(std::string_view tag) {
    wheel_report report;
    report.add(wait_of(wait_kind::timer, tag, 1s));
    const std::string text = printed(report);
    const std::string before = "  1.00 s  timer      ";
    const auto begin = text.find(before) + before.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

// Nothing in a tag moves the cursor, changes colours, or turns the text that follows round.
BOOST_AUTO_TEST_CASE(a_report_prints_no_control_characters) {
    using namespace std::string_view_literals;
    BOOST_TEST(printed_name("a\x1b[31mred\x1b[0m") == "a\\x1b[31mred\\x1b[0m");
    BOOST_TEST(printed_name("two\nlines\r\tand a tab") == "two\\nlines\\r\\tand a tab");
    BOOST_TEST(printed_name("a\0b\x7f"sv) == "a\\x00b\\x7f");
    BOOST_TEST(printed_name("a\\nb") == "a\\\\nb");
    BOOST_TEST(printed_name("\xc2\x85\xc2\x9b\xc2\xa0") == "\\u0085\\u009b\xc2\xa0");
    BOOST_TEST(printed_name("\xe2\x80\xaetxt.exe\xe2\x80\xac") == "\\u202etxt.exe\\u202c");
    BOOST_TEST(
        printed_name("\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xef\xbb\xbf") ==
        "\\u2066\\u2028\\u061c\\u200e\\u200f\\ufeff");
    BOOST_TEST(printed_name("\xff\xe2\x82z\xc0\x80\xed\xa0\x80") ==
               "\\xff\\xe2\\x82z\\xc0\\x80\\xed\\xa0\\x80");
    const std::string text = "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9f \xe6\x97\xa5 \xe2\x80\x90";
    BOOST_TEST(printed_name(text) == text);
}

BOOST_AUTO_TEST_CASE(equal_lines_are_printed_once) {
    wheel_report report;
    for (int i = 0; i < 6; ++i) {
        report.add(wait_of(wait_kind::timer, "session", 250ms + std::chrono::microseconds(i)));
    }
    report.add(wait_of(wait_kind::sleep, "", 250ms));
    report.add(wait_of(wait_kind::timer, "session", 3s));
    report.add(wait_of(wait_kind::timer, "session", 3s));
    const std::string text = printed(report);
    const auto begin = text.find("the next\n");
    BOOST_TEST(text.substr(begin, text.find("time that remains") - begin) ==
               "the next\n"
               "    250 ms  timer      session\n"
               "    250 ms  sleep\n"
               "    250 ms  timer      session  (5 of them)\n"
               "    3.00 s  timer      session  (2 of them)\n");
}

BOOST_AUTO_TEST_CASE(times_are_printed_in_their_unit) {
    const auto line = [](nanoseconds d) {
        wheel_report report;
        report.add(wait_of(wait_kind::timer, "", d));
        const std::string text = printed(report);
        const auto begin = text.find("the next\n") + 9;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    BOOST_TEST(line(0ns) == "      0 ns  timer");
    BOOST_TEST(line(999ns) == "    999 ns  timer");
    BOOST_TEST(line(1us) == "   1.00 us  timer");
    BOOST_TEST(line(59'999ms) == "    59.9 s  timer");
    BOOST_TEST(line(100s) == "  1.66 min  timer");
    BOOST_TEST(line(99'999us) == "   99.9 ms  timer");
    BOOST_TEST(line(100ms) == "    100 ms  timer");
    BOOST_TEST(line(-25h) == "   -1.04 d  timer");
    BOOST_TEST(line(nanoseconds::max()) == "  106751 d  timer");
    BOOST_TEST(line(nanoseconds::min()) == "  -106751 d  timer");
}

BOOST_AUTO_TEST_CASE(wake_ups_are_counted_in_their_seconds) {
    wake_up_history history;
    BOOST_TEST((history.until(100) == wake_up_history::counts()));
    history.at(100).due += 2;
    history.at(101).moved += 1;
    ++history.at(103).due;
    ++history.at(102).due; // A clock that was set back: it counts for the newest second.
    const auto recent = history.until(104);
    BOOST_TEST((recent[0] == wake_ups_in_second()));
    BOOST_TEST(recent[1].due == 2U);
    BOOST_TEST((recent[2] == wake_ups_in_second()));
    BOOST_TEST(recent[3].moved == 1U);
    BOOST_TEST(recent[4].due == 2U);
    BOOST_TEST(history.until(110)[9].moved == 1U);
    BOOST_TEST((history.until(111)[9] == wake_ups_in_second())); // Second 101 is too far back.
    BOOST_TEST((history.until(113) == wake_up_history::counts()));
    BOOST_TEST(history.until(112)[9].due == 2U);
    ++history.at(7).due; // Set back by more than what is kept: all of it is older from now on.
    BOOST_TEST(history.until(7)[0].due == 3U);
    BOOST_TEST(history.until(8)[1].due == 3U);
    BOOST_TEST((history.until(17) == wake_up_history::counts()));
}

BOOST_AUTO_TEST_CASE(seconds_of_all_clocks_can_be_counted) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
    wake_up_history history;
    ++history.at(least).due;
    BOOST_TEST(history.until(least + 3)[3].due == 1U);
    ++history.at(-5).due;
    BOOST_TEST(history.until(0)[5].due == 1U);
    ++history.at(greatest).due;
    BOOST_TEST(history.until(greatest)[0].due == 1U);
    BOOST_TEST(history.until(greatest)[1].due == 0U);
}

// What a wheel in real time has counted after a wait that is due, one that was cancelled, and one
// that comes earlier than the wake-up that was armed.
wake_ups_in_second causes_of_wake_ups() {
    drained_context c;
    auto& wheel = asio_wheel::use_wheel(c.ctx);
    timer next(c.ctx);
    timer later(c.ctx, 10ms);
    later.async_wait(ignore);
    next.expires_after(5ms);
    next.async_wait(ignore);
    next.cancel();
    c.run();
    wake_ups_in_second sum;
    for (const auto& w : wheel.report().wake_ups()) {
        sum.due += w.due;
        sum.nothing_due += w.nothing_due;
        sum.moved += w.moved;
    }
    BOOST_TEST(sum.due + sum.nothing_due == wheel.stats().wake_ups);
    BOOST_TEST(sum.nothing_due == wheel.stats().spurious_wake_ups);
    return sum;
}

// A handler may keep the context from waking up. The report says when that has ended.
BOOST_AUTO_TEST_CASE(a_late_wake_up_is_counted_in_the_second_when_it_comes) {
    using clock = manual_clock<struct late_wake_up>;
    using late_timer = asio_wheel::basic_waitable_timer<clock, impatient<clock>>;
    for (const nanoseconds stall : {0ns, 100'000'000ns}) {
        clock::set(clock::time_point(1'000s));
        drained_context c;
        auto& wheel = asio_wheel::make_wheel<clock, impatient<clock>>(c.ctx, {.stall = stall});
        late_timer t(c.ctx, 1ms);
        t.async_wait(ignore);
        clock::advance(30s);
        while (wheel.pending() != 0) {
            look(c.ctx);
        }
        BOOST_TEST(wheel.report().wake_ups()[0].due == 1U);
        clock::advance(3s);
        BOOST_TEST(wheel.report().wake_ups()[3].due == 1U);
    }
}

// A slow machine may need fewer wake-ups.
BOOST_AUTO_TEST_CASE(the_causes_of_wake_ups_are_told_apart) {
    const wake_ups_in_second expected{.due = 1, .nothing_due = 1, .moved = 1};
    bool found = false;
    for (int i = 0; i < 100 && !found; ++i) {
        found = causes_of_wake_ups() == expected;
    }
    BOOST_TEST(found);
}

BOOST_AUTO_TEST_SUITE_END()
