// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of a context whose own executor is not known: an any_io_executor may hide an executor
// that is not Asio's, and other executors may tell nothing but their context. Asio's timers work
// with any context. If a wait on a timer is cancelled, its handler goes into the queue.
//
// Differences from other queues: each context has two handlers more, at its first use; and one when
// its count of work becomes zero.

#ifndef ASIO_WHEEL_DETAIL_ASIO_TIMER_PORT_HPP
#define ASIO_WHEEL_DETAIL_ASIO_TIMER_PORT_HPP

#include <asio_wheel/detail/asio/context_executor.hpp>
#include <asio_wheel/detail/asio/public_port.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <mutex>
#include <utility>

namespace asio_wheel::detail {

/// The service that owns the timers of a context. A template, so that only programs that use it
/// compile Asio's timers for it.
template <class Clock>
class timer_port final : public boost::asio::execution_context::service, public public_port {
public:
    using key_type = timer_port;
    static inline boost::asio::execution_context::id id;

    explicit timer_port(boost::asio::execution_context& context)
        : service(context), post_timer_(context_executor(context), (time_point::max)()),
          work_timer_(context_executor(context), (time_point::max)()), held_work_(*this) {
        // Asio allocates a place for each timer that has waits, and keeps it. It must not fail
        // later.
        for (timer* t : {&post_timer_, &work_timer_}) {
            t->async_wait([](const boost::system::error_code&) {});
        }
        post_timer_.cancel();
        work_timer_.cancel();
    }

    void post(public_operation& op) noexcept override {
        const std::lock_guard guard(mutex_);
        post_timer_.async_wait(operation_function(op));
        post_timer_.cancel();
    }

    void work_started() noexcept override {
        const std::lock_guard guard(mutex_);
        ++work_;
        hold();
    }

    void work_finished() noexcept override {
        const std::lock_guard guard(mutex_);
        --work_;
        if (work_ <= 0 && held_ == state::waits) {
            held_ = state::ends;
            work_timer_.cancel();
        }
    }

    [[nodiscard]] bool running_in_this_thread() const noexcept override { return false; }

private:
    // A type of our own gives the timers a queue of their own in Asio. So the two places there
    // cannot be taken by other timers.
    struct wait_traits {
        [[nodiscard]] static typename Clock::duration
        to_wait_duration(const typename Clock::duration& d) noexcept {
            return d;
        }
        [[nodiscard]] static typename Clock::duration
        to_wait_duration(const typename Clock::time_point& t) noexcept {
            return t - Clock::now();
        }
    };
    using timer = boost::asio::basic_waitable_timer<Clock, wait_traits, context_executor>;
    using time_point = typename Clock::time_point;

    // The wait that counts as work of the context.
    //
    //   state   meaning                               next
    //   none    there is no wait                      waits: work begins
    //   waits   it is at its timer                    ends: the last work ended
    //   ends    cancelled, and in the context's       waits: its turn came, and there is work again
    //           queue, where it counts as work, too   none: its turn came, and there is none
    enum class state { none, waits, ends };

    class work_op : public public_operation {
    public:
        explicit work_op(timer_port& port) noexcept
            : public_operation(&work_op::run), port_(port) {}

    private:
        static void run(void* queue, public_operation* self, const boost::system::error_code&,
                        std::size_t) {
            if (queue != nullptr) {
                static_cast<work_op*>(self)->port_.on_turn();
            }
        }

        timer_port& port_;
    };

    void shutdown() noexcept override {}

    void on_turn() noexcept {
        const std::lock_guard guard(mutex_);
        BOOST_ASSERT(held_ == state::ends);
        held_ = state::none;
        hold();
    }

    // With the lock.
    void hold() noexcept {
        if (work_ > 0 && held_ == state::none) {
            held_ = state::waits;
            work_timer_.async_wait(operation_function(held_work_));
        }
    }

    std::mutex mutex_; // Guards the others.
    timer post_timer_; // Never expires.
    timer work_timer_; // Never expires.
    work_op held_work_;
    state held_ = state::none;
    long work_ = 0; // May be negative: see executor_work.
};

} // namespace asio_wheel::detail

#endif
