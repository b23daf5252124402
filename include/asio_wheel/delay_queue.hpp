// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Values that can be taken when their time has come:
//
//     asio_wheel::delay_queue<job> jobs(ctx);
//     const auto key = jobs.push(std::move(j), 30s);
//     job next = co_await jobs.async_pop(use_awaitable);

#ifndef ASIO_WHEEL_DELAY_QUEUE_HPP
#define ASIO_WHEEL_DELAY_QUEUE_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/delayed_elements.hpp>
#include <asio_wheel/detail/duration_check.hpp>
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/initiation_of.hpp>
#include <asio_wheel/detail/pop_op.hpp>
#include <asio_wheel/detail/pop_watch.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace asio_wheel {

/// Values in the order of their times. An element can be taken if its time has come, which is
/// compared exactly, and not before. The one whose time came first is taken first; among equal times,
/// the one that was pushed first.
///
/// A pop that waits gets its value when the wheel says that the time has come: at most one tick of
/// the wheel later than try_pop() would; in paused time, at the same time. A value that is pushed when
/// its time has come goes to a waiting pop at once.
///
/// A key leads to the element it was given out for, and to no other: an element that was taken, erased
/// or cleared is never mixed up with another one (except for a place that held 2³² elements). A
/// default-constructed key leads nowhere.
///
/// A queue takes about 130 kB, and 80 bytes and the value for each element; places of elements are
/// used again, and freed by clear(). Pushing, erasing, moving and taking take constant time, but
/// logarithmic time in the number of elements that have the same time, or that were pushed when their
/// time had passed.
///
/// `T` is movable; for async_pop() also default constructible.
///
/// Neither copyable nor movable. Thread safety. Distinct queues: safe. One queue: unsafe; and the queue
/// is also used on its executor, when the time has come for a pop that waits. So if several threads
/// run the context, give the queue a strand, and use it there only.
///
/// When the context ends, pops that wait are destroyed without being completed. The queue may outlive
/// the context, if its executor may (a strand may not).
template <class T, class Clock = std::chrono::steady_clock,
          class Executor = boost::asio::any_io_executor>
class delay_queue {
    using initiate_async_pop = detail::initiation_of<delay_queue>;
    friend initiate_async_pop;
    static_assert(!std::chrono::treat_as_floating_point_v<typename Clock::rep>,
                  "a delay queue counts in whole units of its clock");

public:
    using value_type = T;
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    /// Which element. Copyable and comparable.
    using key = detail::element_key;

    template <class Executor1>
    struct rebind_executor {
        using other = delay_queue<T, Clock, Executor1>;
    };

    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    /// Holds no more than `capacity` elements.
    explicit delay_queue(const executor_type& ex, std::size_t capacity = unlimited)
        : wheel_(use_wheel<Clock>(detail::context_of(ex))), timer_(ex), capacity_(capacity),
          elements_(count_of(wheel_.now())), watch_(std::make_shared<watch>(*this, ex)) {}

    template <class Context>
        requires detail::is_context<Context>
    explicit delay_queue(Context& context, std::size_t capacity = unlimited)
        : delay_queue(executor_type(context.get_executor()), capacity) {}

    delay_queue(const delay_queue&) = delete;
    delay_queue& operator=(const delay_queue&) = delete;
    ~delay_queue() {
        watch_->leave();
        end_pops(boost::asio::error::operation_aborted);
    }

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Puts a value in, to be taken after `delay`. Throws boost::system::system_error with
    /// error::queue_full or error::queue_closed, and std::invalid_argument if `delay` is not a
    /// number; then the value is where it was.
    template <class Rep, class Period>
    key push(T&& value, const std::chrono::duration<Rep, Period>& delay) {
        return push_at(std::move(value), after(delay));
    }
    template <class Rep, class Period>
    key push(const T& value, const std::chrono::duration<Rep, Period>& delay) {
        return push_at(T(value), after(delay));
    }

    /// The same at a time.
    key push_at(T&& value, const time_point& t) {
        if (closed_) {
            throw boost::system::system_error(error::queue_closed);
        }
        if (size() >= capacity_) {
            throw boost::system::system_error(error::queue_full);
        }
        const key k = elements_.push(std::move(value), count_of(t));
        note(t);
        return k;
    }
    key push_at(const T& value, const time_point& t) { return push_at(T(value), t); }

    /// Takes an element out, whether or not its time has come. None if it is gone.
    std::optional<T> erase(const key& k) {
        std::optional<T> value = elements_.erase(k);
        end_pops_if_over();
        return value;
    }

    /// Gives an element another time, from now. False if it is gone. Throws std::invalid_argument
    /// if `delay` is not a number; then the element keeps its time.
    template <class Rep, class Period>
    bool reset(const key& k, const std::chrono::duration<Rep, Period>& delay) {
        return reset_at(k, after(delay));
    }
    bool reset_at(const key& k, const time_point& t) {
        if (!elements_.reset(k, count_of(t))) {
            return false;
        }
        note(t);
        return true;
    }

    /// Takes the next element, if its time has come.
    std::optional<T> try_pop() {
        element* const e = next_due();
        std::optional<T> value = e != nullptr ? elements_.take(*e) : std::nullopt;
        end_pops_if_over();
        return value;
    }

    /// What try_pop() would take: null if no time has come. Valid until the queue is changed.
    [[nodiscard]] const T* peek() {
        element* const e = next_due();
        return e != nullptr ? &elements_.value(*e) : nullptr;
    }

    /// Calls f(key, value, time) for each element, due or not, in no particular order. `f` must not
    /// change the queue. Looks at every place that was ever in use.
    template <class Function>
        requires std::invocable<Function&, const key&, const T&, const time_point&>
    void for_each(Function f) const {
        elements_.for_each(
            [&f](const key& k, const T& value, std::int64_t t) { f(k, value, time_of(t)); });
    }

    /// When the next element can be taken: its time. None without elements.
    [[nodiscard]] std::optional<time_point> peek_expiry() {
        const auto next = elements_.exactly_next();
        return next ? std::optional(time_of(*next)) : std::nullopt;
    }

    /// Waits for the next element, and takes it. Pops are served in the order in which they started.
    ///
    /// Completion signature: void(boost::system::error_code, T)
    ///
    /// Errors: boost::asio::error::operation_aborted after cancel(), destruction, or a signal to the
    /// handler's cancellation slot; error::queue_closed after close(), when no element is left;
    /// error::too_many_pending or error::wheel_stopped if the wheel refuses the wait or is drained. If
    /// moving the value out of its element throws: errc::not_enough_memory for std::bad_alloc, else
    /// errc::operation_not_supported. With an error nothing is taken: the value of that element stays
    /// where it was, first in the queue, and other pops that wait get those after it. Never completes
    /// from inside this function.
    ///
    /// Executor: as if by post() to the handler's associated executor, by default the queue's. That
    /// executor has outstanding work until then, and the queue's until the value is handed out.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect, until the
    /// value is handed out.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is called. For
    /// the first pop that waits, the wait's memory, too, which the queue keeps; and, for a handler on
    /// a strand or an executor unknown, what posting will need. If any of them throws, there is no pop.
    /// Once started, a pop needs no further memory: not to be handed its value, not to be aborted in
    /// whichever way, and not when the queue or the context ends. (An executor that allocates by
    /// itself may lack memory; the pop is then posted again and again until there is some.)
    ///
    /// Exceptions: a value moves twice, into the operation and, when the handler is called, out of it.
    /// If the second move throws, the exception leaves the context's run() as if the handler had thrown
    /// it; handler and value are destroyed, and other pops are not affected.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, T))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto
    async_pop(Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code, T)>(
            std::declval<initiate_async_pop>(), token)) {
        static_assert(std::default_initializable<T>,
                      "what async_pop() gives with an error is a default-constructed value");
        return boost::asio::async_initiate<Token, void(boost::system::error_code, T)>(
            initiate_async_pop(this), token);
    }

    /// Aborts all pops that wait. Returns how many these are.
    std::size_t cancel() { return end_pops(boost::asio::error::operation_aborted); }

    /// Destroys all elements. Pops go on waiting, unless the queue is closed.
    void clear() noexcept {
        elements_.clear();
        end_pops_if_over();
    }

    /// Takes no more elements. What is left can still be taken, in its time. When nothing is left,
    /// which may be now, all pops end with error::queue_closed: those that wait, and those to come.
    void close() {
        closed_ = true;
        end_pops_if_over();
    }
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    using pop = detail::pop_op<T>;
    using pop_list = boost::intrusive::list<pop, boost::intrusive::constant_time_size<false>>;
    using elements = detail::delayed_elements<T, Clock::is_steady>;
    using element = typename elements::element;
    using watch = detail::pop_watch<delay_queue>;
    friend watch;

    // What a pop's cancellation slot calls.
    struct abort_pop {
        delay_queue* queue;
        void operator()(pop& p) const noexcept { queue->abort(p); }
    };

    template <class Handler>
    void start(Handler&& handler) {
        pop& p = detail::make_pop<T>(std::forward<Handler>(handler), timer_.get_executor(),
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
            timer_.postpone_until(t);
        }
    }

    void look_at(const time_point& t) {
        if (!looking_) {
            timer_.expires_at(t);
            watch_->wait(timer_);
            looking_ = true;
        } else if (t != timer_.expiry()) {
            timer_.postpone_until(t);
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

    template <class Rep, class Period>
    [[nodiscard]] time_point after(const std::chrono::duration<Rep, Period>& delay) const {
        detail::refuse_nan("the delay of an element", delay);
        return detail::add_saturating(wheel_.now(), detail::ceil_saturating<duration>(delay));
    }

    [[nodiscard]] static std::int64_t count_of(const time_point& t) noexcept {
        return static_cast<std::int64_t>(t.time_since_epoch().count());
    }
    [[nodiscard]] static time_point time_of(std::int64_t count) noexcept {
        return time_point(duration(static_cast<typename duration::rep>(count)));
    }

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    std::size_t capacity_;
    elements elements_;
    // If any pop waits, there is a wait for the timer, or the watch is going on.
    pop_list pops_;
    std::shared_ptr<watch> watch_;
    bool looking_ = false; // There is a wait.
    bool closed_ = false;
};

} // namespace asio_wheel

#endif
