// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An operation of a utility, on its way to an executor.
//
// An operation is in one of three locations.
//
//   location   meaning
//   owner      its owner has it: a pop waits in its delay queue, a driver is idle
//   queue      in a context's queue; or, for a pop, in the driver's list of finished pops
//   executor   an executor has it, or is being given it
//
//   from       to         when
//   owner      queue      it is posted
//   queue      executor   its turn comes, and it belongs on another executor
//   executor   queue      the executor had no memory: it tries again at the end of the queue
//   queue      owner      a driver's turn comes
//   executor   owner      a driver arrives on its executor
//
// Other operations never return to their owner: they are freed when they arrive. The location
// belongs to the thread that has the operation. The context's queue and the executors hand it from
// thread to thread.
//
// Operations go to a strand one by one, each when its turn in the context's queue comes. The reason
// is how a strand works: if several functions are waiting, it allocates to continue with the next
// one, cannot report a failure there, and ends the program. If it is not busy, it runs the function
// immediately.

#ifndef ASIO_WHEEL_DETAIL_OP_EXECUTOR_OP_HPP
#define ASIO_WHEEL_DETAIL_OP_EXECUTOR_OP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/op/dispatch.hpp>

#include <boost/assert.hpp>

#include <cstdint>

namespace asio_wheel::detail {

class executor_op : public operation {
public:
    enum class location : std::uint8_t { owner, queue, executor };

    /// The table above.
    [[nodiscard]] static constexpr bool may_follow(location from, location to) noexcept {
        switch (from) {
        case location::owner:
            return to == location::queue;
        case location::queue:
            return to == location::executor || to == location::owner;
        case location::executor:
            return to == location::queue || to == location::owner;
        }
        return false;
    }

    executor_op(const executor_op&) = delete;
    executor_op& operator=(const executor_op&) = delete;

    [[nodiscard]] location where() const noexcept { return where_; }
    void move_to(location to) noexcept {
        BOOST_ASSERT(may_follow(where_, to));
        where_ = to;
    }

protected:
    explicit executor_op(func_type function) noexcept : operation(function) {}
    ~executor_op() = default;

private:
    location where_ = location::owner;
};

/// Puts an operation at the end of a context's queue. Never fails.
inline void post_to(context_queue queue, executor_op& op) noexcept {
    op.move_to(executor_op::location::queue);
    queue.work_started();
    queue.post(op);
}

/// Dispatches an operation, whose turn in `queue` has come. Both arguments are copies, because the
/// operation that they come from may be gone before this returns. Throws as dispatch_to().
template <class Executor>
void dispatch_from(context_queue queue, executor_op& op, const Executor ex) {
    op.move_to(executor_op::location::executor);
    if (!dispatch_to(ex, op)) {
        post_to(queue, op);
    }
}

// The way of a finished operation to its handler. It begins with post(), which never fails. When
// the operation runs, arrives() says whether its handler can be called here. If not, the operation
// has gone on, and may have ended.

/// None: it is on its handler's executor already, and its handler may be called.
class in_place {
public:
    void post(executor_op& op) const { op.complete(&op, {}, 0); } // Any queue: it must not be null.
    [[nodiscard]] bool arrives(const executor_op&) const noexcept { return true; }
};

/// Through the queue of its own context.
class by_own_queue {
public:
    explicit by_own_queue(context_queue queue) noexcept : queue_(queue) {}

    void post(executor_op& op) noexcept { post_to(queue_, op); }
    [[nodiscard]] bool arrives(const executor_op&) const noexcept { return true; }

private:
    context_queue queue_;
};

/// To another executor: if that is native, through its context's queue; else through `queue`. The
/// executor's context does not run out of work meanwhile.
template <class Executor>
class to_executor {
public:
    to_executor(const Executor& ex, context_queue queue)
        : queue_(queue), native_(is_native(ex)), work_(track_work(ex)) {}

    void post(executor_op& op) noexcept { post_to(queue_, op); }

    [[nodiscard]] bool arrives(executor_op& op) {
        const bool here = native_ || op.where() == executor_op::location::executor;
        if (!here) {
            dispatch_from(queue_, op, executor_of<Executor>(work_));
        }
        return here;
    }

private:
    context_queue queue_;
    const bool native_;
    work_on<Executor> work_;
};

} // namespace asio_wheel::detail

#endif
