// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tree of earliest ticks. Keys are inverted ticks, so the earliest tick has the greatest key.

#include <asio_wheel/detail/wheel/earliest_ticks.hpp>

#include <algorithm>
#include <utility>

namespace asio_wheel::detail {

earliest_ticks::earliest_ticks(key* keys, std::size_t slots) noexcept : keys_(keys) {
    for (std::size_t nodes = slots; nodes > 1; nodes = (nodes + fan - 1) / fan) {
        begin_[height_++] = room_;
        room_ += (nodes + fan - 1) / fan * fan;
    }
    begin_[height_] = room_++;
}

// Compares pairs, by value. So there is no branch to mispredict, and each comparison waits for two
// others at most.
inline earliest_ticks::key earliest_ticks::greatest(const key* c) noexcept {
    static_assert(fan == 8);
    const auto greater = [](key a, key b) { return a < b ? b : a; };
    const key left = greater(greater(c[0], c[1]), greater(c[2], c[3]));
    const key right = greater(greater(c[4], c[5]), greater(c[6], c[7]));
    return greater(left, right);
}

// Goes up from the last child of a node to the next node, and down to the first child of one that
// has a tick. It does not go above the root, because no slot is behind the root's last one.
std::size_t earliest_ticks::first_between(std::size_t begin, std::size_t end) const noexcept {
    unsigned h = 0;
    std::size_t width = 1; // How many slots are below a node of this height.
    for (std::size_t node = begin; node * width < end;) {
        if (keys_[begin_[h] + node] == 0) {
            ++node;
            for (; node % fan == 0; ++h, width *= fan) {
                node /= fan;
            }
        } else if (h == 0) {
            return node;
        } else {
            --h;
            width /= fan;
            node *= fan;
        }
    }
    return end;
}

void earliest_ticks::lower(std::size_t slot, tick_t tick) noexcept {
    const key inverted = ~tick;
    keys_[slot] = inverted;
    for (unsigned h = 1; h <= height_; ++h) {
        slot /= fan;
        key& parent = keys_[begin_[h] + slot];
        if (parent >= inverted) {
            return;
        }
        parent = inverted;
    }
}

void earliest_ticks::forget(std::size_t slot) noexcept {
    const key removed = std::exchange(keys_[slot], key{0});
    for (unsigned h = 1; h <= height_; ++h) {
        slot /= fan;
        key& parent = keys_[begin_[h] + slot];
        if (parent != removed) {
            return;
        }
        parent = greatest(keys_ + begin_[h - 1] + slot * fan);
    }
}

} // namespace asio_wheel::detail
