// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A scenario for the real core with a queue, a driver and a clock that are deterministic. No Asio
// is involved. Its steps are what timers, slots, executors and a context do with a core. While its
// threads run, each state of timers and waits is compared with the tables.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_CORE_SCENE_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_CORE_SCENE_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/pending_walk.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/wheel_options.hpp>

#include "interleave/support/core_tables.hpp"
#include "interleave/support/explorer.hpp"
#include "support/manual_core.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace asio_wheel::test::interleave {

using detail::time_count;

/// A timer that its owner, or its handler, may destroy.
struct scene_timer {
    std::optional<detail::timer_state> state{std::in_place};
    time_count earliest = 0; ///< Of its expiries since it was re-armed.
    std::size_t moved = 0;   ///< What postpone() has returned, if nothing has followed.
    timer_life seen = timer_life::inactive;
};

/// A wait, and the cancellation slot that it may have.
struct scene_wait : manual_slotted_wait {
    using manual_slotted_wait::manual_slotted_wait;

    std::function<void()> then; ///< What its handler does, if anything.
    std::optional<detail::cancel_link> slot;
    bool started = false;
    time_count expiry = 0; ///< Of its timer, when it started.
    const scene_timer* timer = nullptr;
    location seen = location::timer;
};

class core_scene final : private wait_listener {
public:
    explicit core_scene(const wheel_options& options = {.budget = 8},
                        const manual_ports& ports = {})
        : core(manual_core::small(options), ports) {
        core.listener = this;
    }
    core_scene(const core_scene&) = delete;
    core_scene& operator=(const core_scene&) = delete;
    ~core_scene() { finish(); }

    // ---- Before the threads. The time is 1,000.

    [[nodiscard]] scene_timer& timer(time_count expiry) {
        scene_timer& t = timers_.emplace_back();
        t.state->expiry.set(expiry);
        t.earliest = expiry;
        return t;
    }
    [[nodiscard]] scene_wait& wait(const detail::wait_node::form& form = {}) {
        return waits_.emplace_back(form);
    }
    [[nodiscard]] scene_wait& slotted_wait(const detail::wait_node::form& form = {}) {
        scene_wait& w = wait(form);
        detail::core::bind(w.slot.emplace(), w);
        return w;
    }
    /// Of a wait whose handler has another executor.
    static constexpr detail::wait_node::form dispatched{.is_dispatched = true};

    /// A timer with a wait.
    [[nodiscard]] scene_timer& armed(time_count expiry, scene_wait& w) {
        scene_timer& t = timer(expiry);
        start(t, w);
        return t;
    }
    [[nodiscard]] scene_timer& tombstone(time_count expiry) {
        scene_timer& t = armed(expiry, wait());
        cancel(t);
        run();
        return t;
    }
    /// The time comes. What is due is in the queue.
    void expire(time_count t) {
        static_cast<void>(armed(core.time, wait())); // A turn completes the first one at once.
        core.time = t;
        core.run_one();
    }

    /// The timer of another owner.
    void prepare_neighbour(scene_timer& t) {
        neighbour_ = &t;
        neighbours_wait_ = &wait();
    }
    void start_neighbour() { start(*neighbour_, *neighbours_wait_); }
    void cancel_neighbour() { cancel(*neighbour_); }

    // ---- What the owner of a timer does.

    void start(scene_timer& t, scene_wait& w) {
        w.started = true;
        w.expiry = t.earliest;
        w.timer = &t;
        t.moved = 0;
        core.start(*t.state, w);
    }
    std::size_t cancel(scene_timer& t) {
        t.moved = 0;
        return counted(core.cancel(*t.state));
    }
    std::size_t cancel_one(scene_timer& t) {
        const on_path here(path::cancel);
        t.moved = 0;
        return counted(core->abort_first(*t.state));
    }
    std::size_t rearm(scene_timer& t, time_count expiry) {
        t.moved = 0;
        t.earliest = expiry;
        return counted(core.set_expiry(*t.state, expiry));
    }
    std::size_t postpone(scene_timer& t, time_count expiry) {
        const on_path here(path::postpone);
        t.moved = core->postpone(*t.state, expiry);
        t.earliest = std::min(t.earliest, expiry);
        return t.moved;
    }
    /// `to` is inactive.
    void move(scene_timer& from, scene_timer& to) {
        const on_path here(path::move);
        from.moved = 0;
        to.earliest = from.earliest;
        if (from.state->life() != timer_life::inactive) {
            core->move(*from.state, *to.state);
        }
    }
    void destroy(scene_timer& t) {
        const on_path here(path::destroy);
        uncounted_ = true;
        if (t.state->life() != timer_life::inactive) {
            core->remove(*t.state);
        }
        t.state.reset();
    }
    /// Whether the wait is over, and has no handler to call.
    bool withdraw(scene_timer& t) {
        const on_path here(path::withdraw);
        t.moved = 0;
        uncounted_ = true;
        auto* const w = static_cast<scene_wait*>(core->withdraw(*t.state));
        if (w != nullptr) {
            ++w->destroyed;
        }
        return w != nullptr;
    }

    // ---- What others do.

    void emit(scene_wait& w) {
        const on_path here(path::cancel_by_slot);
        uncounted_ = others_ = true;
        core->cancel(*w.slot);
    }
    /// The slot ends, or gets another function.
    void unbind(scene_wait& w) {
        core->unbind(*w.slot);
        w.slot.reset();
    }

    std::size_t drain() {
        const on_path here(path::drain);
        others_ = true;
        std::vector<time_count> expiries(core->options().budget);
        core->stop();
        std::size_t drained = 0;
        for (bool more = true; more;) {
            drained += core->drain(expiries, more);
        }
        return counted(drained);
    }
    /// What a thread of the context does.
    void run() { core.run_all(); }
    /// What a thread of the other executor does.
    void run_elsewhere() {
        while (core.run_elsewhere()) {
        }
    }
    /// Its context ends.
    void drop_elsewhere() {
        others_ = true;
        while (core.abandon_elsewhere()) {
        }
    }
    /// The context ends. Owners may still use their timers: the core ends after the threads.
    void shut_down() {
        closing_ = others_ = true;
        core.shut_down();
    }
    /// Returns how many waits it has seen.
    std::size_t walk() {
        const on_path here(path::walk);
        detail::core::pending_walk w(*core);
        std::size_t found = 0;
        for (auto some = w.next(); !some.empty(); some = w.next()) {
            found += some.size();
        }
        return found;
    }

    // ---- The threads.

    template <class... Functions>
    void together(Functions&&... functions) {
        look(false);
        observe([this] { look(true); });
        interleave::together(std::forward<Functions>(functions)...);
    }
    /// The context and the executor, until nothing is left that is due.
    void run_all() {
        do {
            run();
        } while (core.run_elsewhere());
    }

    manual_core core;

private:
    void called(detail::wait_node& w) override {
        if (const auto& then = static_cast<scene_wait&>(w).then) {
            then();
        }
    }
    void destroyed(detail::wait_node&) override {}

    void pass(time_count t) {
        core.time = t;
        run_all();
    }

    std::size_t counted(std::size_t n) {
        counted_.fetch_add(n, std::memory_order_relaxed);
        return n;
    }

    // What one step has changed.
    void look(bool reaches) {
        const path here = on_path::current();
        const auto compare = [&](auto& t, auto& seen, auto now) {
            const auto before = std::exchange(seen, now);
            if (reaches && before != now) {
                t.reach(before, here, now);
            }
        };
        for (scene_timer& t : timers_) {
            compare(lives(), t.seen, t.state ? t.state->life() : timer_life::inactive);
        }
        for (scene_wait& w : waits_) {
            if (w.started && w.ended() == 0) {
                compare(locations(), w.seen, w.where());
                if (reaches) {
                    results().reach(w.where(), path::none, w.result);
                }
            }
        }
        if (!core.has_ended()) {
            compare(next_turns(), turn_seen_, detail::core_inspector::turn_of(*core));
        }
    }

    // What holds after each schedule.
    void finish() {
        if (closing_ && !core.has_ended()) {
            core.end();
        }
        if (core.has_ended()) {
            run_elsewhere();
        } else {
            run();
            check_work();
            run_all();
            check_timers();
            pass(a_long_time);
            for (scene_timer& t : timers_) {
                if (t.state && t.state->life() != timer_life::inactive) {
                    core->remove(*t.state); // A tombstone: nothing is aborted.
                }
            }
            pass(a_long_time);
            check(core->pending() == 0, "nothing waits");
            // A turn during drain() may have armed it for the end of all time.
            check(core.driver.armed_for().value_or(end_of_time) >= end_of_time,
                  "the driver is disarmed");
            check(core.queue.work() == 0, "no work is left");
            check(detail::core_inspector::turn_of(*core) == next_turn::nothing, "no turn is left");
        }
        check_waits();
    }

    // When the context has nothing to run. It does not wait for what another executor is to run.
    void check_work() {
        const bool waits = std::ranges::any_of(waits_, [](const scene_wait& w) {
            return w.started && w.ended() == 0 &&
                   (w.where() != location::executor || w.is_waiting());
        });
        check(waits || !core.queue.driver_is_work || !core.driver.armed_for(),
              "a driver that is work is armed only while the context waits");
    }

    // When nothing runs.
    void check_timers() {
        bool waits = false;
        for (const scene_timer& t : timers_) {
            if (t.state) {
                const time_count expiry = t.state->expiry.get();
                const bool comes = (expiry + manual_core::tick - 1) / manual_core::tick <=
                                   core.time / manual_core::tick;
                waits = waits || !t.state->waits.empty();
                check(t.state->waits.empty() || !comes, "what is due is not forgotten");
                check(others_ || t.moved == 0 || expiry <= core.time ||
                          t.state->waits.size() == t.moved,
                      "what was postponed waits on");
            }
        }
        check(!waits || core.driver.armed_for(), "the driver is armed while anything waits");
        for (const scene_wait& w : waits_) {
            check(w.delivered == 0 || w.expiry <= core.time || w.timer->earliest <= core.time,
                  "nothing is early");
        }
    }

    void check_waits() {
        std::size_t aborted = 0;
        for (const scene_wait& w : waits_) {
            check(w.ended() == (w.started ? 1 : 0), "a wait ends once");
            check(!w.slot || w.slot->wait.load() == nullptr, "then its slot leads nowhere");
            aborted += w.result == result::aborted ? 1U : 0U;
        }
        if (!core.has_ended()) { // Otherwise what was queued is aborted, too.
            check(uncounted_ ? aborted >= counted_ : aborted == counted_,
                  "what was counted was aborted");
        }
    }

    static constexpr time_count a_long_time = 100'000'000;
    static constexpr time_count end_of_time = detail::never / 2;

    std::deque<scene_timer> timers_;
    std::deque<scene_wait> waits_;
    scene_timer* neighbour_ = nullptr;
    scene_wait* neighbours_wait_ = nullptr;
    next_turn turn_seen_ = next_turn::nothing;
    // They are no yield points, and order nothing.
    std::atomic<std::size_t> counted_{0};
    std::atomic<bool> uncounted_{false}; // Waits are aborted by what does not count them.
    std::atomic<bool> others_{false};    // Not only the owner of a timer ends its waits.
    std::atomic<bool> closing_{false};
};

} // namespace asio_wheel::test::interleave

#endif
