// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The wheel: a priority queue for deadlines, in which filing, moving and removing an entry take
// constant time.
//
// After G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels" (1987): with one level it
// is their scheme 6, a hash table keyed by deadline; with several it is their scheme 7, where each
// level is a hashed wheel whose slots are as wide as one whole turn of the level below.
//
// The rule. An entry is filed on the level of the highest group of bits in which its deadline
// differs from elapsed(), in the slot which that group of the deadline names. So everything on a
// level is due before anything on the level above it, and, below the top level, a slot before the
// slots after it. The top level has no level above: deadlines beyond its reach are hashed into it
// and wait there for their round.
//
// The reason. Time jumps from one occupied slot to the next: an idle stretch costs nothing, however
// long, and a lone entry is looked at once, when it is due, whatever its distance. Which slot is
// next is known at any time, by a tree of the slots' earliest deadlines.
//
// The price. When time enters a slot of a higher level its entries are filed again, further down:
// each entry at most levels - 1 times, and only if it lives that long.
//
// Three things are done lazily, and none of them can be observed but by its cost:
//
//  - Postponing an entry only stores its new deadline; the entry is filed again when its old slot
//    comes up.
//  - A slot remembers the earliest deadline put into it; taking an entry out does not raise it.
//    next_expiry() may therefore be too early, never too late, and advance() puts it right.
//  - elapsed() stays behind the slot that is next to be opened, so that the rule always holds.
//
// A level is made when its first entry comes, so a wheel takes no memory for levels that it does
// not use. Where there is no memory for a level, its entries wait in a slot that belongs to the
// wheel itself, and are filed again when the earliest of them is due. So filing cannot fail:
// without memory it is only slower, and entries of one tick may change their order.

#ifndef ASIO_WHEEL_WHEEL_HPP
#define ASIO_WHEEL_WHEEL_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/wheel/earliest_ticks.hpp>
#include <asio_wheel/detail/wheel/wheel_entry.hpp>
#include <asio_wheel/detail/wheel/wheel_level.hpp>
#include <asio_wheel/tick.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace asio_wheel {

/// A hashed (levels == 1) or hierarchical (levels > 1) timing wheel.
///
/// It knows no clock: time is an argument of advance(). It is not synchronised. It allocates a
/// level when it files the first entry there, or by reserve(), and nothing else. Time: insert,
/// erase, postpone and reschedule O(1); advance() O(1) for each entry that it expires or files
/// again, and for each occupied slot the logarithm of how many slots a level has, to the base
/// eight, but nothing for empty ones; next_expiry() O(1); find_next_expiry() O(1) for each entry
/// that it files again, and that logarithm for each slot. An entry that becomes the earliest of its
/// slot, or that leaves it empty, costs up to that logarithm, but as a rule nothing.
///
///     struct lease : asio_wheel::wheel_entry { int number = 0; };
///
///     asio_wheel::wheel wheel(256, 4);
///     lease a;
///     wheel.insert(a, 1000);
///     std::array<asio_wheel::wheel_entry*, 16> due;
///     const auto [expired, more] = wheel.advance(1000, 64, due); // 1, false: due[0] is &a
class wheel {
public:
    /// Returns an entry's present deadline. See the second constructor.
    using deadline_query = tick_t (*)(void* context, wheel_entry& entry) noexcept;

    /// `slots` (rounded up to a power of two, at least 2) on each of `levels` >= 1 levels; both as
    /// validated by asio_wheel::validate().
    wheel(std::size_t slots, unsigned levels) : wheel(slots, levels, nullptr, nullptr) {}

    /// A wheel whose entries may change their deadlines without telling it: to a later tick than
    /// the one they were filed for, or to none at all. Before the wheel files an entry again, and
    /// before find_next_expiry() returns its deadline, the wheel takes the entry out and calls
    /// query(context, entry), which returns the present deadline. If that is no_tick, the wheel
    /// does not touch the entry again. advance() hands out an entry without a query when the tick
    /// has come that the entry was filed for. `query` must not use the wheel.
    wheel(std::size_t slots, unsigned levels, deadline_query query, void* context);

    wheel(const wheel&) = delete;
    wheel& operator=(const wheel&) = delete;
    ~wheel(); ///< Entries that are still filed are simply forgotten.

    /// Allocates all levels, so that no function allocates from now on. May throw std::bad_alloc.
    void reserve();

    /// Files `entry`, which must not be filed. A deadline that has passed is due at the next
    /// advance() to now() or later, after all others that are: whoever is filed in the past, time
    /// and again, starves nobody.
    void insert(wheel_entry& entry, tick_t deadline) noexcept;

    /// Takes `entry`, which must be filed, out.
    void erase(wheel_entry& entry) noexcept;

    /// Moves the deadline of a filed `entry` later (or leaves it): one store.
    void postpone(wheel_entry& entry, tick_t deadline) noexcept {
        BOOST_ASSERT(entry.filed());
        entry.deadline_ = deadline < last_tick ? deadline : last_tick;
    }

    /// Moves the deadline of a filed `entry` anywhere: one store if its slot comes up early enough,
    /// else it is moved.
    void reschedule(wheel_entry& entry, tick_t deadline) noexcept {
        BOOST_ASSERT(entry.filed());
        if (deadline >= entry.deadline_ || deadline >= next_visit(entry)) {
            postpone(entry, deadline);
        } else {
            erase(entry);
            insert(entry, deadline);
        }
    }

    /// Puts `fresh`, which must not be filed, in the place of `old`, which then is not. Does
    /// nothing if `old` is not.
    void replace(wheel_entry& old, wheel_entry& fresh) noexcept;

    /// Files `entry`, which must not be filed, but keeps it back: its deadline is now(), and
    /// advance() does not hand it out before release_held(), or before time goes on to a later
    /// tick. For a caller that knows more than the tick: advance() handed out an entry whose tick
    /// has come, but whose exact time inside this tick has not.
    ///
    /// A held entry is filed like any other: it is counted by size(), and can be erased, replaced,
    /// postponed and rescheduled. Rescheduled to a later tick, it expires then; to now(), it stays
    /// held; to an earlier tick, it is due at the next advance(). As an entry may stay held that
    /// was rescheduled within its tick, release_held() begins each pass.
    void hold(wheel_entry& entry) noexcept;

    /// Makes all held entries due at the next advance() to now() or later, in O(1). Call it once,
    /// at the beginning of a pass, or if the time has jumped, and not before each slice: what was
    /// held in one slice would be handed out by the next one again.
    void release_held() noexcept;

    /// Whether an entry is held.
    [[nodiscard]] bool holds() const noexcept { return own_states_[held].filled != 0; }

    /// What a call of advance() did.
    struct progress {
        std::size_t expired; ///< How many elements of `due` it filled in.
        bool more; ///< True if the budget, or the room in `due`, ended before the work did: call
                   ///< again.
    };

    /// Lets time pass until `now`, and takes out what is due: in the order of deadlines, and within
    /// one tick in the order of filing, unless entries were erased. Looks at no more than `budget`
    /// >= 1 entries, expired or filed again, and expires no more than due.size() >= 1. A `now` that
    /// is not later than the last one is allowed, and finds what is still due.
    progress advance(tick_t now, std::size_t budget, std::span<wheel_entry*> due) noexcept;

    /// No entry is due before this tick; no_tick if the wheel is empty. It is exact but for entries
    /// that were erased, or got a later deadline, since time last came by. It is not later than
    /// now() while something is held, nor while advance() or find_next_expiry() has more to do.
    [[nodiscard]] tick_t next_expiry() const noexcept {
        if (!opened_empty()) {
            return elapsed_;
        }
        return holds() ? (std::min)(smallest_, now_) : smallest_;
    }

    /// The tick at which the next entry is due, exactly; no_tick if the wheel is empty. While
    /// something is held, it is a tick that is not later than now().
    ///
    /// It files again what an advance() that ran out of budget has left over, and what was
    /// postponed, as far as it is in the way, but no more than `budget` >= 1 entries. It returns
    /// nothing if that was not enough: call again, and it goes on from there. Entries may change
    /// meanwhile. Neither elapsed() nor now() changes.
    [[nodiscard]] std::optional<tick_t> find_next_expiry(std::size_t budget) noexcept;

    /// The same, whatever it takes.
    [[nodiscard]] tick_t find_next_expiry() noexcept {
        return find_next_expiry((std::numeric_limits<std::size_t>::max)()).value_or(elapsed_);
    }

    /// The number of entries that are filed.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Whether no entry is filed.
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Up to which tick the wheel has been emptied. It may be behind now(), but never ahead of it.
    [[nodiscard]] tick_t elapsed() const noexcept { return elapsed_; }

    /// The latest time that was given to advance(). Deadlines before it are due already.
    [[nodiscard]] tick_t now() const noexcept { return now_; }

    /// How many times an entry was filed again because time reached its slot.
    [[nodiscard]] std::uint64_t cascaded() const noexcept { return cascaded_; }

    /// Slots on each level, after rounding.
    [[nodiscard]] std::size_t slots() const noexcept { return mask_ + 1; }
    /// How many levels there are, as they were given.
    [[nodiscard]] unsigned levels() const noexcept { return levels_; }

    /// How many ticks a slot of this level is wide.
    [[nodiscard]] tick_t width(unsigned level) const noexcept {
        return tick_t{1} << (std::min)(shift(level), 63U);
    }

    /// How full a slot is: 0 if it is empty; at most 8, which is how many lists it has. One list
    /// after the other gets a new entry, so below 8 it is about the number of entries.
    [[nodiscard]] unsigned fill(unsigned level, std::size_t index) const noexcept {
        const detail::wheel_level* const l = level_number(level);
        return l == nullptr ? 0U : static_cast<unsigned>(std::popcount(l->states[index].filled));
    }

    /// How full the fullest is of `count` neighbouring slots, the first one at `index`. Looks at no
    /// more than `most` of those that are not empty, so it takes no longer for more slots than the
    /// logarithm of their number.
    [[nodiscard]] unsigned fullest(unsigned level, std::size_t index, std::size_t count,
                                   std::size_t most) const noexcept;

private:
    friend class detail::wheel_walk;
    friend struct wheel_inspector;

    using entry_list =
        boost::intrusive::list<wheel_entry, boost::intrusive::constant_time_size<false>>;
    using algorithms = entry_list::node_algorithms;
    using node = entry_list::node_traits::node;

    using wheel_level = detail::wheel_level;
    using slot = detail::wheel_slot;
    static constexpr unsigned stripes = slot::stripes;

    // Slots that belong to the wheel itself, by their index there:
    static constexpr std::size_t unplaced = 0; // For whose levels there was no memory.
    static constexpr std::size_t opened = 1;   // What is left of the slot that is being emptied.
    static constexpr std::size_t held = 2;     // What hold() filed.
    static constexpr std::size_t own_slots = 3;

    [[nodiscard]] wheel_level* level_of(tick_t deadline) const noexcept;
    [[nodiscard]] unsigned level_number_of(tick_t deadline) const noexcept;
    [[nodiscard]] std::size_t index_on(const wheel_level& l, tick_t deadline) const noexcept {
        return static_cast<std::size_t>(deadline >> l.shift) & mask_;
    }
    wheel_level* make_level(unsigned number) noexcept;
    void file(wheel_entry& entry, tick_t deadline) noexcept;
    ASIO_WHEEL_NOINLINE void file_earliest(wheel_entry& entry, tick_t deadline) noexcept;
    static void link(wheel_level& l, std::size_t index, wheel_entry& entry, bool in_front) noexcept;
    static void link_to(unsigned i, wheel_level& l, std::size_t index, wheel_entry& entry,
                        bool in_front) noexcept;
    void emptied(const void* list, std::uint32_t number) noexcept;
    void vacated(wheel_level& l, std::size_t index) noexcept;
    void open(wheel_level& from, std::size_t index) noexcept;
    [[nodiscard]] unsigned next_opened_list() const noexcept;
    [[nodiscard]] wheel_entry& take_opened() noexcept;
    [[nodiscard]] bool refresh(wheel_entry& entry) noexcept;
    [[nodiscard]] bool opened_empty() const noexcept { return own_states_[opened].filled == 0; }
    [[nodiscard]] static unsigned list_with(const wheel_level& l, std::size_t index,
                                            tick_t deadline) noexcept;
    [[nodiscard]] tick_t find_smallest() const noexcept;
    [[nodiscard]] unsigned shift(unsigned level) const noexcept { return level * bits_; }
    void catch_up(tick_t now) noexcept;

    [[nodiscard]] static node* node_of(wheel_entry& entry) noexcept {
        return entry_list::value_traits::to_node_ptr(entry);
    }
    [[nodiscard]] static wheel_entry& entry_of(node* n) noexcept {
        return *entry_list::value_traits::to_value_ptr(n);
    }
    [[nodiscard]] static node* next_of(const node* n) noexcept {
        return algorithms::node_traits::get_next(n);
    }

    // Null if it has not been made.
    [[nodiscard]] wheel_level* level_number(unsigned number) const noexcept {
        return level_of_bit_[shift(number)];
    }
    // The level of a slot that has been used.
    [[nodiscard]] wheel_level& level_with(std::uint32_t number) noexcept {
        return number >= own_.first ? own_ : *level_number(number >> bits_);
    }

    // The tick at which the slot is opened where the entry is filed.
    [[nodiscard]] tick_t next_visit(const wheel_entry& entry) noexcept {
        const std::uint32_t number = entry.slot_;
        if (number == own_.first + held) {
            return now_;
        }
        const wheel_level& l = level_with(number);
        return l.earliest[number - l.first];
    }

    // Slot s of level l has the number l * slots() + s. The numbers after these are those of the
    // wheel's own slots.
    //
    // Invariants, between calls:
    //  - the earliest of a slot <= the deadline of each entry there, and elapsed_ <= that
    //    earliest; no_tick if the slot is empty. The opened slot and that of the held have none:
    //    the deadlines there are elapsed_ or later, and now_ or later.
    //  - smallest_ is the smallest of all earliest. Whatever is on a level is due before anything
    //    on the levels above it.
    //  - an entry that is as early as the earliest of its slot is the first of a list there, unless
    //    such entries were erased or postponed.
    //  - an entry's slot_ is its slot's number (or, for an entry in the opened slot, the number of
    //    where it was).
    //  - below the top level, an occupied slot's index is greater than that of elapsed_ (on level
    //    0, or equal).
    //  - bit i of a slot's `filled` is set if and only if its list i is a list, which is not empty.
    std::uint32_t levels_;
    std::uint32_t bits_; // log2 of the slots on a level
    std::size_t mask_;   // slots on a level - 1
    tick_t elapsed_ = 0; // <= now_
    tick_t now_ = 0;
    std::size_t size_ = 0;
    tick_t smallest_ = no_tick;
    std::uint64_t cascaded_ = 0;
    const deadline_query query_; // Null if deadlines change by the wheel's functions only.
    void* const context_;        // Its first argument.
    detail::earliest_ticks::key own_key_ = 0; // Of the unplaced.
    std::array<slot::state, own_slots> own_states_{};
    std::array<slot, own_slots> own_slots_{};
    wheel_level own_; // Consists of these three.
    // The level of a deadline that differs from elapsed_ in this bit, and in none above.
    std::array<wheel_level*, 64> level_of_bit_{};
};

// Inline, because it takes no longer than calling it.
inline void wheel::erase(wheel_entry& entry) noexcept {
    BOOST_ASSERT(entry.filed());
    // If the entry is the last one of its list, both of its neighbours are the list's header. So it
    // is enough to read the entry's own node, which is in the cache.
    node* const removed = node_of(entry);
    node* const next = next_of(removed);
    const bool last = next == algorithms::node_traits::get_previous(removed);
    const std::uint32_t number = entry.slot_;
    algorithms::unlink(removed);
    entry.slot_ = wheel_entry::unfiled;
    --size_;
    if (last) {
        emptied(next, number);
    }
}

} // namespace asio_wheel

#endif
