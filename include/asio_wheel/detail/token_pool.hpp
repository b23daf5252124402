// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_TOKEN_POOL_HPP
#define ASIO_WHEEL_DETAIL_TOKEN_POOL_HPP

#include <asio_wheel/detail/native_executor.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <variant>

namespace asio_wheel::detail {

/// Tokens: small functions handed to the context, each of which makes the service do one thing on a
/// thread of it.
///
/// A token goes into memory that the pool keeps for it, so handing it over does not allocate. The
/// memory is free again when the token runs, and comes back to the pool with give_back(); that of a
/// token which never runs because its context has ended is freed with the pool.
///
/// Guarded by the wheel's lock, but for post().
template <class Owner>
class token_pool {
public:
    /// Whether a token is to complete one operation, or to go on with a tick.
    enum class purpose { deliver, tick };

    class block {
        friend class token_pool;
        static constexpr std::size_t room = 128;

        Owner* owner_ = nullptr;
        block* next_ = nullptr; // In the free list or in a batch.
        block* older_ = nullptr;
        block* newer_ = nullptr;
        purpose purpose_ = purpose::deliver;
        bool occupied_ = false;
        alignas(std::max_align_t) std::byte memory_[room];
    };

    /// Blocks taken for tokens that are to be posted, in order.
    class batch {
        friend class token_pool;
        block* first_ = nullptr;
        block** end_ = &first_;

    public:
        batch() = default;
        batch(const batch&) = delete;
        batch& operator=(const batch&) = delete;
        [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    };

    // There is always one block, free or in use: so tokens that are owed for want of memory are
    // posted at last, one after the other.
    explicit token_pool(Owner& owner) : owner_(owner) { give_back(*create()); }

    token_pool(const token_pool&) = delete;
    token_pool& operator=(const token_pool&) = delete;

    ~token_pool() {
        while (newest_ != nullptr) {
            delete std::exchange(newest_, newest_->older_);
        }
    }

    /// Adds one block to `tokens`. May throw std::bad_alloc.
    void take(batch& tokens, purpose why) {
        block* const b = free_ != nullptr ? take_free() : create();
        b->purpose_ = why;
        b->next_ = nullptr;
        *tokens.end_ = b;
        tokens.end_ = &b->next_;
    }

    /// Gives the memory of a token that has run, or was not posted, back. Keeps enough for the next
    /// burst, not for the largest one.
    void give_back(block& b) noexcept {
        if (free_count_ < max_free) {
            b.next_ = std::exchange(free_, &b);
            ++free_count_;
        } else {
            destroy(&b);
        }
    }

    /// Posts the tokens one by one with `submit(function)`. If that throws, the rest is left in
    /// `tokens`.
    template <class Submit>
    static void post(batch& tokens, Submit submit) {
        while (tokens.first_ != nullptr) {
            block* const b = tokens.first_;
            block* const next = b->next_; // The block may be at work again before submit() returns.
            submit(token(*b));
            tokens.first_ = next;
        }
    }

    /// Takes the first block out of a batch that could not be posted.
    [[nodiscard]] static std::pair<block*, purpose> take_back(batch& tokens) noexcept {
        block* const b = std::exchange(tokens.first_, tokens.first_->next_);
        return {b, b->purpose_};
    }

    /// Submits tokens to a context by its own executor.
    struct submit_to_native {
        const native_executor& native;

        template <class Token>
        void operator()(Token token) const {
            std::visit(
                [&token](const auto& ex) {
                    if constexpr (!std::is_same_v<const std::monostate&, decltype(ex)>) {
                        namespace asio = boost::asio;
                        // Not a continuation: other threads may take it at once.
                        asio::prefer(asio::require(ex, asio::execution::blocking.never),
                                     asio::execution::allocator(token.get_allocator()))
                            .execute(token);
                    }
                },
                native);
        }
    };

private:
    static constexpr std::size_t max_free = 1024;

    // Allocates from a token's own block what the context needs to keep the token.
    template <class T>
    class block_allocator {
    public:
        using value_type = T;

        explicit block_allocator(block& b) noexcept : block_(&b) {}
        template <class U>
        block_allocator(const block_allocator<U>& other) noexcept : block_(other.block_) {}

        [[nodiscard]] T* allocate(std::size_t n) {
            if (n * sizeof(T) <= block::room && alignof(T) <= alignof(std::max_align_t) &&
                !block_->occupied_) {
                block_->occupied_ = true;
                return reinterpret_cast<T*>(block_->memory_);
            }
            return std::allocator<T>().allocate(n);
        }

        void deallocate(T* p, std::size_t n) noexcept {
            if (static_cast<void*>(p) == static_cast<void*>(block_->memory_)) {
                block_->occupied_ = false;
            } else {
                std::allocator<T>().deallocate(p, n);
            }
        }

        friend bool operator==(const block_allocator& a, const block_allocator& b) noexcept {
            return a.block_ == b.block_;
        }

        block* block_;
    };

    class token {
    public:
        explicit token(block& b) noexcept : block_(&b) {}

        using allocator_type = block_allocator<void>;
        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(*block_);
        }

        void operator()(const boost::system::error_code& = {}) const {
            block_->owner_->on_token(*block_, block_->purpose_);
        }

    private:
        block* block_;
    };

    [[nodiscard]] block* take_free() noexcept {
        --free_count_;
        return std::exchange(free_, free_->next_);
    }

    [[nodiscard]] block* create() {
        auto* const b = new block;
        b->owner_ = &owner_;
        b->older_ = newest_;
        if (newest_ != nullptr) {
            newest_->newer_ = b;
        }
        return newest_ = b;
    }

    void destroy(block* b) noexcept {
        (b->newer_ != nullptr ? b->newer_->older_ : newest_) = b->older_;
        if (b->older_ != nullptr) {
            b->older_->newer_ = b->newer_;
        }
        delete b;
    }

    Owner& owner_;
    block* free_ = nullptr;
    std::size_t free_count_ = 0;
    block* newest_ = nullptr; // All blocks, newest first, wherever they are.
};

} // namespace asio_wheel::detail

#endif
