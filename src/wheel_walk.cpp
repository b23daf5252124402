// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/wheel/wheel_walk.hpp>

#include <boost/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace asio_wheel::detail {

namespace {

// Whether a node is the head of a list in one of these slots.
template <class Slot>
bool is_head(const Slot* first, std::size_t count, const void* node) noexcept {
    const auto* const address = static_cast<const Slot*>(node);
    return address >= first && address < first + count;
}

} // namespace

wheel_walk::progress wheel_walk::step(std::span<wheel_entry*> found) noexcept {
    BOOST_ASSERT(!found.empty());
    wheel& w = wheel_;
    const std::uint32_t opened = w.own_.first + wheel::opened;
    const std::uint32_t held = w.own_.first + wheel::held;
    wheel::node* next = nullptr;
    if (bookmark_.filed()) {
        next = wheel::next_of(wheel::node_of(bookmark_));
        take_bookmark();
    }
    std::size_t count = 0;
    std::uint32_t passed = 0;
    for (; place_ <= held; ++place_, list_ = 0) {
        if (passed++ == most_slots) {
            return {count, true};
        }
        // Entries come to the opened slot from all others without a question. So it is the last.
        const std::uint32_t number = place_ < opened ? place_ : place_ == opened ? held : opened;
        if (number < w.own_.first && w.level_number(number >> w.bits_) == nullptr) {
            place_ |= static_cast<std::uint32_t>(w.mask_); // Its last slot.
            continue;
        }
        const wheel_level& level = w.level_with(number);
        const std::size_t index = number - level.first;
        if (next == nullptr && level.states[index].filled == 0) {
            continue;
        }
        for (; list_ < wheel::stripes; ++list_, next = nullptr) {
            if (next == nullptr) {
                if ((level.states[index].filled >> list_ & 1U) == 0) {
                    continue;
                }
                next = wheel::next_of(&level.slots[index].lists[list_]);
            }
            // If the bookmark's slot was opened meanwhile, its list ends in the opened slot.
            for (; !is_head(level.slots + index, 1, next) &&
                   !is_head(w.own_.slots, wheel::own_slots, next);
                 next = wheel::next_of(next)) {
                if (count == found.size()) {
                    wheel::algorithms::link_before(next, wheel::node_of(bookmark_));
                    bookmark_.deadline_ = last_tick;
                    // No entry says that it was filed in the opened slot.
                    bookmark_.slot_ = number == opened ? held : number;
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
