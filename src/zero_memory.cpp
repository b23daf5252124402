// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Large blocks are mapped, so their pages are zeros that take no memory until they are used. Small
// blocks come from the heap and are filled with zeros.
//
// calloc() would map large blocks, too. But it takes a block from the heap, and fills it, if the
// program has freed a block of that size before. Then all pages of the block are used.

#include <asio_wheel/detail/memory/zero_memory.hpp>

#include <asio_wheel/detail/memory/address_sanitizer.hpp>

#include <boost/throw_exception.hpp>

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

void* allocate_zeroed_from_heap(std::size_t size) {
    void* const memory = ::operator new(size, cache_line);
    return std::memset(memory, 0, size);
}

#if defined(MAP_ANONYMOUS)

// A mapping is rounded up to whole pages, which would waste memory for smaller blocks.
constexpr std::size_t min_mapping = 65'536;

void* allocate_zeroed(std::size_t size) {
    if (size < min_mapping) {
        return allocate_zeroed_from_heap(size);
    }
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        BOOST_THROW_EXCEPTION(std::bad_alloc());
    }
    return memory;
}

void deallocate(void* memory, std::size_t size) noexcept {
    if (size < min_mapping) {
        ::operator delete(memory, cache_line);
    } else {
        ::munmap(memory, size);
    }
}

#else

void* allocate_zeroed(std::size_t size) {
    return allocate_zeroed_from_heap(size);
}

void deallocate(void* memory, std::size_t) noexcept {
    ::operator delete(memory, cache_line);
}

#endif

} // namespace

zero_memory::zero_memory(std::size_t size)
    : begin_(static_cast<std::byte*>(allocate_zeroed(size))), size_(size) {}

zero_memory::~zero_memory() {
    deallocate(begin_, size_);
}

} // namespace asio_wheel::detail
