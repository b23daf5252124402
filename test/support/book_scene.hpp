// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A book, its timers and its passes, for tests of the book by itself. The clock is a number, and
// begins at 1000. A tick has ten units, so time 1050 is tick 5.

#ifndef ASIO_WHEEL_TEST_SUPPORT_BOOK_SCENE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_BOOK_SCENE_HPP

#include <asio_wheel/detail/core/book.hpp>
#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/core/wheel_clock.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/tick.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace asio_wheel::test {

struct booked_wait : detail::wait_node {
    explicit booked_wait(wait_kind k) : detail::wait_node({.kind = k}) {}
};

/// A timer with a wait, unless it is a tombstone.
struct booked {
    explicit booked(wait_kind kind) : wait(kind) {}

    detail::timer_state timer;
    booked_wait wait;
};

using found_timers = std::vector<const detail::timer_state*>;

struct book_scene {
    explicit book_scene(std::size_t budget = 4, bool is_steady = true)
        : clock(time, {.now = [] { return detail::time_count(1'000); },
                       .tick = 10,
                       .is_steady = is_steady}),
          b({.slots = 8, .levels = 4, .budget = budget}, clock) {}

    std::deque<booked> all;
    detail::wheel_time time;
    detail::wheel_clock clock;
    detail::book b;

    detail::timer_state& wait_until(detail::time_count t, wait_kind kind = wait_kind::sleep) {
        booked& f = all.emplace_back(kind);
        f.timer.expiry.set(t);
        b.file(f.timer);
        f.timer.waits.push_back(f.wait);
        f.timer.set_life(detail::timer_life::waiting);
        return f.timer;
    }
    detail::timer_state& tombstone(detail::time_count t) {
        detail::timer_state& s = wait_until(t);
        s.waits.clear();
        s.set_life(detail::timer_life::tombstone);
        return s;
    }

    /// One slice. Checks that what is due is in order.
    found_timers slice(detail::time_count now, bool hold = false) {
        last = b.collect(now, hold);
        found_timers due;
        for (const detail::book::due_timer& d : last.due) {
            BOOST_TEST((due.empty() || !(d < last.due[due.size() - 1])));
            BOOST_TEST((d.timer->life() == detail::timer_life::due));
            BOOST_TEST(!d.timer->filed());
            BOOST_TEST(d.expiry == d.timer->expiry.get());
            due.push_back(d.timer);
        }
        return due;
    }
    detail::book::slice last{};

    /// All slices of take_all().
    found_timers take_all() {
        found_timers taken;
        std::size_t most = 100;
        bool more = true;
        while (more && --most != 0) {
            const std::size_t before = taken.size();
            more = b.take_all([&](const detail::timer_state& s) {
                taken.push_back(&s);
                return true;
            });
            BOOST_TEST((more || taken.size() == before)); // The last slice finds nothing.
        }
        BOOST_TEST(most != 0U);
        return taken;
    }

    /// All slices of find_first().
    std::optional<detail::time_count> find_first(tick_t tick) {
        std::optional<detail::time_count> first = 1;
        first.reset();
        std::size_t most = 100;
        while (b.find_first(tick, first) && --most != 0) {
        }
        BOOST_TEST(most != 0U);
        return first;
    }
};

struct clock_that_is_set : book_scene {
    clock_that_is_set() : book_scene(4, false) {}
};
struct one_at_a_time : book_scene {
    one_at_a_time() : book_scene(1) {}
};

} // namespace asio_wheel::test

#endif
