// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What scenarios for the core are made of: a timer in some condition, what its owner does with it,
// and what others do meanwhile. Each wait is for 1,050, and the time of the threads is 1,060.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_CORE_STEPS_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_CORE_STEPS_HPP

#include "interleave/support/core_scene.hpp"

#include <vector>

namespace asio_wheel::test::interleave {

/// The timer of a scene, and its first wait.
struct prepared {
    scene_timer& timer;
    scene_wait& wait;
};

struct condition {
    const char* name;
    prepared (*make)(core_scene& s);
    bool has_slot = false;     ///< Its wait has one.
    bool is_elsewhere = false; ///< Its wait may be on its way to another executor.
};

struct step {
    const char* name;
    void (*take)(core_scene& s, prepared& p);
};

/// A timer whose time has not come before the threads run, or has.
inline const std::vector<condition>& conditions() {
    static const auto armed = [](core_scene& s, scene_wait& w) -> prepared {
        return {s.armed(1'050, w), w};
    };
    static const auto queued = [](core_scene& s, scene_wait& w) {
        const prepared p = armed(s, w);
        s.expire(1'055);
        return p;
    };
    static const auto elsewhere = [](core_scene& s, scene_wait& w) {
        const prepared p = armed(s, w);
        s.core.run_until(1'055);
        return p;
    };
    static const std::vector<condition> all{
        {"inactive", [](core_scene& s) -> prepared { return {s.timer(1'050), s.wait()}; }},
        {"tombstone", [](core_scene& s) -> prepared { return {s.tombstone(1'050), s.wait()}; }},
        {"waiting", [](core_scene& s) { return armed(s, s.wait()); }},
        {"slotted", [](core_scene& s) { return armed(s, s.slotted_wait()); }, true},
        {"dispatched", [](core_scene& s) { return armed(s, s.wait(s.dispatched)); }},
        {"two_waits",
         [](core_scene& s) {
             const prepared p = armed(s, s.wait());
             s.start(p.timer, s.wait());
             return p;
         }},
        {"postponed",
         [](core_scene& s) {
             const prepared p = armed(s, s.wait());
             s.postpone(p.timer, 1'200);
             return p;
         }},
        {"due", [](core_scene& s) { return queued(s, s.slotted_wait()); }, true},
        {"due_dispatched", [](core_scene& s) { return queued(s, s.wait(s.dispatched)); }},
        {"no_memory_elsewhere",
         [](core_scene& s) {
             const prepared p = queued(s, s.wait(s.dispatched));
             s.core.executor.refusals = 1;
             return p;
         }},
        {"elsewhere", [](core_scene& s) { return elsewhere(s, s.slotted_wait(s.dispatched)); },
         true, true},
        {"waits_in_queue",
         [](core_scene& s) {
             const prepared p = queued(s, s.slotted_wait());
             s.postpone(p.timer, 1'058);
             return p;
         },
         true},
        {"waits_elsewhere",
         [](core_scene& s) {
             const prepared p = elsewhere(s, s.slotted_wait(s.dispatched));
             s.postpone(p.timer, 1'058);
             return p;
         },
         true, true},
    };
    return all;
}

/// What the owner of a timer does.
inline const std::vector<step>& owners_steps() {
    static const std::vector<step> all{
        {"cancel", [](core_scene& s, prepared& p) { s.cancel(p.timer); }},
        {"cancel_one", [](core_scene& s, prepared& p) { s.cancel_one(p.timer); }},
        {"rearm_later", [](core_scene& s, prepared& p) { s.rearm(p.timer, 1'200); }},
        {"rearm_earlier", [](core_scene& s, prepared& p) { s.rearm(p.timer, 1'020); }},
        {"rearm_and_start",
         [](core_scene& s, prepared& p) {
             s.rearm(p.timer, 1'200);
             s.start(p.timer, s.wait());
         }},
        {"postpone", [](core_scene& s, prepared& p) { s.postpone(p.timer, 1'200); }},
        {"postpone_back", [](core_scene& s, prepared& p) { s.postpone(p.timer, 1'020); }},
        {"postpone_to_and_fro",
         [](core_scene& s, prepared& p) {
             s.postpone(p.timer, 1'200);
             s.postpone(p.timer, 1'058);
             s.postpone(p.timer, 1'300);
         }},
        {"start", [](core_scene& s, prepared& p) { s.start(p.timer, s.wait()); }},
        {"start_slotted", [](core_scene& s, prepared& p) { s.start(p.timer, s.slotted_wait()); }},
        {"start_and_emit",
         [](core_scene& s, prepared& p) {
             scene_wait& w = s.slotted_wait();
             s.start(p.timer, w);
             s.emit(w);
         }},
        {"start_dispatched",
         [](core_scene& s, prepared& p) { s.start(p.timer, s.wait(s.dispatched)); }},
        {"move",
         [](core_scene& s, prepared& p) {
             scene_timer& to = s.timer(0);
             s.move(p.timer, to);
             s.cancel(to);
         }},
        {"destroy", [](core_scene& s, prepared& p) { s.destroy(p.timer); }},
        {"withdraw", [](core_scene& s, prepared& p) { s.withdraw(p.timer); }},
    };
    return all;
}

/// Steps of others.
namespace others {
inline constexpr step run{"run", [](core_scene& s, prepared&) { s.run_all(); }};
inline constexpr step run_context{"run_context", [](core_scene& s, prepared&) { s.run(); }};
inline constexpr step emit{"emit", [](core_scene& s, prepared& p) {
                               if (p.wait.slot) {
                                   s.emit(p.wait);
                               }
                           }};
inline constexpr step drain{"drain", [](core_scene& s, prepared&) { s.drain(); }};
inline constexpr step shut_down{"shut_down", [](core_scene& s, prepared&) { s.shut_down(); }};
inline constexpr step walk{"walk", [](core_scene& s, prepared&) { s.walk(); }};
inline constexpr step drop{"drop", [](core_scene& s, prepared&) { s.drop_elsewhere(); }};
inline constexpr step run_elsewhere{"run_elsewhere",
                                    [](core_scene& s, prepared&) { s.run_elsewhere(); }};
inline constexpr step start_neighbour{"start_neighbour",
                                      [](core_scene& s, prepared&) { s.start_neighbour(); }};
inline constexpr step cancel_neighbour{"cancel_neighbour",
                                       [](core_scene& s, prepared&) { s.cancel_neighbour(); }};
} // namespace others

} // namespace asio_wheel::test::interleave

#endif
