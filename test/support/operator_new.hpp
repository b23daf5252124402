// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Replaces every form of operator new by one that counts and can fail on request. Include it in one
// source file of a test program, before everything else: it also makes Asio use operator new, which
// other files must not see differently (// pch: off).

#ifndef ASIO_WHEEL_TEST_SUPPORT_OPERATOR_NEW_HPP
#define ASIO_WHEEL_TEST_SUPPORT_OPERATOR_NEW_HPP

#ifdef BOOST_ASIO_DETAIL_CONFIG_HPP
#error "support/operator_new.hpp has to come before Asio"
#endif

// Asio allocates the memory of handlers by aligned_alloc(), if available. Otherwise it uses
// operator new.
#define BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC 1
#define BOOST_ASIO_DISABLE_BOOST_ALIGN 1

#include "support/fault_line.hpp"

#include <boost/align/aligned_alloc.hpp>

#include <atomic>
#include <cstddef>
#include <new>

namespace asio_wheel::test {

/// The counts of operator new and delete.
struct heap_count {
    std::atomic<std::size_t> live{0};
    std::atomic<std::size_t> total{0};
    fault_line faults; ///< Which allocations throw.
};

inline heap_count heap;

/// Returns the number of allocations in a call of `function`.
template <class Function>
[[nodiscard]] std::size_t allocations_of(Function function) {
    const std::size_t before = heap.total;
    function();
    return heap.total - before;
}

/// Makes the allocation after the next `n` throw std::bad_alloc, if it happens while this exists.
class fail_after {
public:
    explicit fail_after(std::size_t n) { heap.faults.watch(n, n + 1); }
    fail_after(const fail_after&) = delete;
    fail_after& operator=(const fail_after&) = delete;
    ~fail_after() { heap.faults.ignore(); }

    [[nodiscard]] bool has_failed() const { return heap.faults.failed() != 0; }
};

/// Makes every allocation throw std::bad_alloc while this exists.
class out_of_memory {
public:
    out_of_memory() { heap.faults.watch(0, fault_line::endless); }
    out_of_memory(const out_of_memory&) = delete;
    out_of_memory& operator=(const out_of_memory&) = delete;
    ~out_of_memory() { heap.faults.ignore(); }
};

/// Calls `allocate` and counts; returns null if the allocation must fail.
template <class Allocate>
[[nodiscard]] void* counted(Allocate allocate) noexcept {
    void* const memory = heap.faults.strikes() ? nullptr : allocate();
    if (memory != nullptr) {
        ++heap.live;
        ++heap.total;
    }
    return memory;
}

} // namespace asio_wheel::test

// Not inline: otherwise compilers warn that memory of operator new is passed to a function other
// than operator delete.
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
    return asio_wheel::test::counted([size, alignment] {
        return boost::alignment::aligned_alloc(static_cast<std::size_t>(alignment), size);
    });
}

[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return operator new(size, std::align_val_t(__STDCPP_DEFAULT_NEW_ALIGNMENT__), std::nothrow);
}

[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    return memory != nullptr ? memory : throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    void* const memory = operator new(size, alignment, std::nothrow);
    return memory != nullptr ? memory : throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
    if (memory != nullptr) {
        --asio_wheel::test::heap.live;
        boost::alignment::aligned_free(memory);
    }
}

// All other forms call those above. (The standard's own do that by default, but AddressSanitizer's
// do not.)
[[gnu::noinline]] void* operator new[](std::size_t size) {
    return operator new(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
    return operator new(size, alignment);
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
    return operator new(size, tag);
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment,
                                       const std::nothrow_t& tag) noexcept {
    return operator new(size, alignment, tag);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t,
                                       const std::nothrow_t&) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t,
                                         const std::nothrow_t&) noexcept {
    operator delete(memory);
}

#endif
