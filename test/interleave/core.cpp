// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// The real core in all interleavings of two threads, with a deterministic queue, driver and clock:
// the owner of a timer, and a thread that runs, drains or ends the context, or emits a signal.
// Together they reach each cell of the tables of states. core_three_threads.cpp has three threads.
// core_scene.hpp has what is checked after each schedule.

#include "interleave/support/core_scene.hpp"
#include "interleave/support/core_steps.hpp"
#include "interleave/support/core_tables.hpp"
#include "interleave/support/explorer.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test::interleave;

/// Two threads, and a preemption wherever it may hurt.
constexpr bounds most{.preemptions = 2};

/// What else there is.
enum class scenery {
    none,
    neighbours, ///< A timer that is due, and one that is not. Each is a slice of its own.
    work        ///< An armed driver is work of the context, and a tombstone is filed.
};

/// Each step of an owner, with a timer in each condition, beside a step of another thread. The time
/// is 1,060, and no thread changes it.
void explore_owner(const step& other, scenery around,
                   const std::function<bool(const condition&)>& wanted = {},
                   const std::vector<step>& steps = owners_steps()) {
    constexpr std::array names{"core_", "core_slices_", "core_work_"};
    const bool crowded = around == scenery::neighbours;
    const bounds limits = around == scenery::none || at_length() ? most : bounds{.preemptions = 1};
    for (const condition& c : conditions()) {
        for (const step& mine : steps) {
            if (wanted == nullptr || wanted(c)) {
                explore_all(std::string(names[static_cast<std::size_t>(around)]) + other.name +
                                '_' + c.name + '_' + mine.name,
                            limits, {}, [&] {
                                core_scene s({.budget = crowded ? 1U : 8U},
                                             {.driver_is_work = around == scenery::work});
                                if (around == scenery::work) {
                                    static_cast<void>(s.tombstone(5'000));
                                }
                                prepared p = c.make(s);
                                if (crowded) {
                                    static_cast<void>(s.armed(1'045, s.wait()));
                                    static_cast<void>(s.armed(5'000, s.wait()));
                                }
                                s.core.time = 1'060;
                                s.together([&] { mine.take(s, p); }, [&] { other.take(s, p); });
                            });
            }
        }
    }
}
void explore_owner(const step& other) {
    explore_owner(other, scenery::none);
    explore_owner(other, scenery::neighbours);
}

bool is_tombstone(const condition& c) {
    return c.name == std::string("tombstone");
}

/// A case of this suite. The last one needs all others.
struct one_of_many {
    one_of_many() { ++run; }

    static boost::test_tools::assertion_result
    all_others_have_run(boost::unit_test::test_unit_id last) {
        using namespace boost::unit_test;
        const test_unit_id suite = framework::get(last, TUT_CASE).p_parent_id;
        boost::test_tools::assertion_result all =
            run + 1 == framework::get<test_suite>(suite).size() &&
            std::getenv("ASIO_WHEEL_SCHEDULE") == nullptr;
        all.message() << "not all others have run in full";
        return all;
    }

private:
    static inline std::size_t run = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(interleave_core, one_of_many)

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_the_time_of_its_timer_comes) {
    explore_owner(others::run);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_a_signal_is_emitted) {
    explore_owner(others::emit, scenery::none, &condition::has_slot);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_the_core_is_drained) {
    explore_owner(others::drain);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_the_context_ends) {
    explore_owner(others::shut_down);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_another_thread_walks) {
    explore_owner(others::walk, scenery::neighbours);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_another_executor_drops_its_wait) {
    explore_owner(others::drop, scenery::none, &condition::is_elsewhere);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_where_an_armed_driver_is_work) {
    explore_owner(others::run_context, scenery::work);
}

// A slice is put in order while owners go on: each has read the life of its timer before the visit
// began, and writes another expiry.
BOOST_AUTO_TEST_CASE(an_owner_may_postpone_while_a_slice_of_several_timers_is_sorted) {
    const std::vector<step> steps{
        {"first", [](core_scene& s, prepared& p) { s.postpone(p.timer, 5'000); }},
        {"a_little", [](core_scene& s, prepared& p) { s.postpone(p.timer, 1'055); }}};
    for (const step& mine : steps) {
        explore_all(std::string("core_sorted_") + mine.name, most, {}, [&] {
            core_scene s;
            scene_wait& last = s.wait();
            scene_wait& w = s.wait();
            scene_wait& middle = s.wait();
            static_cast<void>(s.armed(1'054, last));
            prepared p{s.armed(1'051, w), w};
            static_cast<void>(s.armed(1'052, middle));
            s.core.time = 1'060;
            s.together([&] { mine.take(s, p); }, [&] { s.run(); });
            check(middle.delivered == 1 && last.delivered == 1, "others are due");
            s.core.run_until(5'000);
            check(w.delivered == 1, "it is not forgotten");
        });
    }
}

// A wait that starts on a tombstone takes no lock, and neither does most of what follows.
BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_with_a_wait_that_it_has_just_started) {
    const std::vector<step> steps{
        {"earlier_start",
         [](core_scene& s, prepared& p) {
             s.rearm(p.timer, 1'020);
             s.start(p.timer, p.wait);
         }},
        {"start_destroy",
         [](core_scene& s, prepared& p) {
             s.start(p.timer, p.wait);
             s.destroy(p.timer);
         }},
        {"start_postpone",
         [](core_scene& s, prepared& p) {
             s.start(p.timer, p.wait);
             s.postpone(p.timer, 1'200);
         }},
        {"start_cancel_start_later",
         [](core_scene& s, prepared& p) {
             s.start(p.timer, p.wait);
             s.cancel(p.timer);
             s.start(p.timer, s.wait());
             s.rearm(p.timer, 1'200);
         }},
    };
    for (const step& other : {others::run, others::drain}) {
        explore_owner(other, scenery::none, is_tombstone, steps);
        explore_owner(other, scenery::neighbours, is_tombstone, steps);
    }
}

BOOST_AUTO_TEST_CASE(what_cancel_has_counted_is_what_the_handler_sees) {
    explore_all("core_cancel", most, {.schedules = 100, .outcomes = {"cancelled", "due"}}, [] {
        core_scene s;
        scene_wait& w = s.wait();
        scene_timer& t = s.armed(1'050, w);
        s.core.time = 1'060;
        std::size_t cancelled = 0;
        s.together([&] { cancelled = s.cancel(t); }, [&] { s.run(); });
        s.run();
        check(w.aborted == static_cast<int>(cancelled), "what was counted was aborted");
        outcome(cancelled != 0 ? "cancelled" : "due");
    });
}

BOOST_AUTO_TEST_CASE(a_postponed_wait_comes_at_its_new_time_unless_it_was_delivered) {
    explore_all("core_postpone", most, {.schedules = 100, .outcomes = {"postponed", "too late"}},
                [] {
                    core_scene s;
                    scene_wait& w = s.wait();
                    scene_timer& t = s.armed(1'050, w);
                    s.core.time = 1'060;
                    std::size_t moved = 0;
                    s.together([&] { moved = s.postpone(t, 1'200); }, [&] { s.run(); });
                    s.run();
                    check(w.delivered == (moved == 0 ? 1 : 0),
                          "it is early if it comes now, and lost if it was not moved");
                    s.core.run_until(1'200);
                    check(w.delivered == 1, "it comes");
                    outcome(moved != 0 ? "postponed" : "too late");
                });
}

// The visit files the timer again, because it waits for a later time than its tick.
BOOST_AUTO_TEST_CASE(a_wait_that_is_postponed_back_while_a_visit_files_it_again_is_not_late) {
    for (const auto back : {1'058, 1'075}) { // It is due, or soon.
        explore_all("core_postpone_back_" + std::to_string(back), most, {.schedules = 100}, [back] {
            core_scene s;
            scene_wait& w = s.wait();
            scene_timer& t = s.armed(1'050, w);
            s.postpone(t, 1'200);
            s.core.time = 1'060;
            s.together([&] { check(s.postpone(t, back) == 1, "it waits"); }, [&] { s.run(); });
            s.run();
            check(w.delivered == (back < 1'060 ? 1 : 0), "it is neither early");
            s.core.run_until(1'080);
            check(w.delivered == 1, "nor late");
        });
    }
}

BOOST_AUTO_TEST_CASE(a_signal_comes_before_the_expiry_or_does_nothing) {
    explore_all("core_emit", most, {.schedules = 100, .outcomes = {"aborted", "due"}}, [] {
        core_scene s;
        scene_wait& w = s.slotted_wait();
        static_cast<void>(s.armed(1'050, w));
        s.core.time = 1'060;
        s.together([&] { s.emit(w); }, [&] { s.run(); });
        s.run();
        outcome(w.aborted != 0 ? "aborted" : "due");
    });
    explore_all("core_end_of_slot", most, {.schedules = 20}, [] {
        core_scene s;
        scene_wait& w = s.slotted_wait();
        static_cast<void>(s.armed(1'050, w));
        s.core.time = 1'060;
        s.together([&] { s.unbind(w); }, [&] { s.run(); });
        s.run();
        check(w.delivered == 1, "a wait does not need its slot");
    });
}

// As a coroutine does that has the timer in its frame: then async_wait(), or what else has led to
// the handler, must not touch the timer any more.
BOOST_AUTO_TEST_CASE(a_handler_may_destroy_its_timer_while_async_wait_has_not_returned) {
    for (const condition& c : conditions()) {
        const std::string name = c.name;
        for (const bool awake : {false, true}) {
            for (const step& other : {others::run, others::drain}) {
                if (name == "inactive" || name == "tombstone") {
                    explore_all("core_own_" + name + (awake ? "_awake_" : "_") + other.name, most,
                                {.schedules = 20}, [&] {
                                    core_scene s;
                                    if (awake) {
                                        static_cast<void>(s.armed(5'000, s.wait()));
                                    }
                                    prepared p = c.make(s);
                                    p.wait.then = [&] { s.destroy(p.timer); };
                                    s.core.time = 1'060;
                                    s.together([&] { s.start(p.timer, p.wait); },
                                               [&] {
                                                   other.take(s, p);
                                                   s.run();
                                               });
                                    s.run();
                                    check(!p.timer.state, "the handler was called");
                                });
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_handler_may_destroy_its_timer_while_cancel_has_not_returned) {
    const step ends[] = {
        {"cancel", [](core_scene& s, prepared& p) { s.cancel(p.timer); }},
        {"cancel_one", [](core_scene& s, prepared& p) { s.cancel_one(p.timer); }},
        {"rearm_later", [](core_scene& s, prepared& p) { s.rearm(p.timer, 1'200); }},
        {"rearm_earlier", [](core_scene& s, prepared& p) { s.rearm(p.timer, 1'020); }},
        {"emit", [](core_scene& s, prepared& p) { s.emit(p.wait); }}};
    for (const step& mine : ends) {
        explore_all(std::string("core_own_") + mine.name, most, {.schedules = 5}, [&] {
            core_scene s;
            scene_wait& w = mine.name == ends[4].name ? s.slotted_wait() : s.wait();
            prepared p{s.armed(1'050, w), w};
            w.then = [&] { s.destroy(p.timer); };
            s.together([&] { mine.take(s, p); }, [&] { s.run(); });
            s.run();
            check(w.aborted == 1 && !p.timer.state, "the handler was called");
        });
    }
}

// The context was busy for five milliseconds, so a turn has several slices. The tick of the time
// has begun only.
BOOST_AUTO_TEST_CASE(what_is_due_between_two_slices_of_a_turn_is_not_forgotten) {
    constexpr time_count now = 5'001'065;
    const auto explore_between = [&](const char* name, auto act) {
        explore_all(std::string("core_between_slices_") + name, most, {.schedules = 100}, [&] {
            core_scene s({.budget = 1});
            for (const time_count t : {1'040, 1'045, 1'050}) {
                static_cast<void>(s.armed(t, s.wait()));
            }
            scene_wait& w = s.wait();
            scene_timer& late = s.armed(9'000'000, w);
            s.core.time = now;
            s.together([&] { act(s, late); }, [&] { s.run(); });
        });
    };
    explore_between("start",
                    [](core_scene& s, scene_timer&) { s.start(s.timer(now - 2), s.wait()); });
    explore_between("postpone", [](core_scene& s, scene_timer& t) { s.postpone(t, now - 2); });
    explore_between("cancel", [](core_scene& s, scene_timer& t) { s.cancel(t); });
    explore_between("drain", [](core_scene& s, scene_timer&) { s.drain(); });
    explore_between("walk", [](core_scene& s, scene_timer&) { s.walk(); });
}

BOOST_AUTO_TEST_CASE(a_core_that_becomes_idle_is_armed_for_the_wait_that_starts) {
    explore_all("core_idle", most, {.schedules = 20}, [] {
        core_scene s;
        scene_wait& first = s.wait();
        scene_wait& second = s.wait();
        scene_timer& t = s.armed(1'050, first);
        s.cancel(t); // Its turn in the queue finds that nothing waits.
        s.together([&] { s.start(t, second); }, [&] { s.run(); });
        s.run();
        check(s.core.driver.armed_for().has_value(), "a wait is pending");
        s.core.run_until(1'060);
        check(first.aborted == 1 && second.delivered == 1, "both end as they should");
    });
}

// Each of the two threads runs the handler of a wait that was cancelled. While the first one sees
// that nothing waits, the second one starts its wait, cancels it, and runs its handler.
BOOST_AUTO_TEST_CASE(a_core_whose_driver_is_work_is_disarmed_by_the_last_handler) {
    explore_all("core_work_last_handler", {.preemptions = 3}, {.schedules = 100}, [] {
        core_scene s({}, {.driver_is_work = true});
        scene_timer& far = s.tombstone(50'000);
        scene_wait& second = s.wait();
        s.cancel(s.armed(40'000, s.wait()));
        s.together([&] { s.core.run_one(); },
                   [&] {
                       s.start(far, second);
                       s.cancel(far);
                       s.core.run_one();
                   });
    });
}

BOOST_AUTO_TEST_CASE(a_core_that_is_drained_ends_every_wait) {
    explore_all("core_drain", most, {.schedules = 100, .outcomes = {"aborted", "due"}}, [] {
        core_scene s;
        scene_wait& w = s.wait();
        static_cast<void>(s.armed(1'050, w));
        s.core.time = 1'060;
        std::size_t drained = 0;
        s.together([&] { drained = s.drain(); }, [&] { s.run(); });
        s.run();
        check(w.aborted == static_cast<int>(drained), "what was returned was aborted");
        outcome(drained != 0 ? "aborted" : "due");
    });
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_refused_goes_the_way_of_all_others) {
    explore_all("core_refused", most, {.schedules = 20, .outcomes = {"refused", "aborted"}}, [] {
        core_scene s;
        scene_wait& w = s.wait(core_scene::dispatched);
        scene_timer& t = s.timer(1'050);
        s.together([&] { s.start(t, w); },
                   [&] {
                       s.drain();
                       s.run_all();
                   });
        s.run_all();
        outcome(w.result == result::stopped ? "refused" : "aborted");
    });
}

// Then nothing is done without the lock.
BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_if_the_number_of_waits_is_limited) {
    for (const step& mine : owners_steps()) {
        explore_all(std::string("core_limit_") + mine.name, most, {}, [&] {
            core_scene s({.max_pending = 1});
            scene_wait& w = s.wait();
            prepared p{s.armed(1'050, w), w};
            s.core.time = 1'060;
            s.together([&] { mine.take(s, p); }, [&] { s.run_all(); });
        });
    }
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_withdrawn_has_no_handler_unless_it_was_delivered) {
    for (const bool last : {false, true}) {
        for (const bool here : {false, true}) { // On a thread of the context.
            explore_all(std::string("core_withdraw") + (last ? "_last" : "") +
                            (here ? "_here" : ""),
                        most, {.schedules = 20}, [&] {
                            core_scene s;
                            scene_wait& w = s.wait();
                            scene_timer& t = s.armed(1'050, w);
                            if (!last) {
                                static_cast<void>(s.armed(5'000, s.wait()));
                            }
                            s.core.queue.runs_here = here;
                            s.core.time = 1'060;
                            bool over = false;
                            s.together([&] { over = s.withdraw(t); }, [&] { s.run(); });
                            s.run();
                            check(w.destroyed == (over ? 1 : 0), "it is over, or has a handler");
                        });
        }
    }
}

BOOST_AUTO_TEST_CASE(each_cell_of_the_tables_of_states_is_reached,
                     *boost::unit_test::precondition(&one_of_many::all_others_have_run)) {
    const auto check_all = [](const auto& table) {
        for (const std::string& cell : table.missing()) {
            BOOST_ERROR(cell << ": is never reached");
        }
    };
    check_all(lives());
    check_all(locations());
    check_all(results());
    check_all(next_turns());
}

BOOST_AUTO_TEST_SUITE_END()
