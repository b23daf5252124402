// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Where operations live: in memory from the allocator associated with their handler or, if it has
// none, in blocks that each thread keeps for the next one. (Asio keeps two of them for a thread; a
// loop that moves many timeouts at once needs as many as are on their way.)

#ifndef ASIO_WHEEL_DETAIL_OP_MEMORY_HPP
#define ASIO_WHEEL_DETAIL_OP_MEMORY_HPP

#include <boost/asio/associated_allocator.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// The free blocks of this thread, by size: a multiple of `grain`, up to `largest`. The rest comes
/// from operator new, and what is more than `most` goes back there.
///
/// A block may be freed by another thread than the one that allocated it. What a thread keeps is
/// given back when it ends; whoever allocates thereafter, such as objects of static lifetime, is
/// served by operator new alone.
class free_blocks {
public:
    [[nodiscard]] static void* allocate(std::size_t size) {
        const std::size_t n = index_of(size);
        if (n < shelves && here_.shelf[n].first != nullptr) {
            auto& [first, count] = here_.shelf[n];
            --count;
            return std::exchange(first, first->next);
        }
        return ::operator new(n < shelves ? (n + 1) * grain : size);
    }

    static void deallocate(void* memory, std::size_t size) noexcept {
        const std::size_t n = index_of(size);
        if (n < shelves && here_.shelf[n].count < limit()) {
            auto& [first, count] = here_.shelf[n];
            ++count;
            first = ::new (memory) block{first};
        } else {
            ::operator delete(memory);
        }
    }

private:
    struct block {
        block* next;
    };
    struct shelf_of_blocks {
        block* first;
        std::size_t count;
    };

    static constexpr std::size_t grain = 16;
    static constexpr std::size_t largest = 256;
    static constexpr std::size_t shelves = largest / grain;
#ifdef __SANITIZE_ADDRESS__
    static constexpr std::size_t most = 2; // So that operations are seen to come and go.
#else
    static constexpr std::size_t most = 256; // Of each size.
#endif

    // Trivial, so that it can be used until the very end of the thread.
    struct state {
        shelf_of_blocks shelf[shelves];
        std::size_t limit; // 0 before the thread's end is watched, and after it.
        bool watched;
    };

    // Gives the blocks back at the end of the thread.
    struct keeper {
        keeper() noexcept { here_.limit = most; }
        keeper(const keeper&) = delete;
        keeper& operator=(const keeper&) = delete;
        ~keeper() {
            here_.limit = 0;
            for (auto& [first, count] : here_.shelf) {
                while (first != nullptr) {
                    ::operator delete(std::exchange(first, first->next));
                }
                count = 0;
            }
        }
    };

    [[nodiscard]] static constexpr std::size_t index_of(std::size_t size) noexcept {
        return (size - 1) / grain;
    }

    [[nodiscard]] static std::size_t limit() noexcept {
        if (!here_.watched) {
            here_.watched = true;
            static thread_local const keeper watch;
        }
        return here_.limit;
    }

    static inline thread_local constinit state here_{};
};

/// The allocator of a handler that has none of its own.
template <class T>
class block_allocator {
public:
    using value_type = T;

    block_allocator() = default;
    template <class U>
    block_allocator(const block_allocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t n) {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            return std::allocator<T>().allocate(n);
        } else {
            return static_cast<T*>(free_blocks::allocate(n * sizeof(T)));
        }
    }

    void deallocate(T* p, std::size_t n) noexcept {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            std::allocator<T>().deallocate(p, n);
        } else {
            free_blocks::deallocate(p, n * sizeof(T));
        }
    }

    friend bool operator==(const block_allocator&, const block_allocator&) noexcept { return true; }
};

/// Makes and frees operations with the allocator associated with their handler.
template <class Op, class Handler>
struct op_memory {
    using associated = boost::asio::associated_allocator_t<Handler, block_allocator<void>>;
    using allocator = typename std::allocator_traits<associated>::template rebind_alloc<Op>;
    using traits = std::allocator_traits<allocator>;

    [[nodiscard]] static allocator allocator_of(const Handler& handler) noexcept {
        return allocator(boost::asio::get_associated_allocator(handler, block_allocator<void>()));
    }

    // If this throws, `handler` has not been moved from, unless it was its own move that threw.
    template <class... Arguments>
    [[nodiscard]] static Op* create(Handler&& handler, Arguments&&... arguments) {
        allocator memory = allocator_of(handler);
        Op* const op = traits::allocate(memory, 1);
        try {
            return ::new (static_cast<void*>(op))
                Op(std::move(handler), std::forward<Arguments>(arguments)...);
        } catch (...) {
            traits::deallocate(memory, op, 1);
            throw;
        }
    }

    static void free(Op* op, const Handler& handler) noexcept {
        allocator memory = allocator_of(handler);
        op->~Op();
        traits::deallocate(memory, op, 1);
    }
};

} // namespace asio_wheel::detail

#endif
