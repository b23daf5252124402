// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prefetching. Among a million timers, most of the cost of each is waiting for its memory.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_PREFETCH_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_PREFETCH_HPP

namespace asio_wheel::detail {

/// Begins to load the cache line at `address` for writing, and does not wait for it. The address
/// need not be valid.
inline void prefetch([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(address, 1);
#endif
}

} // namespace asio_wheel::detail

#endif
