// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Completion tokens that give an operation a deadline. Such a token wraps another token, as Asio's
// adaptors of tokens do. It wraps the operation's initiation, to start the wait with the operation;
// and the operation's handler, to end the wait with it.
//
// A `Result` says how an expired deadline changes the operation's result.
//
//   member                       meaning
//   has_error                    whether the user may choose the error that it reports
//   accepts<Signatures...>       whether it can report by these completion signatures
//   is_in_tuple<Signatures...>   whether as_tuple was put on the wrong side; the compiler says so
//   deliver(why, handler, ...)   calls the handler with the result; `why` is null unless the
//                                deadline has expired

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout/deadline.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// When a deadline expires: a duration after the operation's start, or a time point.
template <class Clock>
class time_limit {
public:
    using clock = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    template <class Rep, class Period>
    constexpr explicit time_limit(std::chrono::duration<Rep, Period> d) noexcept
        : value_(ceil_saturating<duration>(d)), relative_(true) {}
    template <class Duration>
    constexpr explicit time_limit(std::chrono::time_point<Clock, Duration> t) noexcept
        : value_(ceil_saturating<duration>(t.time_since_epoch())), relative_(false) {}

    [[nodiscard]] time_point expiry(const wheel_service<Clock>& wheel) const {
        return relative_ ? add_saturating(wheel.now(), value_) : time_point(value_);
    }

private:
    duration value_; // Since the clock's epoch, unless it is relative to the operation's start.
    bool relative_;
};

/// The `Result` of cancel_after(): leaves the operation's result as it is.
struct keep_result {
    static constexpr bool has_error = false;
    template <class... Signatures>
    static constexpr bool accepts = true;
    template <class... Signatures>
    static constexpr bool is_in_tuple = false;

    template <class Handler, class... Args>
    void deliver(const boost::system::error_code*, Handler&& handler, Args&&... args) const {
        std::forward<Handler>(handler)(std::forward<Args>(args)...);
    }
};

/// What a token knows about the deadline.
template <class Clock, class Result>
struct timed_options {
    time_limit<Clock> limit;
    boost::asio::cancellation_type type = boost::asio::cancellation_type::terminal;
    [[no_unique_address]] Result result{};
};

/// The handler of an operation that has a deadline.
template <class Core, class Handler, class Result>
class timed_handler {
public:
    using wrapped_handler = Handler;
    using cancellation_slot_type = boost::asio::cancellation_slot;

    timed_handler(Handler&& handler, deadline_ptr<Core> d, const Result& result)
        : handler_(std::move(handler)), deadline_(std::move(d)), result_(result) {}
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

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

    template <class... Args>
    void operator()(Args&&... args) {
        const deadline_ptr<Core> d(std::move(deadline_));
        d->close();
        const boost::system::error_code* const why = d->expired() ? &d->why() : nullptr;
        result_.deliver(why, std::move(handler_), std::forward<Args>(args)...);
    }

private:
    Handler handler_;
    deadline_ptr<Core> deadline_;
    [[no_unique_address]] Result result_;
};

/// A base class that has the executor_type of an initiation, if that has one. Asio's adaptors need
/// it.
template <class Initiation>
struct executor_of_initiation {};

template <class Initiation>
    requires requires { typename Initiation::executor_type; }
struct executor_of_initiation<Initiation> {
    using executor_type = typename Initiation::executor_type;
};

/// Starts an operation together with its deadline.
template <class Initiation, class Clock, class Result>
class timed_initiation : public executor_of_initiation<Initiation> {
    using core_type = wheel_core<Clock, boost::asio::wait_traits<Clock>>;

public:
    template <class I>
    timed_initiation(I&& initiation, const timed_options<Clock, Result>& options)
        : initiation_(std::forward<I>(initiation)), options_(options) {}

    [[nodiscard]] auto get_executor() const noexcept
        requires requires(const Initiation& i) { i.get_executor(); }
    {
        return initiation_.get_executor();
    }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        start(std::move(initiation_), options_, std::forward<Handler>(handler),
              std::forward<Args>(args)...);
    }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) const& {
        start(Initiation(initiation_), options_, std::forward<Handler>(handler),
              std::forward<Args>(args)...);
    }

private:
    template <class Handler, class... Args>
    static void start(Initiation&& initiation, const timed_options<Clock, Result>& options,
                      Handler&& handler, Args&&... args) {
        using decayed = std::decay_t<Handler>;
        const auto& innermost = innermost_initiation(initiation, args...);
        if constexpr (requires { innermost.get_executor(); }) {
            const auto ex = innermost.get_executor();
            if constexpr (!has_own_executor<decayed>) {
                start_on(ex, nullptr, std::move(initiation), options,
                         decayed(std::forward<Handler>(handler)), std::forward<Args>(args)...);
            } else {
                const auto handler_executor = boost::asio::get_associated_executor(handler, ex);
                start_on(ex, &handler_executor, std::move(initiation), options,
                         decayed(std::forward<Handler>(handler)), std::forward<Args>(args)...);
            }
        } else if constexpr (!only_checks_token<std::remove_cvref_t<decltype(innermost)>>) {
            static_assert(
                has_own_executor<decayed>,
                "neither the operation nor its handler says on which executor a deadline may "
                "cancel it: put boost::asio::bind_executor inside, round the handler, as in "
                "cancel_after(d, bind_executor(executor, handler)). Round the deadline itself it "
                "comes too late");
            if constexpr (has_own_executor<decayed>) {
                const auto ex = boost::asio::get_associated_executor(handler);
                start_on(ex, &ex, std::move(initiation), options,
                         decayed(std::forward<Handler>(handler)), std::forward<Args>(args)...);
            }
        }
    }

    // The wait is on the wheel of `ex`'s context. The operation is cancelled on `*bound`, or on
    // `ex` if `bound` is null.
    template <class Executor, class Bound, class Handler, class... Args>
    static void start_on(const Executor& ex, const Bound& bound, Initiation&& initiation,
                         const timed_options<Clock, Result>& options, Handler&& handler,
                         Args&&... args) {
        auto& wheel = use_wheel<Clock>(context_of(ex));
        core_type& core = core_access::of(wheel);
        const auto expiry = options.limit.expiry(wheel);
        auto [d, handler_owner, wait_owner] = deadline<core_type>::make(core, options.type);
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler);
            slot.is_connected()) {
            slot.template emplace<outer_cancellation<core_type>>(d);
        }
        std::move(initiation)(
            timed_handler<core_type, Handler, Result>(std::forward<Handler>(handler),
                                                      std::move(handler_owner), options.result),
            std::forward<Args>(args)...);
        d->arm([&](typename core_type::state& state) {
            set_idle_timer(core, state, expiry, native_context(ex) != nullptr);
            const held_timer<core_type> timer(state);
            if constexpr (std::is_null_pointer_v<Bound>) {
                start_wait(core, timer, ex, expire_deadline<core_type>(std::move(wait_owner)));
            } else {
                using bound_executor = std::remove_cvref_t<decltype(*bound)>;
                start_wait(
                    core, timer, ex,
                    expire_deadline_on<core_type, bound_executor>(std::move(wait_owner), *bound));
            }
        });
    }

    Initiation initiation_;
    timed_options<Clock, Result> options_;
};

/// A completion token that gives the operation a deadline, and otherwise behaves as `Token`.
template <class Token, class Clock, class Result>
class timed_token {
public:
    constexpr timed_token(const Token& token, const timed_options<Clock, Result>& options)
        : token_(token), options_(options) {}
    constexpr timed_token(Token&& token, const timed_options<Clock, Result>& options)
        : token_(std::move(token)), options_(options) {}

    // For boost::asio::async_result.
    Token token_;
    timed_options<Clock, Result> options_;
};

/// A timed_token that does not wrap a token yet. Used as a token, it wraps the default token of the
/// operation's executor; or boost::asio::deferred, if the executor has none.
template <class Clock, class Result>
class partial_timed_token {
public:
    constexpr explicit partial_timed_token(const timed_options<Clock, Result>& options)
        : options_(options) {}

    template <class Token>
    [[nodiscard]] constexpr timed_token<std::decay_t<Token>, Clock, Result>
    operator()(Token&& token) const {
        return {std::forward<Token>(token), options_};
    }

    // For boost::asio::async_result.
    timed_options<Clock, Result> options_;
};

/// A base class that has the return_type of an async_result, if that has one. Before Boost 1.83,
/// some of Asio's adaptors need it.
template <class AsyncResult>
struct return_type_of {};

template <class AsyncResult>
    requires requires { typename AsyncResult::return_type; }
struct return_type_of<AsyncResult> {
    using return_type = typename AsyncResult::return_type;
};

/// The default token of the executor of an initiation; boost::asio::deferred_t if there is none.
template <class Initiation>
struct default_token_of {
    using type = boost::asio::deferred_t;
};

template <class Initiation>
    requires requires { typename Initiation::executor_type; } &&
             (!std::is_void_v<typename boost::asio::default_completion_token<
                  typename Initiation::executor_type>::type>)
struct default_token_of<Initiation> {
    using type =
        typename boost::asio::default_completion_token<typename Initiation::executor_type>::type;
};

} // namespace asio_wheel::detail

template <class Token, class Clock, class Result, class... Signatures>
class boost::asio::async_result<asio_wheel::detail::timed_token<Token, Clock, Result>,
                                Signatures...>
    : public asio_wheel::detail::return_type_of<async_result<Token, Signatures...>> {
    // If as_tuple wraps this token, the only result is a tuple.
    static constexpr bool in_tuple = Result::template is_in_tuple<Signatures...>;
    static_assert(
        !in_tuple,
        "as_tuple belongs inside, round the token: write timeout(d, as_tuple(token)), not "
        "as_tuple(timeout(d, token)), and likewise with timeout_at()");
    static_assert(
        in_tuple || Result::template accepts<Signatures...>,
        "timeout() and timeout_at() report error::timed_out as the operation's first result, which "
        "must be an error_code or a std::exception_ptr. If an adaptor such as redirect_error hides "
        "it, put the adaptor inside, round the token: timeout(d, redirect_error(token, ec)). If "
        "the operation has no error, use cancel_after() or cancel_at()");

    template <class Initiation>
    using timed = asio_wheel::detail::timed_initiation<std::decay_t<Initiation>, Clock, Result>;

    // The wrapped token may be moved from if the token that wraps it may be.
    template <class RawToken>
    using wrapped =
        std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, const Token, Token>;

public:
    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args)
        -> decltype(async_initiate<wrapped<RawToken>, Signatures...>(
            std::declval<timed<Initiation>>(), token.token_, std::forward<Args>(args)...)) {
        return async_initiate<wrapped<RawToken>, Signatures...>(
            timed<Initiation>(std::forward<Initiation>(initiation), token.options_), token.token_,
            std::forward<Args>(args)...);
    }
};

template <class Clock, class Result, class... Signatures>
class boost::asio::async_result<asio_wheel::detail::partial_timed_token<Clock, Result>,
                                Signatures...> {
    template <class Initiation>
    using default_token =
        typename asio_wheel::detail::default_token_of<std::decay_t<Initiation>>::type;

    template <class Initiation>
    using full = asio_wheel::detail::timed_token<default_token<Initiation>, Clock, Result>;

public:
    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args)
        -> decltype(async_initiate<const full<Initiation>, Signatures...>(
            std::forward<Initiation>(initiation), token(default_token<Initiation>()),
            std::forward<Args>(args)...)) {
        return async_initiate<const full<Initiation>, Signatures...>(
            std::forward<Initiation>(initiation), token(default_token<Initiation>()),
            std::forward<Args>(args)...);
    }
};

#endif
