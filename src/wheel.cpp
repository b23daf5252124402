// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The functions of the wheel that are not inline. wheel.hpp explains the wheel and its rule.

#include <asio_wheel/wheel.hpp>

#include <asio_wheel/detail/memory/prefetch.hpp>

#include <boost/assert.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel {

wheel::wheel(std::size_t slots, unsigned levels, deadline_query query, void* context)
    : levels_(levels),
      bits_(static_cast<unsigned>(std::bit_width(std::bit_ceil(std::max<std::size_t>(slots, 2)))) -
            1),
      mask_((std::size_t{1} << bits_) - 1),
      opened_(static_cast<std::uint32_t>(levels * (mask_ + 1))), held_(opened_ + 1), query_(query),
      context_(context), earliest_(nullptr, opened_),
      memory_((sizeof(slot) + sizeof(slot_state)) * (std::size_t{held_} + 1) +
              sizeof(tick_t) * earliest_.room()) {
    slots_ = reinterpret_cast<slot*>(memory_.begin());
    auto* const keys = reinterpret_cast<tick_t*>(slots_ + held_ + 1);
    earliest_ = detail::earliest_ticks(keys, opened_);
    states_ = reinterpret_cast<slot_state*>(keys + earliest_.room());
    for (unsigned bit = 0; bit < level_of_bit_.size(); ++bit) {
        level_of_bit_[bit] = static_cast<std::uint8_t>((std::min)(bit / bits_, levels_ - 1));
    }
}

wheel::~wheel() = default;

void wheel::insert(wheel_entry& entry, tick_t deadline) noexcept {
    BOOST_ASSERT(!entry.filed());
    entry.deadline_ = std::clamp(deadline, now_, last_tick);
    file(entry);
    ++size_;
}

void wheel::erase(wheel_entry& entry) noexcept {
    BOOST_ASSERT(entry.filed());
    // If the entry is the last one of its list, both of its neighbours are the list's header. So it
    // is enough to read the entry's own node, which is in the cache.
    node* const removed = node_of(entry);
    node* const next = next_of(removed);
    const bool last = next == algorithms::node_traits::get_previous(removed);
    algorithms::unlink(removed);
    entry.slot_ = wheel_entry::unfiled;
    --size_;
    if (last) {
        emptied(next);
    }
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
    link(entry, held_, false);
    ++size_;
}

void wheel::release_held() noexcept {
    if (holds()) {
        open(held_);
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
                file(entry);
                ++cascaded_;
            }
        }
        const tick_t next = earliest_.smallest();
        if (next > now) {
            catch_up(now);
            return {expired, false};
        }
        // Nothing is due before `next`, so time jumps there. Time enters the slot at its earliest
        // deadline, not at its beginning. So the entries of that deadline expire at once, and the
        // others are filed on the lowest level possible.
        const std::uint32_t number = slot_of(next);
        BOOST_ASSERT(next >= elapsed_);
        elapsed_ = next;
        open(number);
    }
}

std::optional<tick_t> wheel::find_next_expiry(std::size_t budget) noexcept {
    BOOST_ASSERT(budget != 0);
    if (holds()) {
        return next_expiry();
    }
    for (;;) {
        // Entries that are filed again at the same time either return to their slot, and tell it
        // its earliest deadline, or go to the slot where they belong now.
        while (!opened_empty()) {
            if (budget == 0) {
                return std::nullopt;
            }
            --budget;
            wheel_entry& entry = take_opened();
            if (!refresh(entry)) {
                continue;
            }
            file(entry);
            if (entry.deadline_ == elapsed_) {
                return elapsed_; // Nothing can be earlier.
            }
        }
        const tick_t next = earliest_.smallest();
        if (next == no_tick) {
            return next;
        }
        const std::uint32_t number = slot_of(next);
        const unsigned list = list_with(number, next);
        if (list == stripes) {
            open(number);
            continue;
        }
        wheel_entry* const first = &entry_of(next_of(&slots_[number].lists[list]));
        if (query_ == nullptr) {
            return next;
        }
        // The deadline of this entry may have changed. Refreshing this one is enough.
        if (budget == 0) {
            return std::nullopt;
        }
        --budget;
        erase(*first);
        ++size_;
        if (!refresh(*first)) {
            continue;
        }
        if (first->deadline_ == next && states_[number].filled != 0) {
            link_to(list, *first, number, true); // Where it was, so that the next call finds it.
            return next;
        }
        file(*first);
        if (first->deadline_ == next) {
            return next;
        }
    }
}

// Returns which of the slot's lists begins with an entry of this deadline, or `stripes`.
unsigned wheel::list_with(std::uint32_t number, tick_t deadline) const noexcept {
    for (unsigned rest = states_[number].filled; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        if (entry_of(next_of(&slots_[number].lists[i])).deadline_ == deadline) {
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
    const tick_t next = earliest_.smallest();
    if (next != no_tick) {
        const unsigned low = shift(level_of(next));
        const tick_t begin = (next >> low) << low;
        limit = (std::min)(now, begin - 1); // The slot begins after elapsed_.
    }
    elapsed_ = (std::max)(elapsed_, limit);
    BOOST_ASSERT(elapsed_ <= now_);
}

// Adds an entry to the list of a slot whose turn it is.
inline void wheel::link(wheel_entry& entry, std::uint32_t number, bool in_front) noexcept {
    slot_state& state = states_[number];
    const unsigned i = (in_front ? --state.front : state.back++) % stripes;
    link_to(i, entry, number, in_front);
}

// Adds an entry to one of a slot's lists.
inline void wheel::link_to(unsigned i, wheel_entry& entry, std::uint32_t number,
                           bool in_front) noexcept {
    entry.slot_ = number;
    node* const list = &slots_[number].lists[i];
    const auto bit = static_cast<list_set>(1U << i);
    list_set& filled = states_[number].filled;
    if ((filled & bit) == 0) {
        filled |= bit;
        algorithms::init_header(list);
    }
    algorithms::link_before(in_front ? next_of(list) : list, node_of(entry));
}

// The level of a deadline, which is not before elapsed_: see the rule in wheel.hpp. The level is
// that of the highest bit in which the two differ. If they are equal, they have level 0, as if they
// differed in the lowest bit. The 1 sees to that.
std::uint32_t wheel::level_of(tick_t deadline) const noexcept {
    return level_of_bit_[static_cast<std::size_t>(std::bit_width((deadline ^ elapsed_) | 1)) - 1];
}

std::uint32_t wheel::slot_of(tick_t deadline) const noexcept {
    const std::uint32_t level = level_of(deadline);
    const std::size_t index = static_cast<std::size_t>(deadline >> shift(level)) & mask_;
    return static_cast<std::uint32_t>((std::size_t{level} << bits_) + index);
}

// Files an entry by its deadline, which is not before elapsed_.
void wheel::file(wheel_entry& entry) noexcept {
    const tick_t deadline = entry.deadline_;
    BOOST_ASSERT(deadline >= elapsed_);
    const std::uint32_t number = slot_of(deadline);
    if (deadline < earliest_[number]) {
        // In front, where find_next_expiry() looks. All other entries of the slot are later, so the
        // order of entries with the same deadline does not change.
        link(entry, number, true);
        earliest_.lower(number, deadline);
    } else {
        link(entry, number, false);
    }
}

// Called when the list at this address has become empty.
void wheel::emptied(const void* list) noexcept {
    const std::size_t offset =
        reinterpret_cast<std::uintptr_t>(list) - reinterpret_cast<std::uintptr_t>(slots_);
    const std::size_t number = offset / sizeof(slot);
    states_[number].filled &=
        static_cast<list_set>(~(1U << (offset % sizeof(slot) / sizeof(node))));
    if (states_[number].filled == 0) {
        vacated(number);
    }
}

// Called when a slot has become empty. The opened slot and the slot of the held entries have no
// earliest deadline.
void wheel::vacated(std::size_t number) noexcept {
    states_[number].front = states_[number].back; // Where the next entry is filed.
    if (number < opened_) {
        earliest_.forget(number);
    }
}

// Moves a slot's entries to the opened slot. So the slot can take new entries while the opened ones
// are worked off.
void wheel::open(std::uint32_t number) noexcept {
    slot& from = slots_[number];
    slot& opened = slots_[opened_];
    for (unsigned rest = states_[number].filled; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        if ((states_[opened_].filled >> i & 1U) == 0) {
            algorithms::init_header(&opened.lists[i]);
        }
        algorithms::transfer(&opened.lists[i], next_of(&from.lists[i]), &from.lists[i]);
    }
    slot_state& state = states_[number];
    slot_state& rest_of_last = states_[opened_];
    if (rest_of_last.filled == 0) {
        rest_of_last = state;
    } else {
        rest_of_last.filled |= state.filled;
    }
    state.filled = 0;
    vacated(number);
}

// Takes out the next opened entry, of which there is at least one: the first one of the next list
// that is not empty.
//
// All other lists have their turns before this one has its next turn. Meanwhile the memory loads
// the entry that is now the first of this list. Its links are loaded when it becomes the first. The
// rest of it may be in another cache line, so that line is prefetched.
wheel_entry& wheel::take_opened() noexcept {
    slot_state& state = states_[opened_];
    const int turned = static_cast<int>(state.front % stripes);
    const int ahead = std::countr_zero(std::rotr(state.filled, turned));
    const unsigned i = (state.front + static_cast<unsigned>(ahead)) % stripes;
    state.front = static_cast<std::uint8_t>(i + 1);
    node* const list = &slots_[opened_].lists[i];
    node* const first = next_of(list);
    algorithms::unlink(first);
    node* const next = next_of(list);
    if (next == list) {
        state.filled &= static_cast<list_set>(~(1U << i)); // open() sets the turns anew.
    } else {
        detail::prefetch(&entry_of(next) + 1);
    }
    return entry_of(first);
}

unsigned wheel::fullest(unsigned level, std::size_t index, std::size_t count,
                        std::size_t most) const noexcept {
    unsigned result = 0;
    const std::size_t end = level * slots() + index + count;
    for (std::size_t n = end - count; most > 0; --most, ++n) {
        n = earliest_.first_between(n, end);
        if (n == end) {
            break;
        }
        result = (std::max)(result, static_cast<unsigned>(std::popcount(states_[n].filled)));
    }
    return result;
}

} // namespace asio_wheel
