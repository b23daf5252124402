// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The functions of the wheel that are not inline. wheel.hpp explains the wheel and its rule.

#include <asio_wheel/wheel.hpp>

#include <asio_wheel/detail/memory/prefetch.hpp>

#include <boost/assert.hpp>
#include <boost/throw_exception.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace asio_wheel {

wheel::wheel(std::size_t slots, unsigned levels, deadline_query query, void* context)
    : levels_(levels),
      bits_(static_cast<unsigned>(std::bit_width(std::bit_ceil(std::max<std::size_t>(slots, 2)))) -
            1),
      mask_((std::size_t{1} << bits_) - 1), query_(query), context_(context),
      own_{0, static_cast<std::uint32_t>(levels * (mask_ + 1)), own_slots_.data(),
           own_states_.data(), detail::earliest_ticks(&own_key_, 1)} {}

wheel::~wheel() {
    for (unsigned number = 0; number < levels_; ++number) {
        wheel_level::destroy(level_number(number));
    }
}

void wheel::insert(wheel_entry& entry, tick_t deadline) noexcept {
    BOOST_ASSERT(!entry.filed());
    ++size_;
    file(entry, std::clamp(deadline, now_, last_tick));
}

void wheel::replace(wheel_entry& old, wheel_entry& fresh) noexcept {
    BOOST_ASSERT(!fresh.filed());
    if (!old.filed()) {
        return;
    }
    algorithms::link_before(node_of(old), node_of(fresh));
    algorithms::unlink(node_of(old));
    fresh.deadline_ = old.deadline_;
    fresh.slot_ = std::exchange(old.slot_, wheel_entry::unfiled);
}

void wheel::hold(wheel_entry& entry) noexcept {
    BOOST_ASSERT(!entry.filed());
    entry.deadline_ = now_;
    link(own_, held, entry, false);
    ++size_;
}

void wheel::release_held() noexcept {
    if (holds()) {
        open(own_, held);
    }
}

wheel::progress wheel::advance(tick_t now, std::size_t budget,
                               std::span<wheel_entry*> due) noexcept {
    BOOST_ASSERT(budget != 0 && !due.empty());
    now = (std::min)(now, last_tick);
    if (now > now_) {
        release_held(); // Their tick is over, so their exact time has passed.
        now_ = now;
    }
    std::size_t expired = 0;
    for (;;) {
        while (!opened_empty()) {
            if (budget == 0 || expired == due.size()) {
                return {expired, true};
            }
            --budget;
            wheel_entry& entry = take_opened();
            if (entry.deadline_ <= elapsed_) {
                entry.slot_ = wheel_entry::unfiled;
                --size_;
                due[expired++] = &entry;
            } else if (refresh(entry)) {
                file(entry, entry.deadline_);
                ++cascaded_;
            }
        }
        const tick_t next = smallest_;
        if (next > now) {
            catch_up(now);
            return {expired, false};
        }
        // Nothing is due before `next`, so time jumps there. Time enters the slot at its earliest
        // deadline, not at its beginning. So the entries of that deadline expire at once, and the
        // others are filed on the lowest level possible.
        BOOST_ASSERT(next >= elapsed_);
        wheel_level* const entered = level_of(next);
        elapsed_ = next;
        if (entered != nullptr) {
            open(*entered, index_on(*entered, next));
        }
        if (own_.earliest[unplaced] == next) {
            open(own_, unplaced);
        }
    }
}

std::optional<tick_t> wheel::find_next_expiry(std::size_t budget) noexcept {
    BOOST_ASSERT(budget != 0);
    if (holds()) {
        return next_expiry();
    }
    for (;;) {
        // Entries that are filed again either return to their slot, and tell it its earliest
        // deadline, or go to the slot where they belong now. One that is due stays before its
        // equals.
        while (!opened_empty()) {
            if (budget == 0) {
                return std::nullopt;
            }
            --budget;
            const unsigned list = next_opened_list();
            wheel_entry& entry = take_opened();
            const std::uint32_t number = entry.slot_;
            if (!refresh(entry)) {
                continue;
            }
            if (entry.deadline_ <= elapsed_) {
                link_to(list, own_, opened, entry, true);
                entry.slot_ = number; // No entry says that it was filed in the opened slot.
                own_states_[opened].front = static_cast<std::uint8_t>(list);
                return elapsed_; // Nothing can be earlier.
            }
            file(entry, entry.deadline_);
        }
        const tick_t next = smallest_;
        if (next == no_tick) {
            return next;
        }
        const bool placed = own_.earliest[unplaced] != next;
        wheel_level& l = placed ? *level_of(next) : own_;
        const std::size_t index = placed ? index_on(l, next) : unplaced;
        const unsigned list = list_with(l, index, next);
        if (list == stripes) {
            open(l, index);
            continue;
        }
        if (query_ == nullptr) {
            return next;
        }
        // The deadline of this entry may have changed. Refreshing this one is enough.
        if (budget == 0) {
            return std::nullopt;
        }
        --budget;
        wheel_entry& first = entry_of(next_of(&l.slots[index].lists[list]));
        erase(first);
        ++size_;
        if (!refresh(first)) {
            continue;
        }
        if (first.deadline_ == next && l.states[index].filled != 0) {
            link_to(list, l, index, first, true); // Where it was, so that the next call finds it.
            return next;
        }
        file(first, first.deadline_);
        if (first.deadline_ == next) {
            return next;
        }
    }
}

// Returns which of the slot's lists begins with an entry of this deadline, or `stripes`.
unsigned wheel::list_with(const wheel_level& l, std::size_t index, tick_t deadline) noexcept {
    for (unsigned rest = l.states[index].filled; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        if (entry_of(next_of(&l.slots[index].lists[i])).deadline_ == deadline) {
            return i;
        }
    }
    return stripes;
}

// Asks for the current deadline of an entry that was taken out. False if the entry has left the
// wheel.
inline bool wheel::refresh(wheel_entry& entry) noexcept {
    if (query_ != nullptr) {
        entry.slot_ = wheel_entry::unfiled;
        const tick_t deadline = query_(context_, entry);
        if (deadline == no_tick) {
            --size_;
            return false;
        }
        entry.deadline_ = std::clamp(deadline, elapsed_, last_tick);
    }
    return true;
}

// Moves elapsed_ towards the clock, but not into a slot that has not been opened. Otherwise an
// entry that is filed later could get a lower level than the entries in that slot, and overtake
// them.
void wheel::catch_up(tick_t now) noexcept {
    tick_t limit = now;
    const tick_t next = smallest_;
    if (next != no_tick) {
        const unsigned low = shift(level_number_of(next));
        const tick_t begin = (next >> low) << low;
        limit = (std::min)(now, begin - 1); // The slot begins after elapsed_.
    }
    elapsed_ = (std::max)(elapsed_, limit);
    BOOST_ASSERT(elapsed_ <= now_);
}

// Adds an entry to the list of a slot whose turn it is.
inline void wheel::link(wheel_level& l, std::size_t index, wheel_entry& entry,
                        bool in_front) noexcept {
    slot::state& state = l.states[index];
    const unsigned i = (in_front ? --state.front : state.back++) % stripes;
    link_to(i, l, index, entry, in_front);
}

// Adds an entry to one of a slot's lists.
inline void wheel::link_to(unsigned i, wheel_level& l, std::size_t index, wheel_entry& entry,
                           bool in_front) noexcept {
    entry.slot_ = l.first + static_cast<std::uint32_t>(index);
    node* const list = &l.slots[index].lists[i];
    const auto bit = static_cast<slot::list_set>(1U << i);
    slot::list_set& filled = l.states[index].filled;
    if ((filled & bit) == 0) {
        filled |= bit;
        algorithms::init_header(list);
    }
    algorithms::link_before(in_front ? next_of(list) : list, node_of(entry));
}

// The level of a deadline, which is not before elapsed_: see the rule in wheel.hpp. The level is
// that of the highest bit in which the two differ. If they are equal, they have level 0, as if they
// differed in the lowest bit. The 1 sees to that. Null if the level has not been made.
inline wheel::wheel_level* wheel::level_of(tick_t deadline) const noexcept {
    return level_of_bit_[static_cast<std::size_t>(std::bit_width((deadline ^ elapsed_) | 1)) - 1];
}

unsigned wheel::level_number_of(tick_t deadline) const noexcept {
    const auto bit = static_cast<unsigned>(std::bit_width((deadline ^ elapsed_) | 1)) - 1;
    return (std::min)(bit / bits_, levels_ - 1);
}

void wheel::reserve() {
    for (unsigned number = 0; number < levels_; ++number) {
        if (level_number(number) == nullptr && make_level(number) == nullptr) {
            BOOST_THROW_EXCEPTION(std::bad_alloc());
        }
    }
}

// Makes a level. Null if there is no memory.
wheel::wheel_level* wheel::make_level(unsigned number) noexcept {
    wheel_level* const made = wheel_level::make(shift(number), number << bits_, slots());
    const auto begin = level_of_bit_.begin() + shift(number);
    std::fill(begin, number + 1 == levels_ ? level_of_bit_.end() : begin + bits_, made);
    return made;
}

// Files an entry by its deadline, which is not before elapsed_. As a rule its level is there, and
// others in its slot are due earlier.
inline void wheel::file(wheel_entry& entry, tick_t deadline) noexcept {
    BOOST_ASSERT(deadline >= elapsed_);
    entry.deadline_ = deadline;
    wheel_level* const l = level_of(deadline);
    if (l != nullptr) [[likely]] {
        const std::size_t index = index_on(*l, deadline);
        if (deadline >= l->earliest[index]) [[likely]] {
            return link(*l, index, entry, false);
        }
    }
    file_earliest(entry, deadline);
}

// The same for an entry that is the earliest of its slot, or whose level is not there.
void wheel::file_earliest(wheel_entry& entry, tick_t deadline) noexcept {
    wheel_level* l = level_of(deadline);
    if (l == nullptr) {
        l = make_level(level_number_of(deadline));
    }
    const std::size_t index = l == nullptr ? unplaced : index_on(*l, deadline);
    wheel_level& there = l == nullptr ? own_ : *l;
    if (deadline >= there.earliest[index]) {
        return link(there, index, entry, false);
    }
    // In front, where find_next_expiry() looks. All other entries of the slot are later, so the
    // order of entries with the same deadline does not change.
    link(there, index, entry, true);
    there.earliest.lower(index, deadline);
    smallest_ = (std::min)(smallest_, deadline);
}

// Called when a list at this address has become empty. Slot `number` is where its last entry was
// filed. But the entry may have been in the opened slot.
void wheel::emptied(const void* list, std::uint32_t number) noexcept {
    const auto offset_in = [list](const slot& s) {
        return reinterpret_cast<std::uintptr_t>(list) - reinterpret_cast<std::uintptr_t>(&s);
    };
    const bool was_opened = offset_in(own_slots_[opened]) < sizeof(slot);
    wheel_level& l = was_opened ? own_ : level_with(number);
    const std::size_t index = was_opened ? opened : number - l.first;
    const std::size_t i = offset_in(l.slots[index]) / sizeof(node);
    l.states[index].filled &= static_cast<slot::list_set>(~(1U << i));
    if (l.states[index].filled == 0) {
        vacated(l, index);
    }
}

// Called when a slot has become empty.
void wheel::vacated(wheel_level& l, std::size_t index) noexcept {
    l.states[index].front = l.states[index].back; // Where the next entry is filed.
    if (&l == &own_ && index != unplaced) {
        return; // It has no earliest deadline.
    }
    const tick_t earliest = l.earliest[index];
    l.earliest.forget(index);
    if (earliest == smallest_) {
        smallest_ = find_smallest();
    }
}

// The lowest level that is not empty has the smallest, unless something that has no level is
// earlier.
tick_t wheel::find_smallest() const noexcept {
    const tick_t smallest = own_.earliest[unplaced];
    for (unsigned number = 0; number < levels_; ++number) {
        const wheel_level* const l = level_number(number);
        if (l != nullptr && l->earliest.smallest() != no_tick) {
            return (std::min)(smallest, l->earliest.smallest());
        }
    }
    return smallest;
}

// Moves a slot's entries, if it has any, to the opened slot. So the slot can take new entries while
// the opened ones are worked off.
void wheel::open(wheel_level& from, std::size_t index) noexcept {
    slot::state& state = from.states[index];
    slot::state& rest_of_last = own_states_[opened];
    if (state.filled == 0) {
        return;
    }
    for (unsigned rest = state.filled; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        node* const list = &from.slots[index].lists[i];
        node* const target = &own_slots_[opened].lists[i];
        if ((rest_of_last.filled >> i & 1U) == 0) {
            algorithms::init_header(target);
        }
        algorithms::transfer(target, next_of(list), list);
    }
    if (rest_of_last.filled == 0) {
        rest_of_last = state;
    } else {
        rest_of_last.filled |= state.filled;
    }
    state.filled = 0;
    vacated(from, index);
}

// The next opened entry, of which there is at least one, is the first one of this list, which is
// the next one that is not empty.
unsigned wheel::next_opened_list() const noexcept {
    const slot::state& state = own_states_[opened];
    const int turned = static_cast<int>(state.front % stripes);
    const int ahead = std::countr_zero(std::rotr(state.filled, turned));
    return (state.front + static_cast<unsigned>(ahead)) % stripes;
}

// Takes out the next opened entry.
//
// All other lists have their turns before this one has its next turn. Meanwhile the memory loads
// the entry that is now the first of this list. Its links are loaded when it becomes the first. The
// rest of it may be in another cache line, so that line is prefetched.
wheel_entry& wheel::take_opened() noexcept {
    slot::state& state = own_states_[opened];
    const unsigned i = next_opened_list();
    state.front = static_cast<std::uint8_t>(i + 1);
    node* const list = &own_slots_[opened].lists[i];
    node* const first = next_of(list);
    algorithms::unlink(first);
    node* const next = next_of(list);
    if (next == list) {
        state.filled &= static_cast<slot::list_set>(~(1U << i)); // open() sets the turns anew.
    } else {
        detail::prefetch(&entry_of(next) + 1);
    }
    return entry_of(first);
}

unsigned wheel::fullest(unsigned level, std::size_t index, std::size_t count,
                        std::size_t most) const noexcept {
    const detail::wheel_level* const l = level_number(level);
    if (l == nullptr) {
        return 0;
    }
    unsigned result = 0;
    const std::size_t end = index + count;
    for (; most > 0; --most, ++index) {
        index = l->earliest.first_between(index, end);
        if (index == end) {
            break;
        }
        result = (std::max)(result, static_cast<unsigned>(std::popcount(l->states[index].filled)));
    }
    return result;
}

} // namespace asio_wheel
