// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/tag_meter.hpp>

#include <asio_wheel/detail/time/saturating.hpp>

#include <algorithm>
#include <cstdint>

namespace asio_wheel::detail {
namespace {

using std::chrono::nanoseconds;

void add_to(nanoseconds& sum, nanoseconds d) noexcept {
    sum = add_saturating(sum, d);
}

void raise_to(nanoseconds& most, nanoseconds d) noexcept {
    most = (std::max)(most, d);
}

} // namespace

measured_tag& tag_meter::of(const wait_node& wait) noexcept {
    const char* const tag = wait.description().tag;
    const auto kind = static_cast<std::size_t>(wait.kind);
    const auto address = reinterpret_cast<std::uintptr_t>(tag);
    const std::size_t first = (address ^ (address >> 6U)) + kind;
    for (std::size_t i = 0; i < slots; ++i) {
        slot& s = slots_[(first + i) % slots];
        if (!s.used) {
            s.used = true;
            s.tag = tag;
            s.counted.numbers.kind = wait.kind;
            s.counted.numbers.tag = tag == nullptr ? "" : tag;
            return s.counted;
        }
        if (s.tag == tag && s.counted.numbers.kind == wait.kind) {
            return s.counted;
        }
    }
    measured_tag& others = others_[kind];
    others.numbers.kind = wait.kind;
    others.numbers.tag = tag_stats::others;
    return others;
}

void tag_meter::fired(measured_tag& of, nanoseconds late, nanoseconds delay) noexcept {
    tag_stats& t = of.numbers;
    ++t.fired;
    add_to(t.late, late);
    raise_to(t.longest_late, late);
    add_to(t.delayed, delay);
    raise_to(t.longest_delay, delay);
}

void tag_meter::ran(measured_tag& of, nanoseconds d, std::int64_t minute) noexcept {
    d = (std::max)(d, nanoseconds::zero()); // The clock may have been set back.
    ++of.numbers.handlers;
    add_to(of.numbers.ran, d);
    raise_to(of.numbers.longest_run, d);
    if (minute != of.minute) {
        of.most_before = minute == of.minute + 1 ? of.most : nanoseconds::zero();
        of.most = nanoseconds::zero();
        of.minute = minute;
    }
    raise_to(of.most, d);
}

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
