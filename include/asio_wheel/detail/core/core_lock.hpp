// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The lock of a wheel's core, and whether the core still exists.
//
// A wait whose handler has another executor is in the queue of another context, and may be there
// when the wheel's own context has ended. So it does not refer to the core, but to this object,
// which it owns together with others.

#ifndef ASIO_WHEEL_DETAIL_CORE_CORE_LOCK_HPP
#define ASIO_WHEEL_DETAIL_CORE_CORE_LOCK_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace asio_wheel::detail {

class core;

struct core_lock {
    core_lock(detail::core& c, bool locking, optional_mutex::complaint misuse)
        : mutex(locking, misuse), core(&c) {}

    optional_mutex mutex;
    detail::core* core; ///< Null when it has ended. Guarded by the mutex.
    /// The number of owners. The one that drops the last acquires what the others released: see the
    /// litmus test lifetime.
    atomic<std::size_t> owners{1};
};

/// Owns a lock together with others.
class core_lock_ptr {
public:
    /// Takes over the first share.
    explicit core_lock_ptr(core_lock* l) noexcept : lock_(l) {}
    core_lock_ptr(const core_lock_ptr& other) noexcept : lock_(other.lock_) {
        lock_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    core_lock_ptr(core_lock_ptr&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    core_lock_ptr& operator=(const core_lock_ptr&) = delete;
    ~core_lock_ptr() {
        if (lock_ != nullptr && lock_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy(lock_);
        }
    }

    [[nodiscard]] core_lock* operator->() const noexcept { return lock_; }
    [[nodiscard]] core_lock& operator*() const noexcept { return *lock_; }

    friend bool operator==(const core_lock_ptr&, const core_lock_ptr&) noexcept = default;

private:
    // Not inlined: g++ 12 cannot see that only the last owner comes here, and warns of the others.
    ASIO_WHEEL_NOINLINE static void destroy(core_lock* l) noexcept { delete l; }

    core_lock* lock_;
};

} // namespace asio_wheel::detail

#endif
