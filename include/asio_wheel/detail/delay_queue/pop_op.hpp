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
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/delay_queue/delayed_elements.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution_context.hpp>
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

/// A pop, without its handler, which is in a derived class. Ends by finish(); or by destroy(),
/// which does not call the handler.
template <class T>
class pop_op : public executor_op,
               public slot_target,
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

    /// Sends the pop to its handler, which gets `ec` and the value, if there is one. The pop is in
    /// no list any more, and its slot is disconnected.
    void finish(const boost::system::error_code& ec) noexcept {
        BOOST_ASSERT(this->where() == executor_op::location::owner && !this->has_slot());
        result_ = ec;
        post_completion();
    }

    [[nodiscard]] const boost::system::error_code& result() const noexcept { return result_; }

protected:
    explicit pop_op(operation::func_type function) noexcept : executor_op(function) {}
    ~pop_op() = default;

private:
    virtual void post_completion() noexcept = 0;

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

/// Dispatches finished pops to the executor of their delay queue, one by one, in the order in which
/// they were finished.
template <class T>
class pop_dispatcher {
public:
    virtual void dispatch(pop_op<T>& pop) noexcept = 0;

protected:
    ~pop_dispatcher() = default;
};

/// The way of a pop whose handler has the executor of the delay queue, if that is not native.
template <class T, class Executor>
class by_dispatcher {
public:
    by_dispatcher(pop_dispatcher<T>& dispatcher, const Executor& ex)
        : dispatcher_(dispatcher), work_(track_work(ex)) {}

    void post(pop_op<T>& op) noexcept { dispatcher_.dispatch(op); }
    [[nodiscard]] bool arrives(const executor_op&) const noexcept { return true; }

private:
    pop_dispatcher<T>& dispatcher_;
    work_on<Executor> work_;
};

/// `Way`: how it gets to its handler. See executor_op.hpp.
template <class Popped, class Handler, class Way>
class pop_op_of final : public pop_op<typename Popped::value_type> {
    using T = typename Popped::value_type;
    using memory = op_memory<pop_op_of, Handler>;

public:
    pop_op_of(Handler&& handler, Way&& way)
        : pop_op<T>(&pop_op_of::run), way_(std::move(way)), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<pop_op_of*>(self);
        if (queue == nullptr) {
            memory::destroy(op);
        } else if (op.way_.arrives(op)) {
            deliver(op);
        }
    }

    // Frees the pop and calls its handler. If moving the value throws, destroys both, and the
    // exception leaves this function as if the handler had thrown it.
    static void deliver(pop_op_of& op) {
        BOOST_ASSERT(op.where() != executor_op::location::owner);
        BOOST_ASIO_HANDLER_COMPLETION((op));
        scope_exit drop([&op] { op.destroy(); });
        auto value = Popped::take(op);
        drop.release();
        const boost::system::error_code result = op.result();
        // The memory is freed before the handler is called, so that a pop that the handler starts
        // can use it. The work on the executor ends before, too: the executor's context may end
        // while the handler runs.
        Handler handler(memory::take_handler(op));
        BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
        Popped::call(handler, result, std::move(value));
        BOOST_ASIO_HANDLER_INVOCATION_END;
    }

    void post_completion() noexcept override { way_.post(*this); }

    Way way_;
    Handler handler_;
};

/// Makes a pop of the type that `handler` needs. The delay queue is used on `ex`. `queue` is the
/// queue of its context, and `dispatcher` dispatches pops to `ex`. If the handler has a
/// cancellation slot, the slot calls abort(pop).
template <class Popped, class Handler, class Executor, class Abort>
[[nodiscard]] pop_op<typename Popped::value_type>&
make_pop(Handler&& handler, const Executor& ex, context_queue queue,
         pop_dispatcher<typename Popped::value_type>& dispatcher, Abort abort) {
    using pop = pop_op<typename Popped::value_type>;
    const auto make_with = [&]<class Way>(Way way) -> pop& {
        using op_type = pop_op_of<Popped, Handler, Way>;
        op_type* const op =
            op_memory<op_type, Handler>::create(std::forward<Handler>(handler), std::move(way));
        BOOST_ASIO_HANDLER_CREATION(
            (context_of(ex), *op, "delay_queue", abort.queue, 0, "async_pop"));
        scope_exit undo([op] { op->destroy(); });
        connect_slot<pop>(*op, op->handler(), abort);
        undo.release();
        return *op;
    };
    if constexpr (!has_own_executor<Handler> && is_io_context_executor<Executor>) {
        return make_with(by_own_queue(queue));
    } else {
        const auto bound = boost::asio::get_associated_executor(handler, ex);
        using bound_executor = std::decay_t<decltype(bound)>;
        const boost::asio::execution_context* const native = native_context(bound);
        if (native != nullptr && native == native_context(ex)) {
            return make_with(by_own_queue(queue));
        }
        if (native == nullptr && is_same_executor(ex, bound)) {
            return make_with(
                by_dispatcher<typename Popped::value_type, bound_executor>(dispatcher, bound));
        }
        return make_with(
            to_executor<bound_executor>(bound, native != nullptr ? queue_of(bound) : queue));
    }
}

} // namespace asio_wheel::detail

#endif
