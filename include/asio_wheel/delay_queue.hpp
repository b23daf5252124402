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
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/initiation_of.hpp>
#include <asio_wheel/detail/op_memory.hpp>
#include <asio_wheel/detail/pop_op.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace asio_wheel {

/// Values in the order of their times. Whoever takes one gets that whose time came first, when it has
/// come: never early, and late by no more than a tick of the queue, which is a millisecond, and, for
/// pops that wait, one of the wheel. Among equal times, first pushed is first taken.
///
/// Keys lead to the element they were given out for, and to no other: an element that was taken,
/// erased or cleared is never mixed up with another one (but for a place that held 2³² elements). A
/// key that was not given out leads nowhere.
///
/// A queue takes some 200 kB, and for each element 80 bytes and the value; places of elements are used
/// again, and freed by clear(). Pushing, erasing, moving and taking take constant time, but for
/// sorting those whose times fall into one tick.
///
/// `T` is movable; for async_pop() also default constructible.
///
/// Neither copyable nor movable. Thread safety. Distinct queues: safe. One queue: unsafe; and it is used
/// on its executor, too, when time has come for a pop that waits. So where several threads run the
/// context, its executor is a strand, and it is used there only.
///
/// When the context ends, pops that wait are destroyed without being completed. The queue may outlive it,
/// if its executor may (a strand may not).
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
          elements_(count_of(wheel_.now()), tick()) {}

    template <class Context>
        requires detail::is_context<Context>
    explicit delay_queue(Context& context, std::size_t capacity = unlimited)
        : delay_queue(executor_type(context.get_executor()), capacity) {}

    delay_queue(const delay_queue&) = delete;
    delay_queue& operator=(const delay_queue&) = delete;
    ~delay_queue() { end_pops(boost::asio::error::operation_aborted); }

    [[nodiscard]] const executor_type& get_executor() noexcept { return timer_.get_executor(); }

    [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Puts a value in, to be taken after `delay`. Throws boost::system::system_error with
    /// error::queue_full or error::queue_closed; then the value is where it was.
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
        look_by(t); // First: it is no matter if it is in vain.
        return elements_.push(std::move(value), count_of(t));
    }
    key push_at(const T& value, const time_point& t) { return push_at(T(value), t); }

    /// Takes an element out, whether or not its time has come. None if it is gone.
    std::optional<T> erase(const key& k) {
        std::optional<T> value = elements_.erase(k);
        end_pops_if_over();
        return value;
    }

    /// Gives an element another time, from now. False if it is gone.
    template <class Rep, class Period>
    bool reset(const key& k, const std::chrono::duration<Rep, Period>& delay) {
        return reset_at(k, after(delay));
    }
    bool reset_at(const key& k, const time_point& t) {
        if (!elements_.reset(k, count_of(t))) {
            return false;
        }
        look_by(t);
        return true;
    }

    /// Takes the next element, if its time has come.
    std::optional<T> try_pop() {
        std::optional<T> value = next_due();
        end_pops_if_over();
        return value;
    }

    /// What try_pop() would take: null if no time has come. Valid until the queue is changed.
    [[nodiscard]] const T* peek() { return elements_.peek(count_of(wheel_.now())); }

    /// Calls f(key, value, time) for each element, due or not, in no particular order. `f` must not
    /// change the queue. Looks at every place that was ever in use.
    template <class Function>
        requires std::invocable<Function&, const key&, const T&, const time_point&>
    void for_each(Function f) const {
        elements_.for_each(
            [&f](const key& k, const T& value, std::int64_t t) { f(k, value, time_of(t)); });
    }

    /// When the next element can be taken: at its time, rounded up to a tick. None without elements.
    [[nodiscard]] std::optional<time_point> peek_expiry() {
        const auto next = elements_.exactly_next(count_of(wheel_.now()));
        return next ? std::optional(time_of(*next)) : std::nullopt;
    }

    /// Waits for the next element, and takes it. Who asks first gets first.
    ///
    /// Completion signature: void(boost::system::error_code, T)
    ///
    /// Errors: boost::asio::error::operation_aborted after cancel(), destruction, or a signal to the
    /// handler's cancellation slot; error::queue_closed after close(), if it was waiting then, or when
    /// nothing is left; error::too_many_pending or error::wheel_stopped if the wheel refuses the wait or
    /// is drained. Nothing is taken then. Never completes from inside this function.
    ///
    /// Executor: as if by post() to the handler's associated executor, by default the queue's. Until
    /// then both have outstanding work.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is posted, which
    /// allocates what it does. If any allocation in here throws, there is no pop.
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
    void clear() {
        elements_.clear();
        end_pops_if_over();
    }

    /// Takes no more elements. Pops that wait end, with error::queue_closed; what is left can still be
    /// taken, in its time.
    void close() {
        closed_ = true;
        end_pops(error::queue_closed);
    }
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    using pop = detail::pop_op<T>;
    using pop_list = boost::intrusive::list<pop, boost::intrusive::constant_time_size<false>>;

    // What a pop's cancellation slot calls.
    struct abort_pop {
        delay_queue* queue;
        void operator()(pop& p) const { queue->abort(p); }
    };

    // What the wait for the next element calls. The queue may be gone by then, or want to hear of it no
    // more: it says so through the pointer that they share.
    class look {
    public:
        explicit look(std::shared_ptr<delay_queue*> queue) noexcept : queue_(std::move(queue)) {}
        look(look&&) noexcept = default;
        look& operator=(look&&) = delete;
        ~look() {
            if (queue_ != nullptr && *queue_ != nullptr) {
                (*queue_)->forget_pops(); // The context has ended.
            }
        }

        void operator()(const boost::system::error_code& ec) {
            const std::shared_ptr<delay_queue*> queue(std::move(queue_));
            if (*queue != nullptr) {
                (*queue)->looked(ec);
            }
        }

    private:
        std::shared_ptr<delay_queue*> queue_;
    };

    template <class Handler>
    void start(Handler&& handler) {
        using op = detail::pop_op_of<T, Executor, Handler>;
        op* const p = detail::op_memory<op, Handler>::create(std::forward<Handler>(handler),
                                                             timer_.get_executor());
        pops_.push_back(*p);
        try {
            if (auto slot = boost::asio::get_associated_cancellation_slot(p->handler());
                slot.is_connected()) {
                slot.template emplace<detail::pop_canceller<T, abort_pop>>(*p, abort_pop{this});
            }
            serve();
        } catch (...) {
            if (!pops_.empty() && &pops_.back() == p) { // Else it has ended.
                pops_.pop_back();
                p->destroy();
            }
            throw;
        }
    }

    [[nodiscard]] std::optional<T> next_due() {
        return elements_.pop([this] { return count_of(wheel_.now()); });
    }

    // Gives what is due to those who wait, and sees to it that the rest is.
    void serve() {
        while (!pops_.empty()) {
            std::optional<T> value = next_due();
            if (!value) {
                break;
            }
            pop& first = pops_.front();
            pops_.pop_front();
            first.complete({}, std::move(value));
        }
        end_pops_if_over();
        if (pops_.empty()) {
            look_no_more();
        } else {
            const auto next = elements_.next();
            look_at(next ? time_of(*next) : (time_point::max)());
        }
    }

    void look_by(const time_point& t) {
        if (!pops_.empty() && (!looking_ || t < timer_.expiry())) {
            look_at(t);
        }
    }

    void look_at(const time_point& t) {
        if (looking_) {
            timer_.postpone_until(t);
            return;
        }
        if (link_ == nullptr) {
            link_ = std::make_shared<delay_queue*>(this);
        }
        timer_.expires_at(t);
        timer_.async_wait(look(link_));
        looking_ = true;
    }

    // The context need not run for nobody.
    void look_no_more() noexcept {
        if (looking_) {
            looking_ = false;
            *link_ = nullptr;
            link_.reset();
            timer_.cancel();
        }
    }

    void looked(const boost::system::error_code& ec) {
        looking_ = false;
        if (!ec) {
            serve();
        } else { // Nobody but drain() aborts it.
            const bool drained = ec == boost::asio::error::operation_aborted;
            end_pops(drained ? make_error_code(error::wheel_stopped) : ec);
        }
    }

    void abort(pop& p) {
        pops_.erase(pops_.iterator_to(p));
        if (pops_.empty()) {
            look_no_more();
        }
        p.complete(boost::asio::error::operation_aborted, std::nullopt);
    }

    std::size_t end_pops(const boost::system::error_code& ec) {
        look_no_more();
        std::size_t ended = 0;
        for (; !pops_.empty(); ++ended) {
            pop& first = pops_.front();
            pops_.pop_front();
            first.complete(ec, std::nullopt);
        }
        return ended;
    }

    void end_pops_if_over() {
        if (closed_ && empty()) {
            end_pops(error::queue_closed);
        }
    }

    // A handler may hold what the queue is part of.
    void forget_pops() noexcept {
        if (std::exchange(looking_, false)) { // Else the wait was not even started.
            pop_list gone;
            gone.swap(pops_);
            while (!gone.empty()) {
                pop& first = gone.front();
                gone.pop_front();
                first.destroy();
            }
        }
    }

    template <class Rep, class Period>
    [[nodiscard]] time_point after(const std::chrono::duration<Rep, Period>& delay) const {
        return detail::add_saturating(wheel_.now(), detail::ceil_saturating<duration>(delay));
    }

    [[nodiscard]] static std::int64_t count_of(const time_point& t) noexcept {
        return static_cast<std::int64_t>(t.time_since_epoch().count());
    }
    [[nodiscard]] static time_point time_of(std::int64_t count) noexcept {
        return time_point(duration(static_cast<typename duration::rep>(count)));
    }
    [[nodiscard]] static std::int64_t tick() noexcept {
        return std::max<std::int64_t>(
            1, std::chrono::ceil<duration>(std::chrono::milliseconds(1)).count());
    }

    wheel_service<Clock>& wheel_;
    basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer_;
    std::size_t capacity_;
    detail::delayed_elements<T> elements_;
    pop_list pops_;
    bool looking_ = false;               // The timer is waited for,
    std::shared_ptr<delay_queue*> link_; // with this.
    bool closed_ = false;
};

} // namespace asio_wheel

#endif
