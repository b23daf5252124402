// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Completion tokens that give an operation a deadline. Such a token wraps another token, as Asio's
// adaptors of tokens do. It wraps the operation's initiation, to start the wait with the operation;
// and the operation's handler, to end the wait with it.
//
// A `Result` says how an expired deadline changes the operation's result.
//
//   member                       meaning
//   accepts<Signatures...>       whether it can report by these completion signatures
//   is_in_tuple<Signatures...>   whether as_tuple was put on the wrong side; the compiler says so
//   reports                      whether it changes the result, so that the user may say how
//   uses_mapping                 whether a mapping of the user's changes the result
//   deliver<Signatures...>(why, handler, ...)
//                                calls the handler with the result; `why` is null unless the
//                                deadline has expired
//
// A `Limit` says when the deadline expires, and on which timer: see time_limit.hpp.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/bound_to.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/asio/wrapped_token.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/timeout/deadline.hpp>
#include <asio_wheel/detail/timeout/time_limit.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_wheel {

// For those who ask: see asio_wheel/deadline.hpp.
struct no_deadline;
template <class T, class Candidate>
struct associated_remaining_time;

} // namespace asio_wheel

namespace asio_wheel::detail {

/// The `Result` of cancel_after(): leaves the operation's result as it is.
struct keep_result {
    static constexpr bool reports = false;
    static constexpr bool uses_mapping = false;
    template <class... Signatures>
    static constexpr bool accepts = true;
    template <class... Signatures>
    static constexpr bool is_in_tuple = false;

    template <class... Signatures, class Handler, class... Args>
    void deliver(const boost::system::error_code*, Handler&& handler, Args&&... args) const {
        std::forward<Handler>(handler)(std::forward<Args>(args)...);
    }
};

/// What a token knows about the deadline.
template <class Limit, class Result>
struct timed_options {
    Limit limit;
    boost::asio::cancellation_type type = boost::asio::cancellation_type::terminal;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Result result{};
};

/// The handler of an operation that has a deadline.
template <class Deadline, class Handler, class Result, class... Signatures>
class timed_handler {
public:
    using wrapped_handler = Handler;
    using cancellation_slot_type = boost::asio::cancellation_slot;
    using remaining_time_type = std::chrono::nanoseconds;

    timed_handler(Handler&& handler, deadline_owner<Deadline> d, Result&& result)
        : handler_(std::move(handler)), result_(std::move(result)), deadline_(std::move(d)) {}
    timed_handler(timed_handler&&) = default;
    timed_handler& operator=(timed_handler&&) = delete;
    ~timed_handler() {
        if (deadline_) {
            deadline_->close();
        }
    }

    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return deadline_->slot();
    }

    /// Of the earlier deadline, if the handler inside has one, too.
    [[nodiscard]] std::chrono::nanoseconds get_remaining_time() const noexcept {
        const std::chrono::nanoseconds inner =
            associated_remaining_time<Handler, no_deadline>::get(handler_);
        return (std::min)(deadline_->remaining(), inner);
    }

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

    template <class... Args>
    void operator()(Args&&... args) {
        const deadline_owner<Deadline> d(std::move(deadline_));
        d->close();
        const boost::system::error_code* const why = d->expired() ? &d->why() : nullptr;
        result_.template deliver<Signatures...>(why, std::move(handler_),
                                                std::forward<Args>(args)...);
    }

private:
    Handler handler_;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Result result_;
    deadline_owner<Deadline> deadline_; // The last one: if moving the others throws, it is closed.
};

/// Starts an operation together with its deadline.
template <class Initiation, class Limit, class Result, class... Signatures>
class timed_initiation : public executor_of_initiation<Initiation> {
    using options_type = timed_options<Limit, Result>;

public:
    template <class I, class Options>
    timed_initiation(I&& initiation, Options&& options)
        : initiation_(std::forward<I>(initiation)), options_(std::forward<Options>(options)) {}

    [[nodiscard]] auto get_executor() const noexcept
        requires requires(const Initiation& i) { i.get_executor(); }
    {
        return initiation_.get_executor();
    }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        start(std::move(initiation_), std::move(options_), std::forward<Handler>(handler),
              std::forward<Args>(args)...);
    }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) const& {
        start(Initiation(initiation_), options_type(options_), std::forward<Handler>(handler),
              std::forward<Args>(args)...);
    }

private:
    template <class Handler, class... Args>
    static void start(Initiation&& initiation, options_type&& options, Handler&& handler,
                      Args&&... args) {
        using decayed = std::decay_t<Handler>;
        const auto& innermost = innermost_initiation(initiation, args...);
        const auto start_with = [&](const auto ex) { // A copy: it outlives the initiation.
            start_on(ex, std::move(initiation), std::move(options),
                     decayed(std::forward<Handler>(handler)), std::forward<Args>(args)...);
        };
        if constexpr (requires { innermost.get_executor(); }) {
            start_with(innermost.get_executor());
        } else if constexpr (!only_checks_token<std::remove_cvref_t<decltype(innermost)>>) {
            static_assert(
                has_own_executor<decayed> || Limit::has_executor,
                "neither the operation nor its handler says on which executor a deadline may "
                "cancel it: put boost::asio::bind_executor inside, round the handler, as in "
                "cancel_after(d, bind_executor(executor, handler)). Round the deadline itself it "
                "comes too late");
            if constexpr (has_own_executor<decayed>) {
                start_with(boost::asio::get_associated_executor(handler));
            } else if constexpr (Limit::has_executor) {
                start_with(options.limit.get_executor());
            }
        }
    }

    // The deadline is on the wheel of `ex`'s context, or on the user's timer.
    template <class Executor, class Handler, class... Args>
    static void start_on(const Executor& ex, Initiation&& initiation, options_type&& options,
                         Handler&& handler, Args&&... args) {
        Limit limit = options.limit;
        auto bound = bound_as(handler, ex);
        const auto tag = associated_tag<Handler>::get(handler);
        auto owners = limit.begin(ex, options.type);
        limit.set_expiry(owners.starter, ex);
        using deadline_type = typename Limit::deadline_type;
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler);
            slot.is_connected()) {
            slot.template emplace<outer_cancellation<deadline_type>>(owners.starter);
        }
        std::move(initiation)(timed_handler<deadline_type, Handler, Result, Signatures...>(
                                  std::forward<Handler>(handler), std::move(owners.handler),
                                  std::move(options.result)),
                              std::forward<Args>(args)...);
        if (!limit.is_endless()) {
            owners.starter->arm([&](auto&... timer) {
                limit.start(timer..., std::move(owners.wait), ex, std::move(bound), tag);
            });
        }
    }

    Initiation initiation_;
    options_type options_;
};

/// Returns the options of a token that is given to an operation. Moves them if the token is an
/// rvalue, or if they cannot be copied.
template <class RawToken>
[[nodiscard]] constexpr auto&& options_from(std::remove_reference_t<RawToken>& token) noexcept {
    using options = std::remove_reference_t<decltype((token.options_))>;
    if constexpr (std::is_const_v<options> ||
                  (std::is_lvalue_reference_v<RawToken> && std::copy_constructible<options>)) {
        return std::as_const(token.options_);
    } else {
        return std::move(token.options_);
    }
}

/// A completion token that gives the operation a deadline, and otherwise behaves as `Token`.
template <class Token, class Limit, class Result>
class timed_token {
public:
    template <class T>
    constexpr timed_token(T&& token, timed_options<Limit, Result> options)
        : token_(std::forward<T>(token)), options_(std::move(options)) {}

    // For boost::asio::async_result.
    using wrapped_token = Token;
    template <class Initiation, class... Signatures>
    using initiation = timed_initiation<Initiation, Limit, Result, Signatures...>;
    template <class RawToken>
    [[nodiscard]] static constexpr auto&&
    property_of(std::remove_reference_t<RawToken>& t) noexcept {
        return options_from<RawToken>(t);
    }
    Token token_;
    timed_options<Limit, Result> options_;
};

/// A timed_token that does not wrap a token yet. Used as a token, it wraps the default token of the
/// operation's executor; or boost::asio::deferred, if the executor has none.
template <class Limit, class Result>
class partial_timed_token {
public:
    constexpr explicit partial_timed_token(timed_options<Limit, Result> options)
        : options_(std::move(options)) {}

    template <class Token>
    [[nodiscard]] constexpr timed_token<std::decay_t<Token>, Limit, Result>
    operator()(Token&& token) const& {
        return {std::forward<Token>(token), options_};
    }

    template <class Token>
    [[nodiscard]] constexpr timed_token<std::decay_t<Token>, Limit, Result>
    operator()(Token&& token) && {
        return {std::forward<Token>(token), std::move(options_)};
    }

    // For boost::asio::async_result.
    template <class Token>
    using with = timed_token<Token, Limit, Result>;
    template <class RawToken>
    [[nodiscard]] static constexpr auto&&
    property_of(std::remove_reference_t<RawToken>& t) noexcept {
        return options_from<RawToken>(t);
    }
    timed_options<Limit, Result> options_;
};

} // namespace asio_wheel::detail

template <class Token, class Limit, class Result, class... Signatures>
class boost::asio::async_result<asio_wheel::detail::timed_token<Token, Limit, Result>,
                                Signatures...>
    : public asio_wheel::detail::wrapping_result<
          asio_wheel::detail::timed_token<Token, Limit, Result>, Signatures...> {
    // If as_tuple wraps this token, the only result is a tuple.
    static constexpr bool in_tuple = Result::template is_in_tuple<Signatures...>;
    static_assert(
        !in_tuple,
        "as_tuple belongs inside, round the token: write timeout(d, as_tuple(token)), not "
        "as_tuple(timeout(d, token)), and likewise with timeout_at()");
    static_assert(
        in_tuple || Result::uses_mapping || Result::template accepts<Signatures...>,
        "timeout() and timeout_at() report error::timed_out as the operation's first result, which "
        "must be an error_code or a std::exception_ptr. If an adaptor such as redirect_error hides "
        "it, put the adaptor inside, round the token: timeout(d, redirect_error(token, ec)). For "
        "other results, give a mapping: timeout(d, each_error, token) for a parallel group, or "
        "timeout(d, map, token). If no result is an error, use cancel_after() or cancel_at()");
    static_assert(
        !Result::uses_mapping || Result::template accepts<Signatures...>,
        "the mapping of timeout(d, map, token) must be callable with an error_code and with "
        "references to all results of the operation. For each_error, one of the results must be or "
        "contain an error_code or a std::exception_ptr");
};

template <class Limit, class Result, class... Signatures>
class boost::asio::async_result<asio_wheel::detail::partial_timed_token<Limit, Result>,
                                Signatures...>
    : public asio_wheel::detail::partial_result<
          asio_wheel::detail::partial_timed_token<Limit, Result>, Signatures...> {};

#endif
