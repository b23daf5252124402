// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A walk through all entries of a wheel, in steps, while the wheel is used.

#include <asio_wheel/detail/wheel/wheel_walk.hpp>
#include <asio_wheel/wheel.hpp>

#include "support/sanitizers.hpp"
#include "support/seed.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>
#include <span>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::tick_t;
using asio_wheel::wheel;
using asio_wheel::wheel_entry;
using asio_wheel::wheel_inspector;
using asio_wheel::detail::wheel_walk;

struct entry : wheel_entry {
    bool seen = false;
    bool must = true; // It is filed from the beginning of the walk to the end.
};

// What the caller of a walk does, and random uses of the wheel between its steps.
struct world {
    std::mt19937_64 random;
    wheel_entry* bookmark = nullptr;
    bool missed = false;
    wheel w;
    std::deque<entry> entries;
    std::array<wheel_entry*, 4> due{};

    world(std::size_t slots, unsigned levels, std::uint64_t first)
        : random(first), w(slots, levels, &world::query, this) {}

    std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random() % n); }

    static tick_t query(void* self, wheel_entry& e) noexcept {
        auto& here = *static_cast<world*>(self);
        if (&e == here.bookmark) {
            return asio_wheel::no_tick;
        }
        here.missed = here.missed || !static_cast<entry&>(e).seen;
        return e.deadline();
    }

    void add(bool during_the_walk) {
        entry& e = entries.emplace_back();
        e.seen = during_the_walk;
        e.must = !during_the_walk;
        w.insert(e, w.now() + pick(3'000));
    }

    void advance() {
        const auto passed = w.advance(w.now() + pick(20), 1 + pick(8), due);
        for (std::size_t i = 0; i < passed.expired; ++i) {
            if (due[i] == bookmark) {
                continue;
            }
            auto& e = static_cast<entry&>(*due[i]);
            missed = missed || !e.seen;
            if (pick(2) == 0) {
                w.hold(e);
            } else {
                w.insert(e, w.now() + 1 + pick(3'000));
            }
        }
    }

    void use() {
        entry& e = entries[pick(entries.size())];
        switch (pick(8)) {
        case 0:
            add(true);
            break;
        case 1:
            if (e.filed() && pick(4) == 0) {
                w.erase(e);
                e.must = false;
            }
            break;
        case 2:
            if (e.filed()) {
                missed = missed || !e.seen;
                w.reschedule(e, w.now() + pick(3'000));
            }
            break;
        case 3:
            w.release_held();
            break;
        case 4:
            static_cast<void>(w.find_next_expiry(1 + pick(4)));
            break;
        default:
            advance();
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_walk_steps)

BOOST_AUTO_TEST_CASE(what_is_filed_all_the_time_is_found_whatever_happens_between_steps) {
    std::mt19937_64 seeds(seed());
    for (int round = 0; round < unless_emulated(16'000); ++round) {
        BOOST_TEST_INFO_SCOPE("round " << round);
        const std::size_t slots = std::size_t{2} << (seeds() % 4);
        world here(slots, static_cast<unsigned>(1 + seeds() % 5), seeds());
        const std::size_t n = 1 + here.pick(100);
        for (std::size_t i = 0; i < n; ++i) {
            here.add(false);
        }
        for (std::size_t i = here.pick(20); i != 0; --i) {
            here.advance();
        }
        here.missed = false;

        entry bookmark;
        here.bookmark = &bookmark;
        std::array<wheel_entry*, 5> found{};
        const std::span<wheel_entry*> room(found.data(), 1 + here.pick(found.size()));
        wheel_walk walk(here.w, bookmark);
        const std::size_t calm = 1 + here.pick(40);
        std::size_t uses = 1'000; // Then it is left alone, so that the walk ends.
        for (bool more = true; more;) {
            const auto passed = walk.step(room);
            for (std::size_t i = 0; i < passed.found; ++i) {
                BOOST_TEST_REQUIRE(found[i] != &bookmark);
                static_cast<entry*>(found[i])->seen = true;
            }
            BOOST_TEST_REQUIRE(bookmark.filed() == passed.more);
            more = passed.more || std::exchange(here.missed, false);
            if (here.pick(calm) == 0) {
                for (std::size_t i = std::min(here.pick(4), uses); i != 0; --i, --uses) {
                    here.use();
                }
            }
            BOOST_TEST_REQUIRE(wheel_inspector::audit(here.w) == "");
        }
        walk.take_bookmark();
        BOOST_TEST(std::all_of(here.entries.begin(), here.entries.end(),
                               [](const entry& e) { return e.seen || !e.must; }));
    }
}

// The caller holds a lock during a step.
BOOST_AUTO_TEST_CASE(a_step_passes_no_more_slots_than_it_promises) {
    wheel w(std::size_t{1} << 14, 2);
    entry bookmark;
    entry first;
    entry last;
    w.insert(first, 0); // A level that is not used is passed at once.
    w.insert(last, (std::size_t{1} << 28) - 1);
    wheel_walk walk(w, bookmark);
    std::array<wheel_entry*, 2> found{};
    std::size_t steps = 1;
    std::size_t in_all = 0;
    for (;; ++steps) {
        const auto passed = walk.step(found);
        in_all += passed.found;
        BOOST_TEST(!bookmark.filed()); // The steps end between slots.
        if (!passed.more) {
            break;
        }
    }
    BOOST_TEST(in_all == 2U);
    BOOST_TEST(steps == (std::size_t{2} << 14) / wheel_walk::most_slots + 1);
    w.erase(first);
    w.erase(last);
}

// The caller holds a lock, so it says how many slots may be looked at.
BOOST_AUTO_TEST_CASE(the_fullest_of_many_slots_is_that_of_the_first_that_are_not_empty) {
    wheel w(256, 1);
    std::deque<entry> entries(4);
    w.insert(entries[0], 10);
    w.insert(entries[1], 20);
    w.insert(entries[2], 30);
    w.insert(entries[3], 30);
    BOOST_TEST(w.fullest(0, 0, 256, 2) == 1U);
    BOOST_TEST(w.fullest(0, 0, 256, 3) == 2U);
    BOOST_TEST(w.fullest(0, 0, 30, 3) == 1U);
    BOOST_TEST(w.fullest(0, 11, 20, 2) == 2U);
    for (entry& e : entries) {
        w.erase(e);
    }
}

BOOST_AUTO_TEST_SUITE_END()
