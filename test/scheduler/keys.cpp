// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: off

// Keys of tasks, of any type.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/error.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/logged_scheduler.hpp"
#include "support/refusals.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::missed;
using asio_wheel::scheduler;
using asio_wheel::task_handle;
using time_point = std::chrono::steady_clock::time_point;

enum class kind { save, load };

// A user's key.
struct session_id {
    int server;
    std::string name;
    friend bool operator==(const session_id&, const session_id&) = default;
};

// A key that throws, and that is alive as long as its task is not over.
struct moody {
    int value;
    std::shared_ptr<int> alive = nullptr;

    static inline int left = 1'000'000; // So many calls do not throw.
    static void call() {
        if (left-- == 0) {
            throw std::runtime_error("a bad day");
        }
    }
    friend bool operator==(const moody& a, const moody& b) {
        call();
        return a.value == b.value;
    }
};

// All values have the same hash.
struct clumsy {
    int value;
    friend bool operator==(const clumsy&, const clumsy&) = default;
};

// While this exists, the n-th next call of a moody key throws.
struct bad_day {
    explicit bad_day(int n) { moody::left = n; }
    bad_day(const bad_day&) = delete;
    bad_day& operator=(const bad_day&) = delete;
    ~bad_day() { moody::left = 1'000'000; }
};

} // namespace

template <>
struct std::hash<session_id> {
    std::size_t operator()(const session_id& id) const {
        return std::hash<std::string>()(id.name) + static_cast<std::size_t>(id.server);
    }
};
template <>
struct std::hash<moody> {
    std::size_t operator()(const moody& m) const {
        moody::call();
        return static_cast<std::size_t>(m.value);
    }
};
template <>
struct std::hash<clumsy> {
    std::size_t operator()(const clumsy&) const noexcept { return 7; }
};

BOOST_AUTO_TEST_SUITE(scheduler_keys, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_key_is_of_any_type_that_can_be_hashed_and_compared, logged_scheduler) {
    int object = 0;
    tasks.schedule_after(7, 1s, note("a"));
    tasks.schedule_after(session_id{1, "x"}, 1s, note("b"));
    tasks.schedule_after(kind::save, 1s, note("c"));
    tasks.schedule_after(&object, 1s, note("d"));
    tasks.schedule_after(std::this_thread::get_id(), 1s, note("e"));
    BOOST_TEST(tasks.pending() == 5U);
    BOOST_TEST(tasks.is_pending(7));
    BOOST_TEST(!tasks.is_pending(8));
    BOOST_TEST(tasks.is_pending(session_id{1, "x"}));
    BOOST_TEST(!tasks.is_pending(session_id{2, "x"}));
    BOOST_TEST(tasks.is_pending(kind::save));
    BOOST_TEST(!tasks.is_pending(kind::load));
    BOOST_TEST(tasks.is_pending(&object));
    BOOST_TEST(tasks.is_pending(std::this_thread::get_id()));
    const task_handle again = tasks.schedule_after(session_id{1, "x"}, 2s, note("f"));
    BOOST_TEST(tasks.pending() == 5U);
    BOOST_TEST((tasks.find(session_id{1, "x"}) == again));
    BOOST_TEST((tasks.cancel(7).result == cancel_result::cancelled));
    pass(1s);
    BOOST_TEST(take_log().size() == 3U);
    BOOST_TEST(log_after(1s) == "f");
    BOOST_TEST((tasks.find(session_id{1, "x"}) == task_handle()));
}

BOOST_FIXTURE_TEST_CASE(keys_of_different_types_are_different_keys, logged_scheduler) {
    const task_handle i = tasks.schedule_after(1, 1h, [] {});
    const task_handle l = tasks.schedule_after(1L, 1h, [] {});
    const task_handle u = tasks.schedule_after(1U, 1h, [] {});
    const task_handle s = tasks.schedule_after("1", 1h, [] {});
    BOOST_TEST(tasks.pending() == 4U);
    BOOST_TEST((tasks.find(1) == i));
    BOOST_TEST((tasks.find(1L) == l));
    BOOST_TEST((tasks.find(1U) == u));
    BOOST_TEST((tasks.find("1") == s));
    BOOST_TEST((tasks.find('1') == task_handle()));
}

BOOST_FIXTURE_TEST_CASE(what_is_like_a_string_is_a_string, logged_scheduler) {
    const std::string text = "a key that is too long to be stored inside of a std::string";
    const char* const pointer = text.c_str();
    const task_handle h = tasks.schedule_after(std::string_view(text), 1h, [] {});
    BOOST_TEST((tasks.find(text) == h));
    BOOST_TEST((tasks.find(pointer) == h));
    BOOST_TEST((tasks.find(std::string_view(text)) == h));
    BOOST_TEST((tasks.find("a key that is too long to be stored inside of a std::string") == h));
    const task_handle other = tasks.schedule_after(pointer, 1h, [] {});
    BOOST_TEST(h.is_cancelled()); // Replaced.
    BOOST_TEST((tasks.find(text) == other));
    BOOST_TEST(tasks.pending() == 1U);
}

BOOST_FIXTURE_TEST_CASE(looking_up_a_key_needs_no_memory, logged_scheduler) {
    const std::string text = "a key that is too long to be stored inside of a std::string";
    const task_handle h = tasks.schedule_after(text, 1h, [] {});
    tasks.schedule_after(5, 1h, [] {});
    std::size_t found = 0;
    const std::size_t allocated = allocations_of([&] {
        found += tasks.find(std::string_view(text)) == h ? 1U : 0U;
        found += tasks.is_pending(text.c_str()) ? 1U : 0U;
        found += tasks.is_pending(5) ? 1U : 0U;
        found += tasks.cancel(std::string_view(text)).result == cancel_result::cancelled ? 1U : 0U;
    });
    BOOST_TEST(found == 4U);
    BOOST_TEST(allocated == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_key_needs_no_memory_of_its_own, logged_scheduler) {
    for (int i = 0; i < 20; ++i) { // So that all tables have their size.
        tasks.schedule_after(i, 0s, [] {});
        tasks.schedule_after(0s, [] {});
    }
    tasks.schedule_after(1h, [] {}); // So that the wheel has its level.
    poll();
    const std::size_t without = allocations_of([&] { tasks.schedule_after(1h, [] {}); });
    const std::size_t with = allocations_of([&] { tasks.schedule_after(1, 1h, [] {}); });
    BOOST_TEST(with == without);
}

BOOST_FIXTURE_TEST_CASE(every_function_that_schedules_takes_a_key, logged_scheduler) {
    const auto all = [this](auto& where) {
        std::vector<task_handle> handles;
        handles.push_back(where.schedule_after(1, 1s, note("a")));
        handles.push_back(where.schedule_at(2, now() + 1s, note("b")));
        handles.push_back(where.schedule_at_fixed_rate(3, 1s, 1h, note("c")));
        handles.push_back(where.schedule_at_fixed_rate(4, 1s, 1h, note("d"), missed::skip));
        handles.push_back(where.schedule_with_fixed_delay(5, 1s, 1h, note("e")));
        const auto next = [first = true](time_point t) mutable {
            return std::exchange(first, false) ? std::optional(t + 1s) : std::nullopt;
        };
        handles.push_back(where.schedule(6, next, note("f")));
        return handles;
    };
    const auto before = all(tasks);
    for (int key = 1; key <= 6; ++key) {
        BOOST_TEST((tasks.find(key) == before[static_cast<std::size_t>(key) - 1]));
    }
    {
        scheduler::group session(tasks);
        const auto after = all(session); // The keys of a group are those of the scheduler.
        BOOST_TEST(tasks.pending() == 6U);
        for (std::size_t i = 0; i < 6; ++i) {
            BOOST_TEST(before[i].is_cancelled());
            BOOST_TEST((tasks.find(static_cast<int>(i) + 1) == after[i]));
        }
        pass(1s);
        BOOST_TEST(take_log().size() == 6U);
        BOOST_TEST(tasks.pending() == 3U);
        BOOST_TEST(tasks.is_pending(3)); // It will be called again.
        BOOST_TEST(!tasks.is_pending(1));
    }
    BOOST_TEST(!tasks.is_pending(3));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(in_a_full_scheduler_the_newest_under_a_key_wins_while_it_is_called,
                        virtual_world) {
    scheduler tasks(ctx, {.max_pending = 1});
    std::string told;
    tasks.schedule_after("save", 1s, [&] {
        told += "a";
        for (const char c : {'b', 'c', 'd'}) { // Events, while it saves.
            tasks.schedule_after("save", 1s, [&told, c] { told += c; });
        }
        BOOST_TEST(tasks.pending() == 2U);
        const auto refused = refusal_of([&] { tasks.schedule_after(1s, [] {}); });
        BOOST_TEST((refused == asio_wheel::error::scheduler_full));
    });
    pass(1s);
    BOOST_TEST(told == "a");
    BOOST_TEST(tasks.pending() == 1U);
    const auto refused = refusal_of([&] { tasks.schedule_after("load", 1s, [] {}); });
    BOOST_TEST((refused == asio_wheel::error::scheduler_full));
    pass(1s);
    BOOST_TEST(told == "ad");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(whoever_is_told_that_a_task_is_over_may_schedule_under_its_key,
                        virtual_world) {
    scheduler tasks(ctx, {.max_pending = 1});
    std::string told;
    const auto again = [&](const char* what) {
        tasks.schedule_after(1, 1s, [&told, what] { told += what; });
    };
    {
        const auto at_its_end = std::shared_ptr<int>(new int(0), [&](const int* p) {
            delete p;
            again("b");
        });
        tasks.schedule_after(1, 1s, [&told, at_its_end] { told += "a"; });
    }
    pass(1s);
    BOOST_TEST(told == "a");
    pass(1s);
    BOOST_TEST(told == "ab");
    tasks.schedule_after(1, 1s, asio_wheel::on_cancel([] {}, [&] { again("c"); }));
    tasks.cancel(1);
    pass(1s);
    BOOST_TEST(told == "abc");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_lost_its_key_does_not_count_for_the_limit, virtual_world) {
    scheduler tasks(ctx, {.max_pending = 2});
    std::string told;
    tasks.schedule_after(1, 1s, [&] {
        tasks.schedule_after(1, 1s, [&] { told += "b"; });
        tasks.schedule_after(1s, [&] { told += "c"; });
        BOOST_TEST(tasks.pending() == 3U); // This call is one of them.
        const auto refused = refusal_of([&] { tasks.schedule_after(1s, [] {}); });
        BOOST_TEST((refused == asio_wheel::error::scheduler_full));
    });
    pass(1s);
    BOOST_TEST(tasks.pending() == 2U);
    pass(1s);
    BOOST_TEST(told.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_refusal_says_whose_limit_it_was, virtual_world) {
    scheduler tasks(ctx, {.max_pending = 1});
    tasks.schedule_after(1s, [] {});
    const auto refused =
        thrown_by<boost::system::system_error>([&] { tasks.schedule_after(1s, [] {}); });
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST(std::string(refused->what()).find("The scheduler is full") != std::string::npos);
    BOOST_TEST(std::string(refused->what()).find("wheel is") == std::string::npos);
    BOOST_TEST(std::string(refused->what()).find("waits") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_repeated_task_holds_its_key_until_it_is_over, logged_scheduler) {
    tasks.schedule_at_fixed_rate("beat", 1s, 1s, note("x"));
    pass_in(3, 1s);
    BOOST_TEST(take_log() == "xxx");
    tasks.schedule_at_fixed_rate("beat", 1s, 1s, note("y"));
    pass_in(3, 1s);
    BOOST_TEST(take_log() == "yyy");
    BOOST_TEST((tasks.cancel("beat").result == cancel_result::cancelled));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_orphan_keeps_its_key, logged_scheduler) {
    scheduler other(ctx);
    const task_handle h = tasks.schedule_after(session_id{1, "x"}, 1s, note("a"));
    other.schedule_after(session_id{1, "x"}, 1s, note("b"));
    const auto orphans = tasks.stop();
    BOOST_TEST(!tasks.is_pending(session_id{1, "x"}));
    other.adopt(orphans);
    BOOST_TEST((other.find(session_id{1, "x"}) == h));
    BOOST_TEST(log_after(1s) == "a"); // It has replaced the other one.
}

// Its function is destroyed when an orphan takes its key.
BOOST_FIXTURE_TEST_CASE(a_task_that_owns_the_adopting_scheduler_may_lose_its_key,
                        logged_scheduler) {
    tasks.schedule_after(1, 1s, note("a"));
    tasks.schedule_after(2, 1s, note("b"));
    const auto orphans = tasks.stop();
    auto other = std::make_shared<scheduler>(ctx);
    scheduler& adopting = *other;
    adopting.schedule_after(1, 1s, [owner = std::move(other)] {});
    BOOST_CHECK_THROW(adopting.adopt(orphans), boost::system::system_error); // It has stopped.
    BOOST_TEST(log_after(1s) == "");
}

BOOST_FIXTURE_TEST_CASE(a_key_ends_with_its_task_whoever_has_a_handle, logged_scheduler) {
    const auto alive = std::make_shared<int>();
    const task_handle once = tasks.schedule_after(moody{1, alive}, 1s, [] {});
    const task_handle cancelled = tasks.schedule_after(moody{2, alive}, 1s, [] {});
    BOOST_TEST(alive.use_count() == 3);
    cancelled.cancel();
    BOOST_TEST(alive.use_count() == 2);
    pass(1s);
    BOOST_TEST(alive.use_count() == 1);
    const task_handle shared = tasks.schedule_after(alive, 1s, [] {}); // A key that owns.
    BOOST_TEST(tasks.is_pending(alive));
    pass(1s);
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(keys_with_the_same_hash_are_told_apart, logged_scheduler) {
    std::vector<task_handle> handles;
    handles.reserve(100);
    for (int i = 0; i < 100; ++i) {
        handles.push_back(tasks.schedule_after(clumsy{i}, 1h, [] {}));
    }
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST_REQUIRE((tasks.find(clumsy{i}) == handles[static_cast<std::size_t>(i)]));
    }
    for (int i = 0; i < 100; i += 2) {
        BOOST_TEST_REQUIRE((tasks.cancel(clumsy{i}).result == cancel_result::cancelled));
    }
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST_REQUIRE(tasks.is_pending(clumsy{i}) == (i % 2 == 1));
    }
}

BOOST_FIXTURE_TEST_CASE(a_key_that_throws_leaves_everything_as_it_was, logged_scheduler) {
    const auto alive = std::make_shared<int>();
    const task_handle first = tasks.schedule_after(moody{1, alive}, 10s, note("a"));
    scheduler::group session(tasks);
    int thrown = 0;
    bool again = true;
    for (int n = 0; again; ++n) {
        const auto held = std::make_shared<int>();
        const bad_day today(n);
        try {
            session.schedule_after(moody{1}, 1s, [held] {});
            again = false;
        } catch (const std::runtime_error&) {
            ++thrown;
            BOOST_TEST(held.use_count() == 1); // The function is destroyed.
            BOOST_TEST(tasks.pending() == 1U);
            BOOST_TEST(!first.is_cancelled());
            moody::left = 1000;
            BOOST_TEST((tasks.find(moody{1}) == first));
            BOOST_TEST(session.cancel() == 0U);
            BOOST_TEST(session.wait_idle(0s));
        }
    }
    BOOST_TEST(thrown >= 3); // The hash, and == before and after the wait has begun.
    BOOST_TEST(first.is_cancelled());
    BOOST_TEST(tasks.pending() == 1U);
    BOOST_TEST(alive.use_count() == 1);
    {
        const bad_day today(0);
        BOOST_CHECK_THROW(static_cast<void>(tasks.find(moody{1})), std::runtime_error);
    }
    {
        const bad_day today(1);
        BOOST_CHECK_THROW(tasks.cancel(moody{1}), std::runtime_error);
    }
    BOOST_TEST(tasks.is_pending(moody{1}));
    tasks.schedule_after(moody{2}, 1s, note("b"));
    BOOST_TEST(log_after(1s) == "b");
}

BOOST_FIXTURE_TEST_CASE(a_key_that_throws_leaves_an_orphan_an_orphan, logged_scheduler) {
    const task_handle h = tasks.schedule_after(moody{1}, 1s, note("a"));
    scheduler other(ctx);
    other.schedule_after(moody{1}, 1s, note("b"));
    const auto orphans = tasks.stop();
    for (int n = 0; n < 2; ++n) { // == before, and after the wait has begun.
        const bad_day today(n);
        BOOST_CHECK_THROW(other.adopt(orphans), std::runtime_error);
        BOOST_TEST(other.pending() == 1U);
        BOOST_TEST(h.is_cancelled());
    }
    other.adopt(orphans);
    BOOST_TEST((other.find(moody{1}) == h));
    BOOST_TEST(log_after(1s) == "a");
    BOOST_TEST(other.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_task_finds_its_key_free_when_it_is_over, logged_scheduler) {
    struct looks_at_its_end {
        scheduler* tasks;
        bool* found;
        looks_at_its_end(scheduler& s, bool& f) : tasks(&s), found(&f) {}
        looks_at_its_end(const looks_at_its_end&) = delete;
        looks_at_its_end& operator=(const looks_at_its_end&) = delete;
        ~looks_at_its_end() { *found = tasks->find(1) != task_handle(); }
    };
    bool found_inside = false, found_at_its_end = true;
    tasks.schedule_after(1, 1s,
                         [&, end = std::make_unique<looks_at_its_end>(tasks, found_at_its_end)] {
                             found_inside = tasks.find(1) != task_handle();
                         });
    pass(1s);
    BOOST_TEST(found_inside);
    BOOST_TEST(!found_at_its_end);
}

BOOST_AUTO_TEST_SUITE_END()
