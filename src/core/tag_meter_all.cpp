// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a tag meter has counted, with equal texts merged. It is a source of its own, so that a
// program that never reads these numbers does not link what sorts and merges them.

#include <asio_wheel/detail/core/tag_meter.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace asio_wheel::detail {

std::vector<tag_stats> tag_meter::all(std::int64_t minute) const {
    std::vector<tag_stats> result;
    const auto merge = [&](const measured_tag& of) {
        tag_stats t = of.numbers;
        if (minute == of.minute) {
            t.recent_run = (std::max)(of.most, of.most_before);
        } else if (minute == of.minute + 1) {
            t.recent_run = of.most;
        }
        const auto same = [&](const tag_stats& r) { return r.kind == t.kind && r.tag == t.tag; };
        const auto found = std::find_if(result.begin(), result.end(), same);
        if (found == result.end()) {
            result.push_back(t);
            return;
        }
        found->fired += t.fired;
        found->wake_ups += t.wake_ups;
        found->handlers += t.handlers;
        add_to(found->late, t.late);
        add_to(found->delayed, t.delayed);
        add_to(found->ran, t.ran);
        raise_to(found->longest_late, t.longest_late);
        raise_to(found->longest_delay, t.longest_delay);
        raise_to(found->longest_run, t.longest_run);
        raise_to(found->recent_run, t.recent_run);
    };
    for (const slot& s : slots_) {
        if (s.used) {
            merge(s.counted);
        }
    }
    for (const measured_tag& of : others_) {
        if (!of.numbers.tag.empty()) {
            merge(of);
        }
    }
    std::sort(result.begin(), result.end(), [](const tag_stats& a, const tag_stats& b) {
        return a.ran != b.ran ? a.ran > b.ran : a.kind != b.kind ? a.kind < b.kind : a.tag < b.tag;
    });
    return result;
}

} // namespace asio_wheel::detail
