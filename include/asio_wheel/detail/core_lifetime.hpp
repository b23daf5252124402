// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The lock of a wheel's core, and whether the core is still there.
//
// An operation whose handler belongs on another context waits in that context's queue, and may be
// there when the wheel's own context has ended. So it does not refer to the core, but to this,
// which it owns together with others.

#ifndef ASIO_WHEEL_DETAIL_CORE_LIFETIME_HPP
#define ASIO_WHEEL_DETAIL_CORE_LIFETIME_HPP

#include <asio_wheel/detail/optional_mutex.hpp>
#include <asio_wheel/detail/sync.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

namespace asio_wheel::detail {

/// Memory for one executor_hop at a time, for when there is no other. An executor allocates up to
/// two blocks for a function: a strand one for its queue and one for its turn.
///
/// Guarded by the mutex of the lifetime it is part of.
class hop_reserve {
public:
    static constexpr std::size_t block_size = 128;

    [[nodiscard]] bool complete() const noexcept { return !taken_[0] && !taken_[1]; }

    /// Null if both blocks are taken.
    [[nodiscard]] void* take() noexcept {
        for (std::size_t i = 0; i < taken_.size(); ++i) {
            if (!std::exchange(taken_[i], true)) {
                return blocks_[i].data();
            }
        }
        return nullptr;
    }

    /// Needs no lock.
    [[nodiscard]] bool contains(const void* memory) const noexcept {
        return memory == blocks_[0].data() || memory == blocks_[1].data();
    }

    void give_back(const void* memory) noexcept {
        taken_[memory == blocks_[0].data() ? 0 : 1] = false;
    }

private:
    using block = std::array<std::byte, block_size>;

    alignas(std::max_align_t) std::array<block, 2> blocks_;
    std::array<bool, 2> taken_{};
};

template <class Core>
struct core_lifetime {
    core_lifetime(Core& c, bool locking) noexcept : mutex(locking), core(&c) {}

    optional_mutex mutex;
    Core* core; ///< Null when it has ended. Guarded by the mutex.
    hop_reserve reserve;
    /// How many own it. Dropping the last one acquires what the others released.
    atomic<std::size_t> owners{1};
};

/// Owns a lifetime together with others.
template <class Core>
class lifetime_ptr {
public:
    /// Takes over the first share.
    explicit lifetime_ptr(core_lifetime<Core>* l) noexcept : lifetime_(l) {}
    lifetime_ptr(const lifetime_ptr& other) noexcept : lifetime_(other.lifetime_) {
        lifetime_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    lifetime_ptr(lifetime_ptr&& other) noexcept
        : lifetime_(std::exchange(other.lifetime_, nullptr)) {}
    lifetime_ptr& operator=(const lifetime_ptr&) = delete;
    ~lifetime_ptr() {
        if (lifetime_ != nullptr &&
            lifetime_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy(lifetime_);
        }
    }

    [[nodiscard]] core_lifetime<Core>* operator->() const noexcept { return lifetime_; }
    [[nodiscard]] core_lifetime<Core>& operator*() const noexcept { return *lifetime_; }

    friend bool operator==(const lifetime_ptr&, const lifetime_ptr&) noexcept = default;

private:
    // Not inlined: g++ 12 cannot see that only the last owner comes here, and warns of the others.
    [[gnu::noinline]] static void destroy(core_lifetime<Core>* l) noexcept { delete l; }

    core_lifetime<Core>* lifetime_;
};

} // namespace asio_wheel::detail

#endif
