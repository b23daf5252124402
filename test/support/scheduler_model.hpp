// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs that use two schedulers in virtual time, and a model of the expected results.
//
//     scheduler_model<> model(seed);
//     for (int i = 0; i != 1000; ++i) {
//         BOOST_TEST_REQUIRE(model.step() == "");
//     }
//
// The order in which tasks with the same time are called is unspecified, so the model does not
// predict it. Instead, each call is reported to the model, which checks whether it is allowed, and
// what the handles and schedulers must return from then on.
//
// `Window` is an object that exists exactly while the schedulers are used. A test that makes
// allocations fail does so there: the model's own code needs no memory during that.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SCHEDULER_MODEL_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SCHEDULER_MODEL_HPP

#include <asio_wheel/error.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"

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
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel::test {

struct no_window {
    static constexpr bool memory_may_fail = false;
    no_window() {} // NOLINT: avoids a warning about an unused variable.
};

template <class Window = no_window>
class scheduler_model {
    using clock = std::chrono::steady_clock;
    using duration = clock::duration;
    using time_point = clock::time_point;
    using ms = std::chrono::milliseconds;
    using error_code = boost::system::error_code;
    using handle = task_handle;

public:
    explicit scheduler_model(std::uint64_t seed) : random_(seed) {
        records_.reserve(most_tasks);
        adoptable_.reserve(most_tasks);
        for (std::size_t s = 0; s != schedulers_.size(); ++s) {
            begin(s);
        }
    }
    scheduler_model(const scheduler_model&) = delete;
    scheduler_model& operator=(const scheduler_model&) = delete;
    ~scheduler_model() {
        for (std::size_t s = 0; s != schedulers_.size(); ++s) {
            end(s);
        }
        for (const handle& h : adoptable_) {
            h.cancel();
        }
    }

    /// Does a random step. Returns the violation, or an empty string.
    std::string step() {
        const std::size_t s = up_to(2);
        const std::size_t what = up_to(64);
        if (what < 24) {
            schedule(s);
        } else if (what < 30) {
            cancel(some_task());
        } else if (what < 34) {
            adopt(s);
        } else if (what < 40) {
            world_.elapse(some_time());
        } else if (what < 46) {
            run_one();
        } else if (what < 58) {
            run_for(some_time());
        } else if (what < 60) {
            cancel_group(s);
        } else if (what < 61) {
            close(s);
        } else if (what < 62) {
            stop(s);
        } else if (what < 63) {
            wait(s);
        } else {
            end(s);
            begin(s);
        }
        compare();
        compare_idle();
        return difference();
    }

    /// Ends everything. Returns the violation, or an empty string.
    std::string finish() {
        for (std::size_t s = 0; s != schedulers_.size(); ++s) {
            close(s);
        }
        for (int i = 0; i != 100; ++i) {
            for (std::size_t t = 0; t != records_.size(); ++t) {
                if (records_[t].repeats() || records_[t].now == stand::orphan) {
                    cancel(t);
                }
            }
            run_for(some_time());
        }
        compare();
        for (const auto& s : schedulers_) {
            expect(s->pending() == 0, "pending() is not 0 at the end");
        }
        for (const record& r : records_) {
            expect(r.instances == 0, "a function is not destroyed at the end");
        }
        world_.poll();
        expect(waits_ == 0, "a wait does not end, though all is idle");
        expect(world_.ctx.stopped(), "run() does not end");
        return difference();
    }

    [[nodiscard]] std::size_t calls() const { return calls_; }
    [[nodiscard]] std::size_t tasks() const { return records_.size(); }

private:
    static constexpr std::size_t most_tasks = 500;
    static constexpr std::size_t limit = 4; // Of the first scheduler.
    static constexpr std::size_t keys = 4;
    static constexpr std::size_t nowhere = 2;
    static constexpr std::size_t nothing = most_tasks; // The number of no task.
    static constexpr std::array<const char*, keys> names{"a", "", "c", ""};

    enum class stand { refused, waiting, called, revoked, expired, cancelled, orphan };
    enum class kind { once, rate, delay, plan };

    struct record {
        handle h;
        stand now = stand::refused;
        kind what = kind::once;
        std::size_t where = nowhere; // Its scheduler,
        std::size_t group = nowhere; // and the scheduler of its group.
        int key = -1;
        duration period{};
        missed rule = missed::catch_up;
        time_point due{};
        time_point was_due{};
        int calls_left = 0; // Of a plan.
        bool was_called = false;
        int instances = 0; // Existing copies of its function.
        int told = 0;      // How often it was told of its cancellation.

        [[nodiscard]] bool repeats() const { return what != kind::once; }
        [[nodiscard]] bool is_pending() const {
            return now == stand::waiting || now == stand::called || now == stand::revoked;
        }
    };

    struct thrown_on_purpose : std::exception {};

    // The function of task `i`. Counts its copies.
    class function {
    public:
        function(scheduler_model& m, std::size_t i) noexcept : model_(&m), i_(i) { ++count(); }
        function(const function& other) noexcept : function(*other.model_, other.i_) {}
        function& operator=(const function&) = delete;
        ~function() {
            const stand now = model_->records_[i_].now;
            --count();
            model_->expect(count() != 0 || (now != stand::called && now != stand::revoked),
                           "a function is destroyed while it is called");
        }
        void operator()(const handle& self) const { model_->called(i_, self); }
        void on_cancel(const handle& self) const { model_->told(i_, self); }

    private:
        [[nodiscard]] int& count() const { return model_->records_[i_].instances; }

        scheduler_model* model_;
        std::size_t i_;
    };

    // Operations on schedulers.

    // The first has a limit, the second a strand.
    void begin(std::size_t s) {
        const scheduler::error_handler report =
            [this](const handle& h, const std::exception_ptr& e) { reported(h, e); };
        if (s == 0) {
            schedulers_[s].emplace(world_.ctx,
                                   scheduler_options{.max_pending = limit, .on_error = report});
        } else {
            schedulers_[s].emplace(boost::asio::make_strand(world_.ctx),
                                   scheduler_options{.on_error = report});
        }
        groups_[s].emplace(*schedulers_[s]);
        closed_[s] = false;
        holders_[s].fill(nothing);
    }

    void end(std::size_t s) {
        {
            const Window window;
            groups_[s].reset();
        }
        static_cast<void>(cancelled_in_group(s));
        {
            const Window window;
            schedulers_[s].reset();
        }
        for (record& r : records_) {
            if (r.where == s) {
                r.now = r.now == stand::waiting                 ? stand::cancelled
                        : r.now == stand::called && r.repeats() ? stand::revoked
                                                                : r.now;
                r.where = nowhere;
            }
        }
    }

    void close(std::size_t s) {
        const Window window;
        schedulers_[s]->close();
        closed_[s] = true;
    }

    void stop(std::size_t s) {
        scheduler::orphans found;
        {
            const Window window;
            found = schedulers_[s]->stop();
        }
        closed_[s] = true;
        std::size_t expected = 0;
        for (record& r : records_) {
            if (r.where != s) {
                continue;
            }
            if (r.now == stand::called && r.repeats()) {
                r.now = stand::revoked;
            } else if (r.now == stand::waiting && r.was_called) {
                r.now = stand::cancelled;
            } else if (r.now == stand::waiting) {
                r.now = stand::orphan;
                r.where = nowhere;
                ++expected;
                expect(std::find(found.begin(), found.end(), r.h) != found.end(),
                       "stop() does not return what was never called");
                if (adoptable_.size() != adoptable_.capacity()) {
                    adoptable_.push_back(r.h);
                }
            }
        }
        expect(found.size() == expected, "stop() returns what is no orphan");
    }

    void schedule(std::size_t s) {
        if (records_.size() == most_tasks) {
            return;
        }
        const std::size_t i = records_.size();
        record& r = records_.emplace_back(); // The capacity is reserved, so references stay valid.
        const duration after = some_time();
        r.what = up_to(8) < 5 ? kind::once : static_cast<kind>(1 + up_to(3));
        r.key = up_to(r.what == kind::once ? 2 : 4) == 0 ? static_cast<int>(up_to(keys)) : -1;
        r.period = ms(1 + up_to(20));
        r.rule = static_cast<missed>(up_to(3));
        r.calls_left = static_cast<int>(up_to(4));
        r.due = r.was_due = world_.now() + after;
        const bool in_group = up_to(4) == 0;
        const error_code refusal = expected_refusal(s, r.key);
        handle h;
        const error_code found = result_of([&] {
            h = in_group ? schedule_on(*groups_[s], i, after)
                         : schedule_on(*schedulers_[s], i, after);
        });
        expect_result(found, refusal);
        if (found) {
            expect(r.instances == 0, "what was not scheduled is not destroyed");
            expect(r.told == 0, "what was not scheduled is told");
            return;
        }
        r.h = h;
        r.group = in_group ? s : nowhere;
        joins(r, s);
    }

    // Keys with an even number are strings, the others are numbers.
    template <class Where>
    handle schedule_on(Where& where, std::size_t i, duration after) {
        const int key = records_[i].key;
        if (key < 0) {
            return schedule_with(where, i, after);
        }
        return key % 2 == 0 ? schedule_with(where, i, after, names[static_cast<std::size_t>(key)])
                            : schedule_with(where, i, after, key);
    }

    template <class Where, class... Key>
    handle schedule_with(Where& where, std::size_t i, duration after, const Key&... key) {
        const record& r = records_[i];
        const function f(*this, i);
        switch (r.what) {
        case kind::once:
            return where.schedule_after(key..., after, f);
        case kind::rate:
            return where.schedule_at_fixed_rate(key..., after, r.period, f, r.rule);
        case kind::delay:
            return where.schedule_with_fixed_delay(key..., after, r.period, f);
        case kind::plan:
            break;
        }
        if (i % 2 == 0) {
            return where.schedule(
                key...,
                [this, i, begun = false](time_point t) mutable -> std::optional<time_point> {
                    return std::exchange(begun, true) ? next(i, t) : records_[i].due;
                },
                f);
        }
        return where.schedule(
            key...,
            [this, i, begun = false](time_point t,
                                     time_point now) mutable -> std::optional<time_point> {
                expect(now == world_.now(), "a plan is told another time than now");
                return std::exchange(begun, true) ? next(i, t) : records_[i].due;
            },
            f);
    }

    void adopt(std::size_t s) {
        while (!adoptable_.empty()) {
            const handle h = adoptable_.back();
            record& r = of(h);
            const error_code refusal = expected_refusal(s, r.key);
            one_orphan_.front() = h;
            const error_code found = result_of([&] { schedulers_[s]->adopt(one_orphan_); });
            if (r.now != stand::orphan) {
                expect(!found, "adopt() refuses what is no orphan");
            } else {
                expect_result(found, refusal);
                if (found) {
                    return;
                }
                joins(r, s);
            }
            adoptable_.pop_back();
        }
    }

    void joins(record& r, std::size_t s) {
        if (r.key >= 0) {
            const std::size_t former = holder(s, r.key);
            if (former != nothing) {
                static_cast<void>(result_of_cancelling(records_[former]));
            }
            holders_[s][static_cast<std::size_t>(r.key)] =
                static_cast<std::size_t>(&r - records_.data());
        }
        r.now = stand::waiting;
        r.where = s;
    }

    // The task that has a key, until it is over or another one takes the key.
    [[nodiscard]] std::size_t holder(std::size_t s, int key) const {
        const std::size_t i = holders_[s][static_cast<std::size_t>(key)];
        return i != nothing && records_[i].where == s && records_[i].is_pending() ? i : nothing;
    }

    [[nodiscard]] error_code expected_refusal(std::size_t s, int key) const {
        if (closed_[s]) {
            return error::scheduler_stopped;
        }
        const bool in_place = key >= 0 && holder(s, key) != nothing;
        const bool full = s == 0 && !in_place && places(s) >= limit;
        return full ? error_code(error::scheduler_full) : error_code();
    }

    // The tasks that count for the limit: those whose key was not taken by another one.
    [[nodiscard]] std::size_t places(std::size_t s) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i != records_.size(); ++i) {
            const record& r = records_[i];
            const bool has_place = r.key < 0 || holder(s, r.key) == i;
            n += r.where == s && r.is_pending() && has_place ? 1 : 0;
        }
        return n;
    }

    template <class Function>
    [[nodiscard]] static error_code result_of(Function f) {
        try {
            const Window window;
            f();
            return {};
        } catch (const boost::system::system_error& e) {
            return e.code();
        } catch (const std::bad_alloc&) {
            return make_error_code(boost::system::errc::not_enough_memory);
        }
    }

    void expect_result(const error_code& found, const error_code& expected) {
        const bool out_of_memory = found == boost::system::errc::not_enough_memory;
        expect(found == expected || (out_of_memory && Window::memory_may_fail),
               expected ? "taken, though it must be refused" : "refused, though it must be taken");
    }

    // Operations on tasks.

    void cancel(std::size_t i) {
        if (i >= records_.size() || records_[i].now == stand::refused) {
            return;
        }
        record& r = records_[i];
        see_skipped(r);
        const duration left = r.now == stand::waiting
                                  ? std::max(r.due - world_.now(), duration::zero())
                                  : duration::zero();
        const cancel_result expected = result_of_cancelling(r);
        handle::outcome found{};
        {
            const Window window;
            found = r.h.cancel();
        }
        expect(found.result == expected, "cancel() tells another result");
        expect(found.remaining == left, "cancel() tells another time");
    }

    // Returns the expected result of cancelling, and updates the model.
    [[nodiscard]] static cancel_result result_of_cancelling(record& r) {
        switch (r.now) {
        case stand::waiting:
            r.now = stand::cancelled;
            return cancel_result::cancelled;
        case stand::called:
            if (r.repeats()) {
                r.now = stand::revoked;
                return cancel_result::cancelled;
            }
            return cancel_result::already_fired;
        case stand::expired:
            return cancel_result::already_fired;
        case stand::orphan:
            r.now = stand::cancelled;
            break;
        default:
            break;
        }
        return cancel_result::already_cancelled;
    }

    // Waiting until idle.

    void wait(std::size_t s) {
        const error_code found = result_of([&] {
            ++waits_;
            try {
                schedulers_[s]->async_wait_idle([this](const error_code& ec) {
                    expect(!ec, "a wait until idle ends with an error");
                    --waits_;
                });
            } catch (...) {
                --waits_;
                throw;
            }
        });
        expect_result(found, error_code());
    }

    // What is idle, and where keys lead to. Not in a task.
    void compare_idle() {
        using std::chrono_literals::operator""s;
        for (std::size_t s = 0; s != schedulers_.size(); ++s) {
            expect(schedulers_[s]->wait_idle(0s) == (pending(s) == 0), "a scheduler is idle");
            const bool in_group =
                std::any_of(records_.begin(), records_.end(),
                            [s](const record& r) { return r.group == s && r.is_pending(); });
            expect(groups_[s]->wait_idle(0s) == !in_group, "a group is idle");
            for (int key = 0; key != static_cast<int>(keys); ++key) {
                const std::size_t i = holder(s, key);
                const handle h = key % 2 == 0
                                     ? schedulers_[s]->find(names[static_cast<std::size_t>(key)])
                                     : schedulers_[s]->find(key);
                expect(h == (i != nothing ? records_[i].h : handle()),
                       "a key leads to another task");
            }
        }
        if (!records_.empty()) {
            const record& r = records_[random_() % records_.size()];
            expect(r.h.wait_idle(0s) == !r.is_pending(), "a task is idle");
        }
    }

    void cancel_group(std::size_t s) {
        const std::size_t expected = cancelled_in_group(s);
        std::size_t found = 0;
        {
            const Window window;
            found = groups_[s]->cancel();
        }
        expect(found == expected, "group::cancel() tells another number");
    }

    [[nodiscard]] std::size_t cancelled_in_group(std::size_t s) {
        std::size_t n = 0;
        for (record& r : records_) {
            if (r.group == s) {
                r.group = nowhere;
                n += result_of_cancelling(r) == cancel_result::cancelled ? 1 : 0;
            }
        }
        return n;
    }

    // What tasks do.

    void called(std::size_t i, const handle& self) {
        record& r = records_[i];
        expect(r.now == stand::waiting, "called, though it must not be");
        for (record& other : records_) {
            see_skipped(other);
        }
        coalesce(r);
        expect(r.due <= world_.now(), "called early");
        expect(self.expiry() == r.due, "a call counts for another time");
        expect(self == r.h, "called with the handle of another");
        ++calls_;
        r.now = stand::called;
        r.was_called = true;
        r.was_due = r.due;
        plan_throws_ = up_to(32) == 0;
        act(i);
        expect(r.instances == 1, "there is not one function while it is called");
        if (up_to(8) == 0) {
            throw thrown_on_purpose(); // reported() is called next.
        }
        returned(r);
    }

    void told(std::size_t i, const handle& self) {
        record& r = records_[i];
        ++r.told;
        expect(self == r.h, "told with the handle of another");
        expect(r.instances == 1, "told when the function is destroyed");
        expect(r.now != stand::called && r.now != stand::expired, "told, though it was called");
    }

    // A call of a fixed rate counts for the last time that has passed; or it is not late.
    void coalesce(record& r) {
        if (r.what != kind::rate || r.rule == missed::catch_up || world_.now() < r.due) {
            return;
        }
        const auto missed = (world_.now() - r.due) / r.period;
        expect(r.rule != missed::skip || missed == 0, "a missed call is not skipped");
        r.due += missed * r.period;
    }

    // The context may have skipped calls of a fixed rate that are late.
    void see_skipped(record& r) {
        if (r.what != kind::rate || r.rule != missed::skip || r.now != stand::waiting ||
            world_.now() - r.due < r.period || r.h.expiry() == r.due) {
            return;
        }
        const duration later = r.h.expiry() - r.due;
        expect(later > duration::zero() && later % r.period == duration::zero(),
               "the rate has other times after a skipped call");
        expect(r.h.expiry() <= world_.now() + r.period, "calls are skipped that are not late");
        r.due = r.h.expiry();
    }

    void act(std::size_t i) {
        const std::size_t s = up_to(2);
        switch (up_to(24)) {
        case 0:
        case 1:
            cancel(i);
            break;
        case 2:
        case 3:
            cancel(some_task());
            break;
        case 4:
        case 5:
        case 6:
            schedule(s);
            break;
        case 7:
        case 8:
            world_.elapse(ms(up_to(10)));
            break;
        case 9:
            adopt(s);
            break;
        case 10:
            cancel_group(s);
            break;
        case 11:
            if (up_to(4) == 0) {
                stop(s);
            }
            break;
        case 12:
            if (up_to(4) == 0 && !Window::memory_may_fail) {
                end(s);
                begin(s);
            }
            break;
        default:
            break;
        }
    }

    // How a task continues after a call.
    void returned(record& r) {
        if (r.now == stand::revoked) {
            r.now = stand::cancelled;
            return;
        }
        r.now = stand::waiting;
        switch (r.what) {
        case kind::once:
            r.now = stand::expired;
            break;
        case kind::rate:
            r.due += r.period;
            break;
        case kind::delay:
            r.due = world_.now() + r.period;
            break;
        case kind::plan:
            if (plan_throws_ || r.calls_left-- == 0) {
                r.now = stand::expired;
            } else {
                r.due += r.period;
            }
        }
    }

    [[nodiscard]] std::optional<time_point> next(std::size_t i, time_point previous) {
        const record& r = records_[i];
        expect(previous == r.was_due, "a plan is told another time");
        if (plan_throws_) {
            throw thrown_on_purpose();
        }
        return r.now == stand::waiting ? std::optional(r.due) : std::nullopt;
    }

    void reported(const handle& h, const std::exception_ptr& e) {
        record& r = of(h);
        try {
            std::rethrow_exception(e);
        } catch (const thrown_on_purpose&) {
            if (r.now == stand::called || r.now == stand::revoked) { // Otherwise a plan has thrown.
                if (up_to(4) == 0) {
                    cancel(static_cast<std::size_t>(&r - records_.data()));
                }
                returned(r);
            }
        } catch (...) { // Not even for lack of memory: a repeated task has what it needs.
            expect(false, "what is reported was not thrown");
        }
    }

    // Time.

    void run_one() {
        const Window window;
        world_.ctx.restart();
        world_.ctx.poll_one();
    }

    void run_for(duration d) {
        world_.elapse(d);
        for (std::size_t n = 1; n != 0;) {
            const Window window;
            world_.ctx.restart();
            n = world_.ctx.poll();
        }
        for (record& r : records_) {
            see_skipped(r);
            expect(r.now != stand::waiting || r.due > world_.now(), "a task is not called");
        }
    }

    [[nodiscard]] duration some_time() {
        return up_to(8) == 0 ? -ms(up_to(10)) : up_to(4) == 0 ? ms(up_to(1000)) : ms(up_to(30));
    }

    // Observable state.

    void compare() {
        const time_point now = world_.now();
        for (record& r : records_) {
            see_skipped(r);
            if (r.now == stand::refused) {
                continue;
            }
            const bool waits = r.now == stand::waiting;
            expect(r.h.is_expired() == (r.now == stand::expired), "is_expired()");
            expect(r.h.is_cancelled() == (r.now == stand::cancelled || r.now == stand::orphan),
                   "is_cancelled()");
            expect(r.h.is_repeated() == r.repeats(), "is_repeated()");
            expect(r.h.expiry() == r.due || r.now == stand::cancelled, "expiry()");
            expect(r.h.remaining() ==
                       (waits ? std::max(r.due - now, duration::zero()) : duration::zero()),
                   "remaining()");
            expect(r.told == (r.now == stand::cancelled ? 1 : 0), "told too often, or not at all");
            expect(r.instances == (waits || r.now == stand::orphan ? 1 : 0),
                   "a function lives too long, or not long enough");
        }
        for (std::size_t s = 0; s != schedulers_.size(); ++s) {
            expect(schedulers_[s]->pending() == pending(s), "pending()");
            expect(schedulers_[s]->closed() == closed_[s], "closed()");
        }
    }

    [[nodiscard]] std::size_t pending(std::size_t s) const {
        return static_cast<std::size_t>(
            std::count_if(records_.begin(), records_.end(),
                          [s](const record& r) { return r.where == s && r.is_pending(); }));
    }

    [[nodiscard]] record& of(const handle& h) {
        return *std::find_if(records_.begin(), records_.end(),
                             [&h](const record& r) { return r.h == h; });
    }

    [[nodiscard]] std::size_t some_task() {
        return up_to(std::max<std::size_t>(records_.size(), 1));
    }
    [[nodiscard]] std::size_t up_to(std::size_t n) { return random_() % n; }

    void expect(bool holds, const char* what) noexcept {
        if (!holds && difference_ == nullptr) {
            difference_ = what;
        }
    }
    [[nodiscard]] std::string difference() const {
        return difference_ != nullptr ? difference_ : "";
    }

    std::mt19937_64 random_;
    virtual_world world_;
    std::vector<record> records_;
    std::vector<handle> adoptable_;
    std::vector<handle> one_orphan_ = std::vector<handle>(1);
    std::array<std::optional<scheduler>, 2> schedulers_;
    std::array<std::optional<scheduler::group>, 2> groups_;
    std::array<bool, 2> closed_{};
    std::array<std::array<std::size_t, keys>, 2> holders_{}; // The last task of each key.
    int waits_ = 0;                                          // For an idle scheduler.
    std::size_t calls_ = 0;
    bool plan_throws_ = false;
    const char* difference_ = nullptr;
};

} // namespace asio_wheel::test

#endif
