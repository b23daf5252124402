// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a few threads through all their interleavings.
//
//     explore("two_counters", {}, [] {
//         counter c;                                      // Set up.
//         together([&] { c.add(); }, [&] { c.add(); });   // In all orders.
//         check(c.value() == 2, "both were counted");     // Holds after each.
//     });
//
// The function is called again and again, each time on a new thread. together() runs its functions
// on a thread each, of which exactly one runs at any time: until it comes to a yield point, where
// the explorer chooses who goes on. Yield points are before each operation of the library's mutexes
// and atomics (sync.hpp), and after each that others may wait for. The choices are a tree, and the
// explorer goes through all of it, depth first: each run repeats the choices of the one before, up
// to the last one that has an alternative left.
//
// Real threads, not fibers: the library asks for std::this_thread::get_id(), its block pool and Asio
// keep things in thread_local variables, and sanitizers know threads. A thread counts until its
// thread_local variables are destroyed. It costs some 30 microseconds a run.
//
// What bounds the tree:
//  - `preemptions`: how often a thread may be interrupted although it could go on. Nearly all faults
//    in such code need one or two. Switches from a thread that sleeps or has ended are free.
//  - Without it the explorer goes through all interleavings, but through one of those only that
//    differ in the order of actions on different objects ("sleep sets"). That is sound if threads
//    share nothing but what is ordered by yield points, which is what ThreadSanitizer checks in the
//    same runs; not sound if they share an io_context, whose queue has a mutex of Asio's own. In
//    this mode there are no yield points after an action, as accesses there are ordered by what
//    comes before. (If they are not, that is a data race.)
//
// What it finds: checks that fail; exceptions; deadlock (all threads sleep, or wait for mutexes);
// runs without end; and whatever a sanitizer finds. It then looks for a schedule that needs fewer
// preemptions, and prints it: as a list of steps at which not the usual thread goes on, so
// "12b.17a" means "b goes on at step 12, and a at step 17", and "9=1" that a compare_exchange_weak()
// fails at step 9. To run it once more, and see each of its steps:
//
//     ASIO_WHEEL_SCHEDULE=two_counters:12b.17a build/release/test/test_interleave_…
//
// ASIO_WHEEL_PREEMPTIONS=n raises all bounds that are less than n, for a longer run.
//
// What it does not find: what comes from weak memory, as all orders that it tries are sequentially
// consistent (though ThreadSanitizer sees an acquire or a release that is missing). Asio's own
// mutexes are no yield points. A thread that waits for one would stop the explorer: it says so after
// a minute. That does not happen as long as no thread is stopped while it holds one; and Asio calls
// nothing of the library's, and the library nothing of itself through Asio, under them.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_EXPLORER_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_EXPLORER_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel::test::interleave {

struct bounds {
    /// None: all interleavings.
    std::optional<unsigned> preemptions = std::nullopt;
    /// How often a compare_exchange_weak() may fail for no reason, in one run.
    unsigned spurious_failures = 1;
    /// Of one run. More of them, and it counts as without end.
    std::size_t steps = 5'000;
    /// More of them, and the exploration has failed: it would not end in time.
    std::uint64_t schedules = 2'000'000;
};

/// What was wrong with a schedule.
struct fault {
    std::string what;
    std::string schedule; ///< For ASIO_WHEEL_SCHEDULE, after the name.
    std::string trace;    ///< Its steps, a line each.
};

struct findings {
    std::uint64_t schedules = 0; ///< Those that were different,
    std::uint64_t repeated = 0;  ///< and those that turned out to be like another one.
    std::uint64_t steps = 0;     ///< Yield points of all runs.
    /// What outcome() was told, and in how many runs.
    std::map<std::string, std::uint64_t> outcomes;
    std::optional<fault> wrong; ///< The first fault, with as few preemptions as possible.
};

/// Goes through all interleavings within `limits`, until a fault is found. `name` must be unique in
/// the program. Prints a line about it.
[[nodiscard]] findings explore(const std::string& name, const bounds& limits,
                               const std::function<void()>& scenario);

/// Runs functions on a thread each, under the explorer. To be called by a scenario, any number of
/// times.
void together(std::vector<std::function<void()>> functions);

template <class... Functions>
void together(Functions&&... functions) {
    together(std::vector<std::function<void()>>{std::forward<Functions>(functions)...});
}

/// Something must be so. By any thread of a scenario.
void check(bool fact, const char* what) noexcept;

/// Tells how a run has ended: an exploration in which nothing but one thing ever happens is no test.
void outcome(const std::string& what);

/// Lets the other threads go on until something is so. `condition` has no yield points, and is
/// evaluated by any of them.
void await(const std::function<bool()>& condition);

/// What an exploration has to come to.
struct expected {
    std::uint64_t schedules = 1; ///< At least: one that has lost its yield points finds nothing.
    std::set<std::string> outcomes = {}; ///< Exactly these.
};

/// As explore(), for a test that passes if there is no fault, and everything is as expected.
void explore_all(const std::string& name, const bounds& limits, const expected& what,
                 const std::function<void()>& scenario);

/// In all interleavings and, as that has no yield points after actions, with few preemptions, too.
/// The latter not with ThreadSanitizer, which sees what would be found there.
void explore_both(const std::string& name, unsigned preemptions, const expected& what,
                  const std::function<void()>& scenario);

/// Whether ASIO_WHEEL_INTERLEAVE=full asks for what takes minutes.
[[nodiscard]] bool at_length();

} // namespace asio_wheel::test::interleave

#endif
