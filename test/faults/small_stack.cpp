// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 1200
// pch: off

// A million waits on a thread with a stack of 128 kB, the default of musl. Whatever happens to all
// of them at once, the stack does not grow with their number, and each turn of the context does one
// slice of the work. The same without memory for the driver's wake-up.
//
// A stack overflow ends the process, so each case runs in a child.

// Makes the driver's wake-ups use the heap each time.
#define BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING 1

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/child_process.hpp"
#include "support/manual_clock.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <thread>
#include <utility>

namespace {

using namespace asio_wheel::test;

using clock_type = manual_clock<struct small_stack>;
using timer = asio_wheel::basic_waitable_timer<clock_type, impatient<clock_type>>;

constexpr std::size_t waits = is_tracked                       ? 20'000
                              : is_sanitized || polls_are_slow ? 100'000
                              : is_slow                        ? 300'000
                                                               : 1'000'000;
constexpr std::size_t stack_size = (is_sanitized ? 1024 : 128) * std::size_t{1024};
constexpr std::size_t budgets[] = {256, 16};

// Calls `f` on a thread with a small stack. Returns its result.
bool on_a_small_stack(std::function<bool()> f) {
    struct call {
        std::function<bool()> f;
        bool result = false;
    } c{std::move(f)};
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    pthread_t thread{};
    const bool started = ::pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                         ::pthread_create(
                             &thread, &attributes,
                             [](void* p) -> void* {
                                 auto* const mine = static_cast<call*>(p);
                                 mine->result = mine->f();
                                 return nullptr;
                             },
                             &c) == 0;
    ::pthread_attr_destroy(&attributes);
    return started && ::pthread_join(thread, nullptr) == 0 && c.result;
}

// A million waits, and their results.
class crowd {
public:
    explicit crowd(std::size_t budget)
        : budget_(budget), wheel_(asio_wheel::make_wheel<clock_type, impatient<clock_type>>(
                               ctx, {.stall = stall_for_steps, .budget = budget})) {}

    void wait(std::chrono::nanoseconds d) {
        for (std::size_t i = 0; i < waits; ++i) {
            timers.emplace_back(ctx, d).async_wait(
                [this](const error_code& ec) { ++(ec ? aborted : expired); });
        }
    }

    void postpone(std::chrono::nanoseconds d) {
        for (timer& t : timers) {
            static_cast<void>(t.postpone(d));
        }
    }

    // Advances time, and runs the context one handler at a time until it is idle. Returns true if
    // no turn did more than a slice of the wheel's work or called more than one handler.
    bool pass(std::chrono::nanoseconds d, std::size_t turns_without_memory = 0) {
        clock_type::advance(d);
        std::optional<out_of_memory> no_memory;
        if (turns_without_memory != 0) {
            no_memory.emplace();
        }
        bool in_turns = true;
        std::uint64_t cascaded = wheel_.stats().cascaded;
        // Some turns for the driver to notice the time.
        for (int idle = 0; idle < (polls_are_slow ? 20 : 3);) {
            const std::size_t called = expired + aborted;
            ctx.restart();
            const std::size_t ran = ctx.poll_one();
            const std::uint64_t now = wheel_.stats().cascaded;
            const bool nothing = counts_only_handlers
                                     ? ran == 0
                                     : expired + aborted == called && now == cascaded && !no_memory;
            idle = nothing ? idle + 1 : 0;
            if (polls_are_slow && nothing) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            in_turns = in_turns && now - cascaded <= budget_ && expired + aborted <= called + 1;
            cascaded = now;
            if (turns_without_memory != 0 && --turns_without_memory == 0) {
                no_memory.reset();
            }
        }
        return in_turns && !no_memory;
    }

    [[nodiscard]] auto& wheel() { return wheel_; }

    asio::io_context ctx;
    std::size_t expired = 0;
    std::size_t aborted = 0;
    std::deque<timer> timers;

private:
    std::size_t budget_;
    asio_wheel::wheel_service<clock_type, impatient<clock_type>>& wheel_;
};

// Prints which of several conditions failed.
bool all_so(std::initializer_list<bool> facts) {
    int number = 0;
    bool all = true;
    for (const bool fact : facts) {
        ++number;
        if (!fact) {
            std::fprintf(stderr, "fact %d is not so\n", number);
            all = false;
        }
    }
    return all;
}

void check(const std::function<bool(crowd&)>& scenario) {
    for (const std::size_t budget : budgets) {
        BOOST_TEST_INFO_SCOPE("budget " << budget);
        BOOST_TEST(outcome_in_child(
                       [&] {
                           return on_a_small_stack([&] {
                               crowd c(budget);
                               return scenario(c);
                           })
                                      ? 0
                                      : 1;
                       },
                       500) == exited_well);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_small_stack)

BOOST_AUTO_TEST_CASE(a_million_waits_expire) {
    check([](crowd& c) {
        c.wait(10s);
        return all_so({c.pass(10s), c.expired == waits, c.aborted == 0});
    });
}

// Each of them is filed again at its old expiry.
BOOST_AUTO_TEST_CASE(a_million_postponed_waits_are_filed_again) {
    check([](crowd& c) {
        c.wait(10s);
        c.postpone(1h);
        const bool in_turns = c.pass(10s);
        const bool none_due = c.expired == 0;
        return all_so({in_turns, none_due, c.pass(1h), c.expired == waits});
    });
}

BOOST_AUTO_TEST_CASE(a_million_waits_come_down_from_level_to_level) {
    check([](crowd& c) {
        c.wait(5h); // Beyond the third level.
        return all_so({c.pass(5h - 1ms), c.expired == 0, c.pass(1ms), c.expired == waits});
    });
}

BOOST_AUTO_TEST_CASE(a_million_waits_expire_without_memory_for_the_driver) {
    check([](crowd& c) {
        c.wait(10s);
        c.timers.emplace_back(c.ctx, 20s).async_wait([](const error_code&) {
        }); // So the wake-up is needed.
        const std::size_t turns = 3 * waits;
        return all_so({c.pass(10s, turns), c.expired == waits, c.pass(10s)});
    });
}

BOOST_AUTO_TEST_CASE(a_million_postponed_waits_are_filed_again_without_memory_for_the_driver) {
    check([](crowd& c) {
        c.wait(10s);
        c.postpone(1h);
        const bool in_turns = c.pass(10s, waits);
        const bool none_due = c.expired == 0;
        return all_so({in_turns, none_due, c.pass(1h), c.expired == waits});
    });
}

BOOST_AUTO_TEST_CASE(a_million_waits_are_cancelled) {
    check([](crowd& c) {
        c.wait(1h);
        for (timer& t : c.timers) {
            t.cancel();
        }
        return all_so({c.pass(0s), c.aborted == waits, c.expired == 0});
    });
}

BOOST_AUTO_TEST_CASE(a_million_waits_are_drained) {
    check([](crowd& c) {
        c.wait(1h);
        const bool all = c.wheel().drain().size() == waits;
        return all_so({all, c.pass(0s), c.aborted == waits});
    });
}

BOOST_AUTO_TEST_CASE(a_million_waits_end_with_their_context) {
    check([](crowd& c) {
        c.wait(1h);
        c.timers.clear(); // Aborted, and not delivered.
        c.wait(1h);
        return true;
    });
}

// In paused time they become due at once, in the call.
BOOST_AUTO_TEST_CASE(a_million_waits_are_passed_by_paused_time) {
    check([](crowd& c) {
        c.wheel().pause();
        c.wait(10s);
        c.postpone(1h);
        const bool none = c.wheel().advance(10s) == 0;
        const bool all = c.wheel().advance(1h) == waits;
        return all_so({none, all, c.pass(0s), c.expired == waits});
    });
}

// They are overdue when the pause starts and when it ends.
BOOST_AUTO_TEST_CASE(a_million_waits_are_overdue_when_time_is_paused_and_resumed) {
    check([](crowd& c) {
        c.wait(10s);
        c.postpone(20s);
        clock_type::advance(15s);
        c.wheel().pause();
        const bool in_turns = c.pass(0s);
        c.wheel().resume();
        return all_so({in_turns, c.expired == 0, c.pass(5s), c.expired == waits});
    });
}

BOOST_AUTO_TEST_CASE(a_million_idle_timers_are_given_less_time) {
    for (const std::size_t budget : budgets) {
        BOOST_TEST_INFO_SCOPE("budget " << budget);
        BOOST_TEST(outcome_in_child(
                       [&] {
                           return on_a_small_stack([&] {
                               asio::io_context ctx;
                               auto& wheel = asio_wheel::make_wheel(ctx, {.budget = budget});
                               wheel.pause();
                               std::deque<asio_wheel::idle_timer> idle;
                               std::size_t ended = 0;
                               for (std::size_t i = 0; i < waits; ++i) {
                                   idle.emplace_back(ctx, 4h).async_wait(
                                       [&](const error_code& ec) { ended += ec ? 0 : 1; });
                               }
                               asio_wheel::scale_idle_timers(wheel, 0.25);
                               ctx.poll();
                               const bool none = ended == 0;
                               wheel.advance(1h);
                               ctx.poll();
                               return all_so({none, ended == waits});
                           })
                                      ? 0
                                      : 1;
                       },
                       500) == exited_well);
    }
}

BOOST_AUTO_TEST_SUITE_END()
