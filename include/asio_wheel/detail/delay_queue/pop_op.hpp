// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A pop of a delay queue: an operation that waits for an element, gets its value, and brings the
// value to its handler.
//
// All memory that a pop will need is allocated when it starts. So finishing a pop cannot fail: the
// value is in the operation by then, and the operation itself goes into the context's queue or to
// its handler's executor.
//
//   state       meaning                                        location (executor_op.hpp)
//   waiting     in its delay queue's list. The delay queue     owner
//               owns it. Its cancellation slot leads to it
//   finished    has a value or an error, which is final. No    queue or executor
//               one owns it: it is freed where it arrives
//
//   from        to           when
//   waiting     finished     finish(): it gets a value; or it is aborted or refused, or the queue
//                            is closed
//   waiting     destroyed    the context ends, or the pop could not be started
//   finished    delivered    it arrives: deliver_pop() frees it and calls its handler
//   finished    destroyed    the context of its handler's executor ends
//
// A pop that waits is used on its delay queue's executor only. A finished pop belongs to the thread
// that has taken it out of a queue.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/cancellation.hpp>
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/delay_queue/delayed_elements.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/executor_op.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/assert.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

template <class T>
class pop_cancel_link;

/// A pop, without its handler, which is in a derived class. Ends by finish(); or by destroy(),
/// which does not call the handler.
template <class T>
class pop_op : public executor_op,
               public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::normal_link>> {
public:
    using value_type = T;

    /// Where the value of the element is put, and then its key and its time.
    [[nodiscard]] std::optional<T>& value() noexcept { return value_; }
    void set_origin(const element_key& key, std::int64_t time) noexcept {
        key_ = key;
        time_ = time;
    }
    [[nodiscard]] const element_key& key() const noexcept { return key_; }
    [[nodiscard]] std::int64_t time() const noexcept { return time_; }

    /// Disconnects the cancellation slot: a later signal does not find the pop.
    void disconnect_slot() noexcept {
        if (link_ != nullptr) {
            link_->pop_ = nullptr;
            link_ = nullptr;
        }
    }

    /// Sends the pop to its handler, which gets `ec` and the value, if there is one. The pop is in
    /// no list any more, and its slot is disconnected.
    void finish(const boost::system::error_code& ec) noexcept {
        BOOST_ASSERT(this->where() == executor_op::location::owner && link_ == nullptr);
        result_ = ec;
        post_completion();
    }

    [[nodiscard]] const boost::system::error_code& result() const noexcept { return result_; }

protected:
    explicit pop_op(operation::func_type function) noexcept : executor_op(function) {}
    ~pop_op() { disconnect_slot(); }

private:
    friend pop_cancel_link<T>;

    virtual void post_completion() noexcept = 0;

    pop_cancel_link<T>* link_ = nullptr; // In the cancellation slot. Null if disconnected.
    boost::system::error_code result_;
    element_key key_;
    std::int64_t time_ = 0;
    std::optional<T> value_;
};

/// What the handler of a pop gets besides the error: the value; a default-constructed one with an
/// error.
template <class T>
struct popped_value {
    using value_type = T;

    [[nodiscard]] static std::optional<T> take(pop_op<T>& op) {
        if (!op.value()) {
            op.value().emplace();
        }
        return std::move(op.value());
    }

    template <class Handler>
    static void call(Handler& handler, const boost::system::error_code& ec,
                     std::optional<T>&& value) {
        std::move(handler)(ec, std::move(*value)); // NOLINT(bugprone-unchecked-optional-access)
    }
};

/// Or the entry: the value with its key and its expiry; none with an error.
template <class Entry>
struct popped_entry {
    using value_type = typename Entry::value_type;

    [[nodiscard]] static std::optional<Entry> take(pop_op<value_type>& op) {
        std::optional<Entry> entry;
        if (std::optional<value_type>& value = op.value()) {
            entry.emplace(op.key(), time_at<typename Entry::time_point>(op.time()),
                          std::move(*value));
        }
        return entry;
    }

    template <class Handler>
    static void call(Handler& handler, const boost::system::error_code& ec,
                     std::optional<Entry>&& entry) {
        std::move(handler)(ec, std::move(entry));
    }
};

/// Leads from a cancellation slot to a pop. Both point to each other, because either may be
/// destroyed first: the user may give the slot to another operation.
template <class T>
class pop_cancel_link {
public:
    explicit pop_cancel_link(pop_op<T>& pop) noexcept : pop_(&pop) { pop.link_ = this; }
    pop_cancel_link(const pop_cancel_link&) = delete;
    pop_cancel_link& operator=(const pop_cancel_link&) = delete;

    /// Null if the pop does not wait any more.
    [[nodiscard]] pop_op<T>* pop() const noexcept { return pop_; }

protected:
    ~pop_cancel_link() {
        if (pop_ != nullptr) {
            pop_->link_ = nullptr;
        }
    }

private:
    friend pop_op<T>;
    pop_op<T>* pop_;
};

template <class T>
using pop_list = boost::intrusive::list<pop_op<T>, boost::intrusive::constant_time_size<false>>;

/// Destroys all pops of a list, without calling their handlers. A handler's destructor may use, or
/// destroy, the object that the list is a member of. So the list is emptied first.
template <class T>
void destroy_all(pop_list<T>& list) noexcept {
    pop_list<T> pops;
    pops.swap(list);
    while (!pops.empty()) {
        pop_op<T>& first = pops.front();
        pops.pop_front();
        first.destroy();
    }
}

/// The handler in the cancellation slot of a pop: calls abort(pop) while the pop waits.
template <class T, class Abort>
class pop_cancellation : public pop_cancel_link<T> {
public:
    pop_cancellation(pop_op<T>& pop, Abort abort) noexcept
        : pop_cancel_link<T>(pop), abort_(abort) {}

    void operator()(boost::asio::cancellation_type type) noexcept {
        if (this->pop() != nullptr && aborts(type)) {
            abort_(*this->pop());
        }
    }

private:
    Abort abort_;
};

/// Frees a finished pop and calls its handler. If moving the value throws, destroys the pop and its
/// handler, and the exception leaves this function as if the handler had thrown it.
template <class Popped, class Op, class Handler>
void deliver_pop(Op& op) {
    BOOST_ASSERT(op.where() != executor_op::location::owner);
    BOOST_ASIO_HANDLER_COMPLETION((op));
    scope_exit drop([&op] { op.destroy(); });
    auto value = Popped::take(op);
    drop.release();
    const boost::system::error_code result = op.result();
    // The memory is freed before the handler is called, so that a pop that the handler starts can
    // use it. The work on the executor ends before, too: the executor's context may end while the
    // handler runs.
    Handler handler(op_memory<Op, Handler>::take_handler(op));
    BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
    Popped::call(handler, result, std::move(value));
    BOOST_ASIO_HANDLER_INVOCATION_END;
}

/// Dispatches finished pops to the executor of their delay queue, one by one, in the order in which
/// they were finished.
template <class T>
class pop_dispatcher {
public:
    virtual void dispatch(pop_op<T>& pop) noexcept = 0;

protected:
    ~pop_dispatcher() = default;
};

/// A pop whose handler is called when the turn of the pop comes: in a context's queue, or in the
/// dispatcher's list. `Work` keeps the context of the handler's executor running until then.
template <class Popped, class Work, class Handler>
class queued_pop final : public pop_op<typename Popped::value_type> {
    using T = typename Popped::value_type;
    using memory = op_memory<queued_pop, Handler>;

public:
    queued_pop(Handler&& handler, context_queue queue, Work work)
        : pop_op<T>(&queued_pop::run), queue_(queue), work_(std::move(work)),
          handler_(std::move(handler)) {}
    queued_pop(Handler&& handler, context_queue queue, pop_dispatcher<T>& dispatcher, Work work)
        : pop_op<T>(&queued_pop::run), queue_(queue), dispatcher_(&dispatcher),
          work_(std::move(work)), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<queued_pop*>(self);
        if (queue != nullptr) {
            op.on_executor();
        } else {
            memory::destroy(op);
        }
    }

    void on_executor() override { deliver_pop<Popped, queued_pop, Handler>(*this); }

    void post_completion() noexcept override {
        if (dispatcher_ != nullptr) {
            dispatcher_->dispatch(*this);
        } else {
            post_to(queue_, *this);
        }
    }

    context_queue queue_;
    pop_dispatcher<T>* dispatcher_ = nullptr;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Work work_;
    Handler handler_;
};

/// A pop whose handler has an executor of its own, which is neither native nor the delay queue's:
/// another strand, or an executor of an unknown kind.
template <class Popped, class Executor, class Handler>
class dispatched_pop final : public pop_op<typename Popped::value_type> {
    using T = typename Popped::value_type;
    using memory = op_memory<dispatched_pop, Handler>;

public:
    dispatched_pop(Handler&& handler, context_queue queue, const Executor& ex)
        : pop_op<T>(&dispatched_pop::run), queue_(queue), work_(track_work(ex)),
          reserve_(dispatch_reserve::make()), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<dispatched_pop*>(self);
        if (queue != nullptr) {
            // Copies: the operation may be freed before dispatch_to() returns.
            const auto ex = executor_of<Executor>(op.work_);
            dispatch_to(op, *op.reserve_, ex, context_queue(op.queue_));
        } else {
            memory::destroy(op);
        }
    }

    void on_executor() override { deliver_pop<Popped, dispatched_pop, Handler>(*this); }
    void post_completion() noexcept override { post_to(queue_, *this); }

    context_queue queue_; // Of the delay queue's context.
    work_on<Executor> work_;
    dispatch_reserve::owner reserve_;
    Handler handler_;
};

/// Makes a pop of type `Op`. If its handler has a cancellation slot, the slot calls abort(pop).
template <class Op, class Handler, class Executor, class Abort, class... Arguments>
[[nodiscard]] Op& create_pop(Handler&& handler, [[maybe_unused]] const Executor& ex, Abort abort,
                             Arguments&&... arguments) {
    Op* const op = op_memory<Op, Handler>::create(std::forward<Handler>(handler),
                                                  std::forward<Arguments>(arguments)...);
    BOOST_ASIO_HANDLER_CREATION((context_of(ex), *op, "delay_queue", abort.queue, 0, "async_pop"));
    scope_exit undo([op] { op->destroy(); });
    if (auto slot = boost::asio::get_associated_cancellation_slot(op->handler());
        slot.is_connected()) {
        slot.template emplace<pop_cancellation<typename Op::value_type, Abort>>(*op, abort);
    }
    undo.release();
    return *op;
}

/// Makes a pop of the type that `handler` needs. The delay queue is used on `ex`. `queue` is the
/// queue of its context, and `dispatcher` dispatches pops to `ex`.
template <class Popped, class Handler, class Executor, class Abort>
[[nodiscard]] pop_op<typename Popped::value_type>&
make_pop(Handler&& handler, const Executor& ex, context_queue queue,
         pop_dispatcher<typename Popped::value_type>& dispatcher, Abort abort) {
    const auto bound = boost::asio::get_associated_executor(handler, ex);
    using bound_executor = std::decay_t<decltype(bound)>;
    using untracked = queued_pop<Popped, no_work, Handler>;
    using queued = queued_pop<Popped, work_on<bound_executor>, Handler>;
    using dispatched = dispatched_pop<Popped, bound_executor, Handler>;
    if constexpr (!has_own_executor<Handler> && is_io_context_executor<Executor>) {
        return create_pop<untracked>(std::forward<Handler>(handler), ex, abort, queue, no_work());
    } else {
        const boost::asio::execution_context* const native = native_context(bound);
        if (native != nullptr && native == native_context(ex)) {
            return create_pop<untracked>(std::forward<Handler>(handler), ex, abort, queue,
                                         no_work());
        }
        if (native != nullptr) { // Another context.
            return create_pop<queued>(std::forward<Handler>(handler), ex, abort, queue_of(bound),
                                      track_work(bound));
        }
        if (is_same_executor(ex, bound)) {
            return create_pop<queued>(std::forward<Handler>(handler), ex, abort, queue, dispatcher,
                                      track_work(bound));
        }
        return create_pop<dispatched>(std::forward<Handler>(handler), ex, abort, queue, bound);
    }
}

} // namespace asio_wheel::detail

#endif
