// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wheel.hpp>

#include <asio_wheel/detail/prefetch.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace asio_wheel {

namespace {

constexpr std::size_t bits_of_word = 64;

} // namespace

wheel::wheel(std::size_t slots, unsigned levels)
    : levels_(levels),
      bits_(static_cast<unsigned>(std::bit_width(std::bit_ceil(std::max<std::size_t>(slots, 2)))) -
            1),
      mask_((std::size_t{1} << bits_) - 1), words_((mask_ + bits_of_word) / bits_of_word),
      opened_(static_cast<std::uint32_t>(levels * (mask_ + 1))), held_(opened_ + 1),
      slots_(std::make_unique<slot[]>(std::size_t{held_} + 1)), filled_(std::size_t{held_} + 1, 0),
      earliest_(std::size_t{held_} + 1, no_tick), occupied_(levels * words_, 0) {
    for (unsigned bit = 0; bit < level_of_bit_.size(); ++bit) {
        level_of_bit_[bit] = static_cast<std::uint8_t>(std::min(bit / bits_, levels_ - 1));
    }
}

wheel::~wheel() = default;

void wheel::insert(wheel_entry& entry, tick_t deadline) noexcept {
    entry.deadline_ = std::clamp(deadline, told_, last_tick);
    file(entry);
    ++size_;
}

void wheel::erase(wheel_entry& entry) noexcept {
    using algorithms = entry_list::node_algorithms;
    const auto node = entry_list::value_traits::to_node_ptr(entry);
    // The only neighbour of a list's last node is the list: look at our own node, which is at hand,
    // not at the others.
    const auto next = algorithms::node_traits::get_next(node);
    const bool last = next == algorithms::node_traits::get_previous(node);
    algorithms::unlink(node);
    if (last) {
        emptied(next);
    }
    if (next_ == now_) {
        next_ = stale; // It may have been the last entry of the opened slot.
    }
    entry.slot_ = wheel_entry::unfiled;
    --size_;
}

void wheel::replace(wheel_entry& old, wheel_entry& fresh) noexcept {
    if (!old.filed()) {
        return;
    }
    using algorithms = entry_list::node_algorithms;
    const auto node = entry_list::value_traits::to_node_ptr(old);
    algorithms::link_before(node, entry_list::value_traits::to_node_ptr(fresh));
    algorithms::unlink(node);
    fresh.deadline_ = old.deadline_;
    fresh.slot_ = old.slot_;
    old.slot_ = wheel_entry::unfiled;
}

void wheel::hold(wheel_entry& entry) noexcept {
    entry.deadline_ = told_;
    link(entry, held_, false);
    earliest_[held_] = told_;
    next_ = std::min(next_, told_);
    ++size_;
}

void wheel::release_held() noexcept {
    if (filled_[held_] != 0) {
        open(held_);
        next_ = now_;
    }
}

wheel::progress wheel::advance(tick_t now, std::size_t budget,
                               std::span<wheel_entry*> due) noexcept {
    now = std::min(now, last_tick);
    if (now > told_) {
        release_held(); // Their tick is over: whatever their exact time is, it has come.
        told_ = now;
    }
    std::size_t expired = 0;
    for (;;) {
        while (!opened_empty()) {
            if (budget == 0 || expired == due.size()) {
                next_ = now_;
                return {expired, true};
            }
            --budget;
            wheel_entry& entry = take_opened();
            if (entry.deadline_ <= now_) {
                entry.slot_ = wheel_entry::unfiled;
                --size_;
                due[expired++] = &entry;
            } else {
                file(entry);
                ++cascaded_;
            }
        }
        const position next = earliest();
        if (next.expiry > now) {
            next_ = std::min(next.expiry, earliest_[held_]);
            catch_up(now, next);
            return {expired, false};
        }
        // Jump: nothing is due before. Entering the slot at its first deadline, not where it
        // begins, expires that deadline's entries at once and files the others as low as possible.
        now_ = next.expiry;
        open(next.slot);
    }
}

std::optional<tick_t> wheel::find_next_expiry(std::size_t budget) noexcept {
    if (filled_[held_] != 0) {
        return next_expiry();
    }
    for (;;) {
        // Filed again, at the same time, a slot's entries give it its earliest deadline; or leave it
        // for where they belong.
        while (!opened_empty()) {
            if (budget == 0) {
                return std::nullopt;
            }
            --budget;
            wheel_entry& entry = take_opened();
            file(entry);
            if (entry.deadline_ == now_) {
                return now_; // Nothing can be earlier.
            }
        }
        const position next = earliest();
        next_ = next.expiry;
        if (next.expiry == no_tick || shows(next)) {
            return next.expiry;
        }
        open(next.slot);
        next_ = now_;
    }
}

// True if one of a slot's first entries is as early as the slot says.
bool wheel::shows(const position& where) const noexcept {
    const auto& lists = slots_[where.slot].lists;
    return std::any_of(lists.begin(), lists.end(), [&](const entry_list& list) {
        return !list.empty() && list.front().deadline_ == where.expiry;
    });
}

// Lets now_ follow the clock, but not into a slot that still has to be opened: an entry filed
// thereafter would be put on a lower level than its elders, and overtake them.
void wheel::catch_up(tick_t now, const position& next) noexcept {
    tick_t limit = now;
    if (next.expiry != no_tick) {
        const unsigned low = shift(next.slot >> bits_);
        const tick_t begin = (next.expiry >> low) << low;
        limit = std::min(now, begin - 1); // The slot begins after now_.
    }
    now_ = std::max(now_, limit);
}

// Puts an entry, whose deadline is not before now_, where it belongs.
void wheel::file(wheel_entry& entry) noexcept {
    const tick_t deadline = entry.deadline_;
    const tick_t differing = deadline ^ now_;
    // Or-ing 1 makes an entry that is due now one that differs in the lowest bit: both live on
    // level 0.
    const unsigned level = level_of_bit_[std::bit_width(differing | 1) - 1U];
    const std::size_t index = static_cast<std::size_t>(deadline >> shift(level)) & mask_;
    const auto number = static_cast<std::uint32_t>((std::size_t{level} << bits_) + index);
    const bool is_earliest = deadline < earliest_[number];
    link(entry, number, is_earliest);
    if (is_earliest) {
        earliest_[number] = deadline;
        occupied_[level * words_ + index / bits_of_word] |= std::uint64_t{1}
                                                            << (index % bits_of_word);
        if (deadline < next_) {
            next_ = deadline;
        }
    }
}

// Puts an entry into one of a slot's lists. The earliest one goes in front, where find_next_expiry()
// sees it; among entries of one deadline this changes no order.
void wheel::link(wheel_entry& entry, std::uint32_t number, bool in_front) noexcept {
    entry.slot_ = number;
    const unsigned list = stripe_++ % stripes;
    entry_list& entries = slots_[number].lists[list];
    entries.insert(in_front ? entries.begin() : entries.end(), entry);
    filled_[number] |= static_cast<list_set>(1U << list);
}

// Notes that a list, of which we know where it lies, has become empty.
void wheel::emptied(const void* list) noexcept {
    const std::size_t offset =
        reinterpret_cast<std::uintptr_t>(list) - reinterpret_cast<std::uintptr_t>(slots_.get());
    const auto number = static_cast<std::uint32_t>(offset / sizeof(slot));
    filled_[number] &= static_cast<list_set>(~(1U << (offset % sizeof(slot) / sizeof(entry_list))));
    if (filled_[number] == 0 && number != opened_) {
        vacate(number);
    }
}

// Notes that a slot has become empty.
void wheel::vacate(std::uint32_t number) noexcept {
    if (earliest_[number] == next_) {
        next_ = stale;
    }
    earliest_[number] = no_tick;
    if (number != held_) {
        const std::size_t index = number & mask_;
        occupied_[(number >> bits_) * words_ + index / bits_of_word] &=
            ~(std::uint64_t{1} << (index % bits_of_word));
    }
}

// Makes a slot's entries the opened ones, so that the slot can take new entries meanwhile.
void wheel::open(std::uint32_t number) noexcept {
    slot& from = slots_[number];
    slot& opened = slots_[opened_];
    for (unsigned rest = filled_[number]; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        opened.lists[i].splice(opened.lists[i].end(), from.lists[i]);
    }
    filled_[opened_] |= std::exchange(filled_[number], list_set{0});
    vacate(number);
}

// Takes out the next opened entry, of which there is one: the first of the next list that has any.
// Its turn comes again after all others': time for the memory to bring the entry that is its first
// now. All of it: its links come by themselves, but what follows may lie in another cache line.
wheel_entry& wheel::take_opened() noexcept {
    list_set& filled = filled_[opened_];
    const int ahead = std::countr_zero(std::rotr(filled, static_cast<int>(turn_)));
    const unsigned number = (turn_ + static_cast<unsigned>(ahead)) % stripes;
    turn_ = number + 1;
    entry_list& list = slots_[opened_].lists[number];
    wheel_entry& entry = list.front();
    list.pop_front();
    if (list.empty()) {
        filled &= static_cast<list_set>(~(1U << number));
    } else {
        detail::prefetch(&list.front() + 1);
    }
    return entry;
}

// What next_ says when it is not stale.
tick_t wheel::first() const noexcept {
    return std::min(earliest().expiry, earliest_[held_]);
}

// The slot that comes up next; what is held does not.
wheel::position wheel::earliest() const noexcept {
    if (!opened_empty()) {
        return {opened_, now_};
    }
    for (unsigned level = 0; level + 1 < levels_; ++level) {
        const std::size_t index = next_occupied(level, 0);
        if (index != none) {
            const auto number = static_cast<std::uint32_t>((std::size_t{level} << bits_) + index);
            return {number, earliest_[number]};
        }
    }
    return earliest_of_top();
}

// The top level is a ring, on which a slot may hold nothing but entries of later rounds. Goes once
// round from now_, and stops as soon as no slot further on can hold anything earlier than what was
// found.
wheel::position wheel::earliest_of_top() const noexcept {
    const unsigned level = levels_ - 1;
    const unsigned low = shift(level);
    const tick_t turn = now_ >> low;
    const auto first = static_cast<std::size_t>(turn) & mask_;
    const auto base = static_cast<std::uint32_t>(std::size_t{level} << bits_);
    position best{opened_, no_tick};
    // Visits the occupied slots in [from, to), of which slot `from` is `ahead` slots ahead of now_.
    // True to stop.
    const auto visit = [&](std::size_t from, std::size_t to, std::size_t ahead) {
        for (std::size_t index = next_occupied(level, from); index < to;
             index = next_occupied(level, index + 1)) {
            const tick_t slots_ahead = ahead + (index - from);
            if (best.expiry >> low < turn + slots_ahead) {
                return true;
            }
            const auto number = base + static_cast<std::uint32_t>(index);
            if (earliest_[number] < best.expiry) {
                best = {number, earliest_[number]};
            }
        }
        return false;
    };
    if (!visit(first, mask_ + 1, 0)) {
        static_cast<void>(visit(0, first, mask_ + 1 - first));
    }
    return best;
}

// The first occupied slot of a level with an index of at least `from`, or `none`.
std::size_t wheel::next_occupied(unsigned level, std::size_t from) const noexcept {
    const std::uint64_t* const words = occupied_.data() + level * words_;
    std::size_t word = from / bits_of_word;
    if (word >= words_) {
        return none;
    }
    std::uint64_t bits = words[word] & (~std::uint64_t{0} << (from % bits_of_word));
    while (bits == 0) {
        if (++word == words_) {
            return none;
        }
        bits = words[word];
    }
    return word * bits_of_word + static_cast<std::size_t>(std::countr_zero(bits));
}

} // namespace asio_wheel
