// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a thread holds while it uses a core under its lock. See core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_CORE_CORE_SCOPES_HPP
#define ASIO_WHEEL_DETAIL_CORE_CORE_SCOPES_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_guarded.hpp>

#include <mutex>

namespace asio_wheel::detail {

// Holds the lock, and so leads to what that guards. After releasing it, puts into the context's
// queue what became ready meanwhile.
class core::locked {
public:
    // `purpose` is for the message if a wheel without a lock is used by two threads at a time.
    locked(core& c, const char* purpose) : core_(c), lock_(c.lock_->mutex, std::defer_lock) {
        lock(purpose);
    }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() {
        if (lock_.owns_lock()) {
            release();
        }
    }
    [[nodiscard]] guarded* operator->() const noexcept { return core_.guarded_.get(); }

    void release() noexcept {
        outbox& out = core_.guarded_->out();
        if (out.empty()) {
            lock_.unlock();
        } else {
            out.post(&lock_);
        }
    }
    /// Releases the lock, and takes it again.
    void post() {
        release();
        lock("its turn");
    }

private:
    void lock(const char* purpose) {
        core_.lock_->mutex.lock(purpose);
        lock_ = std::unique_lock(core_.lock_->mutex, std::adopt_lock);
    }

    core& core_;
    std::unique_lock<optional_mutex> lock_;
};

// Lives, under the lock, while the core changes timers that belong to other threads: see
// visit_count.hpp. While the wheel gives way after a stall, the count stays odd. So owners take the
// lock, and the wheel learns which waits are saved.
class core::visit {
public:
    explicit visit(core& c) noexcept : core_(c) { core_.visits_.begin(); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
        const bool goes_on = core_.guarded_->stall_.giving_way();
        core_.visits_.end(goes_on);
        core_.anchor_->time.want_touches(goes_on);
    }

private:
    core& core_;
};

} // namespace asio_wheel::detail

#endif
