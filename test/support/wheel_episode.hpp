// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random steps of a wheel, and of a std::multimap that models it. Every result of the wheel is
// compared at once.
//
//     random_numbers random(seed);
//     episode e(slots, levels, random);
//     e.begin();
//     while (...) {
//         e.step();
//     }
//     e.finish();

#ifndef ASIO_WHEEL_TEST_SUPPORT_WHEEL_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_WHEEL_EPISODE_HPP

#include <asio_wheel/wheel.hpp>

#include "choices.hpp"
#include "wheel_inspector.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// The map node of an inserted entry is in the model, that of a free entry is here, so no step
/// allocates.
struct subject;
using model_map = std::multimap<tick_t, subject*>;

struct subject : wheel_entry {
    model_map::iterator place;
    model_map::node_type node;
    std::size_t index = 0; // Its index in episode::order_.
    bool held = false;     // It is in episode::held_ instead of episode::model_.
};

/// The preferences of an episode.
struct habits {
    explicit habits(choices& random)
        : population(std::array<std::size_t, 5>{1, 4, 20, 100, 300}[random.below(5)]),
          distance_bits(static_cast<unsigned>(1 + random.below(64))),
          step_bits(static_cast<unsigned>(1 + random.below(random.once_in(4) ? 62 : 20))),
          budget_limit(std::array<std::size_t, 4>{1, 4, 32, 400}[random.below(4)]),
          room_limit(std::array<std::size_t, 3>{1, 8, 64}[random.below(3)]),
          advance_share(5 + random.below(60)), come_back_share(random.below(100)),
          hold_share(random.once_in(3) ? random.below(100) : 0), lasting(random.once_in(3)) {}

    std::size_t population;
    unsigned distance_bits;      // The distance of deadlines.
    unsigned step_bits;          // The distance that time advances at once.
    std::size_t budget_limit;    // Of a slice.
    std::size_t room_limit;      // Of a slice.
    std::uint64_t advance_share; // Of all steps, in percent.
    // Of the expired entries, in percent: those that are inserted again at once.
    std::uint64_t come_back_share;
    std::uint64_t hold_share; // Of the other expired entries, in percent.
    bool lasting;             // Nothing is erased or moved, so next_expiry() must be exact.
};

/// A wheel, from its construction until everything inserted has expired. Each violation throws a
/// std::logic_error.
class episode {
public:
    episode(std::size_t slots, unsigned levels, choices& random)
        : random_(random), habits_(random), wheel_(slots, levels), subjects_(habits_.population) {
        for (subject& s : subjects_) {
            s.index = order_.size();
            order_.push_back(&s);
            s.node = model_.extract(model_.emplace(0, &s));
        }
    }

    /// Chooses the start of time.
    void begin() {
        latest_ = std::min(origin(), last_tick);
        told_ = latest_;
        note("begin", told_);
        expect(wheel_.advance(told_, 1, std::span(due_)).expired == 0, "an empty wheel is empty");
        expect(wheel_.elapsed() == told_, "an empty wheel follows the clock");
        reached_ = told_;
    }

    void step() {
        if (more_ ? random_.once_in(2) : random_.below(100) < habits_.advance_share) {
            advance();
        } else {
            change();
        }
        check();
    }

    /// Expires all remaining entries, at once or one wake-up after another.
    void finish() {
        habits_.come_back_share = 0;
        habits_.hold_share = 0;
        release();
        if (random_.once_in(2)) {
            follow_next_expiry();
        }
        told_ = latest_ = last_tick;
        do {
            slice();
        } while (more_);
        check();
        expect(model_.empty() && wheel_.empty(), "at the end of time everything has expired");
        audit();
    }

    void audit() const { expect(wheel_inspector::audit(wheel_).empty(), "the invariants hold"); }

    [[nodiscard]] bool at_the_end_of_time() const { return latest_ > last_tick - 10; }

    /// Describes the episode in the report of a failure.
    [[nodiscard]] std::string last_notes() const {
        std::ostringstream text;
        text << "audit: \"" << wheel_inspector::audit(wheel_) << "\"\n  now " << wheel_.elapsed()
             << ", told " << told_ << ", latest " << latest_ << ", filed " << model_.size()
             << " and held " << held_.size() << ", the last steps:";
        for (std::size_t i = notes_ < trail_.size() ? 0 : notes_ - trail_.size(); i < notes_; ++i) {
            const auto& [what, tick] = trail_[i % trail_.size()];
            text << "\n    " << what << ' ' << tick;
        }
        return text.str();
    }

private:
    void note(const char* what, tick_t tick) { trail_[notes_++ % trail_.size()] = {what, tick}; }

    // ---- Times

    // The start of time: zero, next to a power of two, near the end, or anywhere.
    tick_t origin() {
        switch (random_.below(4)) {
        case 0:
            return 0;
        case 1:
            return (tick_t{1} << random_.below(64)) + random_.below(5) - 2; // Or at the very end.
        case 2:
            return last_tick - random_.magnitude(30);
        default:
            return random_.magnitude(64);
        }
    }

    // Next to the next multiple of some power of two after `tick`.
    tick_t near_edge(tick_t tick) {
        return (tick | ((tick_t{1} << random_.below(64)) - 1)) + random_.below(4) - 1;
    }

    tick_t any_deadline() {
        switch (random_.below(10)) {
        case 0:
            return latest_ + random_.below(4);
        case 1:
            return latest_ + random_.below(3 * wheel_.slots());
        case 2:
            return near_edge(latest_);
        case 3: // In the past or, at the start of time, beyond its end.
            return latest_ - random_.below(10);
        case 4: // The deadline of another entry.
            return filed() == 0 ? latest_ : filed_one().deadline();
        case 5:
            return random_.once_in(8) ? no_tick - random_.below(3) : latest_;
        default:
            return latest_ + random_.magnitude(habits_.distance_bits);
        }
    }

    tick_t any_time() {
        switch (random_.below(8)) {
        case 0:
            return latest_;
        case 1:
            return latest_ + 1;
        case 2:
            return std::max(latest_, std::min(wheel_.next_expiry(), last_tick));
        case 3:
            return std::max(latest_, std::min(wheel_.next_expiry(), last_tick) - 1);
        case 4: { // Not too far, otherwise the episode is over.
            const tick_t edge = near_edge(latest_);
            return edge - latest_ < (tick_t{1} << habits_.step_bits) ? edge : latest_;
        }
        case 5: // The clock goes backwards.
            return habits_.lasting ? latest_ : latest_ - std::min(latest_, random_.below(100));
        default:
            return latest_ + random_.magnitude(habits_.step_bits);
        }
    }

    // ---- Steps

    void change() {
        const bool can_insert = filed() < order_.size();
        if (filed() == 0 || (can_insert && random_.below(100) < 45)) {
            insert(free_one(), any_deadline());
            return;
        }
        if (!held_.empty() && random_.once_in(8)) {
            release();
            return;
        }
        if (habits_.lasting) {
            if (can_insert && random_.once_in(4)) {
                replace(filed_one(), free_one());
            }
            return;
        }
        switch (random_.below(5)) {
        case 0:
            erase(filed_one());
            break;
        case 1:
            postpone(filed_one(), any_deadline());
            break;
        case 2:
        case 3:
            reschedule(filed_one(), any_deadline());
            break;
        default:
            if (can_insert) {
                replace(filed_one(), free_one());
            }
        }
    }

    void insert(subject& s, tick_t deadline) {
        note("insert", deadline);
        wheel_.insert(s, deadline);
        enter(s, std::clamp(deadline, latest_, last_tick));
    }

    void erase(subject& s) {
        note("erase", s.deadline());
        wheel_.erase(s);
        expect(!s.filed(), "an erased entry is not filed");
        leave(s);
        ++changed_;
    }

    void postpone(subject& s, tick_t deadline) {
        deadline = std::max(deadline, s.deadline());
        note("postpone", s.deadline());
        note("      to", deadline);
        wheel_.postpone(s, deadline);
        move(s, std::min(deadline, last_tick));
    }

    void reschedule(subject& s, tick_t deadline) {
        note("reschedule", s.deadline());
        note("        to", deadline);
        wheel_.reschedule(s, deadline);
        if (s.held && deadline < latest_) {
            leave(s);
            enter(s, latest_);
            ++changed_;
            return;
        }
        // In the past, it may keep its place among the due entries, or go behind them.
        const bool kept = deadline < latest_ && s.deadline() == deadline;
        move(s, kept ? deadline : std::clamp(deadline, latest_, last_tick));
    }

    void replace(subject& old, subject& fresh) {
        note("replace", old.deadline());
        const tick_t deadline = old.deadline();
        wheel_.replace(old, fresh);
        expect(!old.filed(), "a replaced entry is not filed");
        fresh.held = old.held;
        leave(old);
        enter(fresh, deadline);
    }

    void hold(subject& s) {
        note("hold", latest_);
        wheel_.hold(s);
        s.held = true;
        enter(s, latest_);
        ++changed_;
    }

    void release() {
        note("release", latest_);
        wheel_.release_held();
        more_ = more_ || !held_.empty();
        free_held();
    }

    void free_held() {
        for (const auto& [deadline, s] : held_) {
            s->held = false;
        }
        model_.merge(held_);
    }

    void advance() {
        if (!more_ || random_.once_in(4)) {
            told_ = std::min(any_time(), last_tick);
        }
        slice();
    }

    void slice() {
        if (told_ > latest_) {
            latest_ = told_;
            free_held();
        }
        const std::size_t budget = 1 + random_.below(habits_.budget_limit);
        const std::size_t room = 1 + random_.below(habits_.room_limit);
        note("advance", told_);
        const std::uint64_t before = wheel_.cascaded();
        const auto [expired, more] = wheel_.advance(told_, budget, std::span(due_).first(room));
        const std::uint64_t looked_at = expired + (wheel_.cascaded() - before);
        more_ = more;
        expect(expired <= room, "no more expires than there is room for");
        expect(looked_at <= budget, "no more is looked at than the budget allows");
        expect(!more || expired == room || looked_at == budget, "no slice ends before its time");
        std::array<subject*, 64> back{};
        std::size_t coming_back = 0;
        for (std::size_t i = 0; i < expired; ++i) {
            subject& s = static_cast<subject&>(*due_[i]);
            note("expired", s.deadline());
            expect(!s.filed(), "an expired entry is not filed");
            expect(s.index < filed(), "an entry expires once");
            expect(!s.held, "what is held does not expire");
            expect(s.place->first == s.deadline(), "an entry expires with its deadline");
            expect(s.deadline() <= latest_, "no entry is early");
            expect(s.deadline() == model_.begin()->first,
                   "entries expire in the order of deadlines");
            leave(s);
            if (random_.below(100) < habits_.come_back_share) {
                back[coming_back++] = &s;
            } else if (random_.below(100) < habits_.hold_share) {
                hold(s);
            }
        }
        expect(more || model_.empty() || model_.begin()->first > told_, "no entry is late");
        for (std::size_t i = 0; i < coming_back && !at_the_end_of_time(); ++i) {
            insert(*back[i], any_deadline());
        }
    }

    // Behaves as a driver: sleeps until next_expiry(), and has no more needless wake-ups than
    // entries were changed.
    void follow_next_expiry() {
        while (more_) {
            slice();
        }
        std::uint64_t in_vain = 0;
        while (!model_.empty()) {
            const std::size_t before = model_.size();
            told_ = random_.once_in(8) ? wheel_.find_next_expiry() : wheel_.next_expiry();
            do {
                slice();
            } while (more_);
            check();
            if (model_.size() == before) {
                expect(++in_vain <= changed_, "no wake-up is in vain without a reason");
            }
        }
    }

    // ---- The model

    [[nodiscard]] std::size_t filed() const { return model_.size() + held_.size(); }
    subject& filed_one() { return *order_[random_.below(filed())]; }
    subject& free_one() { return *order_[filed() + random_.below(order_.size() - filed())]; }

    void trade_places(subject& s, std::size_t index) {
        std::swap(order_[s.index], order_[index]);
        order_[s.index]->index = s.index;
        s.index = index;
    }

    // order_ begins with the inserted entries.
    void enter(subject& s, tick_t deadline) {
        expect(s.filed(), "a filed entry says so");
        expect(s.deadline() == deadline, "an entry keeps its deadline");
        trade_places(s, filed());
        s.node.key() = deadline;
        s.place = (s.held ? held_ : model_).insert(std::move(s.node));
    }

    void leave(subject& s) {
        trade_places(s, filed() - 1);
        s.node = (s.held ? held_ : model_).extract(s.place);
        s.held = false;
    }

    void move(subject& s, tick_t deadline) {
        const bool held = s.held;
        leave(s);
        s.held = held;
        enter(s, deadline);
        ++changed_;
    }

    void check() {
        expect(wheel_.size() == filed(), "size() counts what is filed");
        expect(wheel_.empty() == (filed() == 0), "empty() says whether anything is filed");
        expect(wheel_.now() == latest_, "now() is the latest time of all advances");
        expect(wheel_.elapsed() <= latest_, "time is never ahead of what was told");
        expect(wheel_.elapsed() >= reached_, "time never goes back");
        reached_ = wheel_.elapsed();
        // Not always: the queries themselves change what the wheel caches.
        switch (random_.below(8)) {
        case 0:
            search();
            break;
        case 1:
        case 2:
        case 3:
            ask();
            break;
        default:
            break;
        }
    }

    void ask() {
        const tick_t next = wheel_.next_expiry();
        if (filed() == 0) {
            expect(next == no_tick, "an empty wheel has no next expiry");
            return;
        }
        expect(held_.empty() || next <= latest_, "next_expiry() knows that something is held");
        expect(model_.empty() || next <= model_.begin()->first, "next_expiry() is never late");
        expect(next >= wheel_.elapsed(), "next_expiry() is not before now");
        expect(changed_ > 0 || more_ || next == model_.begin()->first,
               "next_expiry() is exact if nothing was erased or moved");
    }

    // Searches for the next expiry in slices; or starts the search, and is interrupted by other
    // steps.
    void search() {
        const std::size_t budget = 1 + random_.below(habits_.budget_limit);
        const bool to_the_end = !random_.once_in(3);
        const std::uint64_t cascaded = wheel_.cascaded();
        std::optional<tick_t> found;
        std::size_t slices = 0;
        do {
            note("search", budget);
            found = wheel_.find_next_expiry(budget);
            // An entry may be filed again only if it was left over, if it was postponed, or if
            // something earlier was there; and for each reason only once.
            expect(++slices <= 1 + 3 * filed() / budget, "a search comes to an end");
            expect(wheel_.now() == latest_ && wheel_.elapsed() == reached_,
                   "a search moves no time");
            expect(wheel_.cascaded() == cascaded, "a search is no cascade");
        } while (!found && to_the_end);
        if (!found) {
            more_ = true;
        } else if (filed() == 0) {
            expect(*found == no_tick, "in an empty wheel nothing is found");
        } else if (!held_.empty()) {
            expect(*found <= latest_, "a search knows that something is held");
        } else {
            expect(*found == model_.begin()->first, "find_next_expiry() is exact");
            expect(changed_ > 0 || more_ || slices == 1, "nothing is searched without a reason");
        }
    }

    choices& random_;
    habits habits_;
    wheel wheel_;
    model_map model_;
    model_map held_; // The entries that advance() must hold back.
    std::vector<subject> subjects_;
    std::vector<subject*> order_;
    std::array<wheel_entry*, 64> due_{};
    tick_t told_ = 0;    // The last `now` of advance().
    tick_t latest_ = 0;  // The greatest of them.
    tick_t reached_ = 0; // The last now().
    bool more_ = false;
    std::uint64_t changed_ = 0;
    std::array<std::pair<const char*, tick_t>, 24> trail_{};
    std::size_t notes_ = 0;
};

} // namespace asio_wheel::test

#endif
