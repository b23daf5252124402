// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// No more than so many in a time:
//
//     asio_wheel::rate_limiter limiter(ctx, {.rate = {100, 1s}, .burst = 20});
//     co_await limiter.async_acquire(1, use_awaitable);

#ifndef ASIO_WHEEL_RATE_LIMITER_HPP
#define ASIO_WHEEL_RATE_LIMITER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/stable_impl.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class Clock, class Executor>
class rate_limiter_impl;
} // namespace detail

/// So many tokens in a time. `{100, 1s}` is one each 10 ms; `{0}` is none at all. Take the time in
/// units of the clock, and the fraction of both in lowest terms: the product of its two numbers,
/// one added to the first, must be below 2⁶³, and the second below 2⁶² - 1. So each number up to
/// nine billion in a second is possible.
struct token_rate {
    std::uint64_t tokens = 0;                              ///< How many.
    std::chrono::nanoseconds per{std::chrono::seconds(1)}; ///< In which time; greater than zero.

    friend bool operator==(const token_rate&, const token_rate&) = default;
};

/// What a rate limiter allows.
struct rate_limiter_options {
    /// How many tokens come in a time.
    token_rate rate{};

    /// How many tokens there are at most, and at first; at least 1. This many may be taken at once.
    /// Numbers of 2⁶¹ and above count as 2⁶¹ - 1.
    std::uint64_t burst = 1;
};

/// A token bucket: tokens come at a rate, up to a number, the burst. An operation takes some of
/// them before it begins. If there are not enough, it waits.
///
/// Algorithm: the token bucket, as in networks. What has come is computed when somebody looks, in
/// integers: the bucket has exactly what has come, less what was taken, however often one looks.
/// There is no wait on the wheel unless somebody waits; then there is one for each limiter, for the
/// first of those who wait.
///
/// Those who wait are served in the order in which they came. Nobody overtakes them: try_acquire()
/// fails while somebody waits. The wheel is a little late; but each one is served as of the time
/// when its tokens were there, so none are lost, and the rate is kept.
///
/// More than the burst: somebody who takes more tokens than the burst waits until the bucket is
/// full, and takes them all. Then there are less than none, and those who come later wait until
/// that is paid. So everybody is served, and the rate is kept. (That is also what happens if the
/// burst is made smaller meanwhile.)
///
/// A limiter takes about 150 bytes, and no more while nobody waits: it has no timer, and the
/// context does not know it. So there may be one for each client. One for which somebody waits
/// takes some 600 bytes more, and each operation its own.
///
/// On a clock that can be set, nothing comes when it is set back, and those who wait do so for
/// longer by as much; when it is set forward, the bucket is filled accordingly.
///
/// Movable at any time, also while somebody waits. A limiter that was moved from may be destroyed,
/// assigned to and cancelled; everything else throws std::logic_error, or terminates the program if
/// it is noexcept.
///
/// Thread safety. Distinct limiters: safe. One limiter: unsafe; and it is also used on its
/// executor, when tokens have come for somebody who waits, and by the operations' cancellation
/// slots. So if several threads run the context, give the limiter a strand, and use it there only.
///
/// When the context ends, operations that wait are destroyed without being completed. The limiter
/// may outlive the context, if its executor may (a strand may not). Then everything but
/// async_acquire() is as before, by the time of the clock.
///
/// A rate or a burst that is out of range throws std::invalid_argument, which names it.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_rate_limiter {
    using impl = detail::rate_limiter_impl<Clock, Executor>;
    using initiate_async_acquire = detail::initiation_of<impl>;
    static_assert(!std::chrono::treat_as_floating_point_v<typename Clock::rep>,
                  "a rate limiter counts in whole units of its clock");

public:
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().

    /// The limiter's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_rate_limiter<Clock, Executor1>;
    };

    /// A full bucket. The first one on a context makes the wheel, if there is none.
    basic_rate_limiter(const executor_type& ex, const rate_limiter_options& options)
        : impl_(std::in_place, ex, options) {}

    template <class Context>
        requires detail::is_context<Context>
    basic_rate_limiter(Context& context, const rate_limiter_options& options)
        : basic_rate_limiter(executor_type(context.get_executor()), options) {}

    /// Takes over `other`'s tokens, and those who wait for some.
    basic_rate_limiter(basic_rate_limiter&& other) noexcept = default;
    /// The same. Operations that waited here before are aborted.
    basic_rate_limiter& operator=(basic_rate_limiter&& other) noexcept = default;
    ~basic_rate_limiter() = default; ///< Aborts operations that wait.

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// Takes `n` tokens, if they are there and nobody waits. (More than the burst: if the bucket is
    /// full.) Returns whether it has. False after close().
    [[nodiscard("whether it has taken them")]] bool try_acquire(std::uint64_t n = 1) {
        return impl_->try_acquire(n);
    }

    /// Waits for `n` tokens, and takes them. None are there at once, but after those who wait.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Completes once, never early: when `n` tokens are there, and those who came before were
    /// served; at most one tick of the wheel later, and in paused time at the same time. If they
    /// are there at the call, on the next turn. Never from inside this function.
    ///
    /// Errors: boost::asio::error::operation_aborted after cancel(), destruction, move assignment,
    /// or a signal to the handler's cancellation slot; error::limiter_closed if it starts after
    /// close(); error::too_many_pending or error::wheel_stopped if the wheel refuses the wait or is
    /// drained. With an error no token was taken.
    ///
    /// Executor: as if by post() to the handler's associated executor, by default the limiter's.
    /// That executor has outstanding work until then, and the limiter's until the tokens are taken.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect, until the
    /// tokens are taken.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is called.
    /// For the first one that waits, what the limiter needs meanwhile, too, in memory of the
    /// library. If one of them throws, there is no operation. Once started, no further memory is
    /// needed. (But a strand, or an executor of an unknown kind, allocates for each handler. If it
    /// has no memory, the operation is sent to it again later.)
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_acquire(
        std::uint64_t n,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            std::declval<initiate_async_acquire>(), token, n)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            initiate_async_acquire(impl_.get()), token, n);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::wait_token<Handler>)
    detail::the_handler_must_be_callable_with_one_error_code async_acquire(std::uint64_t, Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with one error_code");

    /// How many tokens there are: what try_acquire() would take, if nobody waits. Negative if more
    /// than the burst were taken. While somebody waits, what there is for the first one.
    [[nodiscard]] std::int64_t available() const { return impl_->available(); }

    /// How many operations wait.
    [[nodiscard]] std::size_t pending() const noexcept { return impl_->pending(); }

    /// As it was given.
    [[nodiscard]] const token_rate& rate() const noexcept { return impl_->rate(); }
    /// Changes the rate, from now on. What has come stays. Those who wait wait less or longer.
    void rate(const token_rate& r) { impl_->rate(r); }

    /// As it was given, but less than 2⁶¹.
    [[nodiscard]] std::uint64_t burst() const noexcept { return impl_->burst(); }
    /// Changes the burst. Tokens that do not fit any more are lost.
    void burst(std::uint64_t b) { impl_->burst(b); }

    /// Aborts all operations that wait. Returns how many these are.
    std::size_t cancel() { return impl_ ? impl_->cancel() : 0; }

    /// Gives tokens to nobody but those who wait already: they are served as usual. Others end with
    /// error::limiter_closed.
    void close() { impl_->close(); }
    /// Whether it was closed.
    [[nodiscard]] bool closed() const noexcept { return impl_->closed(); }

private:
    detail::stable_impl<impl> impl_;
};

/// A rate limiter on the steady clock.
using rate_limiter = basic_rate_limiter<std::chrono::steady_clock>;

} // namespace asio_wheel

#include <asio_wheel/detail/rate_limiter/impl.hpp>

#endif
