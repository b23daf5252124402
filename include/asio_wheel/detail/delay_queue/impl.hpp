// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a delay queue works. This is the state that its owner keeps in one place, wherever the owner
// moves: its watch and the cancellation slots of pops point here.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_IMPL_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_IMPL_HPP

#include <asio_wheel/delay_queue.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/delay_queue/delayed_elements.hpp>
#include <asio_wheel/detail/delay_queue/pop_op.hpp>
#include <asio_wheel/detail/delay_queue/pop_watch.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

template <class T, class Clock, class Executor>
class delay_queue_impl {
public:
    using value_type = T;
    using key = element_key;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    delay_queue_impl(const executor_type& ex, const delay_queue_options& options)
        : wheel_(use_wheel<Clock>(context_of(ex))), timer_(ex), capacity_(options.capacity),
          elements_(count_of(wheel_.now())), watch_(std::make_shared<watch>(*this, ex)) {}

    delay_queue_impl(const delay_queue_impl&) = delete;
    delay_queue_impl& operator=(const delay_queue_impl&) = delete;
    ~delay_queue_impl() {
        watch_->leave();
        cancel();
    }

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// The time that is `delay` after now.
    template <class Rep, class Period>
    [[nodiscard]] time_point after(const std::chrono::duration<Rep, Period>& delay) const {
        refuse_nan("the delay of an element", delay);
        return add_saturating(wheel_.now(), ceil_saturating<duration>(delay));
    }

    key push_at(T&& value, const time_point& t) {
        if (closed_) {
            throw boost::system::system_error(error::queue_closed);
        }
        if (capacity_ != 0 && size() >= capacity_) {
            throw boost::system::system_error(error::queue_full);
        }
        const key k = elements_.push(std::move(value), count_of(t));
        note(t);
        return k;
    }

    std::optional<T> erase(const key& k) {
        std::optional<T> value = elements_.erase(k);
        end_pops_if_over();
        return value;
    }

    bool postpone_until(const key& k, const time_point& t) {
        if (!elements_.postpone(k, count_of(t))) {
            return false;
        }
        note(t);
        return true;
    }

    std::optional<T> try_pop() {
        element* const e = next_due();
        std::optional<T> value = e != nullptr ? elements_.take(*e) : std::nullopt;
        end_pops_if_over();
        return value;
    }

    [[nodiscard]] const T* peek() {
        element* const e = next_due();
        return e != nullptr ? &elements_.value(*e) : nullptr;
    }

    template <class Function>
    void for_each(Function& f) const {
        elements_.for_each(
            [&f](const key& k, const T& value, std::int64_t t) { f(k, value, time_of(t)); });
    }

    [[nodiscard]] std::optional<time_point> peek_expiry() {
        const auto next = elements_.exactly_next();
        return next ? std::optional(time_of(*next)) : std::nullopt;
    }

    template <class Handler>
    void start(Handler&& handler) {
        pop& p = make_pop<T>(std::forward<Handler>(handler), timer_.get_executor(),
                             watch_->context(), *watch_, abort_pop{this});
        pops_.push_back(p);
        try {
            serve();
        } catch (...) {
            if (!pops_.empty() && &pops_.back() == &p) { // Else it is finished.
                pops_.pop_back();
                p.destroy();
            }
            throw;
        }
    }

    std::size_t cancel() noexcept { return end_pops(boost::asio::error::operation_aborted); }

    void clear() noexcept {
        elements_.clear();
        end_pops_if_over();
    }

    void close() {
        closed_ = true;
        end_pops_if_over();
    }
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    using pop = pop_op<T>;
    using pop_list = boost::intrusive::list<pop, boost::intrusive::constant_time_size<false>>;
    using elements = delayed_elements<T, Clock::is_steady>;
    using element = typename elements::element;
    using watch = pop_watch<delay_queue_impl>;
    friend watch;

    // What a pop's cancellation slot calls.
    struct abort_pop {
        delay_queue_impl* queue;
        void operator()(pop& p) const noexcept { queue->abort(p); }
    };

    [[nodiscard]] element* next_due() {
        return elements_.due([this] { return count_of(wheel_.now()); });
    }

    // Gives what is due to the pops that wait, as many as a slice has, and sees to the rest. Throws
    // only if there are pops, no wait, and none can be started.
    void serve() {
        std::size_t left = wheel_.options().budget;
        for (; left != 0 && !pops_.empty(); --left) {
            element* const e = next_due();
            if (e == nullptr) {
                break;
            }
            hand_out(*e);
        }
        elements_.bring_back();
        end_pops_if_over();
        if (pops_.empty()) {
            look_no_more();
        } else if (left == 0) {
            watch_->go_on();
        } else if (!watch_->going_on()) {
            const auto next = elements_.next();
            look_at(next ? time_of(*next) : (time_point::max)());
        }
    }

    // Ends the first pop with the value of an element; or, if that cannot be moved, with an error.
    void hand_out(element& e) noexcept {
        pop& first = take_out(pops_.front());
        boost::system::error_code failure;
        try {
            elements_.take_to(first.value(), e);
        } catch (const std::bad_alloc&) {
            failure = make_error_code(boost::system::errc::not_enough_memory);
        } catch (...) {
            failure = make_error_code(boost::system::errc::operation_not_supported);
        }
        if (failure) {
            elements_.set_aside(e); // The next pop gets the next one.
        }
        first.finish(failure);
    }

    // An element has got another time: pops that wait may have to be served earlier. They are when
    // the present handler has returned, with what is first then.
    void note(const time_point& t) {
        if (pops_.empty() || watch_->going_on() || t >= timer_.expiry()) {
            return;
        }
        if (t <= wheel_.now()) {
            watch_->go_on();
        } else {
            static_cast<void>(timer_.postpone_until(t));
        }
    }

    void look_at(const time_point& t) {
        if (!looking_) {
            timer_.expires_at(t);
            watch_->wait(timer_);
            looking_ = true;
        } else if (t != timer_.expiry()) {
            static_cast<void>(timer_.postpone_until(t));
        }
    }

    // While no pop waits, the queue does not keep the context running.
    void look_no_more() noexcept {
        if (std::exchange(looking_, false)) {
            watch_->forget_wait();
            timer_.cancel();
        }
    }

    void looked(const boost::system::error_code& ec) {
        looking_ = false;
        if (!ec) {
            go_on();
        } else { // Only drain() aborts it.
            const bool drained = ec == boost::asio::error::operation_aborted;
            end_pops(drained ? make_error_code(error::wheel_stopped) : ec);
        }
    }

    void go_on() {
        try {
            serve();
        } catch (const std::bad_alloc&) {
            watch_->go_on(); // Until a wait can be started.
        } catch (...) {
            watch_->go_on();
            throw;
        }
    }

    // A pop waits no more.
    pop& take_out(pop& p) noexcept {
        pops_.erase(pops_.iterator_to(p));
        p.cut_off();
        return p;
    }

    void abort(pop& p) noexcept {
        take_out(p);
        if (pops_.empty()) {
            look_no_more();
        }
        p.finish(boost::asio::error::operation_aborted);
    }

    std::size_t end_pops(const boost::system::error_code& ec) noexcept {
        look_no_more();
        std::size_t ended = 0;
        for (; !pops_.empty(); ++ended) {
            take_out(pops_.front()).finish(ec);
        }
        return ended;
    }

    void end_pops_if_over() noexcept {
        if (closed_ && empty()) {
            end_pops(error::queue_closed);
        }
    }

    // The context ends. A handler may own what the queue is part of.
    void forget_pops() noexcept {
        looking_ = false;
        pop_list gone;
        gone.swap(pops_);
        while (!gone.empty()) {
            pop& first = gone.front();
            gone.pop_front();
            first.destroy();
        }
    }

    [[nodiscard]] static std::int64_t count_of(const time_point& t) noexcept {
        return static_cast<std::int64_t>(t.time_since_epoch().count());
    }
    [[nodiscard]] static time_point time_of(std::int64_t count) noexcept {
        return time_point(duration(static_cast<typename duration::rep>(count)));
    }

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    std::size_t capacity_; // 0 is no limit.
    elements elements_;
    // If any pop waits, there is a wait for the timer, or the watch is going on.
    pop_list pops_;
    std::shared_ptr<watch> watch_;
    bool looking_ = false; // There is a wait.
    bool closed_ = false;
};

} // namespace asio_wheel::detail

#endif
