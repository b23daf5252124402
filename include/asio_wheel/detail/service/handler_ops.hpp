// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The two kinds of operation. They differ in how the handler is reached when the context has taken
// the operation out of its queue.
//
// direct_op: the handler has no executor, or the context's own. It is called at once.
//
// dispatched_op: the handler has another executor, such as a strand. The operation is dispatched to
// that executor. Until it arrives there, the wait can still be cancelled or postponed.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_HANDLER_OPS_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_HANDLER_OPS_HPP

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_lock.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/op/dispatch.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/wait_description.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

template <class Handler>
inline constexpr bool has_own_slot =
    !std::is_same_v<boost::asio::associated_cancellation_slot_t<Handler, unassociated>,
                    unassociated>;

/// The wait_op that has room for what is associated with a handler. `Place`: see wait_description.
template <class Handler, class Place,
          class Node = std::conditional_t<has_own_slot<Handler>, slotted_node, wait_node>>
using op_base =
    wait_op_of<std::conditional_t<is_described<Handler, Place>, described_node<Node>, Node>>;

/// `Timer` is the state of a timer that belongs to this operation alone, if there is one.
template <class Handler, class Timer = unassociated, class Place = no_place>
class direct_op final : public op_base<Handler, Place> {
    using base = op_base<Handler, Place>;
    using memory = op_memory<direct_op, Handler>;

public:
    direct_op(Handler&& handler, core& c)
        : base(&direct_op::run, {.kind = kind_of_wait<Handler, Timer>()}), core_(c),
          handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }
    [[nodiscard]] Timer& timer() noexcept { return timer_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto* const op = static_cast<direct_op*>(self);
        core& c = op->core_;
        if (queue == nullptr) {
            if (c.prepare_destroy(*op)) {
                BOOST_ASIO_HANDLER_COMPLETION((*op));
                memory::destroy(*op);
            }
            return;
        }
        core::handler_scope scope(c);
        if (op->where() == wait_node::location::queue_final || c.claim_in_queue(*op, scope)) {
            BOOST_ASIO_HANDLER_COMPLETION((*op));
            const boost::system::error_code result = error_of(*op);
            // Free the memory before the upcall, so that a wait that starts there can have it.
            Handler handler(memory::take_handler(*op));
            BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
            std::move(handler)(result);
            BOOST_ASIO_HANDLER_INVOCATION_END;
        }
    }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Timer timer_;
    core& core_;
    Handler handler_;
};

/// The part of a dispatched_op that does not depend on its handler: all handlers with the same type
/// of executor share this code.
///
/// `Work` is outstanding work of the timer's own executor. It ends when the operation is
/// dispatched. From then on the timer's context may end.
template <class Base, class Executor, class Work>
class dispatched_op_base : public Base {
    using untracked =
        decltype(untracked_executor<Executor>(std::declval<const work_on<Executor>&>()));

protected:
    using arrival = core::arrival;

    dispatched_op_base(operation::func_type function, wait_kind k, core& c, const Executor& ex,
                       Work work)
        : Base(function, {.kind = k, .is_dispatched = true}), lock_(c.shared_lock()),
          executor_(track_work(ex)), work_(std::move(work)) {
        prepare_dispatch(ex);
    }
    ~dispatched_op_base() = default;

    // Called by a queue. Says whether the caller must complete or destroy the operation now.
    [[nodiscard]] ASIO_WHEEL_NOINLINE arrival turn(bool runs) {
        if (this->where() == wait_node::location::executor) {
            return runs ? core::arrive(core_lock_ptr(lock_), *this) : drop();
        }
        if (runs) {
            dispatch();
            return arrival::waits;
        }
        return forget();
    }

private:
    // Its turn in the queue of the timer's context.
    void dispatch() {
        core& c = *lock_->core;
        const core::handler_scope scope(c);
        if (c.dispatch(*this) && !dispatch_to_executor()) {
            c.dispatch_later(*this);
        }
    }

    // As dispatch_to().
    [[nodiscard]] bool dispatch_to_executor() {
        // Copies: the operation may be gone when dispatch_to() returns.
        std::optional<untracked> ex;
        scope_exit undo([this] { this->destroy(); });
        const bool no_memory = // Executors that hide a large one allocate for that.
            throws<std::bad_alloc>([&] { ex.emplace(untracked_executor<Executor>(executor_)); });
        undo.release();
        if (no_memory) {
            return false;
        }
        [[maybe_unused]] const Work work(std::move(work_));
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has one.
        return dispatch_to(*ex, *this);
    }

    // The handler's executor has dropped the operation.
    [[nodiscard]] arrival drop() noexcept {
        core::abandon(core_lock_ptr(lock_), *this);
        return arrival::dropped;
    }

    // The context destroys the operation, which was not dispatched.
    [[nodiscard]] arrival forget() noexcept {
        const bool ours = this->where() == wait_node::location::queue_final ||
                          lock_->core->prepare_destroy(*this);
        return ours ? arrival::dropped : arrival::waits;
    }

    core_lock_ptr lock_;
    work_on<Executor> executor_;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Work work_;
};

template <class Handler, class Executor, class Work, class Timer = unassociated,
          class Place = no_place>
class dispatched_op final : public dispatched_op_base<op_base<Handler, Place>, Executor, Work> {
    using base = dispatched_op_base<op_base<Handler, Place>, Executor, Work>;
    using memory = op_memory<dispatched_op, Handler>;

public:
    dispatched_op(Handler&& handler, core& c, const Executor& ex, Work work)
        : base(&dispatched_op::run, kind_of_wait<Handler, Timer>(), c, ex, std::move(work)),
          handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }
    [[nodiscard]] Timer& timer() noexcept { return timer_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<dispatched_op*>(self);
        const auto how = op.turn(queue != nullptr);
        if (how == base::arrival::dropped) {
            BOOST_ASIO_HANDLER_COMPLETION((op));
            memory::destroy(op);
        } else if (how == base::arrival::claimed) {
            BOOST_ASIO_HANDLER_COMPLETION((op));
            const boost::system::error_code result = error_of(op);
            Handler handler(memory::take_handler(op));
            BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
            std::move(handler)(result);
            BOOST_ASIO_HANDLER_INVOCATION_END;
        }
    }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Timer timer_;
    Handler handler_;
};

} // namespace asio_wheel::detail

#endif
