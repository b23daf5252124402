// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A deadline whose timer belongs to the user: cancel_after(timer, …) and the like.
//
// deadline.hpp has the ground rules. Three things are different here.
//
//  - The user may cancel, re-arm, move or destroy the timer, and may start other waits on it. So
//    the deadline does not keep the timer. It withdraws its wait through the wait's own
//    cancellation slot, which reaches this wait alone, wherever the timer is.
//  - When the operation's handler is called, the timer is the user's again, on any thread. So arm()
//    and the end of the operation exclude each other: arm() has the bit `emitting` meanwhile.
//  - If the wait was aborted, the user has done something to the timer. This cancels the operation,
//    as it does with Asio, and is no timeout.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMER_DEADLINE_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMER_DEADLINE_HPP

#include <asio_wheel/detail/asio/bound_to.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/timeout/deadline.hpp>
#include <asio_wheel/detail/timeout/in_place_signal.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <chrono>
#include <new>
#include <utility>

namespace asio_wheel::detail {

class timer_deadline final : public deadline_base<timer_deadline> {
    friend deadline_base;

public:
    using owners = deadline_owners<timer_deadline>;

    [[nodiscard]] static owners make(boost::asio::cancellation_type type) {
        block_allocator<timer_deadline> memory;
        auto* const d = ::new (static_cast<void*>(memory.allocate(1))) timer_deadline;
        d->reset(type);
        return owners(d);
    }

    /// Starts the wait by calling start(), unless the operation has ended. The operation's handler
    /// is not called meanwhile. If start() throws, the deadline expires now.
    template <class Start>
    void arm(Start start) noexcept {
        const emission scope(*this);
        if (!scope) {
            return;
        }
        if (throws([&] { start(); })) {
            expire_for_lack_of_memory();
            return;
        }
        // close() waits until ~emission, which releases the slot of the wait to it.
        state().fetch_or(armed, std::memory_order_relaxed);
    }

    /// The cancellation slot of the wait.
    [[nodiscard]] in_place_signal::slot_type wait_slot() noexcept { return wait_.slot(); }

    /// Unknown: the user may move the timer, to another time and to another place.
    [[nodiscard]] static std::chrono::nanoseconds remaining() noexcept {
        return (std::chrono::nanoseconds::max)();
    }

    /// The wait has ended with `ec`. Has no effect if the operation has ended before.
    void end_wait(const boost::system::error_code& ec) {
        if (ec == boost::asio::error::operation_aborted) {
            cancel(type());
        } else {
            expire(ec);
        }
    }

private:
    timer_deadline() = default;
    ~timer_deadline() = default;

    // If the wait is over, this does nothing; its timer and its core may have ended.
    void withdraw() noexcept { wait_.emit(boost::asio::cancellation_type::terminal); }

    void release() noexcept {
        block_allocator<timer_deadline> memory;
        this->~timer_deadline();
        memory.deallocate(this, 1);
    }

    // Its slot is set by arm(). It is signalled by the thread that ends the operation.
    in_place_signal wait_;
};

/// The handler of the wait, with the executor on which the operation must be cancelled.
template <class Executor>
class end_of_timer_wait : public bound_to<Executor> {
public:
    using cancellation_slot_type = in_place_signal::slot_type;
    static constexpr wait_kind kind_of_wait = wait_kind::timeout;

    end_of_timer_wait(deadline_owner<timer_deadline> d, bound_to<Executor> ex)
        : bound_to<Executor>(std::move(ex)), deadline_(std::move(d)) {}

    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return deadline_->wait_slot();
    }

    void operator()(const boost::system::error_code& ec) { deadline_->end_wait(ec); }

private:
    deadline_owner<timer_deadline> deadline_;
};

} // namespace asio_wheel::detail

#endif
