// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Large blocks are mapped, so their pages are zeros that take no memory until they are used. Small
// blocks come from the heap and are filled with zeros, as far as they have to be.
//
// calloc() would map large blocks, too. But it takes a block from the heap, and fills it, if the
// program has freed a block of that size before. Then all pages of the block are used.

#include <asio_wheel/detail/memory/zero_memory.hpp>

#include <asio_wheel/detail/memory/address_sanitizer.hpp>

#include <cstring>
#include <new>

// With AddressSanitizer everything comes from the heap. It does not search mapped memory for
// pointers, so it would report objects as leaked that only a wheel points to.
#if !defined(ASIO_WHEEL_HAS_ADDRESS_SANITIZER) && __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace asio_wheel::detail {

namespace {

constexpr std::align_val_t cache_line{64};

void* allocate_from_heap(std::size_t size, std::size_t zeros) noexcept {
    void* const memory = ::operator new(size, cache_line, std::nothrow);
    return memory == nullptr ? nullptr : std::memset(memory, 0, zeros);
}

#if defined(MAP_ANONYMOUS)

// A mapping is rounded up to whole pages, which would waste memory for smaller blocks.
constexpr std::size_t min_mapping = 65'536;

void* allocate(std::size_t size, std::size_t zeros) noexcept {
    if (size < min_mapping) {
        return allocate_from_heap(size, zeros);
    }
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void deallocate(void* memory, std::size_t size) noexcept {
    if (size < min_mapping) {
        ::operator delete(memory, cache_line);
    } else {
        ::munmap(memory, size);
    }
}

#else

void* allocate(std::size_t size, std::size_t zeros) noexcept {
    return allocate_from_heap(size, zeros);
}

void deallocate(void* memory, std::size_t) noexcept {
    ::operator delete(memory, cache_line);
}

#endif

} // namespace

zero_memory::zero_memory(std::size_t size, std::size_t zeros) noexcept
    : begin_(static_cast<std::byte*>(allocate(size, zeros))), size_(size) {}

zero_memory::~zero_memory() {
    if (begin_ != nullptr) {
        deallocate(begin_, size_);
    }
}

} // namespace asio_wheel::detail
