// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a strand gets its turns when an operation is sent to it.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_STRAND_TURNS_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_STRAND_TURNS_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/hop_attempt.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// A turn of a strand, in the queue of the strand's context. It runs what the strand is about to
/// run, and then, if there is more, posts the next turn.
template <class Function>
class strand_turn final : public operation {
public:
    [[nodiscard]] static strand_turn& make(Function&& function) {
        strand_turn* const memory = hop_allocator<strand_turn>().allocate(1);
        scope_exit give_back([&] { hop_allocator<strand_turn>().deallocate(memory, 1); });
        ::new (static_cast<void*>(memory)) strand_turn(std::move(function));
        give_back.release();
        return *memory;
    }

private:
    explicit strand_turn(Function&& function)
        : operation(&strand_turn::run), function_(std::move(function)) {}

    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto* turn = static_cast<strand_turn*>(self);
        BOOST_ASIO_HANDLER_COMPLETION((*turn));
        Function function(std::move(turn->function_));
        turn->~strand_turn();
        if constexpr (!hop_allocator<strand_turn>::fits(1)) { // A strand that we do not know.
            hop_allocator<strand_turn>().deallocate(turn, 1);
            turn = nullptr;
        }
        const turn_memory memory(turn);
        if (queue != nullptr) {
            BOOST_ASIO_HANDLER_INVOCATION_BEGIN(());
            std::move(function)();
            BOOST_ASIO_HANDLER_INVOCATION_END;
        }
    }

    Function function_;
};

/// Takes the place of a strand's inner executor, which is native, for a hop: a turn of the strand
/// goes into the queue of the same context, in memory from hop_allocator. So hops to strands are
/// the same code, whatever the strands are made of.
class strand_turns {
public:
    template <class Executor>
        requires is_native_type<Executor>
    explicit strand_turns(const Executor& ex)
        : context_(&context_of(ex)), may_block_(may_block(ex)) {
        prepare_queue(ex);
    }

    template <class Function>
    ASIO_WHEEL_NOINLINE void execute(Function function) const {
        using turn = strand_turn<Function>;
        if (may_block_ && context_queue::running_in_this_thread(*context_)) {
            const turn_memory memory(hop_attempt::allocate());
            std::move(function)();
        } else {
            turn& next = turn::make(std::move(function));
            BOOST_ASIO_HANDLER_CREATION((*context_, next, "asio_wheel", context_, 0, "execute"));
            context_queue::post_to(*context_, next);
        }
    }

    [[nodiscard]] boost::asio::execution_context&
    query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }
    [[nodiscard]] static hop_allocator<void>
    query(boost::asio::execution::allocator_t<void>) noexcept {
        return {};
    }
    [[nodiscard]] boost::asio::execution::blocking_t
    query(boost::asio::execution::blocking_t) const noexcept {
        using boost::asio::execution::blocking_t;
        return may_block_ ? blocking_t(blocking_t::possibly) : blocking_t(blocking_t::never);
    }
    [[nodiscard]] strand_turns require(boost::asio::execution::blocking_t::never_t) const noexcept {
        strand_turns other(*this);
        other.may_block_ = false;
        return other;
    }

    friend bool operator==(const strand_turns&, const strand_turns&) noexcept = default;

private:
    boost::asio::execution_context* context_;
    bool may_block_;
};

} // namespace asio_wheel::detail

#endif
