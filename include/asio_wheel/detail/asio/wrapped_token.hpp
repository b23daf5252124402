// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// For completion tokens that wrap another one.

#ifndef ASIO_WHEEL_DETAIL_ASIO_WRAPPED_TOKEN_HPP
#define ASIO_WHEEL_DETAIL_ASIO_WRAPPED_TOKEN_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// A base class that has the executor_type of an initiation, if that has one. Asio's adaptors need
/// it.
template <class Initiation>
struct executor_of_initiation {};

template <class Initiation>
    requires requires { typename Initiation::executor_type; }
struct executor_of_initiation<Initiation> {
    using executor_type = typename Initiation::executor_type;
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

/// An initiation that gives the one inside wrap(handler) in place of each handler.
template <class Initiation, class Wrap>
class wrapping_initiation : public executor_of_initiation<Initiation> {
public:
    template <class I>
    wrapping_initiation(I&& initiation, const Wrap& wrap)
        : initiation_(std::forward<I>(initiation)), wrap_(wrap) {}

    [[nodiscard]] auto get_executor() const noexcept
        requires requires(const Initiation& i) { i.get_executor(); }
    {
        return initiation_.get_executor();
    }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        std::move(initiation_)(wrap_(std::decay_t<Handler>(std::forward<Handler>(handler))),
                               std::forward<Args>(args)...);
    }

    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) const& {
        initiation_(wrap_(std::decay_t<Handler>(std::forward<Handler>(handler))),
                    std::forward<Args>(args)...);
    }

    Initiation initiation_; // Public: see innermost_initiation().

private:
    Wrap wrap_;
};

/// The async_result of a token that has another one inside, as token_, and wraps each initiation.
/// `Outer` has
///
///   wrapped_token                        the type of the token inside
///   initiation<Initiation, Signatures>   the type of a wrapped initiation, made of the initiation
///                                        and of property_of<RawToken>(token)
template <class Outer, class... Signatures>
class wrapping_result
    : public return_type_of<
          boost::asio::async_result<typename Outer::wrapped_token, Signatures...>> {
    using token_type = typename Outer::wrapped_token;

    // Asio's concepts check the token inside. (boost::asio::experimental::use_coro accepts only the
    // initiations of real operations, and this one.)
    template <class Initiation>
    using wrapped_initiation =
        std::conditional_t<only_checks_token<Initiation>, Initiation,
                           typename Outer::template initiation<Initiation, Signatures...>>;

    // The token inside may be moved from if the token that wraps it may be.
    template <class RawToken>
    using inner = std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>,
                                     const token_type, token_type>;

public:
    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args)
        -> decltype(boost::asio::async_initiate<inner<RawToken>, Signatures...>(
            std::declval<wrapped_initiation<std::decay_t<Initiation>>>(), token.token_,
            std::forward<Args>(args)...)) {
        if constexpr (only_checks_token<std::decay_t<Initiation>>) {
            return boost::asio::async_initiate<inner<RawToken>, Signatures...>(
                std::forward<Initiation>(initiation), token.token_, std::forward<Args>(args)...);
        } else {
            return boost::asio::async_initiate<inner<RawToken>, Signatures...>(
                wrapped_initiation<std::decay_t<Initiation>>(
                    std::forward<Initiation>(initiation),
                    Outer::template property_of<RawToken>(token)),
                token.token_, std::forward<Args>(args)...);
        }
    }
};

/// The async_result of a token that has no other one inside yet: it wraps the default token of the
/// operation. `Partial` has
///
///   with<Token>   the type of the token round `Token`, made of that and of
///                 property_of<RawToken>(token)
template <class Partial, class... Signatures>
class partial_result {
    template <class Initiation>
    using default_token = typename default_token_of<std::decay_t<Initiation>>::type;

    template <class Initiation>
    using full = typename Partial::template with<default_token<Initiation>>;

public:
    template <class Initiation, class RawToken, class... Args>
    static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args)
        -> decltype(boost::asio::async_initiate<full<Initiation>, Signatures...>(
            std::forward<Initiation>(initiation), std::declval<full<Initiation>&>(),
            std::forward<Args>(args)...)) {
        full<Initiation> with_default(default_token<Initiation>(),
                                      Partial::template property_of<RawToken>(token));
        return boost::asio::async_initiate<full<Initiation>, Signatures...>(
            std::forward<Initiation>(initiation), with_default, std::forward<Args>(args)...);
    }
};

} // namespace asio_wheel::detail

#endif
