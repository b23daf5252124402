// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a delay queue gets its turns on its executor: when the time of the next element has come, for
// the next slice of its work, and for pops that are finished.
//
// A pop that has started must not fail for lack of memory. So the wait for the next element, which
// starts again and again, uses the same block of memory again and again. If a wait cannot be
// started at all, the queue takes turns in the context's queue until it can. That needs no memory.
// Between two slices it takes such a turn, too.
//
// If the queue's executor is a strand, or of an unknown kind, the watch is the operation that
// brings finished pops there: one by one, in order.
//
// A watch may outlive its queue. What is under way when the queue ends finds that the queue has
// ended.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_QUEUE_DRIVER_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_QUEUE_DRIVER_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/delay_queue/pop_dispatch.hpp>
#include <asio_wheel/detail/delay_queue/pop_op.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Calls the queue on its executor: looked(error) when a wait has ended, go_on() when its turn has
/// come, and destroy_pops() if the context ends before. Guarded by that executor, but for what
/// run() uses.
template <class Queue>
class queue_driver final : public executor_op,
                           public pop_dispatcher<typename Queue::value_type>,
                           public std::enable_shared_from_this<queue_driver<Queue>> {
    using executor_type = typename Queue::executor_type;
    using pop = pop_op<typename Queue::value_type>;
    using pop_list = boost::intrusive::list<pop, boost::intrusive::constant_time_size<false>>;

public:
    queue_driver(Queue& queue, const executor_type& ex)
        : executor_op(&queue_driver::run), queue_(&queue), executor_(ex),
          native_(native_context(ex) != nullptr), context_(context_of(ex)),
          reserve_(native_ ? nullptr : dispatch_reserve::make()) {}

    ~queue_driver() {
        if (block_ != nullptr) {
            block_pool::deallocate(block_, block_size_);
        }
    }

    /// The queue of the context.
    [[nodiscard]] context_queue context() const noexcept { return context_; }

    /// The queue ends.
    void disconnect() noexcept { queue_ = nullptr; }

    /// Starts a wait. If this throws, there is none.
    template <class Timer>
    void start_wait(Timer& timer) {
        timer.async_wait(wait_handler(this->shared_from_this(), wait_number_ + 1));
        ++wait_number_; // Not before: a look that could not be started calls nobody.
    }

    /// The last wait that was started is not to call the queue any more.
    void ignore_wait() noexcept { ++wait_number_; }

    /// Has the queue called in a turn of its own; once, however often this is called before.
    void request_turn() noexcept {
        turn_requested_ = true;
        post_turn();
    }
    [[nodiscard]] bool turn_requested() const noexcept { return turn_requested_; }

    void dispatch(pop& p) noexcept override {
        finished_.push_back(p);
        post_turn();
    }

private:
    // The memory of waits: a block that was freed is kept for the next one.
    template <class U>
    class wait_memory {
        template <class>
        friend class wait_memory;

    public:
        using value_type = U;

        explicit wait_memory(queue_driver& driver) noexcept : driver_(&driver) {}
        template <class V>
        wait_memory(const wait_memory<V>& other) noexcept : driver_(other.driver_) {}

        [[nodiscard]] U* allocate(std::size_t n) {
            static_assert(alignof(U) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
            return static_cast<U*>(driver_->allocate(n * sizeof(U)));
        }
        void deallocate(U* memory, std::size_t n) noexcept {
            driver_->deallocate(memory, n * sizeof(U));
        }

        template <class V>
        friend bool operator==(const wait_memory& a, const wait_memory<V>& b) noexcept {
            return a.driver_ == b.driver_;
        }

    private:
        queue_driver* driver_;
    };

    // What a wait calls.
    class wait_handler {
    public:
        using allocator_type = wait_memory<void>;

        wait_handler(std::shared_ptr<queue_driver> driver, std::uint64_t number) noexcept
            : driver_(std::move(driver)), wait_number_(number) {}
        wait_handler(wait_handler&&) noexcept = default;
        wait_handler& operator=(wait_handler&&) = delete;
        ~wait_handler() {
            if (driver_ != nullptr && driver_->is_current(wait_number_)) {
                driver_->queue_->destroy_pops();
            }
        }

        void operator()(const boost::system::error_code& ec) {
            const std::shared_ptr<queue_driver> driver(std::move(driver_));
            if (driver->is_current(wait_number_)) {
                driver->queue_->on_wait(ec);
            }
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(*driver_);
        }

    private:
        std::shared_ptr<queue_driver> driver_;
        std::uint64_t wait_number_;
    };

    [[nodiscard]] bool is_current(std::uint64_t number) const noexcept {
        return queue_ != nullptr && number == wait_number_;
    }

    void post_turn() noexcept {
        if (self_ == nullptr) {
            self_ = this->shared_from_this();
            post_to(context_, *this);
        }
    }

    // Its turn in the context's queue.
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& driver = *static_cast<queue_driver*>(self);
        if (queue == nullptr) {
            driver.on_context_end();
        } else if (driver.native_) {
            driver.on_executor();
        } else {
            // Copies: the watch may be gone before hop() returns.
            const executor_type ex(driver.executor_);
            dispatch_to(driver, *driver.reserve_, ex, context_queue(driver.context_));
        }
    }

    // One pop, or one slice. What is left comes in the next turn, also if a handler throws.
    void on_executor() override {
        const std::shared_ptr<queue_driver> self(self_);
        if (!finished_.empty()) {
            pop& first = finished_.front();
            finished_.pop_front();
            if (finished_.empty() && !turn_requested_) {
                self_.reset();
            } else {
                post_to(context_, *this);
            }
            first.on_executor();
            return;
        }
        self_.reset();
        turn_requested_ = false;
        if (queue_ != nullptr) {
            queue_->on_turn();
        }
    }

    // The context ends. Handlers may own the queue.
    void on_context_end() noexcept {
        const std::shared_ptr<queue_driver> self(std::move(self_));
        turn_requested_ = false;
        pop_list gone;
        gone.swap(finished_);
        while (!gone.empty()) {
            pop& first = gone.front();
            gone.pop_front();
            first.destroy();
        }
        if (queue_ != nullptr) {
            queue_->destroy_pops();
        }
    }

    [[nodiscard]] void* allocate(std::size_t size) {
        return block_ != nullptr && size == block_size_ ? std::exchange(block_, nullptr)
                                                        : block_pool::allocate(size);
    }
    void deallocate(void* memory, std::size_t size) noexcept {
        if (block_ == nullptr) {
            block_ = memory;
            block_size_ = size;
        } else {
            block_pool::deallocate(memory, size);
        }
    }

    Queue* queue_;
    const executor_type executor_;
    const bool native_;
    const context_queue context_;
    const dispatch_reserve::owner reserve_;
    std::uint64_t wait_number_ = 0;      // Of the last wait that was started or forgotten.
    pop_list finished_;                  // On their way to the executor,
    bool turn_requested_ = false;        // as is the next slice.
    std::shared_ptr<queue_driver> self_; // While any of them is.
    void* block_ = nullptr;              // Free memory for a wait.
    std::size_t block_size_ = 0;
};

} // namespace asio_wheel::detail

#endif
