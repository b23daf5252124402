// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A queue whose values can be taken when their times have come:
//
//     asio_wheel::delay_queue<job> jobs(ctx);
//     const auto key = jobs.push(30s, std::move(j));
//     job next = co_await jobs.async_pop(use_awaitable);

#ifndef ASIO_WHEEL_DELAY_QUEUE_HPP
#define ASIO_WHEEL_DELAY_QUEUE_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/delay_queue/element_key.hpp>
#include <asio_wheel/detail/stable_impl.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class T, class Clock, class Executor>
class delay_queue_impl;
template <class Entry>
class value_pop;
template <class Entry>
class entry_pop;
} // namespace detail

/// What a delay queue gives with a value.
template <class T, class Clock>
struct delay_queue_entry {
    using value_type = T;                          ///< The type of `value`.
    using time_point = typename Clock::time_point; ///< The type of `expiry`.

    detail::element_key key; ///< It identifies no element any more.
    time_point expiry;       ///< When the element could be taken first.
    T value;                 ///< What was pushed.
};

/// How large a delay queue may become.
struct delay_queue_options {
    /// The queue holds no more elements than this; 0 is no limit.
    std::size_t max_pending = 0;
};

/// A queue in the order of expiry. An element can be taken when its time has come, and never
/// before: times are compared exactly. The element with the earliest time is taken first; among
/// equal times, the one that was pushed or postponed first.
///
/// A pending pop gets its value when the wheel ticks: at most one tick of the wheel later than
/// try_pop() would, and in paused time at the same time. A value that is pushed when its time has
/// come goes to a pending pop at once.
///
/// A key identifies one element. After that element was taken, erased or cleared, the key
/// identifies none: it never leads to another element (unless 2³² elements were in the same place
/// since). A default-constructed key identifies none.
///
/// A queue takes up to 75 kB: the more, the further apart the times of its elements are. An element
/// takes 80 bytes and its value; places of elements are used again, and freed by clear(). Pushing,
/// erasing, moving and taking take constant time, but logarithmic time in the number of elements
/// that have the same time, or that were pushed when their time had passed.
///
/// `T` is movable; for async_pop(), but not for async_pop_entry(), also default constructible.
///
/// Movable at any time, also while pops wait. A queue that was moved from may be destroyed,
/// assigned to and cancelled; everything else throws std::logic_error, or terminates the program if
/// it is noexcept.
///
/// Thread safety. Distinct queues: safe. One queue: unsafe; and the queue is also used on its
/// executor, when the time has come for a pop that waits, and by the pops' cancellation slots. So
/// if several threads run the context, give the queue a strand, and use it there only.
///
/// When the context ends, pops that wait are destroyed without being completed. The queue may
/// outlive the context, if its executor may (a strand may not). Then everything but waiting is as
/// before, by the time of the clock.
template <class T, class Clock, class Executor = boost::asio::any_io_executor>
class basic_delay_queue {
    using impl = detail::delay_queue_impl<T, Clock, Executor>;
    using value_pop = std::type_identity<detail::value_pop<delay_queue_entry<T, Clock>>>;
    using entry_pop = std::type_identity<detail::entry_pop<delay_queue_entry<T, Clock>>>;
    using initiate_async_pop = detail::initiation_of<impl, value_pop>;
    using initiate_async_pop_entry = detail::initiation_of<impl, entry_pop>;
    static_assert(!std::chrono::treat_as_floating_point_v<typename Clock::rep>,
                  "a delay queue counts in whole units of its clock");

public:
    using value_type = T;                          ///< What is pushed, and taken.
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().

    /// Identifies an element. Copyable, with == and an order, and with std::hash.
    using key = detail::element_key;

    /// A value that was taken, with its key and its expiry.
    using entry = delay_queue_entry<T, Clock>;

    /// The queue's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_delay_queue<T, Clock, Executor1>;
    };

    /// An empty queue. The first one on a context makes the wheel, if there is none.
    explicit basic_delay_queue(const executor_type& ex, const delay_queue_options& options = {})
        : impl_(std::in_place, ex, options) {}

    template <class Context>
        requires detail::is_context<Context>
    explicit basic_delay_queue(Context& context, const delay_queue_options& options = {})
        : basic_delay_queue(executor_type(context.get_executor()), options) {}

    /// Takes over `other`'s elements and the pops that wait. Keys go on leading to their elements.
    basic_delay_queue(basic_delay_queue&& other) noexcept = default;
    /// The same. Pops that waited here before are aborted, and elements that were here destroyed.
    basic_delay_queue& operator=(basic_delay_queue&& other) noexcept = default;
    ~basic_delay_queue() = default; ///< Aborts pops that wait, and destroys all elements.

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// How many elements there are, whether or not their times have come.
    [[nodiscard]] std::size_t size() const noexcept { return impl_->contents().size(); }
    /// Whether there are none.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// As it was given: 0 is no limit.
    [[nodiscard]] std::size_t max_pending() const noexcept { return impl_->max_pending(); }

    /// Adds a value that can be taken after `delay`. Throws boost::system::system_error with
    /// error::queue_full or error::queue_closed, and std::invalid_argument if `delay` is not a
    /// number. Then `value` is unchanged.
    template <class Rep, class Period>
    key push(const std::chrono::duration<Rep, Period>& delay, T&& value) {
        return push_at(impl_->expiry_after(delay), std::move(value));
    }
    template <class Rep, class Period>
    key push(const std::chrono::duration<Rep, Period>& delay, const T& value) {
        return push_at(impl_->expiry_after(delay), T(value));
    }

    /// The same at a time.
    key push_at(const time_point& t, T&& value) { return impl_->push_at(t, std::move(value)); }
    key push_at(const time_point& t, const T& value) { return push_at(t, T(value)); }

    /// Removes an element, whether or not its time has come. Returns none if it is gone.
    std::optional<T> erase(const key& k) { return impl_->erase(k); }

    /// Moves an element to another time, later or earlier: to `delay` from now. False if it is
    /// gone. Throws std::invalid_argument if `delay` is not a number; then the element keeps its
    /// time.
    template <class Rep, class Period>
    [[nodiscard("false: the element is gone")]] bool
    postpone(const key& k, const std::chrono::duration<Rep, Period>& delay) {
        return postpone_until(k, impl_->expiry_after(delay));
    }
    /// Moves an element to `t`, as postpone() does.
    [[nodiscard("false: the element is gone")]] bool postpone_until(const key& k,
                                                                    const time_point& t) {
        return impl_->postpone_until(k, t);
    }

    /// Takes the next element, if its time has come.
    [[nodiscard("it is the element")]] std::optional<T> try_pop() { return impl_->try_pop(); }

    /// The same, with its key and its expiry.
    [[nodiscard("it is the element")]] std::optional<entry> try_pop_entry() {
        return impl_->try_pop_entry();
    }

    /// The value of an element, whether or not its time has come; null if it is gone. Valid until
    /// the queue is changed.
    [[nodiscard]] T* find(const key& k) noexcept { return impl_->contents().find(k); }
    [[nodiscard]] const T* find(const key& k) const noexcept { return impl_->contents().find(k); }
    /// Whether `k` identifies an element of the queue.
    [[nodiscard]] bool contains(const key& k) const noexcept { return find(k) != nullptr; }

    /// When an element can be taken; none if it is gone.
    [[nodiscard]] std::optional<time_point> expiry(const key& k) const noexcept {
        return impl_->contents().time_of(k);
    }

    /// The key of the element with the earliest time, due or not; none without elements. A cache
    /// that is full erases this one. Later pushes before that time take logarithmic time.
    [[nodiscard]] std::optional<key> next_key() { return impl_->contents().first_key(); }

    /// Allocates what `n` elements need, so that pushing so many allocates nothing. Throws
    /// `std::length_error` or `std::bad_alloc` if that is too many.
    void reserve(std::size_t n) { impl_->contents().reserve(n); }

    /// Frees memory that no element needs. (Elements do not move. So the places before the last one
    /// that is in use remain.) Needs memory first: throws `std::bad_alloc` without.
    void shrink_to_fit() { impl_->contents().shrink_to_fit(); }

    /// What try_pop() would take: null if no time has come. Valid until the queue is changed.
    [[nodiscard]] const T* peek() { return impl_->peek(); }

    /// Calls f(key, value, time) for each element, due or not, in no particular order. `f` must not
    /// change the queue. Visits every place that was ever in use.
    template <class Function>
        requires std::invocable<Function&, const key&, const T&, const time_point&>
    void for_each(Function f) const {
        impl_->contents().for_each(f);
    }

    /// When the next element can be taken: its time. None without elements.
    [[nodiscard]] std::optional<time_point> peek_expiry() {
        return impl_->contents().find_next_expiry();
    }

    /// Waits for the next element, and takes it. Pops are served in the order in which they
    /// started.
    ///
    /// Completion signature: void(boost::system::error_code, T)
    ///
    /// Errors: boost::asio::error::operation_aborted after cancel(), destruction, move assignment,
    /// or a signal to the handler's cancellation slot; error::queue_closed after close(), when no
    /// element is left; error::too_many_pending or error::wheel_stopped if the wheel refuses the
    /// wait or is drained. If moving the value out of its element throws: errc::not_enough_memory
    /// for std::bad_alloc, else errc::operation_not_supported. With an error nothing is taken: the
    /// value of that element stays where it was, first in the queue, and other pops that wait get
    /// those after it. Never completes from inside this function.
    ///
    /// Executor: as if by post() to the handler's associated executor, by default the queue's. That
    /// executor has outstanding work until then, and the queue's until the value is handed out.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect, until the
    /// value is handed out.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is called.
    /// For the first pop that waits, the wait's memory, too, which the queue keeps. If one of them
    /// throws, there is no pop. Once started, a pop needs no further memory of ours: not to be
    /// handed its value, not to be aborted in whichever way, and not when the queue or the context
    /// ends. (A strand, or an executor of an unknown kind, allocates for each handler. If it has no
    /// memory, the pop is sent to it again later.)
    ///
    /// Exceptions: a value moves twice, into the operation and, when the handler is called, out of
    /// it. If the second move throws, the exception leaves the context's run() as if the handler
    /// had thrown it; handler and value are destroyed, and other pops are not affected.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, T))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto
    async_pop(Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code, T)>(
            std::declval<initiate_async_pop>(), token)) {
        static_assert(std::default_initializable<T>,
                      "what async_pop() gives with an error is a default-constructed value");
        return boost::asio::async_initiate<Token, void(boost::system::error_code, T)>(
            initiate_async_pop(impl_.get()), token);
    }

    /// As async_pop(), but gives the value with its key and its expiry. `T` need not be default
    /// constructible.
    ///
    /// Completion signature: void(boost::system::error_code, std::optional<entry>)
    ///
    /// There is an entry if and only if there is no error.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::optional<entry>))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_pop_entry(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                            std::optional<entry>)>(
            std::declval<initiate_async_pop_entry>(), token)) {
        return boost::asio::async_initiate<Token,
                                           void(boost::system::error_code, std::optional<entry>)>(
            initiate_async_pop_entry(impl_.get()), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::token_for<Handler, void(boost::system::error_code, T)>)
    detail::the_handler_must_be_callable_with_an_error_code_and_a_value async_pop(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with an error_code and a value");

    /// Aborts all pops that wait. Returns how many these are.
    std::size_t cancel() { return impl_ ? impl_->cancel() : 0; }

    /// Destroys all elements. Pops go on waiting, unless the queue is closed.
    void clear() noexcept { impl_->clear(); }

    /// Accepts no more elements. The others can still be taken when their times have come. When the
    /// queue is empty, which may be now, all pops end with error::queue_closed: pending ones, and
    /// those that start later.
    void close() { impl_->close(); }
    /// Whether it was closed.
    [[nodiscard]] bool closed() const noexcept { return impl_->closed(); }

private:
    detail::stable_impl<impl> impl_;
};

/// A delay queue on the steady clock.
template <class T>
using delay_queue = basic_delay_queue<T, std::chrono::steady_clock>;

} // namespace asio_wheel

#include <asio_wheel/detail/delay_queue/impl.hpp>

#endif
