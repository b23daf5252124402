// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The lock of a wheel's core, and whether the core still exists.
//
// A wait whose handler has another executor is in the queue of another context, and may be there
// when the wheel's own context has ended. So it does not refer to the core, but to this object,
// which it owns together with others.

#ifndef ASIO_WHEEL_DETAIL_CORE_CORE_LIFETIME_HPP
#define ASIO_WHEEL_DETAIL_CORE_CORE_LIFETIME_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace asio_wheel::detail {

class core;

struct core_lifetime {
    core_lifetime(detail::core& c, bool locking, optional_mutex::complaint misuse)
        : mutex(locking, misuse), core(&c) {}

    optional_mutex mutex;
    detail::core* core; ///< Null when it has ended. Guarded by the mutex.
    /// The number of owners. The one that drops the last acquires what the others released: see the
    /// litmus test lifetime.
    atomic<std::size_t> owners{1};
};

/// Owns a lifetime together with others.
class lifetime_ptr {
public:
    /// Takes over the first share.
    explicit lifetime_ptr(core_lifetime* l) noexcept : lifetime_(l) {}
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

    [[nodiscard]] core_lifetime* operator->() const noexcept { return lifetime_; }
    [[nodiscard]] core_lifetime& operator*() const noexcept { return *lifetime_; }

    friend bool operator==(const lifetime_ptr&, const lifetime_ptr&) noexcept = default;

private:
    // Not inlined: g++ 12 cannot see that only the last owner comes here, and warns of the others.
    ASIO_WHEEL_NOINLINE static void destroy(core_lifetime* l) noexcept { delete l; }

    core_lifetime* lifetime_;
};

} // namespace asio_wheel::detail

#endif
