// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Determines the memory of a wheel, and which of its cache lines change. Replaces operator new: for
// a program with one source file.

#ifndef ASIO_WHEEL_TEST_LOCKS_WHEEL_MEMORY_HPP
#define ASIO_WHEEL_TEST_LOCKS_WHEEL_MEMORY_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// The blocks that operator new returned while a function ran. Excludes the pages that a wheel of
/// very many slots gets from the system.
///
/// The heap determines where in a cache line a block begins, and so what shares a line. So this
/// class chooses it; such a block is never freed. One thread creates the wheels.
class wheel_memory {
public:
    static constexpr std::uintptr_t line_size = 64;

    /// `offset` is a multiple of the heap's alignment.
    template <class Function>
    void add_blocks_of(std::size_t offset, Function f) {
        const std::size_t first = noted;
        noting = true;
        begin_at = offset;
        f();
        noting = false;
        for (std::size_t i = first; i < noted; ++i) {
            blocks_.emplace_back(list[i], std::vector<std::byte>(list[i].size));
        }
    }

    /// Remembers the contents,
    void remember() {
        for (auto& [b, copy] : blocks_) {
            std::memcpy(copy.data(), b.begin, b.size);
        }
    }

    /// and returns the lines whose contents have changed. A change that was undone is not detected.
    [[nodiscard]] std::set<std::uintptr_t> changed() const {
        std::set<std::uintptr_t> lines;
        for (const auto& [b, copy] : blocks_) {
            for (std::size_t i = 0; i < b.size; ++i) {
                if (b.begin[i] != copy[i]) {
                    lines.insert(reinterpret_cast<std::uintptr_t>(b.begin + i) / line_size);
                }
            }
        }
        return lines;
    }

    /// For operator new. `alignment` is 1 if any alignment is sufficient. Returns null without
    /// memory.
    [[nodiscard]] static void* allocate(std::size_t size, std::size_t alignment) noexcept {
        if (!noting || noted == most) {
            return alignment == 1 ? std::malloc(std::max<std::size_t>(size, 1))
                                  : std::aligned_alloc(alignment, round_up(size, alignment));
        }
        const std::size_t shift = alignment == 1 ? begin_at : 0;
        const std::size_t a = std::max<std::size_t>(alignment, line_size);
        auto* const memory =
            static_cast<std::byte*>(std::aligned_alloc(a, round_up(size + shift, a)));
        if (memory == nullptr) {
            return nullptr;
        }
        list[noted++] = {memory + shift, size};
        return memory + shift;
    }

    static void deallocate(void* memory) noexcept {
        if (std::none_of(list, list + noted, [=](const block& b) { return b.begin == memory; })) {
            std::free(memory);
        }
    }

private:
    struct block {
        const std::byte* begin;
        std::size_t size;
    };

    [[nodiscard]] static std::size_t round_up(std::size_t size, std::size_t to) noexcept {
        return (size + to - 1) / to * to;
    }

    static constexpr std::size_t most = 256;
    static inline bool noting = false;
    static inline std::size_t begin_at = 0;
    static inline std::size_t noted = 0;
    static inline block list[most];

    std::vector<std::pair<block, std::vector<std::byte>>> blocks_;
};

} // namespace asio_wheel::test

// Not inline: otherwise g++ warns of mismatched malloc() and free().
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (void* const memory = asio_wheel::test::wheel_memory::allocate(size, 1)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto a = static_cast<std::size_t>(alignment);
    if (void* const memory = asio_wheel::test::wheel_memory::allocate(size, a)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    asio_wheel::test::wheel_memory::deallocate(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    asio_wheel::test::wheel_memory::deallocate(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    asio_wheel::test::wheel_memory::deallocate(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    asio_wheel::test::wheel_memory::deallocate(memory);
}

#endif
