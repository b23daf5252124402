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

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_WATCH_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_WATCH_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/delay_queue/pop_hop.hpp>
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
/// come, and forget_pops() if the context ends before. Guarded by that executor, but for what run()
/// uses.
template <class Queue>
class pop_watch final : public hop_op,
                        public pop_courier<typename Queue::value_type>,
                        public std::enable_shared_from_this<pop_watch<Queue>> {
    using executor_type = typename Queue::executor_type;
    using pop = pop_op<typename Queue::value_type>;
    using pop_list = boost::intrusive::list<pop, boost::intrusive::constant_time_size<false>>;

public:
    pop_watch(Queue& queue, const executor_type& ex)
        : hop_op(&pop_watch::run), queue_(&queue), executor_(ex),
          native_(native_context(ex) != nullptr), context_(context_of(ex)),
          reserve_(native_ ? nullptr : pop_reserve::make()) {}

    ~pop_watch() {
        if (block_ != nullptr) {
            block_pool::deallocate(block_, block_size_);
        }
    }

    /// The queue of the context.
    [[nodiscard]] context_queue context() const noexcept { return context_; }

    /// The queue ends.
    void leave() noexcept { queue_ = nullptr; }

    /// Starts a wait. If this throws, there is none.
    template <class Timer>
    void wait(Timer& timer) {
        timer.async_wait(look(this->shared_from_this(), turn_ + 1));
        ++turn_; // Not before: a look that could not be started calls nobody.
    }

    /// The last wait that was started is not to call the queue any more.
    void forget_wait() noexcept { ++turn_; }

    /// Has the queue called in a turn of its own; once, however often this is called before.
    void go_on() noexcept {
        going_on_ = true;
        set_out();
    }
    [[nodiscard]] bool going_on() const noexcept { return going_on_; }

    void carry(pop& p) noexcept override {
        finished_.push_back(p);
        set_out();
    }

private:
    // The memory of waits: a block that was freed is kept for the next one.
    template <class U>
    class wait_memory {
        template <class>
        friend class wait_memory;

    public:
        using value_type = U;

        explicit wait_memory(pop_watch& watch) noexcept : watch_(&watch) {}
        template <class V>
        wait_memory(const wait_memory<V>& other) noexcept : watch_(other.watch_) {}

        [[nodiscard]] U* allocate(std::size_t n) {
            static_assert(alignof(U) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
            return static_cast<U*>(watch_->allocate(n * sizeof(U)));
        }
        void deallocate(U* memory, std::size_t n) noexcept {
            watch_->deallocate(memory, n * sizeof(U));
        }

        template <class V>
        friend bool operator==(const wait_memory& a, const wait_memory<V>& b) noexcept {
            return a.watch_ == b.watch_;
        }

    private:
        pop_watch* watch_;
    };

    // What a wait calls.
    class look {
    public:
        using allocator_type = wait_memory<void>;

        look(std::shared_ptr<pop_watch> watch, std::uint64_t turn) noexcept
            : watch_(std::move(watch)), turn_(turn) {}
        look(look&&) noexcept = default;
        look& operator=(look&&) = delete;
        ~look() {
            if (watch_ != nullptr && watch_->expects(turn_)) {
                watch_->queue_->forget_pops();
            }
        }

        void operator()(const boost::system::error_code& ec) {
            const std::shared_ptr<pop_watch> watch(std::move(watch_));
            if (watch->expects(turn_)) {
                watch->queue_->looked(ec);
            }
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(*watch_);
        }

    private:
        std::shared_ptr<pop_watch> watch_;
        std::uint64_t turn_;
    };

    [[nodiscard]] bool expects(std::uint64_t turn) const noexcept {
        return queue_ != nullptr && turn == turn_;
    }

    void set_out() noexcept {
        if (self_ == nullptr) {
            self_ = this->shared_from_this();
            post_to(context_, *this);
        }
    }

    // Its turn in the context's queue.
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& watch = *static_cast<pop_watch*>(self);
        if (queue == nullptr) {
            watch.forget();
        } else if (watch.native_) {
            watch.arrive();
        } else {
            // Copies: the watch may be gone before hop() returns.
            const executor_type ex(watch.executor_);
            hop(watch, *watch.reserve_, ex, context_queue(watch.context_));
        }
    }

    // One pop, or one slice. What is left comes in the next turn, also if a handler throws.
    void arrive() override {
        const std::shared_ptr<pop_watch> keep(self_);
        if (!finished_.empty()) {
            pop& first = finished_.front();
            finished_.pop_front();
            if (finished_.empty() && !going_on_) {
                self_.reset();
            } else {
                post_to(context_, *this);
            }
            first.arrive();
            return;
        }
        self_.reset();
        going_on_ = false;
        if (queue_ != nullptr) {
            queue_->go_on();
        }
    }

    // The context ends. Handlers may own the queue.
    void forget() noexcept {
        const std::shared_ptr<pop_watch> keep(std::move(self_));
        going_on_ = false;
        pop_list gone;
        gone.swap(finished_);
        while (!gone.empty()) {
            pop& first = gone.front();
            gone.pop_front();
            first.destroy();
        }
        if (queue_ != nullptr) {
            queue_->forget_pops();
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
    const pop_reserve::owner reserve_;
    std::uint64_t turn_ = 0;          // Of the last wait that was started or forgotten.
    pop_list finished_;               // On their way to the executor,
    bool going_on_ = false;           // as is the next slice.
    std::shared_ptr<pop_watch> self_; // While any of them is.
    void* block_ = nullptr;           // Free memory for a wait.
    std::size_t block_size_ = 0;
};

} // namespace asio_wheel::detail

#endif
