// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// The cost of the wheel's operations, counted: how often they visit an entry, and what they
// allocate.

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"
#include "support/seed.hpp"
#include "support/wheel_fixture.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/align/aligned_alloc.hpp>
#include <boost/test/unit_test.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

std::size_t allocations = 0;
bool out_of_memory = false;

// Volatile: otherwise g++ sees that operator new is replaced, and warns.
void (*const volatile release)(void*) = boost::alignment::aligned_free;

} // namespace

// Counts every allocation of this program.
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    ++allocations;
    return out_of_memory
               ? nullptr
               : boost::alignment::aligned_alloc(static_cast<std::size_t>(alignment), size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    if (void* const memory = operator new(size, alignment, std::nothrow)) {
        return memory;
    }
    throw std::bad_alloc();
}
void* operator new(std::size_t size) {
    return operator new(size, std::align_val_t(__STDCPP_DEFAULT_NEW_ALIGNMENT__));
}
void operator delete(void* memory) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    release(memory);
}

namespace {

using namespace asio_wheel::test;
using asio_wheel::last_tick;
using asio_wheel::tick_t;
using asio_wheel::wheel;
using asio_wheel::wheel_entry;
using asio_wheel::wheel_inspector;

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_cost)

BOOST_AUTO_TEST_CASE(a_lone_entry_is_looked_at_once_whatever_its_distance) {
    for (const shape s : shapes) {
        for (unsigned power = 0; power < 64; ++power) {
            for (const int off : {-1, 0, 1}) {
                wheel w(s.slots, s.levels);
                entry a;
                const tick_t deadline = edge(power, off);
                BOOST_TEST_CONTEXT(s << ", deadline " << deadline) {
                    w.insert(a, deadline);
                    wheel_entry* due[1] = {};
                    const slice only = advance_once(w, deadline, 1, due);
                    BOOST_TEST(only.expired == 1U);
                    BOOST_TEST(only.filed_again == 0U);
                    BOOST_TEST(!only.more);
                    BOOST_TEST(due[0] == &a);
                }
            }
        }
    }
}

TEST_CASE_FOR_EACH(a_lone_entry_is_looked_at_once_even_if_time_passes_tick_by_tick, with_wheels,
                   wheel& w) {
    entry a;
    w.insert(a, 5000);
    wheel_entry* due[1] = {};
    for (tick_t t = 0; t < 5000; ++t) {
        const slice early = advance_once(w, t, 1, due);
        BOOST_REQUIRE(early.expired == 0 && !early.more);
        BOOST_REQUIRE_EQUAL(w.next_expiry(), 5000U);
    }
    BOOST_TEST(w.cascaded() == 0U);
    BOOST_TEST(advance_once(w, 5000, 1, due).expired == 1U);
    BOOST_TEST(w.cascaded() == 0U);
}

BOOST_AUTO_TEST_CASE(an_entry_is_filed_again_at_most_once_for_each_level_below_its_own) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (const shape s : {shape{2, 8}, shape{16, 4}, shape{64, 3}, shape{256, 4}}) {
        BOOST_TEST_CONTEXT(s) {
            wheel w(s.slots, s.levels);
            tick_t reach = 1;
            for (unsigned level = 0; level < s.levels; ++level) {
                reach *= s.slots;
            }
            entry_set entries(5000);
            std::vector<unsigned> levels;
            std::uint64_t allowed = 0;
            for (entry& e : entries) {
                w.insert(e, 1 + random() % (reach - 1));
                allowed += wheel_inspector::level_of(w, e).value();
            }
            expire(w, reach, 100);
            BOOST_TEST(w.empty());
            BOOST_TEST(w.cascaded() <= allowed);
            BOOST_TEST(w.cascaded() > 0U);
        }
    }
}

BOOST_AUTO_TEST_CASE(
    an_entry_is_filed_on_the_level_of_the_highest_group_of_bits_that_differs_from_now) {
    wheel w(16, 4);
    entry_set entries(7);
    start_at(w, 0x1234);
    const std::pair<tick_t, unsigned> places[] = {{0x1234, 0},  {0x123f, 0}, {0x1240, 1},
                                                  {0x12ff, 1},  {0x1300, 2}, {0x2000, 3},
                                                  {0x8'1234, 3}}; // A round later.
    for (std::size_t i = 0; i < entries.size(); ++i) {
        w.insert(entries[i], places[i].first);
        BOOST_TEST(wheel_inspector::level_of(w, entries[i]).value() == places[i].second);
    }
    BOOST_TEST(wheel_inspector::occupied(w) == 7U);
    check_invariants(w);
}

BOOST_AUTO_TEST_CASE(
    time_goes_on_while_something_far_is_pending_so_that_what_is_near_is_filed_near) {
    wheel w(256, 4);
    entry_set entries(2);
    w.insert(entries[0], 0x0300'0123);
    BOOST_TEST(expire(w, 0x0001'2345).empty());
    BOOST_TEST(w.elapsed() == 0x0001'2345U);
    w.insert(entries[1], 0x0001'2350);
    BOOST_TEST(wheel_inspector::level_of(w, entries[1]).value() == 0U);
    BOOST_TEST(expire(w, 0x0001'2350) == ticks{0x0001'2350}, per_element);
    // Up to the next slot, but not into it: entries inserted now must not overtake those in it.
    BOOST_TEST(expire(w, 0x0300'0100).empty());
    BOOST_TEST(w.elapsed() == 0x02ff'ffffU);
    BOOST_TEST(expire(w, 0x0300'0123) == ticks{0x0300'0123}, per_element);
    BOOST_TEST(w.elapsed() == 0x0300'0123U);
    BOOST_TEST(w.cascaded() == 0U);
}

BOOST_AUTO_TEST_CASE(a_stall_of_a_day_looks_at_each_entry_once_for_each_level_at_most) {
    constexpr tick_t day = 86'400'000; // A tick of 1 ms.
    for (const shape s : {shape{2, 64}, shape{4, 32}, shape{16, 16}, shape{64, 10}, shape{256, 4},
                          shape{256, 8}, shape{1024, 6}, shape{4096, 5}}) {
        BOOST_TEST_CONTEXT(s) {
            wheel w(s.slots, s.levels);
            entry_set entries(100);
            std::size_t looks = 0;
            for (std::size_t i = 0; i < entries.size(); ++i) {
                w.insert(entries[i], (i + 1) * (day / 100));
                looks += wheel_inspector::level_of(w, entries[i]).value() + 1;
            }
            const slice whole = advance_once(w, day, looks);
            BOOST_TEST(whole.expired == 100U);
            BOOST_TEST(!whole.more);
        }
    }
}

BOOST_AUTO_TEST_CASE(one_level_looks_at_an_entry_once_for_each_occupied_round_not_for_each_turn) {
    wheel w(16, 1);
    entry_set entries(10);
    std::vector<wheel_entry*> due(100);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        w.insert(entries[i], 5 + 16 * 1'000'000 * i); // One slot, a million turns apart.
    }
    const slice whole = advance_once(w, 16 * 10'000'000, 55, due); // 10 + 9 + … + 1
    BOOST_TEST(whole.expired == 10U);
    BOOST_TEST(whole.filed_again == 45U);
    BOOST_TEST(!whole.more);
}

TEST_CASE_FOR_EACH(an_empty_stretch_of_any_length_is_jumped_over, with_wheels, wheel& w) {
    entry_set entries(2);
    std::vector<wheel_entry*> due(4);
    w.insert(entries[0], 3);
    w.insert(entries[1], last_tick - 3);
    // Advancing tick by tick would take a lifetime. At worst, the far one shares the slot
    // of the near one.
    const slice whole = advance_once(w, last_tick, 3, due);
    BOOST_TEST(whole.expired == 2U);
    BOOST_TEST(!whole.more);
}

#if defined(__linux__)
// Returns how many pages of a level's memory are resident.
std::size_t pages_of(const wheel& w, unsigned level) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t size = wheel_inspector::level_size(w);
    std::vector<unsigned char> there((size + page - 1) / page);
    void* const begin = const_cast<void*>(wheel_inspector::level(w, level));
    BOOST_TEST_REQUIRE(::mincore(begin, size, there.data()) == 0);
    return static_cast<std::size_t>(
        std::count_if(there.begin(), there.end(), [](unsigned char p) { return (p & 1U) != 0; }));
}

BOOST_AUTO_TEST_CASE(a_wheel_takes_the_memory_of_the_slots_that_it_uses,
                     *only_if(!has_address_sanitizer)) {
    wheel w(4096, 2); // So large that a level is mapped.
    entry_set entries(10);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        w.insert(entries[i], 100 + i);
    }
    // The level itself, one page of slots, one of their states, and one for each level of the tree.
    BOOST_TEST(pages_of(w, 0) <= 7U);
}
#endif

BOOST_AUTO_TEST_CASE(a_wheel_allocates_each_level_when_it_first_files_an_entry_there) {
    entry_set entries(3);
    wheel_entry* due[1] = {};
    std::size_t count = allocations;
    const auto allocated = [&count] { return allocations - std::exchange(count, allocations); };
    wheel w(256, 4);
    w.hold(entries[0]);
    w.erase(entries[0]);
    const unsigned nothing = w.fill(3, 255) + w.fullest(0, 0, 256, 256);
    const std::size_t none = allocated();
    w.insert(entries[0], 1000);
    const std::size_t first = allocated();
    w.insert(entries[1], 30'000); // On the same level.
    const auto passed = w.advance(1000, 16, due);
    const std::size_t same = allocated();
    w.insert(entries[2], 1001); // On level 0.
    const std::size_t second = allocated();
    BOOST_TEST(nothing == 0U);
    BOOST_TEST(passed.expired == 1U);
    BOOST_TEST(none == 0U);
    BOOST_TEST(first == 1U);
    BOOST_TEST(same == 0U);
    BOOST_TEST(second == 1U);
    BOOST_TEST(wheel_inspector::level(w, 0) != nullptr);
    BOOST_TEST(wheel_inspector::level(w, 1) != nullptr);
    BOOST_TEST(wheel_inspector::levels_made(w) == 2U);
    check_invariants(w);
}

BOOST_AUTO_TEST_CASE(a_wheel_that_has_reserved_allocates_no_level_later) {
    entry_set entries(3);
    wheel w(64, 3);
    w.reserve();
    const std::size_t before = allocations;
    w.insert(entries[0], 1);
    w.insert(entries[1], 65);
    w.insert(entries[2], 65 * 65);
    const std::size_t after = allocations;
    BOOST_TEST(after == before);
    BOOST_TEST(wheel_inspector::levels_made(w) == 3U);

    wheel other(64, 3);
    out_of_memory = true;
    bool thrown = false;
    try {
        other.reserve();
    } catch (const std::bad_alloc&) {
        thrown = true;
    }
    out_of_memory = false;
    BOOST_TEST(thrown);
    check_invariants(other);
}

BOOST_AUTO_TEST_CASE(entries_expire_in_time_although_there_is_no_memory_for_their_levels) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (const shape s : {shape{2, 8}, shape{16, 1}, shape{16, 4}, shape{256, 4}}) {
        BOOST_TEST_CONTEXT(s) {
            wheel w(s.slots, s.levels);
            entry_set entries(200);
            std::vector<wheel_entry*> due(16);
            std::multiset<tick_t> model;
            std::size_t unplaced = 0;
            for (tick_t now = 0; now < 20'000; now += random() % 50) {
                const bool scarce = now < 5'000 || (now < 10'000 && random() % 8 != 0);
                entry& e = entries[random() % entries.size()];
                if (e.filed()) {
                    model.erase(model.find(e.deadline()));
                    w.erase(e);
                } else {
                    out_of_memory = scarce;
                    w.insert(e, now + random() % 5000);
                    out_of_memory = false;
                    model.insert(e.deadline());
                    unplaced += wheel_inspector::is_unplaced(w, e) ? 1 : 0;
                }
                out_of_memory = scarce;
                const tick_t next = w.find_next_expiry();
                bool more = true;
                ticks expired;
                while (more) {
                    const auto passed = w.advance(now, 16, due);
                    more = passed.more;
                    out_of_memory = false; // The test allocates, too.
                    for (std::size_t i = 0; i < passed.expired; ++i) {
                        expired.push_back(due[i]->deadline());
                    }
                }
                BOOST_TEST_REQUIRE(next == (model.empty() ? asio_wheel::no_tick : *model.begin()));
                const ticks expected(model.begin(), model.upper_bound(now));
                BOOST_TEST_REQUIRE(expired == expected, per_element);
                model.erase(model.begin(), model.upper_bound(now));
                check_invariants(w);
            }
            BOOST_TEST(unplaced > 0U);
        }
    }
}

BOOST_AUTO_TEST_CASE(nothing_but_its_levels_is_allocated) {
    for (const shape s : shapes) {
        const std::size_t before = allocations;
        std::size_t others = 0;
        {
            wheel w(s.slots, s.levels);
            const std::size_t at_first = allocations;
            entry_set entries(1000);
            entry other;
            others = allocations - at_first;
            wheel_entry* due[16] = {};
            std::size_t fired = 0;
            for (std::size_t i = 0; i < entries.size(); ++i) {
                w.insert(entries[i], i * i);
            }
            w.replace(entries[700], other);
            w.erase(entries[500]);
            w.postpone(entries[600], 3'000'000);
            w.reschedule(entries[601], 30);
            for (tick_t now = 0; now < 4'000'000; now += 997) {
                while (true) {
                    const auto [expired, more] = w.advance(now, 7, due);
                    fired += expired;
                    if (!more) {
                        break;
                    }
                }
            }
            BOOST_TEST(fired == 999U);
            BOOST_TEST(allocations - before - others <= s.levels);
        }
    }
    BOOST_TEST(allocations > 0U); // The counter works.
}

BOOST_AUTO_TEST_SUITE_END()
