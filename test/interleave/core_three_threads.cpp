// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 3600
// unity: interleave
// pch: off

// As core.cpp, with three threads: the owner of a timer, a thread that runs the context, and the
// owner of another timer, an emitter, another executor, or a thread that drains.

#include "interleave/support/core_scene.hpp"
#include "interleave/support/core_steps.hpp"
#include "interleave/support/explorer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <set>
#include <string>

namespace {

using namespace asio_wheel::test::interleave;

/// For what has an exploration of its own.
constexpr bounds most{.preemptions = 2};

/// Those steps of an owner that differ if there are two others, and conditions of a timer likewise.
[[nodiscard]] bool is_enough(const step& mine) {
    static const std::set<std::string> all{"cancel", "rearm_and_start", "postpone", "start",
                                           "move",   "destroy"};
    return all.contains(mine.name);
}
[[nodiscard]] bool any(const condition& c) {
    static const std::set<std::string> all{"tombstone", "waiting", "slotted", "due",
                                           "waits_elsewhere"};
    return all.contains(c.name);
}

[[nodiscard]] bool has_slot(const condition& c) {
    return c.has_slot;
}
[[nodiscard]] bool is_elsewhere(const condition& c) {
    return c.is_elsewhere;
}

/// Each of those steps, with a timer in each of those conditions, beside the context's thread and
/// another step. The time is 1,060, and no thread changes it.
void explore_owner(const step& other, bool (*wanted)(const condition&),
                   void (*prepare)(core_scene&) = nullptr) {
    for (const condition& c : conditions()) {
        for (const step& mine : owners_steps()) {
            if (is_enough(mine) && wanted(c)) {
                explore_all(std::string("core_3_") + other.name + '_' + c.name + '_' + mine.name,
                            {.preemptions = at_length() ? 2 : 1}, {}, [&] {
                                core_scene s;
                                if (prepare != nullptr) {
                                    prepare(s);
                                }
                                prepared p = c.make(s);
                                s.core.time = 1'060;
                                s.together([&] { mine.take(s, p); }, [&] { other.take(s, p); },
                                           [&] { s.run(); });
                            });
            }
        }
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_core_three_threads)

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_another_one_starts_a_wait) {
    explore_owner(others::start_neighbour, any,
                  [](core_scene& s) { s.prepare_neighbour(s.tombstone(1'057)); });
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_another_one_cancels_a_wait) {
    explore_owner(others::cancel_neighbour, any,
                  [](core_scene& s) { s.prepare_neighbour(s.armed(1'057, s.wait())); });
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_a_signal_is_emitted_and_time_comes) {
    explore_owner(others::emit, has_slot);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_the_core_is_drained_and_time_comes) {
    explore_owner(others::drain, any);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_another_executor_runs_its_handlers) {
    explore_owner(others::run_elsewhere, is_elsewhere);
    explore_owner(others::drop, is_elsewhere);
}

BOOST_AUTO_TEST_CASE(an_owner_may_do_anything_while_another_thread_walks_and_time_comes) {
    explore_owner(others::walk, any);
}

BOOST_AUTO_TEST_CASE(three_threads_end_one_wait_by_timer_and_slot_and_time) {
    explore_all("core_3_cancel_emit", most,
                {.schedules = 100, .outcomes = {"counted", "aborted", "due"}}, [] {
                    core_scene s;
                    scene_wait& w = s.slotted_wait();
                    scene_timer& t = s.armed(1'050, w);
                    s.core.time = 1'060;
                    std::size_t cancelled = 0;
                    s.together([&] { cancelled = s.cancel(t); }, [&] { s.emit(w); },
                               [&] { s.run(); });
                    s.run();
                    check(w.aborted >= static_cast<int>(cancelled), "what was counted was aborted");
                    outcome(cancelled != 0 ? "counted" : w.aborted != 0 ? "aborted" : "due");
                });
}

BOOST_AUTO_TEST_CASE(three_threads_end_one_wait_by_timer_and_drain_and_time) {
    explore_all("core_3_cancel_drain", most,
                {.schedules = 100, .outcomes = {"cancelled", "drained", "due"}}, [] {
                    core_scene s;
                    scene_wait& w = s.wait();
                    scene_timer& t = s.armed(1'050, w);
                    s.core.time = 1'060;
                    std::size_t cancelled = 0;
                    std::size_t drained = 0;
                    s.together([&] { cancelled = s.cancel(t); }, [&] { drained = s.drain(); },
                               [&] { s.run(); });
                    s.run();
                    check(w.aborted == static_cast<int>(cancelled + drained),
                          "what was counted was aborted");
                    outcome(cancelled != 0 ? "cancelled" : drained != 0 ? "drained" : "due");
                });
}

// The last wait ends by one thread while another one starts the next.
BOOST_AUTO_TEST_CASE(a_core_that_two_threads_use_becomes_idle_only_if_nothing_waits) {
    explore_all("core_3_idle", most, {.schedules = 100}, [] {
        core_scene s;
        scene_timer& last = s.armed(1'050, s.wait());
        scene_wait& w = s.wait();
        scene_timer& next = s.tombstone(1'200);
        s.together([&] { s.cancel(last); }, [&] { s.start(next, w); }, [&] { s.run(); });
        s.run();
        check(s.core.driver.armed_for().has_value(), "a wait is pending");
        s.core.run_until(1'200);
        check(w.delivered == 1, "it is not forgotten");
    });
    explore_all("core_3_idle_by_time", most, {.schedules = 100}, [] {
        core_scene s;
        static_cast<void>(s.armed(1'050, s.wait()));
        scene_wait& one = s.wait();
        scene_wait& two = s.wait();
        scene_timer& first = s.tombstone(1'200);
        scene_timer& second = s.tombstone(1'300);
        s.core.time = 1'060;
        s.together([&] { s.start(first, one); }, [&] { s.start(second, two); }, [&] { s.run(); });
        s.core.run_until(1'200);
        check(one.delivered == 1, "it is not forgotten");
        s.core.run_until(1'300);
        check(two.delivered == 1, "neither is the other one");
    });
}

// Each of the two has called the handler of a wait that was cancelled, and finds that nothing
// waits. The second one looks again when the first has disarmed the driver.
BOOST_AUTO_TEST_CASE(a_context_of_two_threads_becomes_idle_only_if_nothing_waits) {
    explore_all("core_3_idle_in_two_threads", most, {.schedules = 100}, [] {
        core_scene s;
        scene_wait& w = s.wait();
        scene_timer& next = s.tombstone(1'200);
        scene_timer& a = s.armed(1'300, s.wait());
        scene_timer& b = s.armed(1'400, s.wait());
        s.cancel(a);
        s.cancel(b);
        s.together([&] { s.core.run_one(); }, [&] { s.core.run_one(); }, [&] { s.start(next, w); });
        s.run();
        check(s.core.driver.armed_for().has_value(), "a wait is pending");
        s.core.run_until(1'200);
        check(w.delivered == 1, "it is not forgotten");
    });
}

BOOST_AUTO_TEST_CASE(a_handler_destroys_its_timer_while_two_threads_have_to_do_with_it) {
    for (const step& other : {others::drain, others::start_neighbour}) {
        explore_all(std::string("core_3_own_") + other.name, most, {.schedules = 100}, [&] {
            core_scene s;
            scene_wait& w = s.wait();
            s.prepare_neighbour(s.tombstone(1'057));
            prepared p{s.tombstone(1'050), w};
            w.then = [&] { s.destroy(p.timer); };
            s.core.time = 1'060;
            s.together([&] { s.start(p.timer, w); }, [&] { other.take(s, p); }, [&] { s.run(); });
            s.run();
            check(!p.timer.state, "the handler was called");
        });
    }
}

// It shares the lifetime of the core, but not the core.
BOOST_AUTO_TEST_CASE(a_wait_arrives_at_another_executor_while_its_context_ends) {
    for (const char* const what : {"due", "waiting", "cancelled"}) {
        const std::string how = what;
        explore_all("core_3_arrive_end_" + how, most, {.schedules = 20}, [&] {
            core_scene s;
            scene_wait& w = s.wait(core_scene::dispatched);
            scene_wait& dropped = s.wait(core_scene::dispatched);
            scene_timer& t = s.armed(1'050, w);
            static_cast<void>(s.armed(1'050, dropped));
            s.core.run_until(1'060);
            if (how == "waiting") {
                s.postpone(t, 1'200);
            } else if (how == "cancelled") {
                s.cancel(t);
            }
            s.together([&] { s.core.run_elsewhere(); }, [&] { s.core.abandon_elsewhere(); },
                       [&] { s.core.end(); });
        });
    }
}

BOOST_AUTO_TEST_CASE(what_two_owners_do_between_two_slices_of_a_turn_is_not_forgotten) {
    constexpr time_count now = 5'001'065; // The context was busy for five milliseconds.
    explore_all("core_3_between_slices", {.preemptions = at_length() ? 2 : 1}, {}, [] {
        core_scene s({.budget = 1});
        for (const time_count t : {1'040, 1'045, 1'050}) {
            static_cast<void>(s.armed(t, s.wait()));
        }
        scene_timer& late = s.armed(9'000'000, s.wait());
        s.core.time = now;
        s.together([&] { s.postpone(late, now - 2); }, [&] { s.start(s.timer(now - 3), s.wait()); },
                   [&] { s.run(); });
    });
}

BOOST_AUTO_TEST_SUITE_END()
