// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_MEMORY_PREFETCH_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_PREFETCH_HPP

namespace asio_wheel::detail {

/// Lets the memory bring what is at `address`, which need not be valid, while something else is
/// done. With a million timers that is most of what any of them costs.
inline void prefetch([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#endif
}

} // namespace asio_wheel::detail

#endif
