// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The code fragments about civil times, of their header and of the guides, compiled and run.

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "snippets/support.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_civil_time, *boost::unit_test::timeout(60))

namespace civil_times {

using namespace asio_wheel;
using time_point = std::chrono::system_clock::time_point;
using std::chrono::February;
using std::chrono::Friday;
using std::chrono::January;
using std::chrono::last;
using std::chrono::May;
using std::chrono::Monday;
using std::chrono::Thursday;
using std::chrono::Tuesday;

/// What the tasks of a document do: each counts how often.
struct jobs {
    asio::io_context ctx;
    asio_wheel::virtual_time time{ctx};
    system_scheduler tasks{ctx};
    int backups = 0, bills = 0, reports = 0, runs = 0, rings = 0, refreshes = 0;

    void back_up() { ++backups; }
    void backup() { ++backups; }
    void send_bills() { ++bills; }
    void report() { ++reports; }
    void run() { ++runs; }
    void ring() { ++rings; }
    void refresh() { ++refreshes; }

    ~jobs() {
        tasks.stop().clear();
        time.advance(0s);
    }
};

struct header : jobs {
    void jobs_of_a_server() {
        // One of its own: its name is that of the block.
#include "include/asio_wheel/civil_time.hpp/asio_wheel_system_scheduler_tasks_ctx.inc"
        time.advance(366 * 24h);
    }
    void report_on_monday() {
#include "include/asio_wheel/civil_time.hpp/tasks_schedule_asio_wheel_weekly.inc"
    }
    void run_if_it_was_missed(time_point last_run) {
#include "include/asio_wheel/civil_time.hpp/const_auto_nine_asio_wheel.inc"
    }
    void schedule_all() {
        const auto f = [this] { ++runs; };
        const auto zone = utc;
#include "include/asio_wheel/civil_time.hpp/tasks_schedule_daily_3h.inc"
#include "include/asio_wheel/civil_time.hpp/tasks_schedule_monthly_1d.inc"
#include "include/asio_wheel/civil_time.hpp/tasks_schedule_weekly_monday.inc"
#include "include/asio_wheel/civil_time.hpp/tasks_schedule_yearly_january.inc"
    }
};

BOOST_FIXTURE_TEST_CASE(jobs_of_a_server_each_day_and_each_month, header) {
    jobs_of_a_server();
    BOOST_TEST((backups >= 365 && backups <= 367));
    BOOST_TEST((bills >= 11 && bills <= 13));
}

BOOST_FIXTURE_TEST_CASE(a_report_each_monday, header) {
    report_on_monday();
    time.advance(52 * 7 * 24h - 2h); // A zone may have changed its clock.
    BOOST_TEST((reports >= 51 && reports <= 52));
}

BOOST_FIXTURE_TEST_CASE(a_rule_tells_what_was_missed, header) {
    const auto now = std::chrono::system_clock::now();
    run_if_it_was_missed(now - 24h - 1s);
    BOOST_TEST(runs == 1);
    run_if_it_was_missed(now + 1h);
    BOOST_TEST(runs == 1);
}

BOOST_FIXTURE_TEST_CASE(each_kind_of_rule_is_a_task, header) {
    schedule_all();
    BOOST_TEST(tasks.pending() == 11U);
    time.advance(366 * 24h);
    BOOST_TEST((runs >= 2 * 365 + 3 * 52 + 4 * 11 + 3));
}

struct guide : jobs {
    void ring_only_in_time() {
#include "docs/guide/civil_time.md/tasks_schedule_daily_18h.inc"
    }
    void backup_under_a_key() {
#include "docs/guide/civil_time.md/tasks_schedule_backup_daily.inc"
    }
    void backup_if_it_was_missed(time_point last_backup) {
#include "docs/guide/civil_time.md/if_daily_3h_30min.inc"
    }
    void ring_for_meals() {
#include "docs/guide/civil_time.md/const_auto_meals_time_point.inc"
    }
    void refresh_each_quarter() {
#include "docs/guide/civil_time.md/using_quarters_std_chrono.inc"
    }
    void begin_of_the_guide_to_schedulers() {
#include "docs/guide/scheduler.md/system_scheduler_days_ctx.inc"
        time.advance(10 * 24h);
    }
};

BOOST_FIXTURE_TEST_CASE(a_task_that_is_not_made_up_for, guide) {
    ring_only_in_time();
    time.advance(10 * 24h);
    BOOST_TEST((rings >= 9 && rings <= 11)); // None is late.
}

BOOST_FIXTURE_TEST_CASE(a_rule_anew_under_the_same_key, guide) {
    backup_under_a_key();
    backup_under_a_key();
    BOOST_TEST(tasks.pending() == 1U);
    time.advance(10 * 24h);
    BOOST_TEST((backups >= 9 && backups <= 10));
}

BOOST_FIXTURE_TEST_CASE(what_has_passed_when_the_program_starts, guide) {
    const auto now = std::chrono::system_clock::now();
    backup_if_it_was_missed(now - 26h);
    BOOST_TEST(backups == 1);
    backup_if_it_was_missed(now + 1h);
    BOOST_TEST(backups == 1);
}

BOOST_FIXTURE_TEST_CASE(several_rules_are_one, guide) {
    ring_for_meals();
    time.advance(10 * 24h);
    BOOST_TEST((rings >= 29 && rings <= 31));
}

BOOST_FIXTURE_TEST_CASE(a_call_at_each_quarter_of_an_hour, guide) {
    refresh_each_quarter();
    time.advance(24h);
    BOOST_TEST(refreshes == 96);
    const auto now = use_wheel<std::chrono::system_clock>(ctx).now();
    time.advance(15min - now.time_since_epoch() % 15min);
    BOOST_TEST(refreshes == 97);
}

BOOST_FIXTURE_TEST_CASE(every_day_at_half_past_three, guide) {
    begin_of_the_guide_to_schedulers();
    BOOST_TEST((backups >= 9 && backups <= 11));
}

} // namespace civil_times

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
