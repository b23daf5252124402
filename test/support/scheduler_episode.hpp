// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Two schedulers, their tasks, and their model. One of them calls tasks on a strand.
//
// The order in which tasks with the same time are called is unspecified, so the model does not
// predict it. Instead, each call is reported to the model, which checks whether it is allowed, and
// what the handles and schedulers must return from then on.
//
// `Window` is an object that exists exactly while the schedulers are used. A test that makes
// allocations fail does so there: the model's own code needs no memory during that.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SCHEDULER_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SCHEDULER_EPISODE_HPP

#include <asio_wheel/error.hpp>
#include <asio_wheel/scheduler.hpp>

#include "paused_episode.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel::test {

struct no_window {
    static constexpr bool memory_may_fail = false;
    no_window() {} // NOLINT: avoids a warning about an unused variable.
};

template <class Window = no_window>
class scheduler_episode : public paused_episode {
public:
    explicit scheduler_episode(bytes& in) : paused_episode(in) {
        tasks_.reserve(most_tasks);
        orphans_.reserve(most_tasks);
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            renew(i);
        }
    }

    void step() {
        act();
        check();
    }

    void finish() {
        quiet_ = true;
        if (coin()) {
            for (std::size_t i = 0; i < tasks_.size(); ++i) {
                cancel(i);
            }
            settle();
            require_work(false);
        } else if (coin()) {
            stop(0);
            stop(1);
            settle();
            require_work(false);
        }
        if (coin()) {
            end(0);
        }
        end(1); // A strand must not outlive its context.
        context_.reset();
        end(0);
        for (const task& t : tasks_) {
            t.handle.cancel(); // An orphan exists while a handle refers to it.
            require(t.instances == 0, "what a function holds is let go when its task is over");
        }
    }

private:
    /// `called`: it is being called; `revoked`: the same, for the last time.
    static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

    enum class stand { refused, waiting, called, revoked, expired, cancelled, orphan };
    enum class kind { once, rate, delay, plan };

    struct task {
        task_handle handle;
        stand now = stand::refused;
        kind how = kind::once;
        std::size_t side = nobody;  // The side of its registry.
        std::size_t group = nobody; // The side of its group.
        std::size_t key = 0;        // 0 is none.
        time_point due;
        duration period{};
        missed rule = missed::catch_up; // Of a fixed rate.
        std::size_t left = 0;           // Calls of a plan.
        time_point latest = never;      // It is not postponed beyond this.
        bool burst = false;             // Of events.
        bool was_called = false;
        bool found = false; // An orphan that stop() has returned.
        int instances = 0;  // Existing copies of its function.
        int told = 0;       // How often it was told of its cancellation.
    };

    struct side {
        std::optional<scheduler> tasks;
        std::optional<scheduler::group> group;
        std::size_t limit = 0;
        bool closed = false;
        std::uint64_t completed = 0;                                        // Calls.
        std::array<std::size_t, 4> holders{nobody, nobody, nobody, nobody}; // By key.
    };

    struct boom {};

    static inline const error_code no_memory =
        make_error_code(boost::system::errc::not_enough_memory);

    // The function of a task. Counts its copies.
    class function {
    public:
        function(scheduler_episode& w, std::size_t id) : episode_(&w), id_(id) { ++count(); }
        function(const function& other) : episode_(other.episode_), id_(other.id_) { ++count(); }
        function& operator=(const function&) = delete;
        ~function() {
            const stand now = episode_->tasks_[id_].now;
            episode_->require(--count() != 0 || (now != stand::called && now != stand::revoked),
                              "a function is not destroyed while it is called");
        }
        void operator()(const task_handle& self) const { episode_->called(id_, self); }
        void on_cancel(const task_handle& self) const {
            const task& t = episode_->tasks_[id_];
            episode_->require(t.instances == 1, "a task is told before its function is destroyed");
            episode_->require(self == t.handle, "a task is told with its handle");
            episode_->require(t.now != stand::called && t.now != stand::expired,
                              "no task is told that was called for the last time");
            ++episode_->tasks_[id_].told;
        }

    private:
        [[nodiscard]] int& count() const { return episode_->tasks_[id_].instances; }

        scheduler_episode* episode_;
        std::size_t id_;
    };

    // Ends a call, even if that throws.
    class call {
    public:
        call(scheduler_episode& w, std::size_t id) : episode_(w), id_(id) {}
        call(const call&) = delete;
        call& operator=(const call&) = delete;
        ~call() { episode_.returned(id_); }

    private:
        scheduler_episode& episode_;
        std::size_t id_;
    };

    static constexpr std::size_t most_tasks = 300;

    void act() {
        switch (pick(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
            return schedule(pick(2));
        case 6:
        case 7:
            return tasks_.empty() ? void() : cancel(pick(tasks_.size()));
        case 8:
            return cancel_group(pick(2));
        case 9:
            return once_in(4) ? stop(pick(2)) : advance();
        case 10:
            return adopt(pick(2));
        case 11:
            return once_in(4) ? close(pick(2)) : advance();
        case 12:
            return once_in(2) ? renew(pick(2)) : advance();
        case 13:
            return advance_to_next();
        case 14:
        case 15:
            return advance();
        case 16:
            return poll_one();
        case 17:
            return debounce(pick(2));
        case 18:
            return tasks_.empty() ? void() : postpone(pick(tasks_.size()));
        default:
            return settle();
        }
    }

    void renew(std::size_t i) {
        if (running_) {
            return; // A function may own its scheduler, but must not destroy this test's.
        }
        note("new scheduler %", i);
        end(i);
        side& s = sides_[i];
        s.limit = once_in(3) ? 1 + pick(4) : 0;
        s.closed = false;
        s.completed = 0;
        const auto report = [this](const task_handle& h, std::exception_ptr e) { reported(h, e); };
        const scheduler_options o{.max_pending = s.limit, .on_error = report};
        i == 0 ? s.tasks.emplace(*context_, o)
               : s.tasks.emplace(boost::asio::make_strand(*context_), o);
        s.group.emplace(*s.tasks);
    }

    void end(std::size_t i) {
        side& s = sides_[i];
        if (!s.tasks) {
            return;
        }
        note("the end of scheduler %", i);
        used([&] { s.group.reset(); });
        revoke_group(i);
        for (task& t : tasks_) {
            t.group = t.group == i ? nobody : t.group;
        }
        used([&] { s.tasks.reset(); });
        revoke(i, stand::cancelled);
    }

    // The model's part of stop(): tasks that were never called get the given state.
    void revoke(std::size_t i, stand never_called) {
        for (task& t : tasks_) {
            if (t.side != i) {
                continue;
            }
            if (t.now == stand::waiting) {
                t.now = t.was_called ? stand::cancelled : never_called;
                t.side = nobody;
            } else if (t.now == stand::called && t.how != kind::once) {
                t.now = stand::revoked;
            }
        }
    }

    // The model's part of cancelling a group. Returns how many are cancelled.
    std::size_t revoke_group(std::size_t i) {
        std::size_t cancelled = 0;
        for (task& t : tasks_) {
            if (t.group != i) {
                continue;
            }
            cancelled += t.now == stand::waiting || (t.now == stand::called && t.how != kind::once);
            if (t.now == stand::waiting || t.now == stand::orphan) {
                t.now = stand::cancelled;
            } else if (t.now == stand::called && t.how != kind::once) {
                t.now = stand::revoked;
            }
            t.group = nobody; // It is removed.
        }
        return cancelled;
    }

    void schedule(std::size_t i) {
        if (tasks_.size() == most_tasks) {
            return;
        }
        side& s = sides_[i];
        const std::size_t id = tasks_.size();
        task& t = tasks_.emplace_back();
        t.group = once_in(4) ? i : nobody;
        const std::size_t what = pick(6);
        // A fixed rate with a start long ago or a very short period has very many calls to make up
        // for, if it does that.
        const duration d = what == 3 ? std::max<duration>(any_duration(), -std::chrono::seconds(2))
                                     : any_duration();
        t.due = sum(now(), d);
        t.period = std::max<duration>(any_duration(), std::chrono::milliseconds(10));
        t.left = 1 + pick(4);
        t.key = what == 2 || once_in(4) ? 1 + pick(3) : 0;
        t.how = what < 3    ? kind::once
                : what == 3 ? kind::rate
                : what == 4 ? kind::delay
                            : kind::plan;
        t.rule = static_cast<missed>(t.left % 3);
        note("task %, of kind %, at %, period %, key %", id, what, ns(t.due), ns(t.period), t.key);
        note("if calls are missed: %", static_cast<int>(t.rule));
        const error_code refused = result_of([&] {
            t.handle = t.group == i ? schedule_by(*s.group, id, what, d)
                                    : schedule_by(*s.tasks, id, what, d);
        });
        require(refused == no_memory || refused == enter(i, id),
                "tasks are taken up to the limit, until it is closed");
    }

    // An event of a burst. Tasks of all kinds may have the key.
    void debounce(std::size_t i) {
        if (tasks_.size() == most_tasks) {
            return;
        }
        side& s = sides_[i];
        const std::size_t id = tasks_.size();
        task& t = tasks_.emplace_back();
        t.group = once_in(4) ? i : nobody;
        t.key = 1 + pick(3);
        t.burst = true;
        const duration quiet = std::max(any_duration(), duration(1));
        const duration at_latest = std::max(any_duration(), duration(1));
        t.latest = sum(now(), at_latest);
        t.due = std::min(sum(now(), quiet), t.latest);
        note("task %, an event with key %, quiet %, at latest %", id, t.key, ns(quiet),
             ns(at_latest));
        const std::size_t former = holder(i, t.key);
        const bool can_move = former != nobody && !s.closed && tasks_[former].burst &&
                              tasks_[former].group == t.group && sees_next_call(former);
        const error_code refused = result_of([&] {
            const debounce_options options{.quiet = quiet, .at_latest = at_latest};
            t.handle = t.group == i ? debounce_by(*s.group, id, options)
                                    : debounce_by(*s.tasks, id, options);
        });
        if (former != nobody && t.handle == tasks_[former].handle) {
            tasks_.pop_back();
            moved(former, quiet);
            return;
        }
        require(!can_move, "an event postpones the call of those before it");
        require(refused == no_memory || refused == enter(i, id),
                "bursts are taken as other tasks are");
    }

    template <class Scheduler>
    task_handle debounce_by(Scheduler& s, std::size_t id, const debounce_options& options) {
        const function f(*this, id);
        return with_key(tasks_[id].key, [&](const auto& k) { return s.debounce(k, options, f); });
    }

    void postpone(std::size_t id) {
        // As for schedule(): not very many calls to make up for.
        const duration d = std::max<duration>(any_duration(), -std::chrono::seconds(2));
        note("postpone task % to %", id, ns(d));
        const bool can_move = sees_next_call(id);
        if (used([&] { return tasks_[id].handle.postpone(d); })) {
            moved(id, d);
        } else {
            require(!can_move, "a call that is not due can be moved");
        }
    }

    // Whether the task waits, and its next call is not under way to its executor.
    [[nodiscard]] bool sees_next_call(std::size_t id) {
        see_skipped(tasks_[id]);
        return tasks_[id].now == stand::waiting && tasks_[id].due > now();
    }

    void moved(std::size_t id, duration d) {
        task& t = tasks_[id];
        require(t.now == stand::waiting, "what does not wait cannot be moved");
        t.due = std::min(sum(now(), d), t.latest);
    }

    // Uses the schedulers.
    template <class Function>
    static auto used(Function f) {
        const Window window;
        return f();
    }

    template <class Function>
    [[nodiscard]] error_code result_of(Function f) const {
        try {
            used(f);
            return {};
        } catch (const boost::system::system_error& e) {
            return e.code();
        } catch (const std::bad_alloc&) {
            require(Window::memory_may_fail, "there is memory");
            return no_memory;
        }
    }

    // Keys are strings, or numbers of two types.
    template <class Function>
    static task_handle with_key(std::size_t key, Function f) {
        return key == 1 ? f("key") : key == 2 ? f(2) : f(2L);
    }

    template <class Scheduler>
    task_handle schedule_by(Scheduler& s, std::size_t id, std::size_t what, duration d) {
        const std::size_t key = tasks_[id].key;
        return key == 0
                   ? schedule_with(s, id, what, d)
                   : with_key(key, [&](const auto& k) { return schedule_with(s, id, what, d, k); });
    }

    template <class Scheduler, class... Key>
    task_handle schedule_with(Scheduler& s, std::size_t id, std::size_t what, duration d,
                              const Key&... key) {
        const task& t = tasks_[id];
        const function f(*this, id);
        switch (what) {
        case 0:
        case 2:
            return s.schedule_after(key..., d, f);
        case 1:
            return s.schedule_at(key..., t.due, f);
        case 3:
            return s.schedule_at_fixed_rate(key..., d, t.period, f, t.rule);
        case 4:
            return s.schedule_with_fixed_delay(key..., d, t.period, f);
        default:
            return s.schedule(
                key...,
                [this, first = t.due, period = t.period, calls = t.left, begun = false](
                    time_point previous, time_point current) mutable -> std::optional<time_point> {
                    require(current == now(), "a plan is told the time");
                    if (!std::exchange(begun, true)) {
                        return first;
                    }
                    if (std::exchange(plan_throws_, false)) {
                        throw boom();
                    }
                    return calls-- > 1 ? std::optional(sum(previous, period)) : std::nullopt;
                },
                f);
        }
    }

    [[nodiscard]] static task_handle find(const scheduler& s, std::size_t key) {
        return with_key(key, [&](const auto& k) { return s.find(k); });
    }

    // The task that has a key in a registry, until it ends or another one takes the key.
    [[nodiscard]] std::size_t holder(std::size_t i, std::size_t key) const {
        const std::size_t id = sides_[i].holders[key];
        return key != 0 && id != nobody && tasks_[id].side == i && is_pending(tasks_[id]) ? id
                                                                                          : nobody;
    }

    // The model's part of waiting in a registry.
    error_code enter(std::size_t i, std::size_t id) {
        side& s = sides_[i];
        task& t = tasks_[id];
        const std::size_t former = holder(i, t.key);
        if (s.closed) {
            return error::scheduler_stopped;
        }
        if (s.limit != 0 && places(i) >= s.limit && former == nobody) {
            return error::scheduler_full;
        }
        if (former != nobody && tasks_[former].now == stand::waiting) {
            tasks_[former].now = stand::cancelled;
        } else if (former != nobody && tasks_[former].now == stand::called &&
                   tasks_[former].how != kind::once) {
            tasks_[former].now = stand::revoked;
        }
        s.holders[t.key] = id;
        t.side = i;
        t.now = stand::waiting;
        return {};
    }

    void called(std::size_t id, const task_handle& self) {
        note("task % is called", id);
        task& t = tasks_[id];
        require(t.now == stand::waiting, "a task is called if it waits, and serially");
        require(t.due <= now(), "no task is called early");
        see_skipped(t);
        coalesce(t);
        require(self == t.handle, "a task is given its handle");
        require(self.expiry() == t.due, "a call counts for a time of the task");
        t.now = stand::called;
        t.was_called = true;
        const call scope(*this, id);
        check();
        if (quiet_ || in_.empty()) {
            return;
        }
        const std::size_t what = pick(6);
        if (what == 2 && t.how == kind::plan) {
            note("the plan will throw");
            plan_throws_ = true;
            thrown_ = id;
        } else if (what == 3 || what == 4) {
            act();
            check();
        } else if (what == 5) {
            note("throw");
            thrown_ = id;
            throw boom();
        }
    }

    // A call of a fixed rate counts for the last time that has passed; or it is not late.
    void coalesce(task& t) const {
        if (t.how == kind::rate && t.rule != missed::catch_up && t.due <= now()) {
            const auto missed = (now() - t.due) / t.period;
            require(t.rule != missed::skip || missed == 0, "missed calls are skipped");
            t.due += missed * t.period;
        }
    }

    // The context may have skipped calls of a fixed rate that are late.
    void see_skipped(task& t) const {
        if (t.how != kind::rate || t.rule != missed::skip || t.now != stand::waiting ||
            t.due > now() || t.handle.expiry() == t.due) {
            return;
        }
        const duration later = t.handle.expiry() - t.due;
        require(later > duration::zero() && later % t.period == duration::zero() &&
                    now() - t.due >= t.period && t.handle.expiry() <= sum(now(), t.period),
                "calls that are late are skipped, and the rate is kept");
        t.due = t.handle.expiry();
    }

    void returned(std::size_t id) {
        task& t = tasks_[id];
        ++sides_[t.side].completed;
        if (t.now == stand::revoked) {
            t.now = stand::cancelled;
        } else if (t.how == kind::once ||
                   (t.how == kind::plan && (--t.left == 0 || plan_throws_))) {
            t.now = stand::expired;
        } else {
            t.due = sum(t.how == kind::delay ? now() : t.due, t.period);
            t.now = stand::waiting;
        }
    }

    void reported(const task_handle& h, const std::exception_ptr& e) {
        bool expected = false;
        try {
            std::rethrow_exception(e);
        } catch (const boom&) {
            expected = thrown_ != nobody && tasks_[thrown_].handle == h;
        } catch (...) { // NOLINT(bugprone-empty-catch)
        }
        require(expected, "on_error() is told what a task has thrown");
        thrown_ = nobody;
    }

    void cancel(std::size_t id) {
        task& t = tasks_[id];
        see_skipped(t);
        note("cancel task %", id);
        const duration left = t.due > now() ? t.due - now() : duration::zero();
        const auto outcome = used([&] { return t.handle.cancel(); });
        if (t.now == stand::waiting) {
            require(outcome.result == cancel_result::cancelled, "what waits can be cancelled");
            require(outcome.remaining == left, "cancel() says how long it would have been");
            t.now = stand::cancelled;
        } else if (t.now == stand::called && t.how != kind::once) {
            require(outcome.result == cancel_result::cancelled, "a repeated task can be cancelled");
            t.now = stand::revoked;
        } else if (t.now == stand::called || t.now == stand::expired) {
            require(outcome.result == cancel_result::already_fired,
                    "what is called for the last time cannot be cancelled");
        } else {
            require(outcome.result == cancel_result::already_cancelled,
                    "nothing is cancelled twice");
            if (t.now == stand::orphan) {
                t.now = stand::cancelled;
            }
        }
    }

    void cancel_group(std::size_t i) {
        note("cancel group %", i);
        const std::size_t expected = revoke_group(i);
        require(used([&] { return sides_[i].group->cancel(); }) == expected,
                "a group counts what it has cancelled");
    }

    void close(std::size_t i) {
        note("close scheduler %", i);
        used([&] { sides_[i].tasks->close(); });
        sides_[i].closed = true;
    }

    void stop(std::size_t i) {
        note("stop scheduler %", i);
        side& s = sides_[i];
        scheduler::orphans found = used([&] { return s.tasks->stop(); });
        revoke(i, stand::orphan);
        s.closed = true;
        for (const task_handle& h : found) {
            const auto it = std::find_if(tasks_.begin(), tasks_.end(),
                                         [&h](const task& t) { return t.handle == h; });
            require(it != tasks_.end() && it->now == stand::orphan && !it->found,
                    "what stop() returns was never called");
            it->found = true;
        }
        require(std::all_of(tasks_.begin(), tasks_.end(),
                            [](const task& t) { return t.now != stand::orphan || t.found; }),
                "stop() returns all that was never called");
        orphans_.insert(orphans_.end(), found.begin(), found.end());
    }

    // If memory may fail, one after the other: it is not known where that happens.
    void adopt(std::size_t i) {
        note("scheduler % adopts", i);
        if constexpr (Window::memory_may_fail) {
            for (bool adopted = true; adopted && !orphans_.empty();) {
                one_orphan_.front() = orphans_.back();
                adopted = adopt(i, one_orphan_);
                orphans_.resize(orphans_.size() - (adopted ? 1 : 0));
            }
        } else if (adopt(i, orphans_)) {
            orphans_.clear();
        }
    }

    bool adopt(std::size_t i, const scheduler::orphans& some) {
        const error_code refused = result_of([&] { sides_[i].tasks->adopt(some); });
        error_code expected;
        for (auto h = some.begin(); h != some.end() && !expected && refused != no_memory; ++h) {
            const auto it = std::find_if(tasks_.begin(), tasks_.end(),
                                         [&h](const task& t) { return t.handle == *h; });
            if (it->now == stand::orphan) {
                expected = enter(i, static_cast<std::size_t>(it - tasks_.begin()));
                it->found = it->found && expected;
            }
        }
        require(refused == no_memory || refused == expected,
                "adopted tasks are taken as others are");
        return !refused;
    }

    void advance() {
        wheel_.advance(std::min<duration>(any_duration(), std::chrono::seconds(2)));
        note("advance to %", ns(now()));
    }

    template <class Run>
    std::size_t run_with(Run f) {
        return run([f](boost::asio::io_context& ctx) { return used([&] { return f(ctx); }); });
    }

    void poll_one() {
        note("poll_one");
        run_with([](boost::asio::io_context& ctx) { return ctx.poll_one(); });
    }

    void poll_all() {
        note("poll");
        while (run_with([](boost::asio::io_context& ctx) { return ctx.poll(); }) != 0) {
        }
    }

    void wait_until_idle(std::size_t i) {
        if (waits_[i] == 0 && !result_of([&] {
                sides_[i].tasks->async_wait_idle([this, i](const error_code& ec) {
                    require(!ec, "a wait until a scheduler is idle succeeds");
                    --waits_[i];
                });
            })) {
            ++waits_[i];
        }
    }

    // A fixed rate that is late or not awaited would then have very many calls to make up for.
    void advance_to_next() {
        if (std::none_of(tasks_.begin(), tasks_.end(), [this](const task& t) {
                return t.how == kind::rate && t.rule == missed::catch_up &&
                       (t.now == stand::called || t.now == stand::orphan ||
                        (t.now == stand::waiting && t.due <= now()));
            })) {
            paused_episode::advance_to_next();
        }
    }

    void settle() {
        if (running_) {
            return;
        }
        wait_until_idle(0);
        wait_until_idle(1);
        poll_all();
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            require(waits_[i] == 0 || pending(i) != 0, "a wait ends when a scheduler is idle");
        }
        bool any = false;
        for (task& t : tasks_) {
            see_skipped(t);
            require(t.now != stand::called && t.now != stand::revoked, "calls return");
            require(t.now != stand::waiting || t.due > now() || t.due == never,
                    "a task that is due is called");
            any = any || t.now == stand::waiting;
        }
        require_work(any);
    }

    [[nodiscard]] std::size_t pending(std::size_t i) const {
        return static_cast<std::size_t>(
            std::count_if(tasks_.begin(), tasks_.end(),
                          [i](const task& t) { return t.side == i && is_pending(t); }));
    }

    // The tasks that count for the limit: those whose key was not taken by another one.
    [[nodiscard]] std::size_t places(std::size_t i) const {
        std::size_t n = 0;
        for (std::size_t id = 0; id < tasks_.size(); ++id) {
            const task& t = tasks_[id];
            const bool has_place = t.key == 0 || holder(i, t.key) == id;
            n += t.side == i && is_pending(t) && has_place ? 1 : 0;
        }
        return n;
    }

    [[nodiscard]] static bool is_pending(const task& t) {
        return t.now == stand::waiting || t.now == stand::called || t.now == stand::revoked;
    }

    void check() {
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            require(sides_[i].tasks->pending() == pending(i),
                    "pending() counts what waits and what is being called");
            require(sides_[i].tasks->closed() == sides_[i].closed, "closed() says so");
            require(sides_[i].tasks->completed() == sides_[i].completed,
                    "completed() counts the calls that have returned");
            if (!running_) { // Otherwise a task may wait for itself, or memory may fail.
                std::size_t seen = 0;
                sides_[i].tasks->for_each([&](const task_handle&) { ++seen; });
                require(seen == pending(i), "for_each() sees what pending() counts");
                require(sides_[i].tasks->wait_idle(duration::zero()) == (pending(i) == 0),
                        "a scheduler is idle if it has no tasks");
                require(
                    sides_[i].group->wait_idle(duration::zero()) ==
                        std::none_of(tasks_.begin(), tasks_.end(),
                                     [i](const task& t) { return t.group == i && is_pending(t); }),
                    "a group is idle if it has no tasks");
            }
            for (std::size_t key = 1; key <= 3; ++key) {
                const std::size_t id = holder(i, key);
                require(find(*sides_[i].tasks, key) ==
                            (id != nobody ? tasks_[id].handle : task_handle()),
                        "a key leads to its task");
            }
        }
        require(running_ || tasks_.empty() ||
                    tasks_.back().handle.wait_idle(duration::zero()) != is_pending(tasks_.back()),
                "a task is idle when it is over");
        for (task& t : tasks_) {
            see_skipped(t);
            const bool waits = t.now == stand::waiting;
            const bool is_called = t.now == stand::called || t.now == stand::revoked;
            const task_handle& h = t.handle;
            require(h.is_expired() == (t.now == stand::expired ||
                                       (t.now == stand::called && t.how == kind::once)),
                    "is_expired() after the last call began");
            require(h.is_cancelled() == (t.now == stand::cancelled || t.now == stand::revoked ||
                                         t.now == stand::orphan),
                    "is_cancelled() if it is not called again for another reason");
            require(t.now == stand::refused || h.expiry() == t.due, "expiry() says when");
            require(h.remaining() == (waits && t.due > now() ? t.due - now() : duration::zero()),
                    "remaining() says how long it is until then");
            require(t.now == stand::refused || h.is_repeated() == (t.how != kind::once),
                    "is_repeated() says whether it is called again and again");
            require(t.instances == (waits || is_called || t.now == stand::orphan ? 1 : 0),
                    "there is one function, until its task is over");
            require(t.told == (t.now == stand::cancelled ? 1 : 0),
                    "a task is told once if it is cancelled, and not otherwise");
        }
    }

    std::array<side, 2> sides_;
    std::vector<task> tasks_; // All tasks so far.
    scheduler::orphans orphans_;
    scheduler::orphans one_orphan_ = scheduler::orphans(1);
    std::array<int, 2> waits_{}; // Until a scheduler is idle.
    std::size_t thrown_ = nobody;
    bool plan_throws_ = false; // When it is asked the next time.
    bool quiet_ = false;
};

} // namespace asio_wheel::test

#endif
