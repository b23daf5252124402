// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of a delay queue.
//
// There are elements, and pops that wait for one. When an element is due, the first pop gets it.
// This happens on the queue's executor, in slices of the wheel's `budget`.
//
// What always holds when a function of the queue has returned:
//
//  - If a pop waits, then there is a wait for the earliest element, or the driver has been asked
//    for a turn. So no pop is forgotten. If no pop waits, there is no wait: such a queue does not
//    keep the context running.
//  - If the queue is closed and empty, no pop waits.
//
// The user may move a delay queue. This part stays where it is, because the driver and the
// cancellation slots of pops point to it. It is used by one thread at a time, so it has no lock.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_IMPL_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_IMPL_HPP

#include <asio_wheel/delay_queue.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/delay_queue/delayed_elements.hpp>
#include <asio_wheel/detail/delay_queue/pop_op.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/queue_driver.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>
#include <asio_wheel/detail/op/waiting_op.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

template <class T, class Clock, class Executor>
class delay_queue_impl {
public:
    using key = element_key;
    using entry = delay_queue_entry<T, Clock>;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using waiter = pop_op<entry>;
    static constexpr wait_kind kind_of_wait = wait_kind::queue;
    using elements = delayed_elements<T, time_point, steady_clock<Clock>>;

    delay_queue_impl(const executor_type& ex, const delay_queue_options& options)
        : wheel_(wheel_of<Clock>(ex)), timer_(ex), max_pending_(options.max_pending),
          elements_(wheel_.now()), driver_(std::make_shared<driver>(*this, ex)) {}

    delay_queue_impl(const delay_queue_impl&) = delete;
    delay_queue_impl& operator=(const delay_queue_impl&) = delete;
    ~delay_queue_impl() {
        driver_->disconnect();
        cancel();
    }

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    /// For what changes neither the number of elements nor their times.
    [[nodiscard]] elements& contents() noexcept { return elements_; }

    [[nodiscard]] std::size_t max_pending() const noexcept { return max_pending_; }

    /// `delay` from now.
    template <class Rep, class Period>
    [[nodiscard]] time_point expiry_after(const std::chrono::duration<Rep, Period>& delay) const {
        throw_if_nan("the delay of an element", delay);
        return add_saturating(now(), delay);
    }

    key push_at(const time_point& t, T&& value) {
        if (closed_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::queue_closed));
        }
        if (max_pending_ != 0 && elements_.size() >= max_pending_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::queue_full));
        }
        const key k = elements_.push(std::move(value), t);
        on_new_expiry(t);
        return k;
    }

    std::optional<T> erase(const key& k) {
        std::optional<T> value = elements_.erase(k);
        complete_all_if_exhausted();
        return value;
    }

    bool postpone_until(const key& k, const time_point& t) {
        if (!elements_.postpone(k, t)) {
            return false;
        }
        on_new_expiry(t);
        return true;
    }

    std::optional<T> try_pop() {
        element* const e = first_due();
        std::optional<T> value = e != nullptr ? elements_.take(*e) : std::nullopt;
        complete_all_if_exhausted();
        return value;
    }

    std::optional<entry> try_pop_entry() {
        std::optional<entry> popped;
        if (element* const e = first_due()) {
            elements_.take(*e, popped);
        }
        complete_all_if_exhausted();
        return popped;
    }

    [[nodiscard]] const T* peek() {
        const element* const e = first_due();
        return e != nullptr ? &elements_.value(*e) : nullptr;
    }

    /// `Pop` is value_pop<entry> or entry_pop<entry>.
    template <class Handler, class Pop>
    void start(Handler&& handler, std::type_identity<Pop>) {
        pop& p = make_pop<Pop>(std::forward<Handler>(handler));
        pops_.push_back(p);
        scope_exit undo([&] {
            if (!pops_.empty() && &pops_.back() == &p) { // Otherwise it is finished.
                pops_.pop_back();
                p.destroy();
            }
        });
        serve_pops();
        undo.release();
    }

    std::size_t cancel() noexcept { return complete_all(boost::asio::error::operation_aborted); }

    void clear() noexcept {
        elements_.clear();
        complete_all_if_exhausted();
    }

    void close() {
        closed_ = true;
        complete_all_if_exhausted();
    }
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    using pop = waiter;
    using element = typename elements::element;
    using driver = queue_driver<delay_queue_impl>;
    friend driver;

    template <class Pop, class Handler>
    [[nodiscard]] pop& make_pop(Handler&& handler) {
        const Executor& ex = timer_.get_executor();
        const auto make = [&]<class Way>(Way way) -> pop& {
            using op = handler_op<Pop, Handler, Way>;
            op* const p =
                op_memory<op, Handler>::create(std::forward<Handler>(handler), std::move(way));
            BOOST_ASIO_HANDLER_CREATION((context_of(ex), *p, "delay_queue", this, 0, "async_pop"));
            connect_slot<pop>(*p, p->handler(), [this](pop& aborted) { abort(aborted); });
            return *p;
        };
        const auto here = [&](const auto& make_here) -> pop& {
            if constexpr (!is_native_type<Executor>) {
                if (!is_native(ex)) {
                    return make_here(typename driver::way(*driver_));
                }
            }
            return make_here(by_own_queue(driver_->context()));
        };
        return choose_way(handler, ex, here, make);
    }

    [[nodiscard]] element* first_due() {
        return elements_.first_due([this] { return now(); });
    }

    // Also after the context's end. The wheel itself is used only while a pop waits.
    [[nodiscard]] time_point now() const { return core_access::now_of(timer_); }

    // Completes pops with elements that are due: one slice. Then waits for the next element, or
    // asks for another turn. Throws only if a wait is needed and cannot be started.
    void serve_pops() {
        std::size_t left = wheel_.options().budget;
        for (; left != 0 && !pops_.empty(); --left) {
            element* const e = first_due();
            if (e == nullptr) {
                break;
            }
            complete_front(*e);
        }
        elements_.restore_deferred();
        complete_all_if_exhausted();
        if (pops_.empty()) {
            stop_waiting();
        } else if (left == 0) {
            driver_->request_turn();
        } else if (!driver_->turn_requested()) {
            const auto next = elements_.next_expiry();
            wait_until(next.value_or((time_point::max)()));
        }
    }

    // Completes the first pop with the value of an element; or with an error, if moving the value
    // throws.
    void complete_front(element& e) noexcept {
        pop& first = detach(pops_.front());
        boost::system::error_code failure;
        const auto take = [&] { elements_.take(e, first.entry); };
        const bool other_failure = throws([&] {
            if (throws<std::bad_alloc>(take)) {
                failure = make_error_code(boost::system::errc::not_enough_memory);
            }
        });
        if (other_failure) {
            failure = make_error_code(boost::system::errc::operation_not_supported);
        }
        if (failure) {
            elements_.defer(e); // So that the next pop gets the next element.
        } else {
            core_access::of(wheel_).expired(wait_kind::queue);
        }
        first.finish(failure);
    }

    // Called when an element has got a new expiry. If that is before the end of the wait, the wait
    // ends earlier. If it has passed already, asks for a turn: so a handler that pushes several
    // elements has returned before any of them is given to a pop.
    void on_new_expiry(const time_point& t) {
        if (pops_.empty() || driver_->turn_requested() || t >= timer_.expiry()) {
            return;
        }
        if (t <= now()) {
            driver_->request_turn();
        } else {
            static_cast<void>(timer_.postpone_until(t));
        }
    }

    // Starts a wait, or moves the one that is pending.
    void wait_until(const time_point& t) {
        if (!wait_pending_) {
            timer_.expires_at(t);
            driver_->start_wait(timer_);
            wait_pending_ = true;
        } else if (t != timer_.expiry()) {
            static_cast<void>(timer_.postpone_until(t));
        }
    }

    void stop_waiting() noexcept {
        if (std::exchange(wait_pending_, false)) {
            driver_->ignore_wait();
            timer_.cancel();
        }
    }

    void on_wait(const boost::system::error_code& ec) {
        wait_pending_ = false;
        if (!ec) {
            on_turn();
        } else {
            complete_all(why_refused(ec));
        }
    }

    void on_turn() {
        // If this fails, tries again, until a wait can be started.
        scope_exit try_again([this] { driver_->request_turn(); });
        if (!throws<std::bad_alloc>([this] { serve_pops(); })) {
            try_again.release();
        }
    }

    // Removes a pop from the queue. After this the pop does not wait any more.
    pop& detach(pop& p) noexcept {
        pops_.erase(pops_.iterator_to(p));
        p.disconnect_slot();
        return p;
    }

    void abort(pop& p) noexcept {
        detach(p);
        if (pops_.empty()) {
            stop_waiting();
        }
        p.finish(boost::asio::error::operation_aborted);
    }

    // Returns how many pops there were.
    std::size_t complete_all(const boost::system::error_code& ec) noexcept {
        stop_waiting();
        std::size_t ended = 0;
        for (; !pops_.empty(); ++ended) {
            detach(pops_.front()).finish(ec);
        }
        return ended;
    }

    // A closed queue without elements will never have another one.
    void complete_all_if_exhausted() noexcept {
        if (closed_ && elements_.size() == 0) {
            complete_all(error::queue_closed);
        }
    }

    // The context ends. The handler of a pop may own the queue, so this is the last thing to be
    // done with it.
    void destroy_waiting() noexcept {
        wait_pending_ = false;
        destroy_all(pops_);
    }

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    std::size_t max_pending_; // 0 is no limit.
    elements elements_;
    waiting_list<pop> pops_; // Those that wait, in the order in which they were started.
    std::shared_ptr<driver> driver_;
    bool wait_pending_ = false; // A wait on timer_ is pending, and its handler will call on_wait().
    bool closed_ = false;
};

} // namespace asio_wheel::detail

#endif
