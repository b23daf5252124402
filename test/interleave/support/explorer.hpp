// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a few threads through all their interleavings.
//
//     explore_all("two_counters", {}, {.schedules = 2}, [] {
//         counter c;                                      // Set up.
//         together([&] { c.add(); }, [&] { c.add(); });   // In all orders.
//         check(c.value() == 2, "both were counted");     // Holds after each.
//     });
//
// The function is called again and again, each time on a new thread. together() gives each of its
// functions a thread. Exactly one of these runs at any time, until it comes to a yield point. There
// the explorer chooses the thread that runs next. Yield points are before each operation of the
// library's mutexes and atomics (sync.hpp), and after each operation that releases something to
// other threads. The choices form a tree. The explorer searches it depth first: each run repeats
// the choices of the run before, up to the last choice that has an alternative left.
//
// The threads are real ones, not fibers, for three reasons: the library calls
// std::this_thread::get_id(), its block pool and Asio have thread_local variables, and sanitizers
// know threads. A thread is explored until its thread_local variables are destroyed.
//
// There are two ways to keep the tree small:
//
//  - With `preemptions`, a thread is interrupted at most so often. A switch is free if the thread
//    sleeps, waits for a mutex, or has ended. Most faults need one or two preemptions.
//  - Without `preemptions`, the explorer tries all interleavings; but of those that differ only in
//    the order of actions on different objects, it tries one ("sleep sets"). This is sound if each
//    thing that the threads share is ordered by yield points. ThreadSanitizer checks that in the
//    same runs. It is not sound for threads that share an io_context, because the mutexes of Asio
//    are no yield points. In this mode no yield points follow an action: what a thread does there
//    is ordered by its last action, or it is a data race.
//
// The explorer finds: checks that fail; exceptions; deadlocks (each thread sleeps, or waits for a
// mutex); runs without end; atomics that are used after their end; and what a sanitizer finds. Then
// it looks for a schedule with fewer preemptions, and prints it. A schedule is a list of the steps
// at which it differs from the usual choice. For example, "12b.17a" means that thread b continues
// at step 12 and thread a at step 17; "9=1" means that a compare_exchange_weak() fails at step 9.
// This runs one schedule again, and prints each step:
//
//     cd build/interleave/test/interleave
//     ASIO_WHEEL_SCHEDULE=two_counters:12b.17a ./test_interleave_timer
//
// ASIO_WHEEL_PREEMPTIONS=n raises all lower bounds to n, for a longer run.
//
// Limits:
//
//  - All orders that are tried are sequentially consistent. Weak memory is out of scope. (But
//    ThreadSanitizer sees in each order that is tried whether an acquire or a release is missing.)
//  - Asio's own mutexes are no yield points. If a thread stopped at a yield point while it held
//    one, and another thread wanted that, then nothing would go on; after a minute the explorer
//    says so and ends the program. It does not happen: Asio calls no operation, no handler and no
//    executor under its mutexes, and it reads only the clock. So a test's clock must not have yield
//    points.

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
    /// How often a compare_exchange_weak() may fail spuriously in one run.
    unsigned spurious_failures = 1;
    /// The limit for one run. A longer run counts as endless.
    std::size_t steps = 5'000;
    /// With more schedules, the exploration fails, because it would not end in time.
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
    /// The calls of outcome(), and the number of runs for each.
    std::map<std::string, std::uint64_t> outcomes;
    std::optional<fault> wrong; ///< The first fault, with as few preemptions as possible.
};

/// Visits all interleavings within `limits` until it finds a defect. `name` must be unique in the
/// program. Prints a line about it.
[[nodiscard]] findings explore(const std::string& name, const bounds& limits,
                               const std::function<void()>& scenario);

/// Runs each function on a thread of its own under the explorer. A scenario may call it any number
/// of times.
void together(std::vector<std::function<void()>> functions);

template <class... Functions>
void together(Functions&&... functions) {
    together(std::vector<std::function<void()>>{std::forward<Functions>(functions)...});
}

/// From now on in this run of the scenario, calls `look` after each step of a thread, on that
/// thread. What `look` does is no step.
void observe(std::function<void()> look);

/// Checks a condition. Any thread of a scenario may call it.
void check(bool fact, const char* what) noexcept;

/// Records how a run has ended: an exploration with only one outcome is no test.
void outcome(const std::string& what);

/// Lets the other threads continue until a condition holds. `condition` has no yield points, and
/// any thread may evaluate it.
void await(const std::function<bool()>& condition);

/// The expected outcomes of an exploration.
struct expected {
    std::uint64_t schedules = 1; ///< At least: one that has lost its yield points finds nothing.
    std::set<std::string> outcomes = {}; ///< Exactly these.
};

/// As explore(), for a test that passes if there is no defect and every outcome is as expected.
void explore_all(const std::string& name, const bounds& limits, const expected& what,
                 const std::function<void()>& scenario);

/// Explores all interleavings and, because these have no yield points after actions, also those
/// with few preemptions. The latter not with ThreadSanitizer, which detects these defects itself.
void explore_both(const std::string& name, unsigned preemptions, const expected& what,
                  const std::function<void()>& scenario);

/// Returns whether ASIO_WHEEL_INTERLEAVE=full requests explorations that take minutes.
[[nodiscard]] bool at_length();

} // namespace asio_wheel::test::interleave

#endif
