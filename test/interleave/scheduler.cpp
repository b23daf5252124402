// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// Tasks of a scheduler: one thread makes them due, while others cancel, stop, adopt and replace
// them. Each function is called as often as the results of these calls say, and is destroyed once.

#include <asio_wheel/error.hpp>
#include <asio_wheel/scheduler.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using asio_wheel::cancel_result;
using scheduler = asio_wheel::basic_scheduler<scripted_clock>;
using handle = scheduler::handle;

// The calls and the end of a function.
struct story {
    observed calls, destroyed, inside;

    class function {
    public:
        explicit function(story& s) noexcept : story_(&s) {}
        function(function&& other) noexcept : story_(std::exchange(other.story_, nullptr)) {}
        function& operator=(function&&) = delete;
        ~function() {
            if (story_ != nullptr) {
                check(!story_->inside, "a function is not destroyed while it is called");
                story_->destroyed.set();
            }
        }
        void operator()() {
            check(!story_->inside, "a task is called serially");
            story_->inside.add(1);
            story_->calls.set();
            while_called();
            story_->inside.add(-1);
        }

    private:
        // The call takes a while.
        void while_called() { busy_.store(true); }

        story* story_;
        asio_wheel::detail::atomic<bool> busy_{false};
    };

    [[nodiscard]] function tell() noexcept { return function(*this); }

    void check_end(int times) const {
        check(calls.count() == times, "a function is called as often as was said");
        check(destroyed.count() == 1, "a function is destroyed once, when its task is over");
    }
};

// A context and a scheduler, where one thread advances time.
struct scene : world {
    std::optional<scheduler> s{std::in_place, ctx};
    story first;

    void become_due() {
        forward(1s);
        ctx.poll();
    }

    // Checks that nothing is left.
    void finish() {
        pass(1min);
        check(!s || s->pending() == 0, "no task is left");
    }
};

[[nodiscard]] const char* name_of(cancel_result r) {
    return r == cancel_result::cancelled       ? "cancelled"
           : r == cancel_result::already_fired ? "already fired"
                                               : "already cancelled";
}

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_scheduler)

BOOST_AUTO_TEST_CASE(a_task_is_called_or_cancelled) {
    const auto due_and_cancelled = [](bool on_strand) {
        return [on_strand] {
            scene w;
            if (on_strand) {
                w.s.emplace(asio::make_strand(w.ctx));
            }
            const handle h = w.s->schedule_after(1s, w.first.tell());
            cancel_result r{};
            together([&] { w.become_due(); }, [&] { r = h.cancel().result; });
            w.finish();
            w.first.check_end(r == cancel_result::cancelled ? 0 : 1);
            check(h.is_expired() == (r == cancel_result::already_fired), "the handle knows");
            check(h.is_cancelled() == (r == cancel_result::cancelled), "the handle knows");
            outcome(name_of(r));
        };
    };
    explore_all("due_cancel", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"cancelled", "already fired"}},
                due_and_cancelled(false));
    explore_all("due_cancel_on_strand", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"cancelled", "already fired"}},
                due_and_cancelled(true));
}

BOOST_AUTO_TEST_CASE(two_threads_cancel_a_task_once) {
    explore_all(
        "cancel_cancel", {.preemptions = 4}, {.schedules = 100, .outcomes = {"a", "b"}}, [] {
            scene w;
            const handle h = w.s->schedule_after(1s, w.first.tell());
            cancel_result a{};
            cancel_result b{};
            together([&] { a = h.cancel().result; }, [&] { b = h.cancel().result; });
            check((a == cancel_result::cancelled) != (b == cancel_result::cancelled),
                  "one of them has cancelled it");
            check(a == cancel_result::already_cancelled || b == cancel_result::already_cancelled,
                  "and the other one is told so");
            w.finish();
            w.first.check_end(0);
            outcome(a == cancel_result::cancelled ? "a" : "b");
        });
}

BOOST_AUTO_TEST_CASE(a_task_is_called_or_an_orphan) {
    explore_all("due_stop", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"orphan", "called"}}, [] {
                    scene w;
                    w.s->schedule_after(1s, w.first.tell());
                    scheduler::orphans orphans;
                    together([&] { w.become_due(); }, [&] { orphans = w.s->stop(); });
                    w.poll();
                    check(w.s->pending() == 0, "no task is left");
                    const bool orphan = !orphans.empty();
                    check(w.first.calls.count() == (orphan ? 0 : 1), "it is either");
                    orphans.clear();
                    w.finish();
                    w.first.check_end(orphan ? 0 : 1);
                    outcome(orphan ? "orphan" : "called");
                });
}

BOOST_AUTO_TEST_CASE(a_task_is_called_or_ends_with_its_scheduler) {
    explore_all("due_destroy", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"ended", "called"}}, [] {
                    scene w;
                    const handle h = w.s->schedule_after(1s, w.first.tell());
                    together([&] { w.become_due(); }, [&] { w.s.reset(); });
                    w.finish();
                    const bool called = w.first.calls.count() != 0;
                    check(h.is_expired() == called, "the handle knows");
                    check(h.is_cancelled() == !called, "the handle knows");
                    outcome(called ? "called" : "ended");
                });
}

BOOST_AUTO_TEST_CASE(a_task_is_cancelled_or_an_orphan) {
    explore_all("cancel_stop", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"orphan", "cancelled"}}, [] {
                    scene w;
                    std::optional<handle> h = w.s->schedule_after(1s, w.first.tell());
                    scheduler::orphans orphans;
                    cancel_result r{};
                    together([&] { r = h->cancel().result; }, [&] { orphans = w.s->stop(); });
                    check((r == cancel_result::cancelled) == orphans.empty(), "it is either");
                    check(r != cancel_result::already_fired, "it was never called");
                    outcome(orphans.empty() ? "cancelled" : "orphan");
                    orphans.clear();
                    h.reset();
                    w.finish();
                    w.first.check_end(0);
                });
}

BOOST_AUTO_TEST_CASE(an_orphan_is_adopted_once) {
    explore_all("adopt_adopt", {.preemptions = 3}, {.schedules = 100, .outcomes = {"called"}}, [] {
        scene w;
        scheduler second(w.ctx);
        scheduler third(w.ctx);
        const handle h = w.s->schedule_after(1s, w.first.tell());
        const scheduler::orphans orphans = w.s->stop();
        check(orphans.size() == 1, "there is an orphan");
        together([&] { second.adopt(orphans); }, [&] { third.adopt(orphans); });
        check(second.pending() + third.pending() == 1, "one of them has adopted it");
        check(h.remaining() > 0s, "it waits again");
        w.finish();
        w.first.check_end(1);
        check(second.pending() + third.pending() == 0, "no task is left");
        outcome("called");
    });
}

BOOST_AUTO_TEST_CASE(an_orphan_is_adopted_while_it_is_cancelled) {
    explore_all("adopt_cancel", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"cancelled", "already cancelled"}}, [] {
                    scene w;
                    scheduler second(w.ctx);
                    std::optional<handle> h = w.s->schedule_after(1s, w.first.tell());
                    scheduler::orphans orphans = w.s->stop();
                    cancel_result r{};
                    together([&] { second.adopt(orphans); }, [&] { r = h->cancel().result; });
                    orphans.clear();
                    h.reset();
                    w.finish();
                    check(r != cancel_result::already_fired, "it was never called");
                    const int calls = w.first.calls.count();
                    check(calls == 0 || (calls == 1 && r != cancel_result::cancelled),
                          "what is cancelled is not called");
                    w.first.check_end(calls);
                    check(second.pending() == 0, "no task is left");
                    outcome(name_of(r));
                });
}

// The wait of its first scheduler is still queued.
BOOST_AUTO_TEST_CASE(a_task_is_stopped_and_adopted_while_it_becomes_due) {
    explore_all("due_stop_adopt", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"adopted", "called before"}}, [] {
                    scene w;
                    scheduler second(w.ctx);
                    const handle h = w.s->schedule_after(1s, w.first.tell());
                    std::size_t orphans = 0;
                    together([&] { w.become_due(); },
                             [&] {
                                 const auto stopped = w.s->stop();
                                 orphans = stopped.size();
                                 second.adopt(stopped);
                             });
                    w.finish();
                    w.first.check_end(1);
                    check(h.is_expired() && second.pending() == 0,
                          "it was called for the last time");
                    outcome(orphans != 0 ? "adopted" : "called before");
                });
}

BOOST_AUTO_TEST_CASE(one_task_has_a_key) {
    explore_all("key_key", {.preemptions = 2}, {.schedules = 100, .outcomes = {"a", "b"}}, [] {
        scene w;
        story second;
        together([&] { w.s->schedule_after("key", 1s, w.first.tell()); },
                 [&] { w.s->schedule_after("key", 1s, second.tell()); });
        check(w.s->pending() == 1, "the other one is cancelled");
        w.finish();
        const int calls = w.first.calls.count();
        w.first.check_end(calls);
        second.check_end(1 - calls);
        outcome(calls != 0 ? "a" : "b");
    });
}

BOOST_AUTO_TEST_CASE(a_task_is_called_or_replaced) {
    explore_all("due_key", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"called", "replaced"}}, [] {
                    scene w;
                    story second;
                    const handle h = w.s->schedule_after("key", 1s, w.first.tell());
                    together([&] { w.become_due(); },
                             [&] { w.s->schedule_after("key", 1s, second.tell()); });
                    w.finish();
                    second.check_end(1);
                    w.first.check_end(h.is_cancelled() ? 0 : 1);
                    outcome(h.is_cancelled() ? "replaced" : "called");
                });
}

BOOST_AUTO_TEST_CASE(a_repeated_task_ends_when_it_is_cancelled) {
    explore_all("rate_cancel", {.preemptions = 2}, {.schedules = 100, .outcomes = {"0", "1", "2"}},
                [] {
                    scene w;
                    const handle h = w.s->schedule_at_fixed_rate(1s, 1s, w.first.tell());
                    cancel_result r{};
                    together(
                        [&] {
                            w.become_due();
                            w.become_due();
                        },
                        [&] { r = h.cancel().result; });
                    check(r == cancel_result::cancelled, "it would have gone on");
                    const int calls = w.first.calls.count();
                    w.finish();
                    w.first.check_end(calls);
                    check(h.is_cancelled(), "the handle knows");
                    outcome(std::to_string(calls));
                });
}

BOOST_AUTO_TEST_CASE(a_repeated_task_ends_when_its_scheduler_stops) {
    explore_all("delay_stop", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"orphan", "called"}}, [] {
                    scene w;
                    w.s->schedule_with_fixed_delay(1s, 1s, w.first.tell());
                    scheduler::orphans orphans;
                    together([&] { w.become_due(); }, [&] { orphans = w.s->stop(); });
                    const int calls = w.first.calls.count();
                    check(orphans.size() == (calls == 0 ? 1U : 0U), "an orphan was never called");
                    orphans.clear();
                    w.finish();
                    w.first.check_end(calls);
                    outcome(calls == 0 ? "orphan" : "called");
                });
}

BOOST_AUTO_TEST_CASE(a_full_scheduler_refuses_none_of_two_threads_with_the_same_key) {
    for (const bool taken : {true, false}) {
        explore_all("same_key", {.preemptions = 2}, {.schedules = 100, .outcomes = {"a", "b"}},
                    [=] {
                        scene w;
                        w.s.emplace(w.ctx, scheduler::options{.max_pending = 1});
                        if (taken) {
                            w.s->schedule_after(1, 1s, w.first.tell());
                        }
                        story a, b;
                        together([&] { w.s->schedule_after(1, 1s, a.tell()); },
                                 [&] { w.s->schedule_after(1, 1s, b.tell()); });
                        check(w.s->pending() == 1, "the last one has the place");
                        w.finish();
                        const bool last_is_a = a.calls.count() == 1;
                        a.check_end(last_is_a ? 1 : 0);
                        b.check_end(last_is_a ? 0 : 1);
                        if (taken) {
                            w.first.check_end(0);
                        }
                        outcome(last_is_a ? "a" : "b");
                    });
    }
}

// Schedules a task that may be rejected.
BOOST_AUTO_TEST_CASE(a_limit_is_kept_by_threads_together) {
    const auto refused_by = [](scheduler& s, story& f, const boost::system::error_code& why) {
        try {
            s.schedule_after(1s, f.tell());
            return false;
        } catch (const boost::system::system_error& e) {
            check(e.code() == why, "it says why");
            return true;
        }
    };
    explore_all("limit", {.preemptions = 2}, {.schedules = 100, .outcomes = {"a", "b"}}, [=] {
        scene w;
        w.s.emplace(w.ctx, scheduler::options{.max_pending = 1});
        story second;
        bool a = false;
        bool b = false;
        const boost::system::error_code why = asio_wheel::error::scheduler_full;
        together([&] { a = refused_by(*w.s, w.first, why); },
                 [&] { b = refused_by(*w.s, second, why); });
        check(a != b, "there is room for one");
        w.finish();
        w.first.check_end(a ? 0 : 1);
        second.check_end(b ? 0 : 1);
        outcome(a ? "b" : "a");
    });
    explore_all(
        "close", {.preemptions = 3}, {.schedules = 50, .outcomes = {"refused", "called"}}, [=] {
            scene w;
            bool refused = false;
            together(
                [&] { w.s->close(); },
                [&] { refused = refused_by(*w.s, w.first, asio_wheel::error::scheduler_stopped); });
            w.finish();
            w.first.check_end(refused ? 0 : 1);
            outcome(refused ? "refused" : "called");
        });
    explore_all("stop_begin", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"refused", "stopped"}}, [=] {
                    scene w;
                    bool refused = false;
                    std::size_t orphans = 0;
                    together([&] { orphans = w.s->stop().size(); },
                             [&] {
                                 refused = refused_by(*w.s, w.first,
                                                      asio_wheel::error::scheduler_stopped);
                             });
                    check(orphans == (refused ? 0U : 1U), "none is overlooked");
                    w.finish();
                    w.first.check_end(0);
                    outcome(refused ? "refused" : "stopped");
                });
}

BOOST_AUTO_TEST_CASE(a_group_is_cancelled_while_its_tasks_become_due) {
    explore_all("due_group", {.preemptions = 2}, {.schedules = 100, .outcomes = {"0", "1", "2"}},
                [] {
                    scene w;
                    story second;
                    scheduler::group g(*w.s);
                    const handle h1 = g.schedule_after(1s, w.first.tell());
                    const handle h2 = g.schedule_after(1s, second.tell());
                    std::size_t cancelled = 0;
                    together([&] { w.become_due(); }, [&] { cancelled = g.cancel(); });
                    w.finish();
                    w.first.check_end(h1.is_cancelled() ? 0 : 1);
                    second.check_end(h2.is_cancelled() ? 0 : 1);
                    check(cancelled == static_cast<std::size_t>(h1.is_cancelled()) +
                                           static_cast<std::size_t>(h2.is_cancelled()),
                          "what is counted is cancelled");
                    outcome(std::to_string(cancelled));
                });
}

BOOST_AUTO_TEST_CASE(two_threads_cancel_a_group_together) {
    explore_all("group_group", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"0 2", "1 1", "2 0"}}, [] {
                    scene w;
                    story second;
                    scheduler::group g(*w.s);
                    g.schedule_after(1s, w.first.tell());
                    g.schedule_after(1s, second.tell());
                    std::size_t a = 0;
                    std::size_t b = 0;
                    together([&] { a = g.cancel(); }, [&] { b = g.cancel(); });
                    check(a + b == 2, "each task is cancelled and counted once");
                    w.finish();
                    w.first.check_end(0);
                    second.check_end(0);
                    outcome(std::to_string(a) + " " + std::to_string(b));
                });
}

BOOST_AUTO_TEST_CASE(a_thread_waits_until_a_task_is_over) {
    const auto due_or_cancelled = [](auto end, auto wait) {
        return [=] {
            scene w;
            scheduler::group g(*w.s);
            const handle h = g.schedule_after(1s, w.first.tell());
            bool destroyed = false;
            together([&] { end(w, h); },
                     [&] {
                         wait(w, g, h);
                         destroyed = w.first.destroyed.count() == 1;
                     });
            check(destroyed, "when the wait ends, the function is destroyed");
            w.finish();
            w.first.check_end(w.first.calls.count());
            outcome("over");
        };
    };
    const auto due = [](scene& w, const handle&) { w.become_due(); };
    const auto cancel = [](scene&, const handle& h) { h.cancel(); };
    const auto for_task = [](scene&, scheduler::group&, const handle& h) { h.wait_idle(); };
    const auto for_group = [](scene&, scheduler::group& g, const handle&) { g.wait_idle(); };
    const auto for_all = [](scene& w, scheduler::group&, const handle&) { w.s->wait_idle(); };
    const expected all{.schedules = 20, .outcomes = {"over"}};
    explore_all("due_wait_task", {.preemptions = 2}, all, due_or_cancelled(due, for_task));
    explore_all("due_wait_group", {.preemptions = 2}, all, due_or_cancelled(due, for_group));
    explore_all("due_wait_all", {.preemptions = 2}, all, due_or_cancelled(due, for_all));
    explore_all("cancel_wait_task", {.preemptions = 3}, all, due_or_cancelled(cancel, for_task));
    explore_all("cancel_wait_group", {.preemptions = 3}, all, due_or_cancelled(cancel, for_group));
    explore_all("cancel_wait_all", {.preemptions = 3}, all, due_or_cancelled(cancel, for_all));
}

BOOST_AUTO_TEST_CASE(a_wait_ends_or_is_aborted) {
    explore_all(
        "cancel_abort", {.preemptions = 3}, {.schedules = 50, .outcomes = {"idle", "aborted"}}, [] {
            scene w;
            asio::cancellation_signal signal;
            fate result;
            const handle h = w.s->schedule_after(1s, w.first.tell());
            w.s->async_wait_idle(asio::bind_cancellation_slot(signal.slot(), result.watch()));
            together([&] { h.cancel(); }, [&] { signal.emit(asio::cancellation_type::terminal); });
            w.finish();
            result.check_once();
            outcome(result.aborted.count() != 0 ? "aborted" : "idle");
        });
}

BOOST_AUTO_TEST_CASE(a_stopped_group_has_no_task_however_they_race) {
    explore_all("group_stop_begin", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"refused", "cancelled"}}, [] {
                    scene w;
                    scheduler::group g(*w.s);
                    fate stopped;
                    bool refused = false;
                    together(
                        [&] {
                            try {
                                g.schedule_after(1s, w.first.tell());
                            } catch (const boost::system::system_error& e) {
                                check(e.code() == asio_wheel::error::scheduler_stopped,
                                      "it says why");
                                refused = true;
                            }
                        },
                        [&] { g.async_stop(stopped.watch()); });
                    check(w.s->pending() == 0, "no task is left");
                    w.finish();
                    stopped.check_once();
                    check(stopped.expired.count() == 1, "the group is idle");
                    w.first.check_end(0);
                    outcome(refused ? "refused" : "cancelled");
                });
}

BOOST_AUTO_TEST_CASE(a_task_is_called_or_told_of_its_cancellation) {
    explore_all("due_tell", {.preemptions = 2}, {.schedules = 100, .outcomes = {"told", "called"}},
                [] {
                    scene w;
                    observed told;
                    const handle h = w.s->schedule_after(
                        1s, asio_wheel::on_cancel(w.first.tell(), [&told] { told.set(); }));
                    together([&] { w.become_due(); }, [&] { h.cancel(); });
                    w.finish();
                    const bool called = w.first.calls.count() != 0;
                    w.first.check_end(called ? 1 : 0);
                    check(told.count() == (called ? 0 : 1), "it is either");
                    outcome(called ? "called" : "told");
                });
}

BOOST_AUTO_TEST_CASE(three_threads_end_a_task_by_handle_and_scheduler_and_time) {
    explore_all("due_cancel_stop", {.preemptions = 1},
                {.schedules = 100, .outcomes = {"called", "cancelled", "orphan"}}, [] {
                    scene w;
                    std::optional<handle> h = w.s->schedule_after(1s, w.first.tell());
                    cancel_result r{};
                    scheduler::orphans orphans;
                    together([&] { w.become_due(); }, [&] { r = h->cancel().result; },
                             [&] { orphans = w.s->stop(); });
                    w.poll();
                    const int calls = w.first.calls.count();
                    check((r == cancel_result::already_fired) == (calls == 1), "cancel() knows");
                    check(calls + (r == cancel_result::cancelled ? 1 : 0) +
                                  static_cast<int>(orphans.size()) ==
                              1,
                          "it ends in one way");
                    outcome(calls != 0 ? "called" : orphans.empty() ? "cancelled" : "orphan");
                    orphans.clear();
                    h.reset();
                    w.finish();
                    w.first.check_end(calls);
                });
}

BOOST_AUTO_TEST_CASE(two_threads_run_what_is_due) {
    explore_all("due_due_cancel", {.preemptions = 1},
                {.schedules = 100, .outcomes = {"called", "cancelled"}}, [] {
                    scene w;
                    const handle h = w.s->schedule_after(1s, w.first.tell());
                    cancel_result r{};
                    w.forward(1s);
                    together([&] { w.ctx.poll(); }, [&] { w.ctx.poll(); },
                             [&] { r = h.cancel().result; });
                    w.finish();
                    w.first.check_end(r == cancel_result::cancelled ? 0 : 1);
                    outcome(r == cancel_result::cancelled ? "cancelled" : "called");
                });
}

BOOST_AUTO_TEST_CASE(a_handle_can_be_asked_at_any_time) {
    explore_all("due_ask", {.preemptions = 2}, {.schedules = 100, .outcomes = {"called"}}, [] {
        scene w;
        const handle h = w.s->schedule_after(1s, w.first.tell());
        together([&] { w.become_due(); },
                 [&] {
                     check(!h.is_cancelled(), "it is not cancelled");
                     const bool before = h.is_expired();
                     const auto left = h.remaining();
                     const bool after = h.is_expired();
                     check(left >= 0s && (!before || left == 0s), "what is over has no time left");
                     check(!before || after, "it does not come back");
                     check(w.s->pending() <= 1, "there is no more than one");
                     check(h.expiry() == scripted_clock::time_point(1000h + 1s), "it was due once");
                 });
        w.finish();
        w.first.check_end(1);
        outcome("called");
    });
}

BOOST_AUTO_TEST_SUITE_END()
