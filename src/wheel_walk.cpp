// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/wheel/wheel_walk.hpp>

#include <boost/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace asio_wheel::detail {

wheel_walk::progress wheel_walk::step(std::span<wheel_entry*> found) noexcept {
    BOOST_ASSERT(!found.empty());
    wheel& w = wheel_;
    // A list ends with the node of its head. If the bookmark's slot was opened meanwhile, that is
    // not the head of the list in which the bookmark was.
    const auto is_head = [first = w.slots_, end = w.slots_ + w.held_ + 1](const wheel::node* n) {
        const auto* const address = reinterpret_cast<const wheel::slot*>(n);
        return address >= first && address < end;
    };
    wheel::node* next = nullptr;
    if (bookmark_.filed()) {
        next = wheel::next_of(wheel::node_of(bookmark_));
        take_bookmark();
    }
    std::size_t count = 0;
    std::uint32_t passed = 0;
    for (; place_ <= w.held_; ++place_, list_ = 0) {
        if (passed++ == most_slots) {
            return {count, true};
        }
        // Entries come to the opened slot from all others without a question. So it is the last.
        const std::uint32_t slot = place_ < w.opened_    ? place_
                                   : place_ == w.opened_ ? w.held_
                                                         : w.opened_;
        if (next == nullptr && w.states_[slot].filled == 0) {
            continue;
        }
        for (; list_ < wheel::stripes; ++list_, next = nullptr) {
            if (next == nullptr) {
                if ((w.states_[slot].filled >> list_ & 1U) == 0) {
                    continue;
                }
                next = wheel::next_of(&w.slots_[slot].lists[list_]);
            }
            for (; !is_head(next); next = wheel::next_of(next)) {
                if (count == found.size()) {
                    wheel::algorithms::link_before(next, wheel::node_of(bookmark_));
                    bookmark_.deadline_ = last_tick;
                    // No entry says that it was filed in the opened slot.
                    bookmark_.slot_ = slot == w.opened_ ? w.held_ : slot;
                    ++w.size_;
                    return {count, true};
                }
                found[count++] = &wheel::entry_of(next);
            }
        }
    }
    place_ = 0;
    return {count, false};
}

void wheel_walk::take_bookmark() noexcept {
    if (bookmark_.filed()) {
        wheel_.erase(bookmark_);
    }
}

} // namespace asio_wheel::detail
