// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Values that can be taken when their time has come:
//
//     asio_wheel::delay_queue<job> jobs(ctx);
//     const auto key = jobs.push(std::move(j), 30s);
//     job next = co_await jobs.async_pop(use_awaitable);

#ifndef ASIO_WHEEL_DELAY_QUEUE_HPP
#define ASIO_WHEEL_DELAY_QUEUE_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/delayed_elements.hpp>
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/op_memory.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// Values in the order of their times. Whoever takes one gets that whose time came first, when it has
/// come: never early, at most one tick of the queue late, which is a millisecond. Among equal times,
/// first pushed is first taken.
///
/// Keys lead to the element they were given out for, and to no other: an element that was taken,
/// erased or cleared is never mixed up with another one (but for a place that held 2³² elements).
///
/// A queue takes some 70 kB, and for each element 80 bytes and the value; places of elements are used
/// again, and freed by clear(). Pushing, erasing, moving and taking take constant time, but for
/// sorting those whose times fall into one tick.
///
/// `T` is movable; for async_pop() also default constructible.
///
/// Neither copyable nor movable. Thread safety. Distinct queues: safe. One queue: unsafe.
template <class T, class Clock = std::chrono::steady_clock,
          class Executor = boost::asio::any_io_executor>
class delay_queue {
    class initiate_async_pop;

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
        const key k = elements_.push(std::move(value), count_of(t));
        look_by(t);
        return k;
    }
    key push_at(const T& value, const time_point& t) { return push_at(T(value), t); }

    /// Takes an element out, whether or not its time has come. None if it is gone.
    std::optional<T> erase(const key& k) { return elements_.erase(k); }

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
    std::optional<T> try_pop() { return elements_.pop(count_of(wheel_.now())); }

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
        const auto next = elements_.exactly_next();
        return next ? std::optional(time_of(*next)) : std::nullopt;
    }

    /// Waits for the next element, and takes it. Who asks first gets first.
    ///
    /// Completion signature: void(boost::system::error_code, T)
    ///
    /// Errors: boost::asio::error::operation_aborted after cancel(), destruction, or a signal to the
    /// handler's cancellation slot; error::queue_closed after close(), if it was waiting then, or when
    /// nothing is left. Nothing is taken then. Never completes from inside this function.
    ///
    /// Executor: as if by post() to the handler's associated executor, by default the queue's. Until
    /// then both have outstanding work.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect.
    ///
    /// Allocation: one at a time by the handler's associated allocator, freed before what posting
    /// allocates.
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

    /// Destroys all elements. Pops go on waiting.
    void clear() { elements_.clear(); }

    /// Takes no more elements. Pops that wait end, with error::queue_closed; what is left can still be
    /// taken, in its time.
    void close() {
        closed_ = true;
        end_pops(error::queue_closed);
    }
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    // A pop that waits, and its handler in a derived class.
    struct pop : boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::normal_link>> {
        using completer = void (*)(pop&, const boost::system::error_code&, std::optional<T>&&);

        explicit pop(completer f) noexcept : complete_(f) {}
        void complete(const boost::system::error_code& ec, std::optional<T>&& value) {
            complete_(*this, ec, std::move(value));
        }

    protected:
        ~pop() = default;

    private:
        completer complete_;
    };

    template <class Handler>
    class pop_of final : public pop {
        using memory = detail::op_memory<pop_of, Handler>;
        using handler_executor = boost::asio::associated_executor_t<Handler, Executor>;

    public:
        pop_of(Handler&& handler, const Executor& ex)
            : pop(&pop_of::complete), own_work_(detail::track_work(ex)),
              work_(detail::track_work(boost::asio::get_associated_executor(handler, ex))),
              handler_(std::move(handler)) {}

        [[nodiscard]] Handler& handler() noexcept { return handler_; }

    private:
        friend memory;

        static void complete(pop& self, const boost::system::error_code& ec,
                             std::optional<T>&& value) {
            auto& op = static_cast<pop_of&>(self);
            auto slot = boost::asio::get_associated_cancellation_slot(op.handler_);
            if (slot.is_connected()) {
                slot.clear();
            }
            const auto own_work(std::move(op.own_work_));
            const auto work(std::move(op.work_));
            const auto ex = detail::executor_of<handler_executor>(work);
            Handler handler(memory::take_handler(op));
            boost::asio::post(
                ex, [handler = std::move(handler), ec, value = std::move(value)]() mutable {
                    std::move(handler)(ec, value ? std::move(*value) : T());
                });
        }

        detail::work_on<Executor> own_work_;
        detail::work_on<handler_executor> work_;
        Handler handler_;
    };

    // What a cancellation slot holds.
    class pop_canceller {
    public:
        pop_canceller(delay_queue* queue, pop* p) noexcept : queue_(queue), pop_(p) {}
        void operator()(boost::asio::cancellation_type type) {
            if (type != boost::asio::cancellation_type::none) {
                delay_queue* const queue = queue_; // The slot may be cleared, and this with it.
                pop* const p = pop_;
                queue->pops_.erase(queue->pops_.iterator_to(*p));
                p->complete(boost::asio::error::operation_aborted, std::nullopt);
                queue->serve();
            }
        }

    private:
        delay_queue* queue_;
        pop* pop_;
    };

    // Asio's adaptors, such as default tokens and deferred, ask an initiation for its executor.
    class initiate_async_pop {
    public:
        using executor_type = Executor;

        explicit initiate_async_pop(delay_queue* self) noexcept : self_(self) {}

        [[nodiscard]] const executor_type& get_executor() const noexcept {
            return self_->get_executor();
        }

        template <class Handler>
        void operator()(Handler&& handler) const {
            self_->start(std::decay_t<Handler>(std::forward<Handler>(handler)));
        }

    private:
        delay_queue* self_;
    };

    template <class Handler>
    void start(Handler&& handler) {
        using op = pop_of<Handler>;
        op* const p = detail::op_memory<op, Handler>::create(std::forward<Handler>(handler),
                                                             timer_.get_executor());
        pops_.push_back(*p);
        if (auto slot = boost::asio::get_associated_cancellation_slot(p->handler());
            slot.is_connected()) {
            slot.template emplace<pop_canceller>(this, p);
        }
        serve();
    }

    // Gives what is due to those who wait, and sees to it that the rest is.
    void serve() {
        while (!pops_.empty()) {
            std::optional<T> value = try_pop();
            if (!value && !(closed_ && empty())) {
                break;
            }
            const boost::system::error_code ec =
                value ? boost::system::error_code() : error::queue_closed;
            pop& first = pops_.front();
            pops_.pop_front();
            first.complete(ec, std::move(value));
        }
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
        timer_.expires_at(t);
        timer_.async_wait([this](const boost::system::error_code& ec) {
            if (!ec) {
                looking_ = false;
                serve();
            }
        });
        looking_ = true;
    }

    // The context need not run for nobody.
    void look_no_more() {
        if (looking_) {
            timer_.cancel();
            looking_ = false;
        }
    }

    std::size_t end_pops(const boost::system::error_code& ec) {
        std::size_t ended = 0;
        for (; !pops_.empty(); ++ended) {
            pop& first = pops_.front();
            pops_.pop_front();
            first.complete(ec, std::nullopt);
        }
        look_no_more();
        return ended;
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
    boost::intrusive::list<pop, boost::intrusive::constant_time_size<false>> pops_;
    bool looking_ = false; // The timer is waited for.
    bool closed_ = false;
};

} // namespace asio_wheel

#endif
