// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wheel.hpp>

#include <asio_wheel/detail/prefetch.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

namespace asio_wheel {

namespace {

constexpr std::size_t cache_line = 64;

// Memory that is all zeros. A system has pages of zeros, and takes memory for them when they are
// written to; so what a large wheel does not use costs nothing.
void* zeros(std::size_t size) {
    void* const memory = std::calloc(size, 1);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

} // namespace

wheel::wheel(std::size_t slots, unsigned levels)
    : levels_(levels),
      bits_(static_cast<unsigned>(std::bit_width(std::bit_ceil(std::max<std::size_t>(slots, 2)))) -
            1),
      mask_((std::size_t{1} << bits_) - 1),
      opened_(static_cast<std::uint32_t>(levels * (mask_ + 1))), held_(opened_ + 1),
      earliest_(nullptr, opened_) {
    const std::size_t count = std::size_t{held_} + 1;
    const std::size_t heads = count * stripes * sizeof(node*);
    const std::size_t keys = earliest_.room() * sizeof(tick_t);
    const std::size_t size = heads + keys + count * sizeof(list_set);
    std::size_t room = size + cache_line;
    memory_.reset(zeros(room));
    void* place = memory_.get();
    auto* const begin = static_cast<std::byte*>(std::align(cache_line, size, place, room));
    heads_ = reinterpret_cast<node**>(begin);
    earliest_ = detail::earliest_ticks(reinterpret_cast<tick_t*>(begin + heads), opened_);
    filled_ = reinterpret_cast<list_set*>(begin + heads + keys);
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
    unlink(entry);
    entry.list_ = wheel_entry::unfiled;
    --size_;
}

void wheel::replace(wheel_entry& old, wheel_entry& fresh) noexcept {
    if (!old.filed()) {
        return;
    }
    ring::link_before(node_of(old), node_of(fresh));
    ring::unlink(node_of(old));
    if (old.first_) {
        head_of(old) = node_of(fresh);
    }
    fresh.deadline_ = old.deadline_;
    fresh.first_ = std::exchange(old.first_, false);
    fresh.list_ = std::exchange(old.list_, wheel_entry::unfiled);
}

void wheel::hold(wheel_entry& entry) noexcept {
    entry.deadline_ = told_;
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
    now = std::min(now, last_tick);
    if (now > told_) {
        release_held(); // Their tick is over: whatever their exact time is, it has come.
        told_ = now;
    }
    std::size_t expired = 0;
    for (;;) {
        while (!opened_empty()) {
            if (budget == 0 || expired == due.size()) {
                return {expired, true};
            }
            --budget;
            wheel_entry& entry = take_opened();
            if (entry.deadline_ <= now_) {
                entry.list_ = wheel_entry::unfiled;
                --size_;
                due[expired++] = &entry;
            } else {
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
        now_ = next;
        open(static_cast<std::uint32_t>(earliest_.slot_of_smallest()));
    }
}

std::optional<tick_t> wheel::find_next_expiry(std::size_t budget) noexcept {
    if (holds()) {
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
        const tick_t next = earliest_.smallest();
        if (next == no_tick) {
            return next;
        }
        const auto slot = static_cast<std::uint32_t>(earliest_.slot_of_smallest());
        if (shows(slot, next)) {
            return next;
        }
        open(slot);
    }
}

// True if one of a slot's first entries has this deadline.
bool wheel::shows(std::uint32_t slot, tick_t deadline) const noexcept {
    node* const* const heads = heads_ + std::size_t{slot} * stripes;
    return std::any_of(heads, heads + stripes, [&](node* head) {
        return head != nullptr && entry_of(head).deadline_ == deadline;
    });
}

// Lets now_ follow the clock, but not into a slot that still has to be opened: an entry filed
// thereafter would be put on a lower level than its elders, and overtake them.
void wheel::catch_up(tick_t now) noexcept {
    tick_t limit = now;
    const tick_t next = earliest_.smallest();
    if (next != no_tick) {
        const auto slot = static_cast<std::uint32_t>(earliest_.slot_of_smallest());
        const unsigned low = shift(slot >> bits_);
        const tick_t begin = (next >> low) << low;
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
    const std::uint32_t level = level_of_bit_[std::bit_width(differing | 1) - 1U];
    const std::size_t index = static_cast<std::size_t>(deadline >> shift(level)) & mask_;
    const auto slot = static_cast<std::uint32_t>((std::size_t{level} << bits_) + index);
    const bool is_earliest = deadline < earliest_[slot];
    link(entry, slot, is_earliest);
    if (is_earliest) {
        earliest_.lower(slot, deadline);
    }
}

// Puts an entry into one of a slot's lists. The earliest one goes in front, where find_next_expiry()
// sees it; among entries of one deadline this changes no order.
void wheel::link(wheel_entry& entry, std::uint32_t slot, bool in_front) noexcept {
    const unsigned stripe = stripe_++ % stripes;
    entry.list_ = slot * stripes + stripe;
    node*& head = heads_[entry.list_];
    node* const fresh = node_of(entry);
    if (head == nullptr) {
        ring::init_header(fresh);
        filled_[slot] |= static_cast<list_set>(1U << stripe);
    } else {
        ring::link_before(head, fresh); // Before the first is behind the last.
        if (!in_front) {
            return;
        }
        entry_of(head).first_ = false;
    }
    head = fresh;
    entry.first_ = true;
}

// Takes an entry out of its list.
void wheel::unlink(wheel_entry& entry) noexcept {
    node* const gone = node_of(entry);
    if (std::exchange(entry.first_, false)) {
        node*& head = head_of(entry);
        if (ring::unique(gone)) {
            head = nullptr;
            emptied(static_cast<std::size_t>(&head - heads_));
            return;
        }
        head = ring::node_traits::get_next(gone);
        entry_of(head).first_ = true;
    }
    ring::unlink(gone);
}

wheel::node*& wheel::head_of(wheel_entry& entry) noexcept {
    node*& filed = heads_[entry.list_];
    return filed == node_of(entry) ? filed
                                   : heads_[std::size_t{opened_} * stripes + entry.list_ % stripes];
}

// Notes that a list has become empty.
void wheel::emptied(std::size_t list) noexcept {
    const std::size_t slot = list / stripes;
    filled_[slot] &= static_cast<list_set>(~(1U << (list % stripes)));
    if (filled_[slot] == 0 && slot < opened_) {
        earliest_.forget(slot);
    }
}

// Makes a slot's entries the opened ones, so that the slot can take new entries meanwhile.
void wheel::open(std::uint32_t slot) noexcept {
    node** const from = heads_ + std::size_t{slot} * stripes;
    node** const to = heads_ + std::size_t{opened_} * stripes;
    for (unsigned rest = filled_[slot]; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        node* const first = std::exchange(from[i], nullptr);
        if (to[i] == nullptr) {
            to[i] = first;
        } else { // Two rings become one.
            using traits = ring::node_traits;
            node* const last = traits::get_previous(first);
            node* const before = traits::get_previous(to[i]);
            entry_of(first).first_ = false;
            traits::set_next(before, first);
            traits::set_previous(first, before);
            traits::set_next(last, to[i]);
            traits::set_previous(to[i], last);
        }
    }
    filled_[opened_] |= std::exchange(filled_[slot], list_set{0});
    if (slot < opened_) {
        earliest_.forget(slot);
    }
}

// Takes out the next opened entry, of which there is one: the first of the next list that has any.
// Its turn comes again after all others': time for the memory to bring the entry that is its first
// now. All of it: its links come by themselves, but what follows may lie in another cache line.
wheel_entry& wheel::take_opened() noexcept {
    const int ahead = std::countr_zero(std::rotr(filled_[opened_], static_cast<int>(turn_)));
    const unsigned stripe = (turn_ + static_cast<unsigned>(ahead)) % stripes;
    turn_ = stripe + 1;
    node* const& head = heads_[std::size_t{opened_} * stripes + stripe];
    wheel_entry& entry = entry_of(head);
    unlink(entry);
    if (head != nullptr) {
        detail::prefetch(&entry_of(head) + 1);
    }
    return entry;
}

} // namespace asio_wheel
