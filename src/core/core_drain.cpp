// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel is stopped.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <algorithm>
#include <cstddef>

namespace asio_wheel::detail {

std::size_t core::stop() noexcept {
    const locked guard(*this, "drain()");
    guard->stall_.end();
    // No wait starts from now on: but one may on each tombstone, until its slice comes.
    ++guard->stops_;
    return static_cast<std::size_t>(counts_.pending()) + guard->book_.entries().size();
}

void core::undo_stop() noexcept {
    const locked guard(*this, "drain()");
    --guard->stops_;
    guard->end_stall(); // Otherwise the first visit of drain() would have said that.
}

std::size_t core::drain(std::span<time_count> expiries, bool& more) noexcept {
    const locked guard(*this, "drain()");
    const visit others(*this);
    std::size_t aborted = 0;
    more = guard->book_.take_all([&](timer_state& s) {
        const std::size_t some = guard->abort_some(s, options_.budget - aborted);
        std::fill_n(expiries.begin() + static_cast<std::ptrdiff_t>(aborted), some, s.expiry.get());
        aborted += some;
        const bool all = s.waits.empty(); // Or it has more waits than a slice takes.
        if (all) {
            guard->delivery_.settle(s);
        }
        return all;
    });
    return aborted;
}

} // namespace asio_wheel::detail
