// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of an execution context, by Asio's private interface: operations, and the scheduler
// that queues them, as Asio's own timers do. An operation is linked into the queue as it is, and
// all operations of a batch are linked under one lock.
//
// This is the only file that uses the private interface. It assumes as little as it can: all of it
// is in templates, and scheduler_fits says whether Asio still has what they use. If it has not,
// context_queue.hpp takes the public way.

#ifndef ASIO_WHEEL_DETAIL_ASIO_SCHEDULER_QUEUE_HPP
#define ASIO_WHEEL_DETAIL_ASIO_SCHEDULER_QUEUE_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/attributes.hpp>

#include <boost/asio/detail/op_queue.hpp>
#include <boost/asio/detail/operation.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

// If Asio no longer has one of these, this declares it, and it stays incomplete.
namespace boost::asio::detail {
class scheduler;
class scheduler_operation;
class win_iocp_io_context;
class win_iocp_operation;
template <typename>
class op_queue;
} // namespace boost::asio::detail

namespace asio_wheel::detail {

#if defined(BOOST_ASIO_HAS_IOCP)
using asio_scheduler = boost::asio::detail::win_iocp_io_context;
using asio_operation = boost::asio::detail::win_iocp_operation;
#else
using asio_scheduler = boost::asio::detail::scheduler;
using asio_operation = boost::asio::detail::scheduler_operation;
#endif

template <class T>
concept is_complete = requires { sizeof(T); };

/// Whether the function of an operation is what it should be. Its type is a protected member.
template <class Operation>
class has_expected_function : Operation {
public:
    static constexpr bool value = requires {
        requires std::same_as<typename Operation::func_type,
                              void (*)(void*, Operation*, const boost::system::error_code&,
                                       std::size_t)>;
    };
};

/// Whether Asio's scheduler, its operations and their list are what scheduler_queue expects.
template <class Scheduler, class Operation, class List>
concept scheduler_fits =
    is_complete<Scheduler> && is_complete<Operation> && is_complete<List> &&
    std::derived_from<Scheduler, boost::asio::execution_context::service> &&
    has_expected_function<Operation>::value &&
    requires(Scheduler& s, Operation* op, List& list, boost::asio::execution_context& context) {
        { boost::asio::use_service<Scheduler>(context) } -> std::same_as<Scheduler&>;
        s.work_started();
        s.work_finished();
        s.post_immediate_completion(op, false);
        s.post_deferred_completion(op);
        s.post_deferred_completions(list);
        s.do_dispatch(op);
        { s.can_dispatch() } -> std::convertible_to<bool>;
        op->complete(static_cast<void*>(op), boost::system::error_code(), std::size_t());
        op->destroy();
        list.push(op);
        list.push(list);
        { list.front() } -> std::same_as<Operation*>;
        list.pop();
        { list.empty() } -> std::convertible_to<bool>;
    };

/// See context_queue.hpp.
template <class Scheduler, class Operation, template <class> class List>
class scheduler_batch {
public:
    scheduler_batch() = default;
    scheduler_batch(scheduler_batch&& other) noexcept { ops_.push(other.ops_); }
    scheduler_batch& operator=(scheduler_batch&&) = delete;

    void push(Operation& op) noexcept { ops_.push(&op); }

    [[nodiscard]] Operation& pop() noexcept {
        Operation* const op = ops_.front();
        ops_.pop();
        return *op;
    }
    [[nodiscard]] bool empty() const noexcept { return ops_.empty(); }

private:
    template <class, class, template <class> class>
    friend class scheduler_queue;

    List<Operation> ops_;
};

/// See context_queue.hpp.
template <class Scheduler, class Operation, template <class> class List>
class scheduler_queue {
public:
    using operation = Operation;
    using batch = scheduler_batch<Scheduler, Operation, List>;

    explicit scheduler_queue(boost::asio::execution_context& context)
        : scheduler_(boost::asio::use_service<Scheduler>(context)),
          one_thread_(has_one_thread(context, scheduler_)) {}

    static constexpr bool is_public = false;
    static constexpr bool serves_thread_pools =
        std::is_same_v<Scheduler, boost::asio::detail::scheduler>;

    template <class Executor>
    static void introduce(const Executor&) noexcept {}
    static void prepare(boost::asio::execution_context&) noexcept {}

    void work_started() noexcept { scheduler_.work_started(); }
    void work_finished() noexcept { scheduler_.work_finished(); }

    static void post_to(boost::asio::execution_context& context, Operation& op) {
        boost::asio::use_service<Scheduler>(context).post_immediate_completion(&op, false);
    }

    void post(Operation& op) noexcept {
        if (one_thread_) {
            post_visibly(op);
        } else {
            scheduler_.post_deferred_completion(&op);
        }
    }

    void post(batch& ops) noexcept {
        if (one_thread_) {
            while (!ops.empty()) {
                post_visibly(ops.pop());
            }
        } else {
            scheduler_.post_deferred_completions(ops.ops_);
        }
    }

    [[nodiscard]] static bool running_in_this_thread(boost::asio::execution_context& context) {
        return boost::asio::use_service<Scheduler>(context).can_dispatch();
    }
    [[nodiscard]] bool running_in_this_thread() const noexcept { return scheduler_.can_dispatch(); }

private:
    // On a context with one thread, Asio keeps what a handler posts in a private list of the thread
    // until the handler returns. A run_one() inside the handler does not see that list. Asio's
    // do_dispatch() does not use the list. It counts the operation as work once more, so that is
    // subtracted again.
    ASIO_WHEEL_NOINLINE void post_visibly(Operation& op) noexcept {
        scheduler_.do_dispatch(&op);
        scheduler_.work_finished();
    }

    Scheduler& scheduler_;
    const bool one_thread_; // The context promises that only one thread runs it.
};

} // namespace asio_wheel::detail

#endif
