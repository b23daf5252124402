// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A core without Asio, some timers, and their sequential model. See core.cpp.

#ifndef ASIO_WHEEL_TEST_SUPPORT_CORE_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CORE_EPISODE_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/pending_walk.hpp>
#include <asio_wheel/detail/core/spare_timers.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_options.hpp>

#include "choices.hpp"
#include "episode_base.hpp"
#include "manual_core.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace asio_wheel::test {

class core_episode final : private episode_base, private wait_listener {
public:
    explicit core_episode(bytes& in)
        : episode_base(in), options_(options(in)), ports_(ports(in)), core_(options_, ports_) {
        note("tick %, % slots, % levels, budget %, max_pending %", options_.tick.count(),
             options_.slots, options_.levels, options_.budget, options_.max_pending);
        note("    locking %, stall %, steady %, driver is work %, ends without work %",
             options_.locking, options_.stall.count(), ports_.is_steady, ports_.driver_is_work,
             ports_.ends_without_work);
        core_.listener = this;
        waits_.reserve(max_waits);
    }

    void step() {
        act();
        if (++steps_ % 4 == 0) { // Most of what an operation costs is what checks it.
            check();
        }
    }

    /// Ends the core in one of several ways. Afterwards, no wait is left.
    void finish() {
        quiet_ = true;
        switch (pick(4)) {
        case 0:
            for (place& p : places_) {
                cancel(p);
            }
            settle();
            require(pending_ == 0, "nothing waits");
            break;
        case 1:
            drain();
            break;
        default: // abruptly
            break;
        }
        check_stats();
        if (coin()) {
            for (place& p : places_) {
                destroy(p);
            }
        }
        end();
        for (bool more = true; more;) {
            abandons_ = coin();
            more = abandons_ ? core_.abandon_elsewhere() : core_.run_elsewhere();
        }
        for (const wait& w : waits_) {
            require(w.state == phase::over, "each wait ends");
            require(w.link == nullptr || w.link->wait.load() == nullptr,
                    "no slot leads to a wait that is over");
        }
    }

private:
    using time_count = detail::time_count;
    using timer_life = detail::timer_life;
    using result_state = detail::wait_node::result_state;
    using location = detail::wait_node::location;

    static constexpr std::size_t max_waits = 400;
    static constexpr unsigned max_depth = 3;
    static constexpr std::size_t most_wake_ups = 500;            // At a time.
    static constexpr time_count farthest = time_count{1} << 61U; // Where clocks stay.
    static constexpr time_count late = time_count{1} << 50U;     // Where some begin.

    /// The state of a wait in the model; all but `pending` are decided.
    /// `sent`: it was due, and at the other executor, when the core ended.
    enum class phase : std::uint8_t { pending, cancelled, too_many, stopped, sent, over };

    struct wait {
        phase state = phase::pending;
        wait_kind kind = wait_kind::timer;
        bool dispatched = false;
        bool at_the_end = false; // Started while the core was ending.
        std::size_t place = 0;   // Of its timer, while it is pending.
        detail::wait_node* node = nullptr;
        std::unique_ptr<detail::cancel_link> link; // Null if it has no slot.
    };

    class timer final : public detail::spare_timer {
    public:
        explicit timer(core_episode& episode) noexcept : episode_(episode) {}
        ~timer() = default;

        void free() noexcept override { episode_.free(*this); }

        detail::timer_state state;

    private:
        core_episode& episode_;
    };

    /// A timer, or none, and what the model knows of it. Its waits are in the order of their start.
    struct place {
        std::unique_ptr<timer> owned;
        time_count expiry = 0;
        boost::container::small_vector<std::size_t, 4> waiting;
        // Of these waits:
        time_count due_at = 0;     // When they are due,
        time_count since = 0;      // and when that was decided.
        bool reached = false;      // That time has come since,
        bool reached_once = false; // or came at any time during a walk.
        bool excused = false;      // They may be late: the context was.
        bool undisturbed = false;  // Nothing but their start has happened.
        bool several = false;      // There were more than one.

        void forget(std::size_t id) {
            const auto it = std::find(waiting.begin(), waiting.end(), id);
            if (it != waiting.end()) {
                waiting.erase(it);
            }
        }

        /// From then on they are late.
        [[nodiscard]] time_count from() const noexcept { return std::max(due_at, since); }

        [[nodiscard]] detail::timer_state& state() const noexcept { return owned->state; }
    };

    // ---- Choices

    [[nodiscard]] static wheel_options options(bytes& in) {
        constexpr std::array<std::pair<std::size_t, unsigned>, 6> shapes{
            {{8, 4}, {2, 1}, {2, 30}, {4, 3}, {16, 1}, {64, 2}}};
        constexpr std::array<std::int64_t, 4> ticks{10, 1, 1'000, 1'000'000};
        constexpr std::array<std::size_t, 4> budgets{256, 1, 2, 5};
        wheel_options o;
        const auto& [slots, levels] = shapes[in.below(shapes.size())];
        o.slots = slots;
        o.levels = levels;
        o.tick = std::chrono::nanoseconds(ticks[in.below(ticks.size())]);
        o.budget = budgets[in.below(budgets.size())];
        const std::uint64_t flags = in.below(256);
        o.locking = flags % 2 == 0;
        o.measure_handlers = flags / 2 % 4 == 3;
        o.max_pending = flags / 8 % 4 == 3 ? 1 + in.below(6) : 0;
        o.stall = flags / 32 == 7 ? o.tick * static_cast<int>(1 + in.below(8)) : o.tick * 0;
        return o;
    }

    [[nodiscard]] static manual_ports ports(bytes& in) {
        const std::uint64_t flags = in.below(256);
        manual_ports p;
        p.is_steady = flags % 4 != 3;
        p.driver_is_work = flags / 4 % 2 != 0;
        p.ends_without_work = flags / 8 % 2 != 0;
        p.begin = flags / 16 == 15 ? -5'005 : flags / 16 >= 8 ? late : 1'000;
        return p;
    }

    place& any_place() { return places_[pick(places_.size())]; }
    // Most operations are for one that has a timer.
    place& any_timer() {
        place& p = any_place();
        if (!p.owned && !dying_) {
            renew(p);
        }
        return p;
    }
    [[nodiscard]] time_count tick() const noexcept { return options_.tick.count(); }

    // Mostly close, so that much happens, but of all magnitudes for which a wheel has levels.
    time_count any_time() {
        const std::size_t what = pick(128);
        const auto n = static_cast<time_count>(what);
        switch (what) {
        case 127:
            return detail::never;
        case 126:
            return coin() ? detail::before_all : detail::never - 1 - any_length();
        case 125:
            return sum(now(), any_length());
        case 124:
            return now() - any_length();
        default:
            return what >= 96 ? now() + n - 100 // Within a tick or two.
                              : now() + (n - 8) * tick();
        }
    }

    time_count any_length() { return static_cast<time_count>(in_.magnitude(60)); }

    // By how much a clock moves.
    time_count any_step() {
        const std::size_t what = pick(64);
        const auto n = static_cast<time_count>(what);
        switch (what) {
        case 63:
            return any_length();
        case 62:
            return 12'000'000; // A busy context: see turn_share.hpp.
        default:
            return what >= 48 ? n - 48 : n * tick();
        }
    }

    // Where d is not negative.
    [[nodiscard]] static time_count sum(time_count t, time_count d) noexcept {
        return t > detail::never - d ? detail::never : t + d;
    }
    [[nodiscard]] static time_count difference(time_count t, time_count u) noexcept {
        return u < 0 ? sum(t, -u) : t < detail::before_all + u ? detail::before_all : t - u;
    }

    // ---- For the report of a failure

    [[nodiscard]] std::size_t number_of(const place& p) const {
        return static_cast<std::size_t>(&p - places_.data());
    }

    // ---- The model's time

    [[nodiscard]] time_count now() const noexcept {
        return paused_ ? frozen_at_ : manual_core::time + shift_;
    }

    [[nodiscard]] static bool has_come(time_count t, time_count now) noexcept {
        return t <= now && t != detail::never;
    }

    // `punctual`: the context runs each time that something may be due.
    void note_time(bool punctual) {
        const time_count present = now();
        for (place& p : places_) {
            if (has_come(p.due_at, present)) {
                p.reached = p.reached_once = true;
                p.excused = p.excused || !punctual;
            }
        }
    }

    void decide(place& p, time_count due_at) {
        const time_count present = now();
        p.due_at = due_at;
        p.since = present;
        p.reached = has_come(due_at, present);
        p.reached_once = p.reached_once || p.reached;
        p.excused = false;
    }

    // Neither the clock nor the core's time comes near the end of its range.
    [[nodiscard]] time_count in_range(time_count t) const noexcept {
        const time_count shift = paused_ ? 0 : shift_;
        return std::clamp(t, std::max(-farthest, -farthest - shift),
                          std::min(farthest, farthest - shift));
    }

    void set_clock(time_count t, bool punctual) {
        manual_core::time = in_range(t);
        note_time(punctual);
    }

    // ---- The operations of the program and its handlers

    void act() {
        switch (pick(32)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
            return start(any_timer());
        case 6:
        case 7:
            return expire(any_timer());
        case 8:
            return cancel(any_place());
        case 9:
            return cancel_one(any_place());
        case 10:
        case 11:
            return postpone(any_place());
        case 12:
            return bring_forward(any_timer());
        case 13:
            return coin() ? move(any_timer()) : withdraw(any_place());
        case 14:
            return coin() ? destroy(any_place()) : renew(any_place());
        case 15:
            return use_slot();
        case 16:
            return coin() ? keep_spare(any_place()) : take_spare(any_place());
        case 17:
        case 18:
            return go_on();
        case 19:
            return coin() ? set_back() : touch(any_timer());
        case 20:
            return paused_ ? resume() : pause();
        case 21:
        case 22:
            return paused_ ? advance() : pass();
        case 23:
            return paused_ ? advance_to_next() : pass();
        case 24:
            return walk();
        case 25:
            return switch_memory();
        case 26:
            return once_in(16) ? drain() : check_stats();
        case 27:
            return settle();
        case 28:
            return run_elsewhere();
        default:
            return run_some();
        }
    }

    void renew(place& p) {
        destroy(p);
        p.owned = std::make_unique<timer>(*this);
        p.expiry = any_time();
        p.state().expiry.set(p.expiry);
        note("    a new timer % for %", number_of(p), p.expiry);
    }

    // The core knows of it. Otherwise the core may have ended.
    [[nodiscard]] bool linked(const place& p) const {
        const bool known = p.owned && p.state().life() != timer_life::inactive;
        require(known || p.waiting.empty() || dying_, "the core knows of timers with waits");
        return known;
    }

    void destroy(place& p) {
        if (linked(p)) {
            note("destroy timer %", number_of(p));
            disturb(p);
            abort_first(p, p.waiting.size());
            core_->remove(p.state());
            require(p.state().life() == timer_life::inactive, "the core forgets what is removed");
        }
        p.owned.reset();
        p.waiting.clear(); // The core ends.
    }

    void start(place& p) {
        if (!p.owned || waits_.size() == max_waits) {
            return;
        }
        const std::size_t id = waits_.size();
        wait& w = waits_.emplace_back();
        const std::size_t how = pick(64);
        w.kind = all_wait_kinds[how % 16 < all_wait_kinds.size() ? how % 16 : 0];
        w.dispatched = how / 16 % 2 != 0;
        w.at_the_end = dying_;
        const detail::wait_node::form form{.kind = w.kind, .is_dispatched = w.dispatched};
        if (how / 32 != 0) {
            auto slotted = std::make_unique<manual_slotted_wait>(form);
            w.link = std::make_unique<detail::cancel_link>();
            detail::core::bind(*w.link, *slotted);
            w.node = slotted.release();
        } else {
            w.node = std::make_unique<manual_wait>(form).release();
        }
        ends_of(*w.node).number = id;
        accept(p, w, id);
        note("wait % on timer % until %, dispatched %, slot %", id, number_of(p), p.expiry,
             w.dispatched, w.link != nullptr);
        core_.start(p.state(), *w.node);
    }

    void accept(place& p, wait& w, std::size_t id) {
        if (!dying_ && stopped_) {
            w.state = phase::stopped;
            ++rejected_;
            return;
        }
        if (!dying_ && options_.max_pending != 0 && pending_ >= options_.max_pending) {
            w.state = phase::too_many;
            ++rejected_;
            return;
        }
        w.place = number_of(p);
        p.several = !p.waiting.empty();
        if (p.waiting.empty()) {
            decide(p, p.expiry);
            p.undisturbed = p.state().life() == timer_life::inactive;
        }
        p.undisturbed = p.undisturbed && !p.reached;
        p.waiting.push_back(id);
        ++scheduled_;
        peak_ = std::max(peak_, ++pending_);
    }

    void expire(place& p) {
        if (!p.owned) {
            return;
        }
        const time_count t = any_time();
        p.expiry = t;
        note("timer % expires at %", number_of(p), t);
        if (linked(p)) {
            disturb(p);
            const std::size_t pending = p.waiting.size();
            abort_first(p, pending);
            require(core_.set_expiry(p.state(), t) == pending,
                    "setting the expiry counts what it aborts");
        } else {
            p.state().expiry.set(t);
        }
        check_expiry(p);
        if (coin()) {
            start(p);
        }
    }

    void cancel(place& p) {
        if (!linked(p)) {
            return;
        }
        note("cancel timer %", number_of(p));
        disturb(p);
        const std::size_t pending = p.waiting.size();
        abort_first(p, pending);
        const std::size_t counted = core_.cancel(p.state());
        require(counted == pending || dying_, "cancel() counts what it aborts");
        check_expiry(p);
    }

    void cancel_one(place& p) {
        if (!linked(p)) {
            return;
        }
        note("cancel_one timer %", number_of(p));
        disturb(p);
        const std::size_t pending = std::min<std::size_t>(p.waiting.size(), 1);
        abort_first(p, pending);
        require(core_.cancel_one(p.state()) == pending, "cancel_one() counts what it aborts");
    }

    void postpone(place& p) {
        if (!p.owned) {
            return;
        }
        const time_count t = any_time();
        note("postpone timer % to %", number_of(p), t);
        p.expiry = t;
        if (!linked(p)) {
            p.state().expiry.set(t);
            return;
        }
        disturb(p);
        const std::size_t moved = core_->postpone(p.state(), t);
        require(moved == (stopped_ ? 0 : p.waiting.size()), "postpone() counts what it moves");
        if (moved != 0) {
            postponed_ += moved;
            decide(p, t);
        }
        check_expiry(p);
    }

    // As for idle timers: only what is not due yet.
    void bring_forward(place& p) {
        if (!p.owned) {
            return;
        }
        const time_count t = any_time();
        note("bring timer % forward to %", number_of(p), t);
        const timer_life life = p.state().life();
        require(life != timer_life::due || p.reached, "nothing is due before its time");
        if (!p.waiting.empty() && life != timer_life::due && t < p.due_at) {
            disturb(p);
            ++postponed_;
            p.expiry = t;
            decide(p, t);
        }
        core_->bring_forward(p.state(), t);
        check_expiry(p);
    }

    void touch(place& p) {
        if (p.owned) {
            core_->touched(p.state());
        }
    }

    void move(place& from) {
        place& to = any_place();
        if (&from == &to || !from.owned) {
            return;
        }
        destroy(to);
        note("move timer % to %", number_of(from), number_of(to));
        to.owned = std::make_unique<timer>(*this);
        to.state().expiry.set(from.expiry);
        if (linked(from)) {
            disturb(from);
            core_->move(from.state(), to.state());
        }
        require(from.state().life() == timer_life::inactive, "what was moved from is as new");
        std::swap(from, to);
        std::swap(from.owned, to.owned); // All but the timers themselves.
        for (const std::size_t id : to.waiting) {
            waits_[id].place = number_of(to);
        }
        from.expiry = 0;
        from.state().expiry.set(0);
        check_expiry(to);
    }

    // As the end of an operation with a deadline does.
    void withdraw(place& p) {
        if (!linked(p) || p.waiting.size() > 1) {
            return;
        }
        note("withdraw the wait of timer %", number_of(p));
        disturb(p);
        detail::wait_node* const node = core_->withdraw(p.state());
        require(node == nullptr || (!p.waiting.empty() && waits_[p.waiting.front()].node == node),
                "it withdraws what waits");
        if (!p.waiting.empty()) {
            const std::size_t id = p.waiting.front();
            abort_first(p, 1);
            if (node != nullptr) {
                free(waits_[id]);
            }
        }
    }

    void use_slot() {
        if (waits_.empty()) {
            return;
        }
        const std::size_t id = pick(waits_.size());
        wait& w = waits_[id];
        if (w.link == nullptr) {
            return;
        }
        if (once_in(4)) {
            note("the slot of wait % is cleared", id);
            core_->unbind(*w.link);
            w.link.reset();
            return;
        }
        note("the slot of wait % is signalled", id);
        if (w.state == phase::pending && !dying_) {
            place& p = places_[w.place];
            disturb(p);
            p.forget(id);
            abort(w);
        }
        core_->cancel(*w.link);
    }

    void keep_spare(place& p) {
        if (!linked(p) || !p.waiting.empty()) {
            return;
        }
        note("keep timer %", number_of(p));
        disturbed_ = true;
        if (core_->keep_spare(*p.owned)) {
            kept_.push_back(p.owned.release());
        }
    }

    void take_spare(place& p) {
        detail::spare_timer* const spare = core_->take_spare();
        require(spare == (kept_.empty() ? nullptr : kept_.back()),
                "what was kept last is taken first");
        if (spare == nullptr) {
            return;
        }
        kept_.pop_back();
        destroy(p);
        note("take timer %", number_of(p));
        p.owned.reset(static_cast<timer*>(spare));
        p.expiry = p.state().expiry.get();
    }

    // The core has ended, and frees what it has kept.
    void free(timer& t) noexcept {
        require(t.state.life() == timer_life::inactive, "the end forgets all timers");
        require(std::erase(kept_, &t) == 1, "what is kept is freed once");
        delete &t;
    }

    // ---- Time

    void go_on() {
        const time_count d = any_step();
        note("the clock goes on by % from %", d, manual_core::time);
        set_clock(sum(manual_core::time, d), false);
    }

    void set_back() {
        if (!ports_.is_steady) {
            const time_count d = any_step();
            note("the clock is set back by % from %", d, manual_core::time);
            set_clock(manual_core::time - d, false);
        }
    }

    void pause() {
        note("pause at %", now());
        frozen_at_ = now();
        core_->pause(core_->now());
        paused_ = true;
    }

    void resume() {
        note("resume at %", now());
        core_->resume();
        paused_ = false;
        shift_ = frozen_at_ - manual_core::time;
    }

    void advance() {
        const time_count before = frozen_at_;
        const time_count t = std::min(sum(before, any_step()), farthest);
        frozen_at_ = std::max(before, t);
        std::size_t expected = 0;
        for (const place& p : places_) {
            const bool new_one = !p.waiting.empty() && p.state().life() != timer_life::due;
            expected += new_one && has_come(p.due_at, frozen_at_) ? p.waiting.size() : 0;
        }
        note_time(false);
        const std::size_t due = core_->advance_to(t);
        note("advance from % to %: %", before, frozen_at_, due);
        require(due == expected, "advance() makes due what has expired, and counts it");
    }

    void advance_to_next() {
        const time_count before = frozen_at_;
        time_count next = detail::never;
        bool overdue = false;
        for (const place& p : places_) {
            if (!p.waiting.empty() && p.state().life() != timer_life::due) {
                overdue = overdue || has_come(p.due_at, before);
                next = p.due_at > before ? std::min(next, p.due_at) : next;
            }
        }
        if (next > farthest && next != detail::never) {
            return;
        }
        const std::size_t due = core_->advance_to_next();
        frozen_at_ = core_->now();
        note("advance from % to the next, %: %", before, frozen_at_, due);
        note_time(false);
        if (next == detail::never) {
            require(frozen_at_ == before, "time stands where it was if nothing will ever be due");
        } else if (overdue) {
            require(frozen_at_ >= before && frozen_at_ <= next,
                    "advance_to_next() leaves nothing out");
        } else {
            require(due > 0, "advance_to_next() finds what is due");
            require(frozen_at_ == next, "advance_to_next() goes to the next expiry");
        }
    }

    // Time passes, and the context is punctual.
    void pass() {
        const time_count end = in_range(sum(manual_core::time, any_step()));
        if (depth_ != 0 || paused_) {
            return;
        }
        note("time passes from % to %", manual_core::time, end);
        run_all();
        std::size_t wake_ups = 0; // Many may be early: see run_all().
        for (; !paused_ && wake_ups < most_wake_ups; ++wake_ups) {
            const auto armed = core_.driver.armed_for();
            if (!armed || *armed > end) {
                break;
            }
            set_clock(std::max(*armed, manual_core::time), true);
            run_all();
        }
        if (!paused_ && manual_core::time < end) {
            set_clock(end, wake_ups < most_wake_ups);
            run_all();
        }
    }

    // ---- Running

    void switch_memory() {
        const std::size_t flags = pick(32);
        core_.queue.has_memory = flags % 2 == 0;
        core_.driver.has_memory = flags / 2 % 2 == 0;
        core_.executor.has_memory = flags / 4 % 2 == 0;
        core_.executor.is_inline = flags / 8 % 2 != 0;
        proxies_failed_ = proxies_failed_ || !core_.queue.has_memory;
        note("memory: proxies %, driver %, executor %; inline %", core_.queue.has_memory,
             core_.driver.has_memory, core_.executor.has_memory, core_.executor.is_inline);
    }

    void run_some() {
        const std::size_t how = pick(16);
        if (depth_ != 0) {
            return;
        }
        note("run %", how);
        for (std::size_t i = 0; i <= how / 4; ++i) {
            if (how % 4 == 0 && core_.queue.size() == 0) { // What is queued was there before.
                core_.wake_up();
            } else {
                core_.run_one();
            }
        }
    }

    void run_elsewhere() {
        if (depth_ == 0) {
            note("run the other executor");
            once_in(8) ? core_.abandon_elsewhere() : core_.run_elsewhere();
        }
    }

    // Until nothing happens any more.
    void run_all() {
        std::size_t turns = 0;
        while (run_any()) {
            require(++turns < 20'000, "the context comes to rest");
            if (turns % 64 == 0 && !paused_) {
                end_stall();
                // A core that was late for very long wakes up early, again and again: a known
                // defect. In the end, its time comes.
                set_clock(sum(manual_core::time, tick() << std::min<std::size_t>(turns / 64, 30)),
                          false);
            }
        }
    }

    // Without memory, the core and its waits try again and again.
    bool run_any() {
        core_.driver.has_memory = core_.executor.has_memory = true;
        return core_.run_one() || core_.run_elsewhere() || core_.wake_up();
    }

    [[nodiscard]] bool gives_way() { return core_->anchor().time.wants_touches(); }

    // The guard of stalls has a clock of its own, which does not depend on the input.
    void end_stall() {
        if (gives_way()) {
            pause();
            resume();
        }
    }

    void settle() {
        if (depth_ != 0) {
            return;
        }
        note("settle");
        run_all();
        for (const place& p : places_) {
            require(p.waiting.empty() || !has_come(p.due_at, now()) ||
                        (!paused_ && now() - p.from() < tick()),
                    "what has expired is complete when the context was run");
        }
        for (const wait& w : waits_) {
            require(w.state == phase::pending || w.state == phase::over,
                    "what is decided is delivered");
        }
        check();
        ended_elsewhere_ = ended_elsewhere_ && core_.driver.armed_for();
        if (pending_ == 0) {
            require(core_.queue.work() == 0, "without waits there is no work");
            require(!core_.driver.armed_for() || (ended_elsewhere_ && !ports_.driver_is_work),
                    "without waits the driver is disarmed");
        }
    }

    // ---- The ends of waits

    void called(detail::wait_node& node) override {
        const std::size_t id = ends_of(node).number;
        wait& w = waits_[id];
        const result_state result = node.result;
        note("wait % completes, result % in state %", id, static_cast<int>(result),
             static_cast<int>(w.state));
        require(!dying_, "no handler is called by the end of a context");
        if (ended_ && acted_at_end_) {
            return free(w); // What has become of it is not in the model.
        }
        require(w.link == nullptr || w.link->wait.load() == nullptr,
                "a slot does not lead to a wait whose handler is called");
        switch (w.state) {
        case phase::pending:
            require(result == result_state::due, "what was not counted is not aborted");
            require(!ended_, "a wait that is due later does not survive its core");
            succeed(id);
            break;
        case phase::cancelled:
            require(result == result_state::aborted, "what was counted is aborted");
            break;
        case phase::too_many:
            require(result == result_state::too_many, "there is a limit");
            break;
        case phase::stopped:
            require(result == result_state::stopped, "a drained core takes nothing");
            break;
        case phase::sent:
            require(result == result_state::due || acted_at_end_, "it was due");
            break;
        case phase::over:
            require(false, "a handler is called once");
        }
        ended_elsewhere_ = ended_elsewhere_ || w.dispatched;
        free(w);
        if (!ended_) {
            behave(w);
        }
    }

    void succeed(std::size_t id) {
        const wait& w = waits_[id];
        place& p = places_[w.place];
        require(p.reached, "no wait is early");
        const auto it = std::find(p.waiting.begin(), p.waiting.end(), id);
        require(proxies_failed_ || w.dispatched ||
                    std::all_of(p.waiting.begin(), it,
                                [&](std::size_t earlier) { return waits_[earlier].dispatched; }),
                "first come, first served");
        if (options_.stall.count() == 0) {
            require(p.excused || now() - p.from() <= tick(), "a wait is a tick late at most");
            if (ports_.is_steady && p.undisturbed && !w.dispatched) {
                check_order(id, p);
            }
        }
        p.waiting.erase(it);
        ++fired_;
        --pending_;
        if (detail::expires_when_delivered(w.kind)) {
            ++expired_[w.kind];
        }
    }

    // Within one tick, so many waits are ordered as the budget allows.
    void check_order(std::size_t id, const place& p) {
        const bool all = options_.budget > 64;
        require(latest_ <= sum(p.due_at, all ? 0 : tick()), "the earlier expiry comes first");
        require(!all || disturbed_ || p.several || p.due_at != latest_ || id > latest_id_,
                "of equal expiries, the first one that started comes first");
        if (p.due_at >= latest_) {
            latest_ = p.due_at;
            latest_id_ = p.several ? 0 : id; // The waits of one timer complete together.
        }
    }

    // The actions of a handler.
    void behave(const wait& w) {
        if (quiet_ || depth_ >= max_depth || in_.empty()) {
            return;
        }
        const bool direct = !w.dispatched;
        const wait_kind kind = w.kind;
        const std::size_t what = pick(8);
        ++depth_;
        const bool outer = std::exchange(core_.queue.runs_here, direct);
        if (what == 7 && !detail::expires_when_delivered(kind)) {
            core_->expired(kind);
            ++expired_[kind];
        }
        for (std::size_t i = 0; i < what / 2; ++i) {
            act();
        }
        core_.queue.runs_here = outer;
        --depth_;
    }

    void destroyed(detail::wait_node& node) override {
        const std::size_t id = ends_of(node).number;
        wait& w = waits_[id];
        note("wait % is destroyed", id);
        require(w.state != phase::over, "a wait is destroyed once, and not called");
        require(w.state != phase::sent || acted_at_end_ ||
                    detail::needs_wheel_when_delivered(w.kind) || abandons_,
                "what is due survives its core");
        if (w.state == phase::pending) {
            places_[w.place].forget(id);
            --pending_;
            ++dropped_;
        }
        ended_elsewhere_ = ended_elsewhere_ || w.dispatched;
        const bool acts = dying_ && !w.at_the_end;
        free(w);
        if (acts) {
            act_at_end();
        }
    }

    // It may still use timers.
    void act_at_end() {
        place& p = any_place();
        const std::size_t what = pick(8);
        acted_at_end_ = acted_at_end_ || (what >= 1 && what <= 4);
        switch (what) {
        case 1:
            return cancel(p);
        case 2:
            return start(p);
        case 3:
            return destroy(p);
        case 4:
            return use_slot();
        default:
            return;
        }
    }

    void free(wait& w) {
        w.state = phase::over;
        detail::wait_node* const node = std::exchange(w.node, nullptr);
        if (node->has_slot) {
            delete static_cast<manual_slotted_wait*>(node);
        } else {
            delete static_cast<manual_wait*>(node);
        }
    }

    // The model's part of aborting.
    void abort(wait& w) {
        w.state = phase::cancelled;
        ++cancelled_;
        --pending_;
    }

    void abort_first(place& p, std::size_t n) {
        if (!dying_) {
            for (std::size_t i = 0; i < n; ++i) {
                abort(waits_[p.waiting[i]]);
            }
            p.waiting.erase(p.waiting.begin(), p.waiting.begin() + static_cast<std::ptrdiff_t>(n));
        }
    }

    void disturb(place& p) {
        p.undisturbed = false;
        disturbed_ = true;
    }

    // ---- What the core tells

    // Asks the core what waits. Now and then, other things happen meanwhile.
    void walk() {
        if (walking_) {
            return;
        }
        const bool alone = coin() || depth_ >= max_depth;
        note("walk, alone: %", alone);
        walking_ = true;
        disturbed_ = true; // By the bookmark.
        const std::size_t first_new = waits_.size();
        std::size_t before = 0;
        std::vector<std::chrono::nanoseconds> expected;
        for (place& p : places_) {
            p.reached_once = p.reached;
            before += p.waiting.size();
            if (!p.waiting.empty() && p.state().life() != timer_life::due) {
                const std::chrono::nanoseconds left(difference(p.due_at, now()));
                expected.insert(expected.end(), p.waiting.size(), left);
            }
        }
        std::vector<std::size_t> all;
        for (const place& p : places_) {
            if (!p.reached_once) {
                all.insert(all.end(), p.waiting.begin(), p.waiting.end());
            }
        }
        std::vector<std::chrono::nanoseconds> found;
        ++depth_;
        {
            detail::core::pending_walk w(*core_);
            for (auto some = w.next(); !some.empty(); some = w.next()) {
                for (const pending_wait& one : some) {
                    found.push_back(one.remaining);
                }
                if (!alone && coin()) {
                    act();
                }
            }
        }
        --depth_;
        walking_ = false;
        if (alone) {
            std::sort(found.begin(), found.end());
            std::sort(expected.begin(), expected.end());
            require(found == expected, "what waits is visited, for as long as it has to wait");
            return;
        }
        const auto stayed = std::count_if(all.begin(), all.end(), [&](std::size_t id) {
            const wait& w = waits_[id];
            return w.state == phase::pending && !places_[w.place].reached_once;
        });
        require(found.size() >= static_cast<std::size_t>(stayed),
                "what waits all the time is visited");
        require(found.size() <= before + (waits_.size() - first_new), "no wait is visited twice");
    }

    void drain() {
        note("drain");
        disturbed_ = true;
        std::vector<time_count> expected;
        for (place& p : places_) {
            if (p.waiting.empty()) {
                continue;
            }
            if (p.state().life() == timer_life::due) {
                require(p.reached, "nothing is due before its time");
            } else {
                expected.insert(expected.end(), p.waiting.size(), p.due_at);
                abort_first(p, p.waiting.size());
            }
        }
        stopped_ = true;
        std::vector<time_count> drained;
        std::vector<time_count> some(options_.budget);
        require(core_->stop() >= expected.size(), "stop() says how many there may be");
        for (bool more = true; more;) {
            const std::size_t n = core_->drain(some, more);
            drained.insert(drained.end(), some.begin(),
                           some.begin() + static_cast<std::ptrdiff_t>(n));
        }
        std::sort(drained.begin(), drained.end());
        std::sort(expected.begin(), expected.end());
        require(drained == expected, "drain() says what was pending");
    }

    void check_expiry(const place& p) const {
        require(p.state().expiry.get() == p.expiry, "the expiry is as it was set");
    }

    void check_stats() {
        const wheel_stats stats = core_->stats();
        require(stats.pending == pending_, "stats() counts what is pending");
        require(stats.peak_pending >= pending_ && stats.peak_pending <= peak_,
                "stats() knows the peak");
        require(stats.scheduled == scheduled_, "stats() counts what was accepted");
        require(stats.fired == fired_, "stats() counts what has succeeded");
        require(stats.expired == expired_, "stats() counts what has expired");
        require(stats.cancelled == cancelled_, "stats() counts what was aborted");
        require(stats.dropped == dropped_, "stats() counts what was destroyed");
        require(stats.rejected == rejected_, "stats() counts what was refused");
        require(stats.postponed == postponed_, "stats() counts what was postponed");
        require(stats.lateness.count() == fired_, "each wait that has fired has a lateness");
        require(stats.handler_delay.count() == (options_.measure_handlers ? fired_ : 0),
                "each handler that was called has a delay");
    }

    // Between two steps of the program.
    void check() {
        require(core_->pending() == pending_, "pending() counts what is pending");
        require(core_->now() == now(), "time is as it was set");
        const bool has_turn = core_.queue.has_turn();
        const auto armed = core_.driver.armed_for();
        std::size_t waiting = 0;
        for (const place& p : places_) {
            if (p.waiting.empty()) {
                continue;
            }
            for (const std::size_t id : p.waiting) {
                waiting += waits_[id].node->is_waiting() ? 1 : 0;
            }
            if (p.state().life() == timer_life::due) {
                require(p.reached, "nothing is due before its time");
            } else if (!has_turn && p.due_at < farthest) {
                // If it is overdue, it comes at once.
                const time_count latest =
                    std::max(difference(sum(p.from(), tick()), shift_), manual_core::time);
                require(paused_ ? p.due_at > now() : armed && *armed <= latest,
                        "the driver is armed for what waits");
            }
        }
        // What waits is work, and so is what is queued. A turn may be, instead of a wait that has
        // ended elsewhere.
        const auto work = static_cast<std::size_t>(core_.queue.work());
        const std::size_t least = waiting + core_.queue.size() - (has_turn ? 1 : 0);
        require(work == least || (has_turn && work == least + 1),
                "the context has as much work as there is");
    }

    // ---- The end

    void end() {
        note("the end");
        for (wait& w : waits_) {
            if (w.state == phase::pending && w.node->where() == location::executor &&
                w.node->result == result_state::due) {
                w.state = phase::sent;
                places_[w.place].forget(static_cast<std::size_t>(&w - waits_.data()));
            }
        }
        dying_ = true;
        core_.end();
        dying_ = false;
        ended_ = true;
        require(!ports_.ends_without_work || core_.queue.work() == 0,
                "what the end destroys is all work that there is");
        require(kept_.empty(), "spare timers are freed");
        for (const wait& w : waits_) {
            require(w.state == phase::over || w.dispatched, "the end of a context ends its waits");
        }
        for (const place& p : places_) {
            require(!p.owned || p.state().life() == timer_life::inactive,
                    "the end of a context forgets its timers");
        }
    }

    const wheel_options options_;
    const manual_ports ports_;
    std::vector<wait> waits_; // All waits so far, by number.
    std::array<place, 8> places_;
    std::vector<timer*> kept_; // By the core.

    // The model of time.
    bool paused_ = false;
    time_count frozen_at_ = 0;
    time_count shift_ = 0;

    // The model of what the core counts.
    std::uint64_t pending_ = 0;
    std::uint64_t peak_ = 0;
    std::uint64_t scheduled_ = 0;
    std::uint64_t fired_ = 0;
    std::uint64_t cancelled_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t rejected_ = 0;
    std::uint64_t postponed_ = 0;
    counts_by_kind expired_;

    // Of those waits that were delivered undisturbed, the latest expiry, and the last one of those.
    time_count latest_ = detail::before_all;
    std::size_t latest_id_ = 0;

    unsigned steps_ = 0;
    unsigned depth_ = 0; // The nesting depth of handlers.
    bool quiet_ = false; // Handlers do nothing any more.
    bool stopped_ = false;
    bool dying_ = false; // The core is ending.
    bool ended_ = false;
    bool acted_at_end_ = false;
    bool walking_ = false;
    bool disturbed_ = false;       // Equal expiries may have lost their order.
    bool proxies_failed_ = false;  // A wait may have kept an old place in the queue.
    bool ended_elsewhere_ = false; // Then the driver may be armed once more.
    bool abandons_ = false;

    manual_core core_;
};

} // namespace asio_wheel::test

#endif
