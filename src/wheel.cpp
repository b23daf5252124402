// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wheel.hpp>

#include <asio_wheel/detail/memory/prefetch.hpp>

#include <boost/assert.hpp>

#include <algorithm>
#include <bit>
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
      memory_((sizeof(slot) + sizeof(list_set)) * (std::size_t{held_} + 1) +
              sizeof(tick_t) * earliest_.room()) {
    slots_ = reinterpret_cast<slot*>(memory_.begin());
    auto* const keys = reinterpret_cast<tick_t*>(slots_ + held_ + 1);
    earliest_ = detail::earliest_ticks(keys, opened_);
    filled_ = reinterpret_cast<list_set*>(keys + earliest_.room());
    for (unsigned bit = 0; bit < level_of_bit_.size(); ++bit) {
        level_of_bit_[bit] = static_cast<std::uint8_t>(std::min(bit / bits_, levels_ - 1));
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
    // If the entry is the last of its list, both of its neighbours are the list itself. So reading
    // the entry's own node is enough, which is in the cache.
    node* const gone = node_of(entry);
    node* const next = next_of(gone);
    const bool last = next == algorithms::node_traits::get_previous(gone);
    algorithms::unlink(gone);
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
    now = std::min(now, last_tick);
    if (now > now_) {
        release_held(); // Their tick is over: whatever their exact time is, it has come.
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
        // Jump: nothing is due before. Entering the slot at its first deadline, not where it
        // begins, expires that deadline's entries at once and files the others as low as possible.
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
        // Filed again, at the same time, a slot's entries give it its earliest deadline; or leave
        // it for where they belong.
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
        wheel_entry* const first = first_at(number, next);
        if (first == nullptr) {
            open(number);
            continue;
        }
        if (query_ == nullptr) {
            return next;
        }
        // Its deadline may have changed. Refresh this one entry only.
        if (budget == 0) {
            return std::nullopt;
        }
        --budget;
        erase(*first);
        ++size_;
        if (!refresh(*first)) {
            continue;
        }
        if (first->deadline_ == next && filled_[number] != 0) {
            link(*first, number, true); // Where the next call finds it again.
            return next;
        }
        file(*first);
        if (first->deadline_ == next) {
            return next;
        }
    }
}

// An entry with this deadline that is the first of one of the slot's lists; null if there is none.
wheel_entry* wheel::first_at(std::uint32_t number, tick_t deadline) const noexcept {
    for (unsigned rest = filled_[number]; rest != 0; rest &= rest - 1) {
        const node& list = slots_[number].lists[static_cast<unsigned>(std::countr_zero(rest))];
        wheel_entry& entry = entry_of(next_of(&list));
        if (entry.deadline_ == deadline) {
            return &entry;
        }
    }
    return nullptr;
}

// Brings the deadline of an entry that was taken out up to date. False if the entry is gone.
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

// Moves elapsed_ towards the clock, but not into a slot that still has to be opened. An entry filed
// after that would get a lower level than those in the slot, and overtake them.
void wheel::catch_up(tick_t now) noexcept {
    tick_t limit = now;
    const tick_t next = earliest_.smallest();
    if (next != no_tick) {
        const unsigned low = shift(level_of(next));
        const tick_t begin = (next >> low) << low;
        limit = std::min(now, begin - 1); // The slot begins after elapsed_.
    }
    elapsed_ = std::max(elapsed_, limit);
    BOOST_ASSERT(elapsed_ <= now_);
}

// Puts an entry into one of a slot's lists.
inline void wheel::link(wheel_entry& entry, std::uint32_t number, bool in_front) noexcept {
    entry.slot_ = number;
    const unsigned i = stripe_++ % stripes;
    node* const list = &slots_[number].lists[i];
    const auto bit = static_cast<list_set>(1U << i);
    if ((filled_[number] & bit) == 0) {
        filled_[number] |= bit;
        algorithms::init_header(list);
    }
    algorithms::link_before(in_front ? next_of(list) : list, node_of(entry));
}

// Where the rule puts a deadline that is not before elapsed_. Or-ing 1 makes one that is due now
// differ in the lowest bit: both live on level 0.
std::uint32_t wheel::level_of(tick_t deadline) const noexcept {
    return level_of_bit_[std::bit_width((deadline ^ elapsed_) | 1) - 1U];
}

std::uint32_t wheel::slot_of(tick_t deadline) const noexcept {
    const std::uint32_t level = level_of(deadline);
    const std::size_t index = static_cast<std::size_t>(deadline >> shift(level)) & mask_;
    return static_cast<std::uint32_t>((std::size_t{level} << bits_) + index);
}

// Puts an entry, whose deadline is not before elapsed_, where it belongs.
void wheel::file(wheel_entry& entry) noexcept {
    const tick_t deadline = entry.deadline_;
    BOOST_ASSERT(deadline >= elapsed_);
    const std::uint32_t number = slot_of(deadline);
    if (deadline < earliest_[number]) {
        // In front, where find_next_expiry() sees it; among entries of one deadline this changes no
        // order.
        link(entry, number, true);
        earliest_.lower(number, deadline);
    } else {
        link(entry, number, false);
    }
}

// The list at this address has become empty.
void wheel::emptied(const void* list) noexcept {
    const std::size_t offset =
        reinterpret_cast<std::uintptr_t>(list) - reinterpret_cast<std::uintptr_t>(slots_);
    const std::size_t number = offset / sizeof(slot);
    filled_[number] &= static_cast<list_set>(~(1U << (offset % sizeof(slot) / sizeof(node))));
    if (filled_[number] == 0) {
        vacated(number);
    }
}

// A slot has become empty. (The opened slot and that of the held entries have no earliest
// deadline.)
void wheel::vacated(std::size_t number) noexcept {
    if (number < opened_) {
        earliest_.forget(number);
    }
}

// Makes a slot's entries the opened ones, so that the slot can take new entries meanwhile.
void wheel::open(std::uint32_t number) noexcept {
    slot& from = slots_[number];
    slot& opened = slots_[opened_];
    for (unsigned rest = filled_[number]; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        if ((filled_[opened_] >> i & 1U) == 0) {
            algorithms::init_header(&opened.lists[i]);
        }
        algorithms::transfer(&opened.lists[i], next_of(&from.lists[i]), &from.lists[i]);
    }
    filled_[opened_] |= std::exchange(filled_[number], list_set{0});
    vacated(number);
}

// Takes out the next opened entry, of which there is one: the first of the next list that has any.
// Its turn comes again after all others': time for the memory to bring the entry that is its first
// now. All of it: its links come by themselves, but what follows may lie in another cache line.
wheel_entry& wheel::take_opened() noexcept {
    list_set& filled = filled_[opened_];
    const int ahead = std::countr_zero(std::rotr(filled, static_cast<int>(turn_)));
    const unsigned i = (turn_ + static_cast<unsigned>(ahead)) % stripes;
    turn_ = i + 1;
    node* const list = &slots_[opened_].lists[i];
    node* const first = next_of(list);
    algorithms::unlink(first);
    node* const next = next_of(list);
    if (next == list) {
        filled &= static_cast<list_set>(~(1U << i));
    } else {
        detail::prefetch(&entry_of(next) + 1);
    }
    return entry_of(first);
}

} // namespace asio_wheel
