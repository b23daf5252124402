// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The driver of an object in which operations wait in a queue, such as a delay queue: calls the
// object on its executor, when the time of the next one has come, or when there is another slice of
// work. It also dispatches finished operations there, one by one, if that executor is a strand or
// of an unknown kind.
//
// An operation that has started must not fail because there is no memory. So
//
//  - the wait for the next time, which is started again and again, uses the same block of memory
//    again and again;
//  - if the wait cannot be started, the driver takes turns in the context's queue until it can;
//  - a turn needs no memory, because the driver itself is the operation in the context's queue.
//
// A driver may outlive its queue: waits and turns that are under way own it. When they arrive, they
// find that the queue has been disconnected.
//
// What always holds:
//
//  - self_ is set if and only if the driver is in the context's queue or on its way to the
//    executor. Then the driver owns itself.
//  - If finished_ is not empty, or turn_requested_ is set, then self_ is set.
//  - A wait may call the queue only if its number is wait_number_. A wait that must not call the
//    queue any more is ignored by counting on.
//
// All members are used on the queue's executor only; but run() is called by the context's queue,
// and reads const members.

#ifndef ASIO_WHEEL_DETAIL_OP_QUEUE_DRIVER_HPP
#define ASIO_WHEEL_DETAIL_OP_QUEUE_DRIVER_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/waiting_op.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace asio_wheel::detail {

/// Calls queue.on_wait(error) when a wait has ended, queue.on_turn() when a turn has come, and
/// queue.destroy_waiting() if the context ends first; and queue.on_delivered(), if there is such a
/// function, before the last of the finished operations completes. `Queue` names the type of its
/// operations, `waiter`, and the kind of its waits.
template <class Queue>
class queue_driver final : public executor_op,
                           public std::enable_shared_from_this<queue_driver<Queue>> {
    using executor_type = typename Queue::executor_type;
    using waiter = typename Queue::waiter;

public:
    queue_driver(Queue& queue, const executor_type& ex)
        : executor_op(&queue_driver::run), queue_(&queue), executor_(ex),
          native_(native_context(ex) != nullptr), context_(queue_of(ex)) {}

    ~queue_driver() { BOOST_ASSERT(finished_.empty()); }

    /// The queue of the context.
    [[nodiscard]] context_queue context() const noexcept { return context_; }

    /// Called when the queue is destroyed, or does without the driver.
    void disconnect() noexcept { queue_ = nullptr; }

    /// Starts a wait. If this throws, there is none.
    template <class Timer>
    void start_wait(Timer& timer) {
        timer.async_wait(wait_handler(this->shared_from_this(), wait_number_ + 1));
        // Only now: the handler of a wait that could not be started must not call the queue.
        ++wait_number_;
    }

    /// The last wait that was started does not call the queue any more.
    void ignore_wait() noexcept { ++wait_number_; }

    /// Calls on_turn() in a turn of its own; once, if this is called several times before.
    void request_turn() noexcept {
        turn_requested_ = true;
        post_turn();
    }
    [[nodiscard]] bool turn_requested() const noexcept { return turn_requested_; }

    /// Whether there are operations to be dispatched.
    [[nodiscard]] bool has_finished() const noexcept { return !finished_.empty(); }

    /// The way of an operation whose handler is called on the queue's executor, if that is not
    /// native. Finished operations are dispatched there one by one, in the order in which they were
    /// finished.
    class way {
    public:
        explicit way(queue_driver& driver) : driver_(driver), work_(track_work(driver.executor_)) {}

        void post(waiter& w) noexcept { driver_.dispatch(w); }
        [[nodiscard]] bool arrives(const waiter&) const noexcept { return true; }

    private:
        queue_driver& driver_;
        work_on<executor_type> work_;
    };

private:
    // The handler of a wait. If it is destroyed uncalled, the context has ended, or the executor
    // has dropped it.
    class wait_handler {
    public:
        using allocator_type = kept_memory_allocator<void, block_allocator<void>>;
        static constexpr wait_kind kind_of_wait = Queue::kind_of_wait;

        wait_handler(std::shared_ptr<queue_driver> driver, std::uint64_t number) noexcept
            : driver_(std::move(driver)), number_(number) {}
        wait_handler(wait_handler&&) noexcept = default;
        wait_handler& operator=(wait_handler&&) = delete;
        ~wait_handler() {
            if (driver_ != nullptr && driver_->is_current(number_)) {
                driver_->queue_->destroy_waiting();
            }
        }

        void operator()(const boost::system::error_code& ec) {
            const std::shared_ptr<queue_driver> driver(std::move(driver_));
            if (driver->is_current(number_)) {
                driver->queue_->on_wait(ec);
            }
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(driver_->wait_memory_);
        }

    private:
        std::shared_ptr<queue_driver> driver_; // Null if it was called or moved from.
        std::uint64_t number_;
    };

    [[nodiscard]] bool is_current(std::uint64_t number) const noexcept {
        return queue_ != nullptr && number == wait_number_;
    }

    void dispatch(waiter& w) noexcept {
        w.move_to(executor_op::location::queue);
        finished_.push_back(w);
        post_turn();
    }

    // Puts the driver into the context's queue, unless it is there or on its way to the executor.
    void post_turn() noexcept {
        if (self_ == nullptr) {
            self_ = this->shared_from_this();
            post_to(context_, *this);
        }
    }

    // Called by the context's queue; and by the executor, if that is not native.
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& driver = *static_cast<queue_driver*>(self);
        if (queue == nullptr) {
            driver.on_context_end();
        } else if (driver.native_ || driver.where() == location::executor) {
            driver.on_executor();
        } else {
            dispatch_from(driver.context_, driver, driver.executor_);
        }
    }

    // Delivers one operation, or calls the queue for one slice. If there is more to do, that is
    // posted first: a handler may throw.
    void on_executor() {
        const std::shared_ptr<queue_driver> self(std::move(self_));
        BOOST_ASSERT(self != nullptr);
        move_to(location::owner);
        if (!finished_.empty()) {
            waiter& first = finished_.front();
            finished_.pop_front();
            if (!finished_.empty() || turn_requested_) {
                post_turn();
            }
            if constexpr (requires(Queue& q) { q.on_delivered(); }) {
                if (queue_ != nullptr && finished_.empty()) {
                    queue_->on_delivered();
                }
            }
            first.complete(&first, {}, 0); // Any queue: it only must not be null.
            return;
        }
        BOOST_ASSERT(turn_requested_);
        turn_requested_ = false;
        if (queue_ != nullptr) {
            queue_->on_turn();
        }
    }

    // The context ends before the driver's turn has come. The handler of an operation may own the
    // queue.
    void on_context_end() noexcept {
        const std::shared_ptr<queue_driver> self(std::move(self_));
        move_to(location::owner);
        turn_requested_ = false;
        destroy_all(finished_);
        if (queue_ != nullptr) {
            queue_->destroy_waiting();
        }
    }

    Queue* queue_; // Null if it was destroyed.
    const executor_type executor_;
    const bool native_;
    const context_queue context_;
    std::uint64_t wait_number_ = 0; // Of the last wait that was started or ignored.
    waiting_list<waiter> finished_; // Operations to be dispatched.
    bool turn_requested_ = false;   // A call of on_turn() is to be made.
    std::shared_ptr<queue_driver> self_;
    kept_memory<block_allocator<void>> wait_memory_{block_allocator<void>()};
};

} // namespace asio_wheel::detail

#endif
