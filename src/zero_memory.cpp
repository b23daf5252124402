// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// calloc() has the pages of zeros, too, but only for blocks that are larger than those that the
// program has freed before: smaller ones it fills with zeros, and so touches all of them.

#include <asio_wheel/detail/zero_memory.hpp>

#include <cstring>
#include <new>

// AddressSanitizer does not look for pointers in memory that does not come from the heap, and would
// take for lost what only the wheel points to.
#if defined(__SANITIZE_ADDRESS__)
#define ASIO_WHEEL_USES_THE_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASIO_WHEEL_USES_THE_HEAP
#endif
#endif

#if !defined(ASIO_WHEEL_USES_THE_HEAP) && __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace asio_wheel::detail {

#if defined(MAP_ANONYMOUS)

zero_memory::zero_memory(std::size_t size) : size_(size) {
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    begin_ = static_cast<std::byte*>(memory);
}

zero_memory::~zero_memory() {
    if (begin_ != nullptr) {
        ::munmap(begin_, size_);
    }
}

#else

namespace {

constexpr std::align_val_t cache_line{64};

} // namespace

zero_memory::zero_memory(std::size_t size)
    : begin_(static_cast<std::byte*>(::operator new(size, cache_line))), size_(size) {
    std::memset(begin_, 0, size);
}

zero_memory::~zero_memory() {
    ::operator delete(begin_, cache_line);
}

#endif

} // namespace asio_wheel::detail
