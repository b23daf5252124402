// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The two kinds of operation, which differ in how their handler is reached once the context has
// taken them out of its queue.
//
// direct_op: its handler is bound to the context's own executor, if to any. It is called at once.
//
// hopping_op: its handler belongs on a strand or on another context. A ticket is sent through that
// executor, and the ticket calls it. Until the ticket arrives, the wait can still be cancelled or
// postponed.

#ifndef ASIO_WHEEL_DETAIL_HANDLER_OPS_HPP
#define ASIO_WHEEL_DETAIL_HANDLER_OPS_HPP

#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/op_memory.hpp>
#include <asio_wheel/detail/wait_op.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Stands for whatever a handler may have of its own where only the question is asked whether it
/// does.
struct nothing {};

template <class Handler>
inline constexpr bool has_own_slot =
    !std::is_same_v<boost::asio::associated_cancellation_slot_t<Handler, nothing>, nothing>;

/// `Timer` is what an operation carries of a timer: nothing, or the state of one that is its alone.
template <class Core, class Handler, class Timer = nothing>
class direct_op final : public std::conditional_t<has_own_slot<Handler>, slotted_op, wait_op> {
    using base = std::conditional_t<has_own_slot<Handler>, slotted_op, wait_op>;
    using memory = op_memory<direct_op, Handler>;

public:
    direct_op(Handler&& handler, Core& core)
        : base(&direct_op::run), core_(core), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }
    [[nodiscard]] Timer& timer() noexcept { return timer_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto* const op = static_cast<direct_op*>(self);
        Core& core = op->core_;
        if (queue == nullptr) {
            if (!core.forget(*op)) {
                return;
            }
            BOOST_ASIO_HANDLER_COMPLETION((*op));
            // Its destructor may do anything: let the operation go first.
            static_cast<void>(memory::take_handler(*op));
            return;
        }
        const typename Core::delivery delivery(core, *op);
        if (delivery.claimed()) {
            BOOST_ASIO_HANDLER_COMPLETION((*op));
            const boost::system::error_code result = op->result();
            // The memory is free before the upcall, so that a wait started there can have it.
            Handler handler(memory::take_handler(*op));
            BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
            std::move(handler)(result);
            BOOST_ASIO_HANDLER_INVOCATION_END;
        }
    }

    [[no_unique_address]] Timer timer_;
    Core& core_;
    Handler handler_;
};

using hopping_hook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

/// An operation whose handler is reached through an executor, by a ticket.
class hopping_op_base : public slotted_op, public hopping_hook {
public:
    /// Frees the operation and calls its handler.
    virtual void complete(const boost::system::error_code& result) = 0;

protected:
    explicit hopping_op_base(func_type function) noexcept : slotted_op(function) {}
    ~hopping_op_base() = default;
};

using hopping_list =
    boost::intrusive::list<hopping_op_base, boost::intrusive::constant_time_size<false>>;

struct no_work {};

/// `Work` is what keeps the timer's own executor working where the handler has another one.
template <class Core, class Handler, class Executor, class Work, class Timer = nothing>
class hopping_op final : public hopping_op_base {
    using memory = op_memory<hopping_op, Handler>;

public:
    hopping_op(Handler&& handler, Core& core, const Executor& ex, Work work)
        : hopping_op_base(&hopping_op::run), core_(core), executor_(track_work(ex)),
          work_(std::move(work)), handler_(std::move(handler)) {}

    void complete(const boost::system::error_code& result) override {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        // Work on the executors lasts until the handler has returned.
        [[maybe_unused]] const work_on<Executor> executor(std::move(executor_));
        [[maybe_unused]] const Work work(std::move(work_));
        Handler handler(memory::take_handler(*this));
        BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
        std::move(handler)(result);
        BOOST_ASIO_HANDLER_INVOCATION_END;
    }

    [[nodiscard]] Handler& handler() noexcept { return handler_; }
    [[nodiscard]] Timer& timer() noexcept { return timer_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto* const op = static_cast<hopping_op*>(self);
        Core& core = op->core_;
        if (queue == nullptr) {
            if (!core.forget(*op)) {
                return;
            }
            BOOST_ASIO_HANDLER_COMPLETION((*op));
            static_cast<void>(memory::take_handler(*op));
            return;
        }
        const typename Core::handler_scope scope(core);
        if (core.hop(*op)) {
            // A copy: the operation may be gone before dispatch() returns.
            const auto ex = executor_of<Executor>(op->executor_);
            boost::asio::dispatch(ex, typename Core::ticket_type(core, *op));
        }
    }

    [[no_unique_address]] Timer timer_;
    Core& core_;
    work_on<Executor> executor_;
    [[no_unique_address]] Work work_;
    Handler handler_;
};

} // namespace asio_wheel::detail

#endif
