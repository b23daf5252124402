// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// Tests the explorer: it visits all existing interleavings, and detects what is wrong in one of
// them. Each of the seeded defects is common in code with atomics.

#include <asio_wheel/detail/threads/sync.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test::interleave;
using asio_wheel::detail::atomic;
using asio_wheel::detail::mutex;

// One thread announces that it sleeps, and sleeps. The other one does something, and wakes it. This
// is correct only if the sleeper checks once more after the announcement.
template <bool LooksAgain>
void handshake() {
    atomic<bool> done;
    atomic<bool> sleeping;
    together(
        [&] {
            if (done.load()) {
                return;
            }
            sleeping.store(true);
            if (LooksAgain && done.load()) {
                return;
            }
            sleeping.wait(true);
        },
        [&] {
            done.store(true);
            if (sleeping.exchange(false)) {
                sleeping.notify_one();
            }
        });
}

// Each thread announces itself, and then checks for the other one. It must not check first.
template <bool SaysFirst>
void enter_together() {
    atomic<bool> comes[2];
    observed inside;
    const auto enter = [&](int me) {
        if (SaysFirst) {
            comes[me].store(true);
        }
        if (!comes[1 - me].load()) {
            comes[me].store(true);
            inside.set();
        }
    };
    together([&] { enter(0); }, [&] { enter(1); });
    check(inside.count() <= 1, "no two are inside");
}

// One thread tells another one that it may end what both use. It must not use it after that.
template <bool UsesItAgain>
void end_what_both_use() {
    std::optional<atomic<bool>> done(std::in_place, false);
    together(
        [&] {
            done->store(true);
            if (UsesItAgain) {
                static_cast<void>(done->load());
            }
        },
        [&] {
            if (done->load()) {
                done.reset();
            }
        });
}

// While this exists, ASIO_WHEEL_SCHEDULE is set.
class scheduled {
public:
    explicit scheduled(const std::string& text) {
        ::setenv("ASIO_WHEEL_SCHEDULE", text.c_str(), 1);
    }
    scheduled(const scheduled&) = delete;
    scheduled& operator=(const scheduled&) = delete;
    ~scheduled() { ::unsetenv("ASIO_WHEEL_SCHEDULE"); }
};

[[nodiscard]] std::string what_is_wrong(const findings& f) {
    return f.wrong ? f.wrong->what : "";
}

// Both ways to explore detect the same.
void finds(const std::string& name, const std::string& what, void (*scenario)()) {
    const findings all = explore(name, {}, scenario);
    BOOST_TEST(what_is_wrong(all) == what);
    const findings some = explore(name + "_bounded", {.preemptions = 2}, scenario);
    BOOST_TEST(what_is_wrong(some) == what);
}

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_explorer)

BOOST_AUTO_TEST_CASE(a_missing_second_look_is_found) {
    finds("handshake_seeded", "deadlock: a sleeps", handshake<false>);
    explore_both("handshake", 4, {.schedules = 5}, handshake<true>);
}

BOOST_AUTO_TEST_CASE(a_wrong_order_is_found) {
    finds("enter_seeded", "no two are inside", enter_together<false>);
    explore_both("enter", 4, {.schedules = 3}, enter_together<true>);
}

BOOST_AUTO_TEST_CASE(a_use_after_the_end_is_found) {
    finds("ended_seeded", "an atomic is used after its end", end_what_both_use<true>);
    explore_both("ended", 4, {.schedules = 2}, end_what_both_use<false>);
}

BOOST_AUTO_TEST_CASE(an_update_that_is_lost_is_found) {
    finds("lost_update", "both are counted", [] {
        atomic<int> n;
        const auto add = [&] { n.store(n.load() + 1); };
        together(add, add);
        check(n.load() == 2, "both are counted");
    });
    explore_both("no_lost_update", 2, {.schedules = 2}, [] {
        atomic<int> n;
        const auto add = [&] { ++n; };
        together(add, add);
        check(n == 2, "both are counted");
    });
}

BOOST_AUTO_TEST_CASE(a_notification_that_is_missing_is_found) {
    finds("no_notification", "deadlock: a sleeps", [] {
        atomic<int> n;
        together([&] { n.wait(0); }, [&] { n.store(1); });
    });
    finds("too_few_notifications", "deadlock: b sleeps", [] {
        atomic<int> n;
        together([&] { n.wait(0); }, [&] { n.wait(0); },
                 [&] {
                     n.store(1);
                     n.notify_one();
                 });
    });
    explore_both("notification", 4, {.schedules = 3}, [] {
        atomic<int> n;
        together([&] { n.wait(0); }, [&] { n.wait(0); },
                 [&] {
                     n.store(1);
                     n.notify_all();
                 });
    });
}

BOOST_AUTO_TEST_CASE(a_deadlock_of_a_mutex_and_a_flag_is_found) {
    finds("deadlock", "deadlock: a sleeps b waits for a mutex", [] {
        mutex m;
        atomic<bool> ready;
        together(
            [&] {
                const std::lock_guard<mutex> guard(m);
                ready.wait(false);
            },
            [&] {
                const std::lock_guard<mutex> guard(m);
                ready.store(true);
                ready.notify_one();
            });
    });
}

BOOST_AUTO_TEST_CASE(a_comparison_may_fail_for_no_reason) {
    finds("weak_once", "it is counted", [] {
        atomic<int> n;
        together([&] {
            int seen = 0;
            static_cast<void>(n.compare_exchange_weak(seen, 1));
        });
        check(n.load() == 1, "it is counted");
    });
    explore_both("weak_loop", 2, {.schedules = 3, .outcomes = {"2"}}, [] {
        atomic<int> n;
        const auto add = [&] {
            for (int seen = n.load(); !n.compare_exchange_weak(seen, seen + 1);) {
            }
        };
        together(add, add);
        outcome(std::to_string(n.load()));
    });
}

BOOST_AUTO_TEST_CASE(a_loop_without_end_is_found) {
    const findings f = explore("endless", {.steps = 100}, [] {
        atomic<bool> flag;
        together([&] {
            while (!flag.load()) {
            }
        });
    });
    BOOST_TEST(what_is_wrong(f) == "it goes on for more than 100 steps");
}

BOOST_AUTO_TEST_CASE(what_a_thread_throws_is_told) {
    finds("throws", "b has thrown: seen", [] {
        atomic<bool> flag;
        together([&] { flag.store(true); },
                 [&] {
                     if (flag.load()) {
                         throw std::runtime_error("seen");
                     }
                 });
    });
}

BOOST_AUTO_TEST_CASE(a_scenario_that_does_not_repeat_itself_is_told) {
    int runs = 0;
    const findings f = explore("changing", {}, [&] {
        atomic<int> n;
        const int times = ++runs % 3;
        const auto add = [&] {
            for (int i = 0; i < times; ++i) {
                ++n;
            }
        };
        together(add, add);
    });
    BOOST_TEST(what_is_wrong(f) == "it did not repeat itself: the scenario is not deterministic");
}

// Two threads with n actions each on one object have (2n)! / (n! n!) orders, three have (3n)! / (n!
// n! n!); with an object for each thread, there is only one.
BOOST_AUTO_TEST_CASE(all_orders_that_differ_are_tried_once) {
    const auto count = [](std::size_t threads, int times, bool shared) {
        const findings f = explore("count_" + std::to_string(threads) + "_" +
                                       std::to_string(times) + (shared ? "" : "_apart"),
                                   {}, [=] {
                                       std::vector<atomic<int>> n(shared ? 1 : threads);
                                       std::vector<std::function<void()>> all;
                                       for (std::size_t i = 0; i < threads; ++i) {
                                           all.emplace_back([&, &mine = n[shared ? 0 : i]] {
                                               for (int k = 0; k < times; ++k) {
                                                   ++mine;
                                               }
                                           });
                                       }
                                       together(std::move(all));
                                   });
        BOOST_TEST(!f.wrong);
        return f.schedules;
    };
    BOOST_TEST(count(2, 4, true) == 70U);
    BOOST_TEST(count(2, 6, true) == 924U);
    BOOST_TEST(count(3, 2, true) == 90U);
    BOOST_TEST(count(3, 3, true) == 1680U);
    BOOST_TEST(count(3, 3, false) == 1U);
}

// The number of orders of "a a a" and "b b b", where each thread must start first.
BOOST_AUTO_TEST_CASE(a_bound_on_preemptions_is_kept) {
    const auto scenario = [] {
        mutex m;
        int n = 0;
        const auto add = [&] {
            for (int i = 0; i < 3; ++i) {
                const std::lock_guard<mutex> guard(m);
                ++n;
            }
        };
        together(add, add);
        check(n == 6, "all are counted");
    };
    BOOST_TEST(explore("locks", {}, scenario).schedules == 20U);
    std::uint64_t former = 0;
    for (unsigned preemptions = 0; preemptions < 6; ++preemptions) {
        const findings f =
            explore("locks_" + std::to_string(preemptions), {.preemptions = preemptions}, scenario);
        BOOST_TEST(!f.wrong);
        BOOST_TEST(f.schedules > former);
        if (preemptions == 0) {
            BOOST_TEST(f.schedules == 2U);
        }
        former = f.schedules;
    }
    BOOST_TEST(former > 1000U);
}

BOOST_AUTO_TEST_CASE(a_schedule_that_failed_fails_again) {
    const findings found = explore("replayed", {.preemptions = 3}, enter_together<false>);
    BOOST_TEST_REQUIRE(found.wrong.has_value());
    BOOST_TEST(found.wrong->schedule.find('.') == std::string::npos); // One preemption is enough.
    {
        const scheduled one("replayed:" + found.wrong->schedule);
        const findings again = explore("replayed", {.preemptions = 3}, enter_together<false>);
        BOOST_TEST(again.schedules == 1U);
        BOOST_TEST(what_is_wrong(again) == found.wrong->what);
        BOOST_TEST(again.wrong->trace == found.wrong->trace);
    }
    {
        const scheduled usual("replayed:-");
        const findings again = explore("replayed", {.preemptions = 3}, enter_together<false>);
        BOOST_TEST(again.schedules == 1U);
        BOOST_TEST(!again.wrong);
    }
    {
        const findings all = explore("replayed_too", {}, enter_together<false>);
        BOOST_TEST_REQUIRE(all.wrong.has_value());
        const scheduled one("replayed_too:" + all.wrong->schedule);
        BOOST_TEST(what_is_wrong(explore("replayed_too", {}, enter_together<false>)) ==
                   all.wrong->what);
    }
    for (const std::string bad :
         {"replayed", "replayed:", "replayed:7", "replayed:b", "replayed:7b,", "replayed:7b.",
          "replayed:7=", "replayed:99999a"}) {
        const scheduled one(bad);
        BOOST_CHECK_THROW(static_cast<void>(explore("replayed", {}, enter_together<true>)),
                          std::invalid_argument);
    }
}

// Including the destructors of thread_local variables.
BOOST_AUTO_TEST_CASE(a_thread_is_explored_to_its_very_end) {
    struct at_end {
        atomic<int>* n = nullptr;
        ~at_end() { n->store(n->load() + 1); }
    };
    finds("end_of_thread", "both are counted", [] {
        atomic<int> n;
        const auto leave = [&] {
            thread_local at_end last;
            last.n = &n;
        };
        together(leave, leave);
        check(n.load() == 2, "both are counted");
    });
}

BOOST_AUTO_TEST_CASE(each_of_those_that_sleep_may_be_woken_first) {
    explore_both("wake_one", 2, {.schedules = 4, .outcomes = {"a first", "b first"}}, [] {
        atomic<int> turn;
        atomic<int> first;
        const auto sleep = [&](int me) {
            turn.wait(0);
            int none = 0;
            static_cast<void>(first.compare_exchange_strong(none, me));
            turn.notify_one();
        };
        together([&] { sleep(1); }, [&] { sleep(2); },
                 [&] {
                     turn.store(1);
                     turn.notify_one();
                 });
        outcome(first.load() == 1 ? "a first" : "b first");
    });
}

BOOST_AUTO_TEST_CASE(a_thread_can_wait_for_what_others_do) {
    explore_both("await", 2, {.schedules = 2, .outcomes = {"1", "2"}}, [] {
        observed done;
        atomic<int> n;
        together(
            [&] {
                await([&] { return bool(done); });
                check(n.load() >= 1, "it has happened");
                outcome(std::to_string(n.load()));
            },
            [&] {
                ++n;
                done.set();
                ++n;
            });
    });
}

BOOST_AUTO_TEST_CASE(a_scenario_may_run_threads_twice) {
    explore_all("twice", {}, {.schedules = 9}, [] {
        atomic<int> n;
        const auto add = [&] { n += 2, n -= 1; };
        together(add, add);
        check(n == 2, "all are counted");
        together(add, add);
        check(n == 4, "all are counted");
    });
}

// On other threads, they are just a mutex and an atomic.
BOOST_AUTO_TEST_CASE(what_is_not_explored_goes_straight_through) {
    mutex m;
    int guarded = 0;
    atomic<int> n;
    atomic<bool> go;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] {
                go.wait(false);
                for (int i = 0; i < 1000; ++i) {
                    ++n;
                    const std::lock_guard<mutex> guard(m);
                    ++guarded;
                }
            });
        }
        go.store(true);
        go.notify_all();
    }
    BOOST_TEST(n == 2000);
    BOOST_TEST(guarded == 2000);
    BOOST_TEST(m.try_lock());
    m.unlock();
}

BOOST_AUTO_TEST_CASE(each_step_can_be_looked_at_without_being_changed) {
    for (const bounds& limits : {bounds{}, bounds{.preemptions = 2}}) {
        const auto schedules = [&](bool looks) {
            const findings found = explore("looks", limits, [looks] {
                atomic<int> number{0};
                std::vector<int> seen{0};
                if (looks) {
                    observe([&] {
                        if (seen.back() != number.load()) {
                            seen.push_back(number.load());
                        }
                    });
                }
                together([&] { number.store(1), number.store(2); }, [&] { number.store(3); });
                check(seen.size() == (looks ? 4 : 1), "each change is seen");
            });
            BOOST_TEST(what_is_wrong(found) == "");
            return found.schedules;
        };
        BOOST_TEST(schedules(true) == schedules(false));
    }
}

BOOST_AUTO_TEST_SUITE_END()
