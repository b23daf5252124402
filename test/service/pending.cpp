// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// wheel_service::for_each_pending(): which waits it visits, while others come, go and move.

#include <asio_wheel/pending.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"
#include "support/threads.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::pending_wait;
using std::chrono::nanoseconds;

/// Time stands still. Each wait is told by its remaining time, which no other wait has.
struct world : virtual_time {
    using virtual_time::virtual_time;

    std::deque<timer> timers;

    timer& start(nanoseconds after) {
        timer& t = timers.emplace_back(ctx, after);
        t.async_wait(ignore);
        return t;
    }

    /// Starts `n` waits: for first, first + step, and so on.
    void start_many(std::size_t n, nanoseconds first, nanoseconds step) {
        for (std::size_t i = 0; i < n; ++i) {
            start(first + static_cast<nanoseconds::rep>(i) * step);
        }
    }

    /// How often each remaining time was visited.
    template <class Function>
    std::map<nanoseconds, int> visits(Function f) {
        std::map<nanoseconds, int> seen;
        wheel.for_each_pending([&](const pending_wait& w) {
            ++seen[w.remaining];
            f(w);
        });
        return seen;
    }
    std::map<nanoseconds, int> visits() {
        return visits([](const pending_wait&) {});
    }

    ~world() {
        for (timer& t : timers) {
            t.cancel();
        }
    }
};

bool all_once(const std::map<nanoseconds, int>& seen) {
    return std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s.second == 1; });
}

} // namespace

BOOST_AUTO_TEST_SUITE(service_pending)

BOOST_FIXTURE_TEST_CASE(without_waits_nothing_is_visited, world) {
    BOOST_TEST(visits().empty());
    start(1s).cancel();
    BOOST_TEST(visits().empty());
    BOOST_TEST(wheel.report().waits() == 0U);
}

// Near and far ones, far more than a slice, and on all levels.
BOOST_AUTO_TEST_CASE(each_wait_is_visited_once) {
    for (const std::size_t budget : {std::size_t{1}, std::size_t{7}, std::size_t{256}}) {
        world w({.slots = 16, .levels = 4, .budget = budget});
        w.start_many(300, 1ms, 1ms);
        w.start_many(300, 1s, 777ms);
        w.start_many(300, 1h, 13h);
        const auto seen = w.visits();
        BOOST_TEST(seen.size() == 900U);
        BOOST_TEST(all_once(seen));
        BOOST_TEST(w.wheel.stats().pending == 900U);
    }
}

BOOST_FIXTURE_TEST_CASE(all_waits_of_one_timer_are_visited, world) {
    timer t(ctx, 1s);
    for (int i = 0; i < 1000; ++i) {
        t.async_wait(ignore);
    }
    const auto seen = visits();
    BOOST_TEST(seen.size() == 1U);
    BOOST_TEST(seen.begin()->second == 1000);
}

BOOST_FIXTURE_TEST_CASE(the_remaining_time_is_that_of_now, world) {
    timer& t = start(5s);
    elapse(2s);
    BOOST_TEST((visits().begin()->first == 3s));
    BOOST_TEST(t.postpone_until(now() + 7s) == 1U);
    BOOST_TEST((visits().begin()->first == 7s));
    timer never(ctx, timer::time_point::max());
    never.async_wait(ignore);
    BOOST_TEST(visits().size() == 2U);
    BOOST_TEST((visits().rbegin()->first > 24h * 365 * 200));
}

// The tick that makes it due has not come.
BOOST_AUTO_TEST_CASE(a_wait_that_is_late_has_a_negative_time) {
    drained_context c;
    timer t(c.ctx, 1ms);
    t.async_wait(ignore);
    while (timer::clock_type::now() < t.expiry() + 1ms) { // A sleep may end too early on Windows.
        std::this_thread::sleep_for(1ms);
    }
    nanoseconds remaining{0};
    asio_wheel::use_wheel(c.ctx).for_each_pending(
        [&](const pending_wait& w) { remaining = w.remaining; });
    BOOST_TEST((remaining <= -1ms));
    c.run();
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_due_is_not_visited_but_pending, world) {
    start(1s);
    start(3s);
    elapse(2s);
    BOOST_TEST(visits().size() == 1U);
    BOOST_TEST(wheel.pending() == 2U);
    poll();
    BOOST_TEST(wheel.pending() == 1U);
}

// Due on its way to a strand, and then postponed.
BOOST_FIXTURE_TEST_CASE(a_wait_that_waits_again_is_visited, world) {
    timer t(ctx, 1s);
    t.async_wait(asio::bind_executor(asio::make_strand(ctx), ignore));
    elapse(1s);
    BOOST_TEST(visits().empty());
    BOOST_TEST(t.postpone_until(now() + 9s) == 1U);
    BOOST_TEST((visits() == std::map<nanoseconds, int>{{9s, 1}}));
    poll();
    BOOST_TEST((visits() == std::map<nanoseconds, int>{{9s, 1}}));
}

BOOST_FIXTURE_TEST_CASE(it_says_which_handlers_have_another_executor, world) {
    timer t(ctx, 1s);
    const auto strand = asio::make_strand(ctx);
    t.async_wait(asio::bind_executor(strand, ignore));
    t.async_wait(asio::bind_executor(ctx.get_executor(), ignore));
    t.async_wait(ignore);
    timer on_strand(strand, 2s);
    on_strand.async_wait(ignore);
    std::map<nanoseconds, std::vector<bool>> others;
    wheel.for_each_pending(
        [&](const pending_wait& w) { others[w.remaining].push_back(w.on_other_executor); });
    BOOST_TEST((others[1s] == std::vector{true, false, false}));
    BOOST_TEST((others[2s] == std::vector{true}));
}

// Each function of a visit postpones another wait: to a slot where the walk has been, or not yet.
BOOST_AUTO_TEST_CASE(a_wait_that_is_moved_meanwhile_is_visited_once) {
    for (const std::size_t budget : {std::size_t{1}, std::size_t{16}}) {
        std::mt19937_64 random(seed());
        world w({.slots = 16, .levels = 3, .budget = budget});
        constexpr std::size_t n = 400;
        for (std::size_t i = 0; i < n; ++i) {
            w.start(std::chrono::milliseconds(1 + random() % 3'000));
        }
        // Times tell waits apart no more. So count the timers: each is moved once at most, and a
        // handler cannot be asked which timer it belongs to.
        std::size_t visited = 0;
        w.wheel.for_each_pending([&](const pending_wait&) {
            ++visited;
            timer& t = w.timers[random() % n];
            static_cast<void>(
                t.postpone_until(w.now() + std::chrono::milliseconds(1 + random() % 3'000)));
        });
        BOOST_TEST(visited == n);
    }
}

BOOST_AUTO_TEST_CASE(a_wait_whose_timer_is_moved_meanwhile_is_visited_once) {
    std::mt19937_64 random(seed());
    world w({.budget = 4});
    constexpr std::size_t n = 400;
    w.start_many(n, 1s, 1ms);
    const auto seen = w.visits([&](const pending_wait&) {
        std::swap(w.timers[random() % n], w.timers[random() % n]); // With their waits.
    });
    BOOST_TEST(seen.size() == n);
    BOOST_TEST(all_once(seen));
}

// Time passes between slices: slots are opened, and entries go from level to level.
BOOST_AUTO_TEST_CASE(a_wait_that_time_moves_meanwhile_is_visited_once) {
    for (const std::size_t budget : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
        std::mt19937_64 random(seed());
        world w({.slots = 4, .levels = 6, .budget = budget});
        constexpr std::size_t n = 300;
        // They stay pending for the whole walk, during which 1040 ms pass at most. But when the
        // first one becomes due, they go to other levels.
        w.start(1'030ms);
        for (std::size_t i = 0; i < n; ++i) {
            w.start(std::chrono::milliseconds(1'050 + random() % 300));
        }
        const auto start = w.now();
        std::map<nanoseconds, int> seen; // By expiry.
        w.wheel.for_each_pending([&](const pending_wait& p) {
            // Those of a slice are seen at one time, which may be before now.
            ++seen[p.remaining];
            if (const auto passed = w.now() - start; passed < 1'035ms) {
                w.elapse(std::min<nanoseconds>(std::chrono::milliseconds(random() % 40),
                                               1'040ms - passed));
            }
        });
        int total = 0;
        for (const auto& s : seen) {
            total += s.second;
        }
        BOOST_TEST(total >= static_cast<int>(n));
        BOOST_TEST(total <= static_cast<int>(n) + 1);
        BOOST_TEST(w.pass(0s) == 0U);
        BOOST_TEST(w.wheel.pending() == n);
    }
}

// Time stands in the middle of a tick, and a pass over what is due is under way. Some timers of
// that tick are held back, because they are not due yet. So a timer whose wait is brought forward
// leaves the wheel for a moment.
BOOST_AUTO_TEST_CASE(a_wait_that_is_moved_during_a_pass_with_held_timers_is_visited_once) {
    world w({.tick = 1ms, .budget = 1});
    w.align();
    w.elapse(500us);
    constexpr std::size_t n = 20;
    for (std::size_t i = 0; i < n; ++i) {
        w.start(200us); // Held back.
        w.start(1h);
    }
    std::size_t walks = 0;
    std::deque<timer> late;
    for (std::size_t i = 0; i < n; ++i) {
        late.emplace_back(w.ctx, 0s).async_wait([&](error_code) {
            std::map<nanoseconds, std::size_t> seen;
            const nanoseconds next = 1h - (++walks) * 1min;
            w.wheel.for_each_pending([&](const pending_wait& wait) {
                if (seen.empty()) {
                    for (std::size_t later = 1; later < w.timers.size(); later += 2) {
                        static_cast<void>(w.timers[later].postpone_until(w.now() + next));
                    }
                }
                ++seen[wait.remaining];
            });
            BOOST_TEST(seen[200us] == n);
            BOOST_TEST(seen[next] + seen[next + 1min] == n);
        });
    }
    w.poll();
    BOOST_TEST(walks == n);
}

// When a pass begins, it goes through what the last one has held back, in slices.
BOOST_AUTO_TEST_CASE(a_wait_that_is_held_back_is_visited_once) {
    constexpr std::size_t n = 40;
    for (std::size_t when = 1; when <= n; ++when) {
        world w({.tick = 1ms, .budget = 1});
        w.align();
        w.elapse(500us);
        w.start_many(n, 200us, 1us);
        w.elapse(0s); // Now they are held back.
        timer late(w.ctx, 0s);
        std::size_t visited = 0;
        const auto seen = w.visits([&](const pending_wait&) {
            if (++visited == when) {
                late.async_wait(ignore);
                w.ctx.restart();
                BOOST_TEST(w.ctx.poll_one() == 1U);
            }
        });
        BOOST_TEST_INFO_SCOPE("a slice after " << when << " visits");
        BOOST_TEST(seen.size() == n);
        BOOST_TEST(all_once(seen));
        w.poll();
    }
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_ends_meanwhile_is_visited_once_or_not, world) {
    start_many(1000, 1s, 1ms);
    std::size_t visited = 0;
    wheel.for_each_pending([&](const pending_wait&) {
        ++visited;
        timers[timers.size() - visited].cancel(); // From the other end.
    });
    BOOST_TEST(visited >= 500U);
    BOOST_TEST(visited <= 1000U);
    BOOST_TEST(wheel.pending() == 1000U - visited);
}

BOOST_FIXTURE_TEST_CASE(waits_that_start_meanwhile_do_not_make_it_endless, world) {
    start_many(100, 1s, 1ms);
    std::size_t visited = 0;
    wheel.for_each_pending([&](const pending_wait&) {
        ++visited;
        start_many(3, 10s, 1ms);
    });
    BOOST_TEST(visited >= 100U);
    BOOST_TEST(visited <= 400U);
}

BOOST_FIXTURE_TEST_CASE(the_function_may_drain_the_wheel, world) {
    start_many(1000, 1s, 1ms);
    std::size_t visited = 0;
    std::size_t drained = 0;
    wheel.for_each_pending([&](const pending_wait&) {
        ++visited;
        drained += wheel.drain().size();
    });
    BOOST_TEST(drained == 1000U);
    BOOST_TEST(visited == wheel.options().budget); // A slice was found before.
    BOOST_TEST(visits().empty());
}

BOOST_FIXTURE_TEST_CASE(the_function_may_throw, world) {
    start_many(1000, 1s, 1ms);
    std::size_t visited = 0;
    BOOST_CHECK_THROW(wheel.for_each_pending([&](const pending_wait&) {
        if (++visited == 300) {
            throw std::runtime_error("enough");
        }
    }),
                      std::runtime_error);
    BOOST_TEST(visited == 300U);
    BOOST_TEST(visits().size() == 1000U);
    BOOST_TEST(pass(2s) == 1000U); // The walk has left nothing behind.
}

BOOST_FIXTURE_TEST_CASE(a_walk_inside_a_walk_is_an_error, world) {
    start(1s);
    BOOST_CHECK_THROW(
        wheel.for_each_pending([&](const pending_wait&) { static_cast<void>(wheel.report()); }),
        std::logic_error);
    BOOST_CHECK_THROW(wheel.for_each_pending([&](const pending_wait&) { visits(); }),
                      std::logic_error);
    BOOST_TEST(visits().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_walk_of_another_wheel_inside_is_none, world) {
    start(1s);
    virtual_time other;
    std::size_t inside = 0;
    visits([&](const pending_wait&) {
        other.wheel.for_each_pending([](const pending_wait&) {});
        ++inside;
    });
    BOOST_TEST(inside == 1U);
}

// Timers keep the number of the last walk that has seen them, which is a byte.
BOOST_FIXTURE_TEST_CASE(hundreds_of_walks_find_the_same, world) {
    timer rare(ctx);
    start_many(300, 1s, 1ms);
    for (int i = 0; i < 600; ++i) {
        if (i % 255 == 0) {
            rare.expires_after(1h);
            rare.async_wait(ignore);
        }
        BOOST_TEST_REQUIRE(visits().size() == (i % 255 == 0 ? 301U : 300U));
        rare.cancel();
        if (i % 255 == 0) {
            rare.expires_after(1ns); // It is filed anew the next time.
        }
    }
}

// A walk that ends early leaves its number on the timers that it has seen, and on no others.
BOOST_FIXTURE_TEST_CASE(walks_that_end_early_do_not_hide_waits, world) {
    start_many(300, 1s, 1ms); // More than a slice.
    for (const int early : {0, 254, 1, 253, 254, 255, 509}) {
        for (int i = 0; i < early; ++i) {
            BOOST_CHECK_THROW(wheel.for_each_pending([](const pending_wait&) {
                throw std::runtime_error("one is enough");
            }),
                              std::runtime_error);
        }
        BOOST_TEST(visits().size() == 300U);
    }
}

// A walk changes nothing for the waits.
BOOST_FIXTURE_TEST_CASE(waits_expire_as_without_it, world) {
    timer a(ctx, 1s);
    timer b(ctx, 2s);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    start_many(1000, 3s, 1ms);
    BOOST_TEST(visits().size() == 1002U);
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST(visits().size() == 1001U);
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST(log_now() == "a b");
    visits();
    BOOST_TEST(pass(5s) == 1000U);
    BOOST_TEST(wheel.stats().cancelled == 0U);
}

// On a wheel in real time, the bookmark is the only entry when the function has cancelled the rest.
BOOST_AUTO_TEST_CASE(a_walk_does_not_keep_the_context_running) {
    drained_context c;
    auto& wheel = asio_wheel::make_wheel(c.ctx, {.budget = 1});
    std::deque<timer> timers;
    for (int i = 0; i < 50; ++i) {
        timers.emplace_back(c.ctx, 1h).async_wait(ignore);
    }
    wheel.for_each_pending([&](const pending_wait&) {
        for (timer& t : timers) {
            t.cancel();
        }
        c.run();
    });
    c.run();
    BOOST_TEST(wheel.pending() == 0U);
}

// Four threads move, cancel and start waits of their own; others walk. Waits that are left alone
// are visited by each walk.
BOOST_AUTO_TEST_CASE(several_threads_may_use_timers_and_walk_meanwhile) {
    asio::thread_pool pool(1);
    auto& wheel = asio_wheel::make_wheel(pool, {.slots = 64, .budget = 16});
    std::deque<timer> still;
    for (int i = 0; i < 200; ++i) {
        still.emplace_back(pool, 1h + i * 1s).async_wait(ignore);
    }
    std::atomic<bool> stop{false};
    std::vector<std::thread> users;
    for (unsigned n = 0; n < 3; ++n) {
        users.emplace_back([&, first = seed() + n] {
            std::mt19937_64 random(first);
            std::deque<timer> own;
            for (int i = 0; i < 50; ++i) {
                own.emplace_back(pool);
            }
            while (!stop) {
                timer& t = own[random() % own.size()];
                switch (random() % 4) {
                case 0:
                    t.cancel();
                    break;
                case 1:
                    static_cast<void>(t.postpone(std::chrono::milliseconds(random() % 50)));
                    break;
                default:
                    t.expires_after(std::chrono::milliseconds(random() % 20));
                    t.async_wait(ignore);
                }
            }
        });
    }
    std::vector<std::thread> walkers;
    std::atomic<int> wrong{0};
    for (int n = 0; n < 2; ++n) {
        walkers.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                std::size_t distant = 0;
                wheel.for_each_pending(
                    [&](const pending_wait& w) { distant += w.remaining > 30min ? 1U : 0U; });
                wrong += distant == still.size() ? 0 : 1;
            }
        });
    }
    for (auto& t : walkers) {
        t.join();
    }
    stop = true;
    for (auto& t : users) {
        t.join();
    }
    for (timer& t : still) {
        t.cancel();
    }
    pool.join();
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(occupancy_says_which_slots_are_filled) {
    world w({.tick = 1ms, .slots = 16, .levels = 3});
    const auto empty = w.wheel.occupancy();
    BOOST_TEST_REQUIRE(empty.levels.size() == 3U);
    BOOST_TEST((empty.levels[0].slot_width == 1ms));
    BOOST_TEST((empty.levels[1].slot_width == 16ms));
    BOOST_TEST((empty.levels[2].slot_width == 256ms));
    const auto sum = [](const auto& level) {
        std::size_t total = 0;
        for (const auto n : level.fill) {
            total += n;
        }
        return total;
    };
    for (const auto& level : empty.levels) {
        BOOST_TEST(level.fill.size() == 16U);
        BOOST_TEST(sum(level) == 0U);
    }
    w.start_many(3, 2ms, 1us);
    w.start_many(40, 200ms, 1us); // More than a slot counts.
    const auto some = w.wheel.occupancy();
    BOOST_TEST(sum(some.levels[0]) + sum(some.levels[1]) + sum(some.levels[2]) >= 3U + 8U);
    BOOST_TEST(*std::max_element(some.levels[1].fill.begin(), some.levels[1].fill.end()) == 8U);
    w.pass(5ms);
    const auto later = w.wheel.occupancy();
    BOOST_TEST(later.levels[0].current ==
               (empty.levels[0].current + 5) % empty.levels[0].fill.size());
}

// Each cell is compared with its slots.
BOOST_AUTO_TEST_CASE(occupancy_in_cells_has_the_fullest_of_their_slots) {
    std::mt19937_64 random(asio_wheel::test::seed());
    world w({.tick = 1ms, .slots = 1024, .levels = 2});
    for (int i = 0; i < 300; ++i) {
        w.start(1us * (random() % 3'000'000));
        w.start(500ms + 1us * (random() % 20'000));
    }
    const auto exact = w.wheel.occupancy();
    for (const std::size_t most : {1U, 100U, 256U, 512U, 1024U, 5000U, 0U}) {
        const auto coarse = w.wheel.occupancy(most);
        BOOST_TEST_REQUIRE(coarse.levels.size() == 2U);
        for (std::size_t i = 0; i < 2; ++i) {
            const auto& slots = exact.levels[i].fill;
            const auto& cells = coarse.levels[i].fill;
            BOOST_TEST(coarse.levels[i].slots == 1024U);
            BOOST_TEST((coarse.levels[i].slot_width == exact.levels[i].slot_width));
            BOOST_TEST_REQUIRE(cells.size() <= std::max<std::size_t>(most, 1));
            BOOST_TEST_REQUIRE(cells.size() * 2 > std::min<std::size_t>(most, 1024));
            const std::size_t size = slots.size() / cells.size();
            std::size_t wrong = 0;
            for (std::size_t cell = 0; cell < cells.size(); ++cell) {
                std::uint8_t fullest = 0;
                int looks = 0;
                for (std::size_t s = cell * size; s < (cell + 1) * size && looks < 16; ++s) {
                    looks += slots[s] == 0 ? 0 : 1;
                    fullest = std::max(fullest, slots[s]);
                }
                wrong += cells[cell] == fullest ? 0 : 1;
            }
            BOOST_TEST(wrong == 0U, most << " cells on level " << i);
        }
    }
}

// In real time, because of a stall. The wheel gives way to sockets, and a slice holds back what the
// walk has yet to visit.
BOOST_AUTO_TEST_CASE(what_is_held_back_during_a_walk_is_visited) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 100ms, .stall = 10ms, .budget = 4});
    std::deque<asio_wheel::steady_timer> timers;
    int called = 0;
    for (int i = 0; i < 20; ++i) {
        timers.emplace_back(ctx, 50ms + i * 1ms).async_wait([&](error_code) { ++called; });
    }
    std::this_thread::sleep_for(150ms);
    ctx.poll_one();
    int visited = 0;
    wheel.for_each_pending([&](const pending_wait&) {
        if (visited++ % 4 == 0) {
            ctx.poll_one();
        }
    });
    BOOST_TEST(visited + called >= 20);
}

BOOST_AUTO_TEST_SUITE_END()
