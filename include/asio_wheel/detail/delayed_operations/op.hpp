// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One delayed operation: its function, its handler, its deadline, and the keys that it watches, all
// in one block of memory from the handler's allocator. handler_op.hpp has the handler.
//
//   state      meaning
//   watching   it is in the lists of its keys, and waits for its deadline
//   trying     its function is being called; else as watching
//   cancelled  it was cancelled while its function was being called
//   finished   its result is final. It is in no list
//   dropped    it is in no list, and ends without a call
//
//   from       to         when
//   watching   trying     it starts; one of its keys is checked or forced; its deadline has come
//              finished   it is cancelled; the wheel refuses its wait, or is drained
//              dropped    its context ends
//   trying     watching   the function has given nothing, or thrown
//              finished   the function has given a result; or nothing, and it was the last attempt
//              cancelled  the function, or what it calls, cancels the operation
//              dropped    the function has thrown when the operation started
//   cancelled  finished   the function has returned
//              dropped    the function has thrown when the operation started
//
// Each operation has one wait for its deadline, from beginning to end. What finishes the operation
// earlier aborts the wait. In both cases the end of the wait is what brings the operation to its
// handler, or frees one that was dropped. So nothing refers to an operation that is gone, nobody is
// called from inside of check() or cancel(), and finishing needs no memory: the operation's memory
// includes that of the wait.

#ifndef ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_OP_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/delayed_operations/watch_lists.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/memory/resource_allocator.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>
#include <asio_wheel/detail/service/handler_ops.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/wait_traits.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// Why the function of a delayed operation is called.
enum class attempt : std::uint8_t {
    ordinary, ///< The operation starts, or one of its keys was checked.
    last      ///< The deadline has come, or the operation is forced: it completes in any case.
};

namespace detail {

/// The handler of an operation's wait. It owns the operation.
template <class Op>
class op_wait_handler {
public:
    using allocator_type = resource_allocator<void, Op>;

    static constexpr wait_kind kind_of_wait = wait_kind::timeout;

    explicit op_wait_handler(Op& op) noexcept : op_(&op) {}
    op_wait_handler(op_wait_handler&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
    op_wait_handler& operator=(op_wait_handler&&) = delete;
    ~op_wait_handler() {
        if (op_ != nullptr) {
            op_->on_wait_destroyed();
        }
    }

    void operator()(const boost::system::error_code& ec) {
        std::exchange(op_, nullptr)->on_wait(ec);
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(*op_); }

private:
    Op* op_;
};

enum class delayed_state : std::uint8_t { watching, trying, cancelled, finished, dropped };

/// The table above.
[[nodiscard]] constexpr bool delayed_may_follow(delayed_state from, delayed_state to) noexcept {
    using enum delayed_state;
    switch (from) {
    case watching:
        return to == trying || to == finished || to == dropped;
    case trying:
        return to == watching || to == finished || to == cancelled || to == dropped;
    case cancelled:
        return to == finished || to == dropped;
    case finished:
    case dropped:
        break;
    }
    return false;
}

/// All of an operation but its function and its handler. Used on the executor of its owner, until
/// it is on its way to its handler. `Owner` has the lists. It is not used any more for operations
/// that are finished or dropped.
template <class Owner>
class delayed_op : public ending_op, public slot_target {
    using wait_handler = op_wait_handler<delayed_op>;
    using result_type = typename Owner::result_type;
    using clock_type = typename Owner::clock_type;
    using executor_type = typename Owner::executor_type;

public:
    using watch_type = watch<delayed_op>;

    [[nodiscard]] delayed_state state() const noexcept { return state_; }
    void move_to(delayed_state to) noexcept {
        BOOST_ASSERT(delayed_may_follow(state_, to));
        state_ = to;
    }

    /// Gives it `n` places in lists of keys. They are at `memory`, behind the operation.
    void make_watches(void* memory, std::size_t n) noexcept {
        watches_ = {static_cast<watch_type*>(memory), n};
        std::uninitialized_default_construct(watches_.begin(), watches_.end());
        for (watch_type& w : watches_) {
            w.op = this;
        }
    }
    /// See op_memory.
    [[nodiscard]] std::size_t size_behind() const noexcept { return watches_.size_bytes(); }

    /// Its places in the lists of its keys,
    [[nodiscard]] std::span<watch_type> watches() noexcept { return watches_; }
    /// and in that of all operations.
    [[nodiscard]] watch_type& owner_entry() noexcept { return owner_entry_; }

    /// Starts the wait. If this throws, the operation is gone.
    void wait_until(const typename clock_type::time_point& deadline) {
        timer().expires_at(deadline);
        timer().async_wait(wait_handler(*this));
    }

    /// Calls the function, and keeps what it gives.
    virtual void try_to_complete(attempt which) = 0;
    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }

    /// Its result is final, or, if `to` is dropped, there is none. Its wait ends soon.
    void finish(delayed_state to, const boost::system::error_code& ec) noexcept {
        move_to(to);
        this->set_error(ec);
        this->disconnect_slot();
        timer().cancel();
    }

    // What the handler of the wait calls.

    void on_wait(const boost::system::error_code& ec) {
        const std::exception_ptr thrown = thrown_by([&] {
            if (is_in_lists()) {
                owner_.on_wait(*this, ec);
            }
        });
        if (state_ == delayed_state::dropped) {
            this->destroy();
        } else {
            BOOST_ASSERT(state_ == delayed_state::finished);
            timer_.reset(); // Here: elsewhere, its context may end meanwhile.
            this->send();
        }
        if (thrown != nullptr) {
            std::rethrow_exception(thrown);
        }
    }

    void on_wait_destroyed() noexcept {
        if (is_in_lists()) {
            owner_.on_wait_destroyed(*this);
        }
        this->destroy();
    }

    // For resource_allocator: the wait is allocated in the operation.
    static constexpr std::size_t alignment = alignof(std::max_align_t);
    [[nodiscard]] void* allocate(std::size_t size) {
        if (size <= sizeof(wait_memory_) && !std::exchange(wait_memory_used_, true)) {
            return wait_memory_;
        }
        return block_pool::allocate(size);
    }
    void deallocate(void* memory, std::size_t size) noexcept {
        if (memory == wait_memory_) {
            wait_memory_used_ = false;
        } else {
            block_pool::deallocate(memory, size);
        }
    }

    /// While its function is being called: an attempt that was asked for meanwhile.
    std::optional<attempt> again;

protected:
    delayed_op(operation::func_type function, Owner& owner)
        : ending_op(function), owner_(owner), timer_(owner.get_executor()) {
        owner_entry_.op = this;
    }
    ~delayed_op() { std::destroy(watches_.begin(), watches_.end()); }

    [[nodiscard]] std::tuple<boost::system::error_code, result_type> take_results() {
        if (!value_) {
            value_.emplace();
        }
        return {this->error(), std::move(*value_)};
    }

    std::optional<result_type> value_;

private:
    [[nodiscard]] bool is_in_lists() const noexcept {
        return state_ != delayed_state::finished && state_ != delayed_state::dropped;
    }

    [[nodiscard]] static constexpr std::size_t wait_size() noexcept {
        std::size_t size = sizeof(direct_op<wait_handler>);
        if constexpr (!is_native_type<executor_type>) {
            size = (std::max)(size, sizeof(dispatched_op<wait_handler, executor_type, no_work>));
        }
        return size;
    }

    using timer_type =
        basic_waitable_timer<clock_type, boost::asio::wait_traits<clock_type>, executor_type>;

    // There is one until the wait has ended.
    [[nodiscard]] timer_type& timer() noexcept {
        return *timer_; // NOLINT(bugprone-unchecked-optional-access)
    }

    Owner& owner_;
    std::optional<timer_type> timer_;
    std::span<watch_type> watches_;
    watch_type owner_entry_;
    delayed_state state_ = delayed_state::watching;
    bool wait_memory_used_ = false;
    alignas(std::max_align_t) std::byte wait_memory_[wait_size()];
};

/// With its function.
template <class Owner, class Function>
class delayed_function_op : public delayed_op<Owner> {
public:
    void try_to_complete(attempt which) override {
        auto result = [&] {
            if constexpr (std::is_invocable_v<Function&, attempt>) {
                return function_(which);
            } else {
                return function_();
            }
        }();
        if (result) {
            this->value_.emplace(std::move(*result));
        }
    }

protected:
    template <class F>
    delayed_function_op(operation::func_type run, Owner& owner, F&& function)
        : delayed_op<Owner>(run, owner), function_(std::forward<F>(function)) {}
    ~delayed_function_op() = default;

private:
    Function function_;
};

} // namespace detail

} // namespace asio_wheel

#endif
