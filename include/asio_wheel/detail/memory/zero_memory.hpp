// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory that is all zeros. An empty wheel is all zeros, too, so a new wheel need not write to its
// memory.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_ZERO_MEMORY_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_ZERO_MEMORY_HPP

#include <cstddef>

namespace asio_wheel::detail {

/// A block of zeros, aligned to a cache line. A large block comes from the system in pages, if the
/// system offers that: then only those pages that are used take real memory.
class zero_memory {
public:
    /// Throws std::bad_alloc.
    explicit zero_memory(std::size_t size);
    zero_memory(const zero_memory&) = delete;
    zero_memory& operator=(const zero_memory&) = delete;
    ~zero_memory();

    [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::byte* begin_;
    std::size_t size_;
};

} // namespace asio_wheel::detail

#endif
