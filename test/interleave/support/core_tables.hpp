// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tables of states of the core, and which of their cells the threads of scenarios have reached.
//
// A cell is a state, the path that changes it, and the state after that. The paths are the rows of
// the table in docs/design.md. The tables of states are at the heads of timer_entry.hpp (the life
// of a timer), wait_node.hpp (where a wait is, and how it ended) and next_turn.hpp (what follows
// the last turn). The bookmark of a walk is a timer that no scenario sees.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_CORE_TABLES_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_CORE_TABLES_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_guarded.hpp>
#include <asio_wheel/detail/core/next_turn.hpp>
#include <asio_wheel/detail/core/timer_entry.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>

#include "interleave/support/explorer.hpp"
#include "support/manual_core.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

/// Reads what the core keeps to itself.
struct core_inspector {
    [[nodiscard]] static next_turn::state turn_of(const core& c) noexcept {
        return c.guarded_->next_turn_.now();
    }
};

} // namespace asio_wheel::detail

namespace asio_wheel::test::interleave {

using timer_life = detail::timer_life;
using location = detail::wait_node::location;
using result = detail::wait_node::result_state;
using next_turn = detail::next_turn::state;

[[nodiscard]] inline const char* name_of(path p) {
    constexpr std::array names{
        "is",   "start",   "expire",   "deliver",  "cancel", "re-arm", "postpone", "cancel by slot",
        "move", "destroy", "withdraw", "dispatch", "arrive", "drain",  "shutdown", "walk"};
    return names.at(static_cast<std::size_t>(p));
}
[[nodiscard]] inline const char* name_of(timer_life l) {
    constexpr std::array names{"inactive", "tombstone", "waiting", "guarded", "due"};
    return names.at(static_cast<std::size_t>(l));
}
[[nodiscard]] inline const char* name_of(location l) {
    constexpr std::array names{"timer", "queue", "queue_final", "executor"};
    return names.at(static_cast<std::size_t>(l));
}
[[nodiscard]] inline const char* name_of(result r) {
    constexpr std::array names{"waiting", "due", "aborted", "too_many", "stopped", "dropped"};
    return names.at(static_cast<std::size_t>(r));
}
[[nodiscard]] inline const char* name_of(next_turn t) {
    constexpr std::array names{"nothing", "queued", "running", "wanted"};
    return names.at(static_cast<std::size_t>(t));
}

/// A table of states, and which of its cells were reached.
template <class State, class After = State>
class table {
public:
    struct row {
        State from;
        After to;
        std::vector<path> when;
    };

    table(const char* name, std::vector<row> rows) : name_(name), rows_(std::move(rows)) {}

    /// By the thread that has made the step.
    void reach(State from, path when, After to) {
        std::atomic<bool>& reached = reached_.at(index(from, when, to));
        if (reached.load(std::memory_order_relaxed)) {
            return;
        }
        if (has(from, when, to)) {
            reached.store(true, std::memory_order_relaxed);
        } else {
            check(false, text(from, when, to).append(" is no cell").c_str());
        }
    }

    /// The cells that nothing has reached.
    [[nodiscard]] std::vector<std::string> missing() const {
        std::vector<std::string> all;
        for (const row& r : rows_) {
            for (const path p : r.when) {
                if (!reached_.at(index(r.from, p, r.to)).load(std::memory_order_relaxed)) {
                    all.push_back(text(r.from, p, r.to));
                }
            }
        }
        return all;
    }

private:
    static constexpr std::size_t most = 8; // More than there are states.
    static constexpr std::size_t paths = 16;

    [[nodiscard]] static std::size_t index(State from, path when, After to) {
        return (static_cast<std::size_t>(from) * most + static_cast<std::size_t>(to)) * paths +
               static_cast<std::size_t>(when);
    }
    [[nodiscard]] bool has(State from, path when, After to) const {
        return std::any_of(rows_.begin(), rows_.end(), [&](const row& r) {
            return r.from == from && r.to == to &&
                   std::find(r.when.begin(), r.when.end(), when) != r.when.end();
        });
    }
    [[nodiscard]] std::string text(State from, path when, After to) const {
        return std::string(name_) + ": " + name_of(from) + ", " + name_of(when) + ", " +
               name_of(to);
    }

    const char* name_;
    const std::vector<row> rows_;
    std::array<std::atomic<bool>, most * most * paths> reached_{};
};

/// timer_entry.hpp. A timer that takes the place of another one takes its life. A visit that has
/// seen a timer waiting may overwrite the tombstone that its owner has just made of it; the owner
/// meets that visit, and looks again with the lock.
[[nodiscard]] inline table<timer_life>& lives() {
    using enum timer_life;
    static table<timer_life> all(
        "the life of a timer",
        {{inactive, tombstone, {path::move}},
         {inactive, waiting, {path::start, path::move}},
         {inactive, guarded, {path::start, path::move}},
         {inactive, due, {path::move}},
         {tombstone, waiting, {path::start}},
         {tombstone, guarded, {path::start, path::drain, path::shutdown}},
         {tombstone, due, {path::expire}},
         {tombstone,
          inactive,
          {path::expire, path::destroy, path::move, path::rearm, path::postpone, path::drain,
           path::shutdown}},
         {waiting, tombstone, {path::cancel, path::rearm, path::withdraw}},
         {waiting, guarded, {path::start, path::drain, path::shutdown}},
         {waiting, due, {path::expire}},
         {waiting, inactive, {path::destroy, path::move, path::withdraw, path::rearm}},
         {guarded, tombstone, {path::cancel, path::rearm}},
         {guarded, due, {path::expire}},
         {guarded,
          inactive,
          {path::cancel_by_slot, path::destroy, path::move, path::withdraw, path::rearm,
           path::drain, path::shutdown, path::arrive}},
         {due, guarded, {path::postpone}},
         {due,
          inactive,
          {path::deliver, path::cancel, path::rearm, path::destroy, path::move,
           path::cancel_by_slot, path::withdraw, path::arrive, path::shutdown}}});
    return all;
}

/// wait_node.hpp
[[nodiscard]] inline table<location>& locations() {
    using enum location;
    static table<location> all("the location of a wait",
                               {{timer, queue, {path::expire, path::start}},
                                {timer,
                                 queue_final,
                                 {path::cancel, path::rearm, path::destroy, path::cancel_by_slot,
                                  path::withdraw, path::drain, path::start}},
                                {queue, timer, {path::deliver, path::dispatch}},
                                {queue, executor, {path::dispatch}},
                                {queue_final, executor, {path::dispatch}},
                                {executor, timer, {path::arrive, path::dispatch}},
                                {executor, queue, {path::dispatch}},
                                {executor, queue_final, {path::dispatch}}});
    return all;
}

/// The same, its column for results. No path leads there.
[[nodiscard]] inline table<location, result>& results() {
    using enum location;
    static table<location, result> all("the result of a wait",
                                       {{timer, result::waiting, {path::none}},
                                        {queue, result::waiting, {path::none}},
                                        {queue, result::due, {path::none}},
                                        {queue, result::aborted, {path::none}},
                                        {queue_final, result::aborted, {path::none}},
                                        {queue_final, result::too_many, {path::none}},
                                        {queue_final, result::stopped, {path::none}},
                                        {executor, result::waiting, {path::none}},
                                        {executor, result::due, {path::none}},
                                        {executor, result::aborted, {path::none}},
                                        {executor, result::too_many, {path::none}},
                                        {executor, result::stopped, {path::none}},
                                        {executor, result::dropped, {path::none}}});
    return all;
}

/// next_turn.hpp. A turn may itself want the next one, for a wait that is on its way to another
/// executor.
[[nodiscard]] inline table<next_turn>& next_turns() {
    using enum next_turn;
    static table<next_turn> all(
        "what follows the last turn",
        {{nothing, running, {path::expire}},
         {nothing,
          queued,
          {path::start, path::postpone, path::cancel, path::rearm, path::destroy,
           path::cancel_by_slot, path::withdraw, path::drain, path::arrive}},
         {queued, running, {path::expire}},
         {running, nothing, {path::expire}},
         {running, queued, {path::expire}},
         {running, wanted, {path::start, path::postpone, path::expire}},
         {wanted, queued, {path::expire}}});
    return all;
}

} // namespace asio_wheel::test::interleave

#endif
