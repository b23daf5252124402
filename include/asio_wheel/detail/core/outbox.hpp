// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_OUTBOX_HPP
#define ASIO_WHEEL_DETAIL_CORE_OUTBOX_HPP

#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

namespace asio_wheel::detail {

/// What goes into the context's queue when the lock is released, in order. Guarded by the lock.
///
/// Waits are gathered here, so that many cost one call of the port.
class outbox {
public:
    explicit outbox(queue_port& queue) noexcept : queue_(queue) {}

    [[nodiscard]] bool empty() const noexcept { return gathered_ == 0 && !pushed_; }

    void push(wait_node& wait) noexcept {
        if (gathered_ == waits_.size()) {
            flush();
        }
        waits_[gathered_++] = &wait;
        follows_turn_ = true;
    }

    /// False without memory.
    [[nodiscard]] bool push_proxy(wait_node& wait, queue_port::proxy kind) noexcept {
        flush();
        const bool made = queue_.push_proxy(wait, kind);
        pushed_ = pushed_ || made;
        follows_turn_ = follows_turn_ || made;
        return made;
    }

    void push_turn() noexcept {
        flush();
        queue_.push_turn();
        pushed_ = true;
        follows_turn_ = false;
    }

    /// Whether any wait was pushed after the last turn.
    [[nodiscard]] bool follows_turn() const noexcept { return follows_turn_; }

    /// The first element, which the context completes. The outbox must not be empty; afterwards it
    /// may be, although empty() does not say so.
    [[nodiscard]] void* take_first() noexcept {
        flush();
        return queue_.take_first();
    }

    /// Releases the lock, if it is given, and queues all.
    void post(std::unique_lock<optional_mutex>* lock) noexcept {
        flush();
        pushed_ = false;
        queue_.post(lock);
    }

private:
    void flush() noexcept {
        if (gathered_ != 0) {
            queue_.push({waits_.data(), std::exchange(gathered_, 0)});
            pushed_ = true;
        }
    }

    queue_port& queue_;
    bool pushed_ = false; // Something is in the batch of the queue.
    bool follows_turn_ = false;
    std::size_t gathered_ = 0;
    std::array<wait_node*, 32> waits_;
};

} // namespace asio_wheel::detail

#endif
