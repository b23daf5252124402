// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel is stopped.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <vector>

namespace asio_wheel::detail {

std::size_t core::stop() noexcept {
    const locked guard(*this, "drain()");
    stall_.end();
    stopped_ = true; // No wait starts from now on: but one may on each tombstone, until its slice
                     // comes.
    return static_cast<std::size_t>(counts_.pending()) + book_.entries().size();
}

bool core::drain(std::vector<time_count>& expiries) noexcept {
    const locked guard(*this, "drain()");
    const visit others(*this);
    expiries.clear();
    return book_.take_all([&](timer_state& s) {
        const std::size_t some = abort_some(s, options_.budget - expiries.size());
        expiries.insert(expiries.end(), some, s.expiry.get());
        const bool all = s.waits.empty(); // Or it has more waits than a slice takes.
        if (all) {
            delivery_.settle(s);
        }
        return all;
    });
}

} // namespace asio_wheel::detail
