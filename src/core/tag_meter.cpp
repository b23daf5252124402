// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/tag_meter.hpp>

#include <algorithm>
#include <cstdint>

namespace asio_wheel::detail {

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

} // namespace asio_wheel::detail
