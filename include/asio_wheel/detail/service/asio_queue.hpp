// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_ASIO_QUEUE_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_ASIO_QUEUE_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/memory/prefetch.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace asio_wheel::detail {

/// Stands in the context's queue for a wait that cannot be linked there itself.
class queue_proxy : public operation {
public:
    using kind = queue_port::proxy;

    /// Null without memory.
    [[nodiscard]] static queue_proxy* make(wait_node& wait, kind k) noexcept {
        void* memory = nullptr;
        if (throws<std::bad_alloc>([&] { memory = block_pool::allocate(sizeof(queue_proxy)); })) {
            return nullptr;
        }
        if (k == kind::abort) {
            detail::prefetch(&operation_of(wait));
        }
        return ::new (memory) queue_proxy(wait, k);
    }

private:
    queue_proxy(wait_node& wait, kind k) noexcept
        : operation(&queue_proxy::run), kind_(k), wait_(wait) {}

    static void run(void* queue, operation* self, const boost::system::error_code& ec,
                    std::size_t n) {
        const auto* const proxy = static_cast<queue_proxy*>(self);
        wait_node& wait = proxy->wait_;
        if (proxy->kind_ == kind::abort) {
            wait.finish_as_aborted();
        }
        block_pool::deallocate(self, sizeof(queue_proxy));
        operation& op = operation_of(wait);
        queue != nullptr ? op.complete(queue, ec, n) : op.destroy();
    }

    const kind kind_;
    wait_node& wait_;
};

/// The queue of an execution context, for a core.
class asio_queue final : public queue_port {
public:
    /// The core need not exist before it is called.
    asio_queue(boost::asio::execution_context& context, core& c)
        : queue_port(context_queue::is_public, !context_queue::serves_thread_pools),
          queue_(context), turn_(c) {}

    /// Completes what core::on_turn() or core::on_wake_up() has returned.
    static void complete_first(void* first) {
        if (first != nullptr) {
            auto* const op = static_cast<operation*>(first);
            op->complete(op, {}, 0); // Any queue: it only must not be null.
        }
    }

    // For timers, without the lock.
    void start_work() noexcept { queue_.work_started(); }
    /// Of a core that is_crowded(), the operation is most likely not in the caches, and fetching it
    /// would be half of the cost of moving a timeout. Then a proxy goes into the queue, if there is
    /// memory for one, and the operation is fetched meanwhile.
    void post_aborted(wait_node& wait, bool is_crowded) noexcept {
        queue_proxy* const made =
            is_crowded ? queue_proxy::make(wait, queue_proxy::kind::abort) : nullptr;
        if (made != nullptr) {
            queue_.post(*made);
        } else {
            wait.finish_as_aborted();
            queue_.post(operation_of(wait));
        }
    }

    void push(std::span<wait_node* const> waits) noexcept override {
        for (wait_node* const wait : waits) {
            batch_.push(operation_of(*wait));
        }
    }
    [[nodiscard]] bool push_proxy(wait_node& wait, proxy kind) noexcept override {
        queue_proxy* const made = queue_proxy::make(wait, kind);
        if (made != nullptr) {
            batch_.push(*made);
        }
        return made != nullptr;
    }
    void push_turn() noexcept override { batch_.push(turn_); }
    [[nodiscard]] void* take_first() noexcept override { return &batch_.pop(); }

    void post(std::unique_lock<optional_mutex>* lock) noexcept override {
        operation_batch ready(std::move(batch_));
        if (lock != nullptr) {
            lock->unlock();
        }
        if (!ready.empty()) {
            queue_.post(ready);
        }
    }

    void work_started() noexcept override { queue_.work_started(); }
    void work_finished() noexcept override { queue_.work_finished(); }
    [[nodiscard]] bool running_in_this_thread() const noexcept override {
        return queue_.running_in_this_thread();
    }

private:
    // The place in the queue of the core's next turn, if one follows without a wake-up.
    class turn : public operation {
    public:
        explicit turn(core& c) noexcept : operation(&turn::run), core_(c) {}

    private:
        static void run(void* queue, operation* self, const boost::system::error_code&,
                        std::size_t) {
            if (queue != nullptr) {
                complete_first(static_cast<turn*>(self)->core_.on_turn());
            }
        }

        core& core_;
    };

    context_queue queue_;
    operation_batch batch_; // Guarded by the core's lock.
    turn turn_;
};

} // namespace asio_wheel::detail

#endif
