// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a scenario many times. In each run, another step fails:
//
//     FAILING_TEST_CASE(a_wait) { // Its world is `w`.
//         timer t = w.call([&] { return timer(w.ctx(), 3ms); });
//         outcome& o = w.expect(success);
//         w.start(o, [&](auto handler) { t.async_wait(std::move(handler)); });
//         w.run();
//     }
//
// What fails, for n = 0, 1, 2 … until nothing fails in a run:
//
//     one_allocation             allocation n, and no other
//     allocations_until_started  allocation n and all after it, until the scenario calls run()
//     allocations_until_done     allocation n and all after it, until nothing waits any more
//     one_move                   move or copy n of a handler or value: it throws
//
// (Copies and moves of executors and allocators cannot fail: Asio requires that.)
//
// Invariants for all failures:
//
//  - A call that throws has had no effect. If it was to start an operation, the handler is
//    destroyed without being called. If the same call is made again, and nothing fails, it
//    succeeds.
//  - The handler of an operation that was started is called once, with the expected result.
//  - Only a move that fails in run() leaves run() as an exception. The handler that was being moved
//    is then destroyed, and no other.
//  - The context runs out of work when nothing waits, and not before.
//  - At the end no handlers, values or memory are left.
//
// To add a scenario: write what a user would write, with three rules.
//
//  - A call of the library that may throw goes through call() or start(). What the test itself
//    allocates goes through prepare(). A call without either must not throw, whatever fails: that
//    is how cancel(), close(), stop(), signals and destructors are called.
//  - Operations get handlers that start() makes. expect() tells how an operation should end.
//  - Only run() and pass() let time pass. It is the time of world_clock and wall_clock; and, if
//    steady() was called, of std::chrono::steady_clock.
//
// To look at one failure alone: ASIO_WHEEL_FAILURE="one_allocation 17" before the test program, and
// --run_test=suite/case behind it.
//
// No cache hides an allocation: Asio and the library's pool keep no memory. For one source file of
// a test program, before all other headers (// pch: off).

#ifndef ASIO_WHEEL_TEST_SUPPORT_FAILING_HPP
#define ASIO_WHEEL_TEST_SUPPORT_FAILING_HPP

#include "support/without_caches.hpp"

#include "support/backend.hpp"
#include "support/counted_handler.hpp"
#include "support/each.hpp"
#include "support/manual_clock.hpp"
#include "support/reliable_executor.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/detail/scheduler.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace asio_wheel::test {

/// The time of a world, on a steady clock and on one that can be set.
using world_clock = manual_clock<struct steady_time>;
using wall_clock = manual_clock<struct time_on_the_wall, std::chrono::nanoseconds, false>;

} // namespace asio_wheel::test

template <>
struct boost::asio::wait_traits<asio_wheel::test::world_clock>
    : asio_wheel::test::impatient<asio_wheel::test::world_clock> {};
template <>
struct boost::asio::wait_traits<asio_wheel::test::wall_clock>
    : asio_wheel::test::impatient<asio_wheel::test::wall_clock> {};

namespace asio_wheel::test {

enum class failing { one_allocation, allocations_until_started, allocations_until_done, one_move };

inline constexpr std::array<std::string_view, 4> names_of_failing{
    "one_allocation", "allocations_until_started", "allocations_until_done", "one_move"};

[[nodiscard]] constexpr std::string_view name_of(failing what) noexcept {
    return names_of_failing[static_cast<std::size_t>(what)];
}

/// The environment of a scenario: contexts, time, and memory that may be missing.
class world {
public:
    static constexpr std::chrono::nanoseconds tick = std::chrono::milliseconds(1);

    world(failing what, std::size_t n) : what_(what) {
        // Not at the start of a tick.
        const auto begin = std::chrono::hours(1000) + tick / 3;
        world_clock::set(world_clock::time_point(begin));
        wall_clock::set(wall_clock::time_point(begin));
        ctx_.emplace();
        prepare_timers(*ctx_);
        const bool one = what == failing::one_allocation || what == failing::one_move;
        const std::size_t last = one ? n + 1 : fault_line::endless;
        const std::size_t none = fault_line::endless;
        moves.watch(what == failing::one_move ? n : none, last);
        moves.failed_in_run = 0;
        heap.faults.watch(what == failing::one_move ? none : n, last);
    }
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world() {
        heap.faults.ignore();
        moves.ignore();
    }

    [[nodiscard]] boost::asio::io_context& ctx() noexcept { return *ctx_; }

    /// Returns f(). Nothing fails during the call.
    template <class F>
    decltype(auto) prepare(F f) {
        const fault_line::pause no_allocation_fails(heap.faults);
        const fault_line::pause no_move_fails(moves);
        return f();
    }

    /// Creates another context, which run() runs too.
    [[nodiscard]] boost::asio::io_context& other() {
        if (!other_) {
            prepare([this] { prepare_timers(other_.emplace()); });
        }
        return *other_;
    }
    [[nodiscard]] boost::asio::thread_pool& pool() {
        if (!pool_) {
            // A pool without threads: run() runs it.
            prepare([this] { prepare_timers(pool_.emplace(0)); });
        }
        return *pool_;
    }

    /// Returns a strand on ctx(), or on another context.
    [[nodiscard]] reliable_strand strand(boost::asio::io_context& ctx) {
        return prepare([&ctx] { return reliable_strand(reliable_executor(ctx.get_executor())); });
    }
    [[nodiscard]] reliable_strand strand() { return strand(*ctx_); }

    /// Returns a type-erased strand on ctx() that does not fit into an any_io_executor. So each
    /// change of a property, such as work tracking, allocates.
    [[nodiscard]] boost::asio::any_io_executor large() {
        return prepare([this]() -> boost::asio::any_io_executor {
            return large_strand(large_strand::inner_executor_type(ctx_->get_executor()));
        });
    }

    /// Returns the wheel of ctx() for std::chrono::steady_clock, with paused time.
    wheel_service<>& steady() {
        if (steady_ == nullptr) {
            steady_ = prepare([this] { return &use_wheel(*ctx_); });
            prepare([this] { steady_->pause(); });
        }
        return *steady_;
    }

    /// Returns f(). If f() throws because a step has failed, calls it again. But if memory stays
    /// unavailable, throws std::bad_alloc.
    template <class F>
    decltype(auto) call(F f) {
        for (;;) {
            const std::size_t before = failures();
            const in_call scope;
            try {
                return f();
            } catch (const std::bad_alloc&) {
                check(failures() != before, "bad_alloc is thrown though nothing has failed");
            } catch (const move_failed&) {
            }
            if (heap.faults.is_down()) {
                out_of_memory_ = true;
                throw std::bad_alloc();
            }
        }
    }

    /// Announces an operation that should end with `ec`.
    [[nodiscard]] outcome& expect(const error_code& ec = {}) {
        outcome& o = outcomes_.at(expected_++);
        o.expected = ec;
        return o;
    }

    /// Starts an operation by f(handler). Returns false if there was no memory.
    template <class F>
    bool start(outcome& o, F f) {
        try {
            call([&] {
                try {
                    f(handler(o, complaints_));
                } catch (...) {
                    check(o.calls == 0, "a handler is called though its starting call has thrown");
                    check(o.live == 0, "a starting call has thrown, but its handler lives on");
                    throw;
                }
            });
        } catch (const std::bad_alloc&) {
            o.refused = true;
            return false;
        }
        o.accepted = true;
        check(o.calls == 0, "a handler is called from inside the starting call");
        return true;
    }

    /// Call this when all operations are started. Runs the contexts and advances time until no
    /// operation is pending.
    void run() {
        const auto done = [this] { return waiting() == 0; };
        run_until(done);
        if (!ends_without_memory) {
            end_shortage();
            run_until(done);
        }
    }

    /// Memory is there again that would be missing until all is done.
    void end_shortage() noexcept {
        if (what_ == failing::allocations_until_done) {
            memory_is_back();
        }
    }

    /// The same, until done() returns true.
    template <class Done>
    void run_until(Done done) {
        started();
        poll();
        const int long_enough = ends_without_memory ? 100 : 10;
        for (int i = 0; i < long_enough && !done(); ++i) {
            step();
        }
    }

    /// Runs the contexts for a number of ticks. This ends the start phase, too.
    void pass(int ticks) {
        started();
        poll();
        for (; ticks > 0; --ticks) {
            step();
        }
    }

    /// Runs what is ready, without advancing time.
    void poll() {
        const std::size_t most = 100; // Without memory, the wheel may try again and again.
        std::size_t turns = 0;
        int late = polls_are_slow ? 2 : 0; // How often a wake-up may come after all that is ready.
        for (bool any = true; any && turns < most; turns += any ? 1 : 0) {
            any = turn(*ctx_) || (other_ && turn(*other_)) || (pool_ && turn(*pool_));
            if (!any && late > 0) {
                --late;
                any = wake(*ctx_) || (other_ && wake(*other_)) || (pool_ && wake(*pool_));
            }
        }
        const bool busy = turns >= most;
        std::size_t work = 0;
        for (const outcome& o : outcomes_) {
            work += o.is_work && o.waits() ? 1 : 0;
        }
        if (work != 0 || (also_waits && also_waits())) {
            check(!ctx_->stopped(), "the context has run out of work though something waits");
        } else {
            // What the library itself waits for may try again, too.
            check(!busy || waiting() != 0 || !ends_without_memory,
                  "the contexts never rest though nothing waits");
            check(busy || ctx_->stopped(), "nothing waits, but the context has work");
        }
    }

    /// Destroys the context early, with the handlers of pending operations.
    void end_context() {
        started();
        ctx_.reset();
        steady_ = nullptr;
        ended_ = true;
    }

    void check(bool holds, const char* what,
               const std::source_location& where = std::source_location::current()) noexcept {
        if (!holds) {
            complaints_.add(what, where.line());
        }
    }

    /// Returns how many allocations or moves have failed.
    [[nodiscard]] std::size_t failures() const noexcept {
        return heap.faults.failed() + moves.failed();
    }

    [[nodiscard]] failing what() const noexcept { return what_; }

    /// False if an executor of Asio needs memory to call a handler, as a strand does. Then the
    /// library tries again and again, and the operations end when memory is there.
    bool ends_without_memory = true;

    /// Returns whether something other than an outcome keeps the context running.
    std::function<bool()> also_waits;

    /// For the harness: a call without memory has ended the scenario early. The results of the
    /// operations that it had started are not checked then.
    void abandon() noexcept {
        check(out_of_memory_, "a call has thrown bad_alloc that must not throw");
        abandoned_ = true;
    }

    /// For the harness: ends everything that is left.
    void finish() {
        also_waits = nullptr; // It refers to objects of the scenario, which are destroyed.
        if (!ended_) {
            run();
            if (what_ == failing::allocations_until_done) {
                check(waiting() == 0 || !ends_without_memory,
                      "what was accepted does not end without memory");
                memory_is_back();
                run();
            }
        }
        ctx_.reset();
        other_.reset();
        pool_.reset();
        heap.faults.ignore();
        moves.ignore();
        std::size_t lost = 0;
        for (const outcome& o : outcomes_) {
            lost += judge(o) ? 1 : 0;
        }
        check(lost <= moves.failed_in_run, "a handler is destroyed without being called");
        check(lost == thrown_, "exceptions have left run(), but not one for each lost handler");
        check(value::live == 0, "values are left");
    }

    [[nodiscard]] const complaints& found() const noexcept { return complaints_; }

private:
    struct in_call {
        const bool outer = std::exchange(moves.calling, true);
        ~in_call() { moves.calling = outer; }
    };

    /// A completion port keeps a pointer to a queue of timers that was destroyed because the port's
    /// thread for timers could not be started. So the thread is started before something fails.
    template <class Context>
    static void prepare_timers(Context& ctx) {
        if (on_completion_port) {
            const boost::asio::steady_timer any(ctx);
        }
    }

    void started() noexcept {
        if (what_ == failing::allocations_until_started) {
            memory_is_back();
        }
    }

    static void memory_is_back() noexcept {
        heap.faults.fail(fault_line::endless, fault_line::endless);
    }

    [[nodiscard]] std::size_t waiting() const noexcept {
        std::size_t n = 0;
        for (const outcome& o : outcomes_) {
            n += o.waits() ? 1 : 0;
        }
        return n;
    }

    void step() {
        if (ended_) {
            return;
        }
        world_clock::advance(tick);
        wall_clock::advance(tick);
        if (steady_ != nullptr) {
            guarded([this] { return steady_->advance(tick); });
        }
        poll();
    }

    bool turn(boost::asio::io_context& ctx) {
        return guarded([&ctx] {
            if (ctx.stopped()) {
                ctx.restart();
            }
            return ctx.poll_one();
        });
    }
    bool turn(boost::asio::thread_pool& pool) {
        return guarded([&pool] {
            auto& scheduler = boost::asio::use_service<boost::asio::detail::scheduler>(pool);
            error_code ec;
            return scheduler.poll_one(ec);
        });
    }

    // Where polls are slow: lets the wheel notice the time.
    bool wake(boost::asio::io_context& ctx) {
        if (ctx.stopped()) {
            return false;
        }
        auto signal = prepare([&ctx] { return std::make_unique<time_signal>(ctx); });
        return guarded([&signal] { return signal->run(); });
    }
    bool wake(boost::asio::thread_pool& pool) {
        return guarded([&pool] {
            auto& scheduler = boost::asio::use_service<boost::asio::detail::scheduler>(pool);
            error_code ec;
            return scheduler.wait_one(2'000, ec); // us
        });
    }

    // Returns true if f() returns non-zero or throws.
    template <class F>
    bool guarded(F f) {
        try {
            return f() != 0;
        } catch (const move_failed&) {
            ++thrown_;
        } catch (const std::bad_alloc&) {
            check(false, "run() has thrown bad_alloc");
        } catch (...) {
            check(false, "run() has thrown an unknown exception");
        }
        return true;
    }

    // Returns true if the handler was destroyed without being called while the context existed.
    bool judge(const outcome& o) {
        check(o.live == 0, "handlers are left");
        if (!o.accepted) {
            check(o.calls == 0, "a handler is called that was refused");
            return false;
        }
        if (abandoned_) {
            return false;
        }
        if (o.calls < o.times) {
            return !ended_;
        }
        check(o.may_end_so(failures() != 0), "an operation has ended otherwise than expected");
        return false;
    }

    const failing what_;
    complaints complaints_;
    std::array<outcome, 32> outcomes_{};
    std::size_t expected_ = 0;
    std::optional<boost::asio::io_context> ctx_;
    std::optional<boost::asio::io_context> other_;
    std::optional<boost::asio::thread_pool> pool_;
    wheel_service<>* steady_ = nullptr;
    bool ended_ = false;
    std::size_t thrown_ = 0;     // Failed moves whose exceptions left run().
    bool out_of_memory_ = false; // A call had no memory.
    bool abandoned_ = false;
};

/// The result of a run.
struct run_result {
    std::size_t failed; ///< The number of steps that failed, of those that may.
    complaints found;
};

/// Runs a scenario once; `n` is the number of the first step that fails. The `first` run may leave
/// memory allocated, for objects that a program creates only once.
template <class Scenario>
run_result run_with(failing what, std::size_t n, Scenario& scenario, bool first = false) {
    const std::size_t before = heap.live;
    run_result result{};
    {
        world w(what, n);
        try {
            scenario(w);
        } catch (const std::bad_alloc&) {
            w.abandon();
        } catch (...) {
            w.check(false, "the scenario has thrown an exception");
        }
        w.finish();
        result = {w.failures(), w.found()};
    }
    detail::block_pool::forget();
    if (!first && heap.live != before) {
        result.found.add("memory is left", __LINE__);
    }
    return result;
}

/// The same, and reports violations. Returns how many steps have failed.
template <class Scenario>
std::size_t run_and_tell(failing what, std::size_t n, Scenario& scenario, bool first = false) {
    const run_result result = run_with(what, n, scenario, first);
    for (const auto& c : result.found) {
        BOOST_ERROR(c.what << ", seen in line " << c.line);
    }
    return result.failed;
}

/// While this exists, std::terminate() reports which failure has led there.
class telling_terminate {
public:
    explicit telling_terminate(const std::string& what) {
        what_ = what.c_str();
        former_ = std::set_terminate([] {
            heap.faults.ignore(); // The report needs memory.
            moves.ignore();
            std::fprintf(stderr, "std::terminate() is called: %s\n", what_);
            std::abort();
        });
    }
    telling_terminate(const telling_terminate&) = delete;
    telling_terminate& operator=(const telling_terminate&) = delete;
    ~telling_terminate() { std::set_terminate(former_); }

private:
    static inline const char* what_ = nullptr;
    std::terminate_handler former_;
};

/// Runs a scenario with each failure, except for those in `without`, for which the scenario gives a
/// reason.
template <class Scenario>
void each_failure(Scenario scenario, std::initializer_list<failing> without = {}) {
    const std::string test = boost::unit_test::framework::current_test_case().p_name;
    const char* const only = std::getenv("ASIO_WHEEL_FAILURE");
    BOOST_TEST_CONTEXT("nothing fails") {
        constexpr std::size_t none = fault_line::endless;
        run_and_tell(failing::one_allocation, none, scenario, true);
        BOOST_TEST_REQUIRE(run_and_tell(failing::one_allocation, none, scenario) == 0U);
    }
    for (const failing what : {failing::one_allocation, failing::allocations_until_started,
                               failing::allocations_until_done, failing::one_move}) {
        if (std::find(without.begin(), without.end(), what) != without.end()) {
            continue;
        }
        const std::string name(name_of(what));
        if (only != nullptr && std::string_view(only).substr(0, name.size()) != name) {
            continue;
        }
        std::size_t n = only != nullptr ? std::stoul(only + name.size()) : 0;
        for (std::size_t failed = 1; failed != 0; ++n) {
            const std::string failure = name + " " + std::to_string(n);
            const telling_terminate telling(failure);
            BOOST_TEST_CONTEXT(failure) {
                failed = run_and_tell(what, n, scenario);
            }
            if (only != nullptr) {
                BOOST_TEST_MESSAGE(test << ": " << failure << ": "
                                        << (failed != 0 ? "has failed" : "nothing has failed"));
                return;
            }
        }
        BOOST_TEST_MESSAGE(test << ": " << name << ": " << n - 1 << " failures");
        BOOST_TEST(n > 1, "nothing has failed: the test tests nothing");
    }
}

} // namespace asio_wheel::test

/// A case whose body is a scenario in the world `w`. It runs with each failure.
#define FAILING_TEST_CASE(name)                                                                    \
    TEST_CASE_FOR_EACH(name, asio_wheel::test::each_failure, asio_wheel::test::world& w)

/// The same, for each of some types.
#define FAILING_TEST_CASE_TEMPLATE(name, type, types)                                              \
    template <class type>                                                                          \
    void name##_once(asio_wheel::test::world& w);                                                  \
    BOOST_AUTO_TEST_CASE_TEMPLATE(name, type, types) {                                             \
        asio_wheel::test::each_failure(&name##_once<type>);                                        \
    }                                                                                              \
    template <class type>                                                                          \
    void name##_once([[maybe_unused]] asio_wheel::test::world& w)

#endif
