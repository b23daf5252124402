// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory that begins with zeros. An empty level of a wheel is all zeros where that matters, so a
// new level need not write to its memory.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_ZERO_MEMORY_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_ZERO_MEMORY_HPP

#include <cstddef>
#include <utility>

namespace asio_wheel::detail {

/// A block of memory, aligned to a cache line. A large block comes from the system in pages, if the
/// system offers that: then only those pages that are used take real memory.
class zero_memory {
public:
    /// `size` bytes, of which the first `zeros` are zero. There is none if the system has none.
    zero_memory(std::size_t size, std::size_t zeros) noexcept;
    zero_memory(zero_memory&& other) noexcept
        : begin_(std::exchange(other.begin_, nullptr)), size_(other.size_) {}
    zero_memory& operator=(zero_memory&&) = delete;
    ~zero_memory();

    /// Null if there is none.
    [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::byte* begin_;
    std::size_t size_;
};

} // namespace asio_wheel::detail

#endif
