// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of an execution context: the operations that its threads run next.
//
// The queue may be used from any thread: Asio's scheduler has a lock of its own. A context runs
// until its count of work is zero. Each operation in the queue counts as one.
//
// There are two implementations. scheduler_queue links operations into Asio's own queue, by Asio's
// private interface. executor_queue uses public functions only, and takes more time and memory for
// each operation. It is used where ASIO_WHEEL_PUBLIC_ASIO_ONLY is defined; and where the private
// interface is not what we know, so that a new version of Boost cannot break a build. All sources
// of a program must be compiled with the same one.

#ifndef ASIO_WHEEL_DETAIL_ASIO_CONTEXT_QUEUE_HPP
#define ASIO_WHEEL_DETAIL_ASIO_CONTEXT_QUEUE_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executor_queue.hpp>

#if ASIO_WHEEL_HAS_ASIO_SCHEDULER
#include <asio_wheel/detail/asio/scheduler_queue.hpp>
#endif

#include <type_traits>

namespace asio_wheel::detail {

/// A queue. Both implementations have these members:
///
///   explicit (context)
///   static is_public                Whether it uses public functions only.
///   static serves_thread_pools      Whether a boost::asio::thread_pool runs its queue by its own
///                                   threads. (It does not on Windows: there, an internal thread of
///                                   Asio serves the I/O objects of a thread_pool.)
///   static introduce(ex)            Tells the queue of the executor's context how to reach it. The
///                                   executor must be native: see executors.hpp.
///   static prepare(context)         Comes before other uses of a queue, and may throw.
///   work_started()                  Adds one to the count of work. It is subtracted by
///                                   work_finished(), or when an operation that was posted has
///                                   returned.
///   work_finished()                 If the count becomes zero, the context stops. A handler that
///                                   is running counts as work. So call this inside a handler of
///                                   the context, or while there is other work.
///   static post_to(context, op)     Queues an operation on any context, and counts it as work.
///   post(op)                        Queues an operation that is counted as work already. A
///                                   run_one() inside the handler that is running finds it.
///                                   (executor_queue cannot do this where one thread runs the
///                                   context.)
///   post(batch)                     Queues all operations of a batch in the same way. It must not
///                                   be empty.
///   running_in_this_thread()        Whether the calling thread is known to run this queue. Then it
///   static running_in_this_thread(context)
///                                   is inside a handler, which counts as work.
#if ASIO_WHEEL_HAS_ASIO_SCHEDULER
using context_queue = std::conditional_t<
    scheduler_fits<asio_scheduler, asio_operation, boost::asio::detail::op_queue<asio_operation>>,
    scheduler_queue<asio_scheduler, asio_operation, boost::asio::detail::op_queue>, executor_queue>;
#else
using context_queue = executor_queue;
#endif

/// An element of a queue. A thread of the context calls its function with any pointer but null as
/// the first argument. If the context ends first, the function is called with null instead, and
/// must free the operation. complete() and destroy() call the function.
using operation = context_queue::operation;

/// Operations that are about to be queued, in order. Each is counted as work already.
///
///   push(op)   Adds an operation.
///   pop()      Removes the first operation and returns it. The batch must not be empty.
///   empty()
using operation_batch = context_queue::batch;

} // namespace asio_wheel::detail

#endif
