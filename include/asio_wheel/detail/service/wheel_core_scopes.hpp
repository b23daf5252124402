// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a thread holds while it uses a wheel: its lock, a turn of the context, a visit. See
// wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_SCOPES_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_SCOPES_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>

namespace asio_wheel::detail {

// Lives while a thread of the context runs a handler for the wheel. Its end disarms the driver
// if no wait is pending any more. If the handler has cancelled waits, these are in the queue,
// and the turn of the last one does it.
template <class Clock, class WaitTraits>
class wheel_core<Clock, WaitTraits>::handler_scope {
public:
    explicit handler_scope(wheel_core& core) noexcept
        : core_(core), counts_(core.counts_.here()), cancelled_(counts_.cancelled_so_far()) {
        core.lifetime_->mutex.enter("running handlers");
    }
    handler_scope(const handler_scope&) = delete;
    handler_scope& operator=(const handler_scope&) = delete;
    ~handler_scope() {
        if (!core_.idle_.load(std::memory_order_relaxed) && core_.may_be_all(counts_, 0) &&
            counts_.cancelled_so_far() == cancelled_) {
            const locked guard(core_, "running handlers");
            static_cast<void>(core_.become_idle());
        }
        core_.lifetime_->mutex.leave();
    }

    [[nodiscard]] thread_block& counts() const noexcept { return counts_; }

private:
    wheel_core& core_;
    thread_block& counts_;
    const std::uint64_t cancelled_;
};

// A wait's turn in the context's queue. If it is claimed(), the caller completes it. Else the
// caller must not touch it.
template <class Clock, class WaitTraits>
class wheel_core<Clock, WaitTraits>::delivery {
public:
    delivery(wheel_core& core, wait_op& op) noexcept
        : scope_(core), claimed_(op.where() == wait_op::location::queue_final ||
                                 core.claim_in_queue(op, scope_.counts())) {}
    [[nodiscard]] bool claimed() const noexcept { return claimed_; }

private:
    const handler_scope scope_;
    const bool claimed_;
};

// Holds the lock. After releasing it, puts into the context's queue what became ready
// meanwhile.
template <class Clock, class WaitTraits>
class wheel_core<Clock, WaitTraits>::locked {
public:
    // `purpose` is for the message if a wheel without a lock is used by two threads at a time.
    locked(wheel_core& core, const char* purpose)
        : core_(core), lock_(core.lifetime_->mutex, std::defer_lock) {
        core.lifetime_->mutex.lock(purpose);
        lock_ = std::unique_lock(core.lifetime_->mutex, std::adopt_lock);
    }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() {
        if (lock_.owns_lock()) {
            release();
        }
    }
    void release() noexcept {
        if (core_.ready_.empty()) {
            lock_.unlock();
            return;
        }
        operation_batch ready(std::move(core_.ready_));
        lock_.unlock();
        core_.queue_.post(ready);
    }
    /// Releases the lock, and takes it again.
    void post() {
        release();
        core_.lifetime_->mutex.lock("its turn");
        lock_ = std::unique_lock(core_.lifetime_->mutex, std::adopt_lock);
    }

private:
    wheel_core& core_;
    std::unique_lock<optional_mutex> lock_;
};

// Lives, under the lock, while the core changes timers that belong to other threads: see
// visit_count.hpp. While the wheel gives way after a stall, the count stays odd. So owners take the
// lock, and the wheel learns which waits are saved.
template <class Clock, class WaitTraits>
class wheel_core<Clock, WaitTraits>::visit {
public:
    explicit visit(wheel_core& core) noexcept : core_(core) { core.visits_.begin(); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
        const bool goes_on = core_.stall_.giving_way();
        core_.visits_.end(goes_on);
        core_.anchor().time.want_touches(goes_on);
    }

private:
    wheel_core& core_;
};

// Lives while a timer is used without the lock. On a wheel for one thread it asserts that there
// is one.
template <class Clock, class WaitTraits>
class wheel_core<Clock, WaitTraits>::sole_use {
public:
    sole_use(wheel_core& core, const char* purpose) noexcept : core_(core) {
        if (!core.options_.locking) {
            core.lifetime_->mutex.enter(purpose);
        }
    }
    sole_use(const sole_use&) = delete;
    sole_use& operator=(const sole_use&) = delete;
    ~sole_use() {
        if (!core_.options_.locking) {
            core_.lifetime_->mutex.leave();
        }
    }

private:
    wheel_core& core_;
};

} // namespace asio_wheel::detail

#endif
