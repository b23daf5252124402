// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Tags: names for waits, for those who ask a wheel what waits on it.
//
//     co_await timer.async_wait(asio_wheel::tag("session idle", asio::use_awaitable));
//     asio_wheel::use_wheel(ctx).report(std::cout); // 200000 timer  session idle

#ifndef ASIO_WHEEL_TAG_HPP
#define ASIO_WHEEL_TAG_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/associated_property.hpp>
#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/asio/wrapped_token.hpp>

#include <boost/asio/async_result.hpp>

#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// A name for waits, and the place in the source where it is given.
///
/// A string literal converts to it. The compiler rejects what is not a constant, a null pointer,
/// and a text without an end. So a tag needs no memory, lives for ever, and the number of different
/// tags is small. It names a purpose, such as "session idle", not a connection. (A tag of a plugin
/// ends when that is unloaded: docs/reliability.md says when it must not be.)
class wait_tag {
public:
    /// The place is by default that of the call.
#if ASIO_WHEEL_HAS_EARLY_SOURCE_LOCATION
    // NOLINTNEXTLINE(google-explicit-constructor)
    consteval wait_tag(const char* name,
                       std::source_location place = std::source_location::current())
#else
    // NOLINTNEXTLINE(google-explicit-constructor)
    consteval wait_tag(const char* name,
                       decltype(__builtin_source_location()) place = __builtin_source_location())
        : wait_tag(name, std::source_location::current(place)) {}
    consteval wait_tag(const char* name, std::source_location place)
#endif
        : name_(name), place_(place) {
        // This is no constant, and does not compile, if `name` is null or has no end.
        static_cast<void>(std::char_traits<char>::length(name));
    }

    /// The name, as it was given.
    [[nodiscard]] constexpr const char* name() const noexcept { return name_; }
    /// Where it was given.
    [[nodiscard]] constexpr const std::source_location& place() const noexcept { return place_; }

private:
    const char* name_;
    std::source_location place_;
};

/// In place of a tag, where there is none.
struct no_tag {};

template <class T, class Candidate = no_tag>
struct associated_tag;

namespace detail {

/// For associated_tag.
struct tag_property {
    template <class T>
    using type_of = typename T::wait_tag_type;
    template <class T>
    [[nodiscard]] static type_of<T> get(const T& t) noexcept {
        return t.get_wait_tag();
    }
};

} // namespace detail

/// The tag of a handler, as associated_allocator is its allocator: `get_wait_tag()`, if the handler
/// names a `wait_tag_type`; otherwise that of the handler inside, for all wrappers that forward
/// what is associated, such as Asio's; otherwise the candidate.
template <class T, class Candidate>
struct associated_tag
    : detail::associated_property<associated_tag, detail::tag_property, T, Candidate> {};

namespace detail {

template <class Handler>
class tagged_handler {
public:
    using wrapped_handler = Handler;
    using wait_tag_type = wait_tag;

    tagged_handler(Handler&& handler, const wait_tag& tag)
        : handler_(std::move(handler)), tag_(tag) {}

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }
    [[nodiscard]] const wait_tag& get_wait_tag() const noexcept { return tag_; }

    template <class... Args>
    void operator()(Args&&... args) {
        std::move(handler_)(std::forward<Args>(args)...);
    }

private:
    Handler handler_;
    wait_tag tag_;
};

/// For the library's own handlers.
template <class Handler>
[[nodiscard]] tagged_handler<Handler> with_tag(Handler handler, const wait_tag& tag) {
    return tagged_handler<Handler>(std::move(handler), tag);
}
template <class Handler>
[[nodiscard]] Handler with_tag(Handler handler, const no_tag&) {
    return handler;
}

/// Gives handlers a tag.
class give_tag {
public:
    explicit give_tag(const wait_tag& tag) noexcept : tag_(tag) {}

    template <class Handler>
    [[nodiscard]] tagged_handler<Handler> operator()(Handler handler) const {
        return with_tag(std::move(handler), tag_);
    }

private:
    wait_tag tag_;
};

/// A completion token that gives the wait a tag, and otherwise behaves as `Token`.
template <class Token>
class tagged_token {
public:
    template <class T>
    constexpr tagged_token(T&& token, const wait_tag& tag)
        : token_(std::forward<T>(token)), tag_(tag) {}

    // For boost::asio::async_result.
    using wrapped_token = Token;
    template <class Initiation, class... Signatures>
    using initiation = wrapping_initiation<Initiation, give_tag>;
    template <class RawToken>
    [[nodiscard]] static give_tag property_of(const tagged_token& t) noexcept {
        return give_tag(t.tag_);
    }
    Token token_;
    wait_tag tag_;
};

template <class T>
inline constexpr bool is_tagged_token = false;
template <class Token>
inline constexpr bool is_tagged_token<tagged_token<Token>> = true;

/// The same, but it does not wrap a token yet. Used as a token, it wraps the default token of the
/// operation's executor; or boost::asio::deferred, if the executor has none.
class partial_tagged_token {
public:
    constexpr explicit partial_tagged_token(const wait_tag& tag) noexcept : tag_(tag) {}

    template <class Token>
    [[nodiscard]] constexpr tagged_token<std::decay_t<Token>> operator()(Token&& token) const {
        return {std::forward<Token>(token), tag_};
    }

    // For boost::asio::async_result.
    template <class Token>
    using with = tagged_token<Token>;
    template <class RawToken>
    [[nodiscard]] static constexpr const wait_tag&
    property_of(const partial_tagged_token& t) noexcept {
        return t.tag_;
    }
    wait_tag tag_;
};

} // namespace detail

/// Returns a completion token that behaves as `token`, and gives the wait a tag. It costs a wait 32
/// bytes of memory. A wait without a tag costs nothing.
///
/// The tag is a property of the handler, as its allocator is. So adaptors can be round it, and a
/// deadline of an operation has the tag of its handler: `timeout(5s, tag("login", token))`. Round
/// the deadline, `tag("login", timeout(5s, token))`, it is the tag of what the operation itself
/// waits for. `bind_executor(strand, tag("login", handler))` has the tag, too; a handler in an
/// `any_completion_handler` has none.
///
/// Operations of several waits have it in each: those of intervals, heartbeats and idle timers, and
/// async_retry(). A scheduler takes `tag(name, f)` in place of a function. The deadline of a stream
/// has the tag of the operation that made the stream wait. All elements of a delay_queue share one
/// wait, without a tag, and so do all who wait for a rate_limiter. Delayed operations have none.
///
///     timer.async_wait(asio_wheel::tag("session idle", [](auto ec) { … }));
template <class Token>
[[nodiscard]] constexpr detail::tagged_token<std::decay_t<Token>> tag(const wait_tag& name,
                                                                      Token&& token) {
    return {std::forward<Token>(token), name};
}

/// The same for the default completion token.
///
///     co_await timer.async_wait(asio_wheel::tag("session idle"));
[[nodiscard]] constexpr detail::partial_tagged_token tag(const wait_tag& name) {
    return detail::partial_tagged_token(name);
}

} // namespace asio_wheel

template <class Token, class... Signatures>
class boost::asio::async_result<asio_wheel::detail::tagged_token<Token>, Signatures...>
    : public asio_wheel::detail::wrapping_result<asio_wheel::detail::tagged_token<Token>,
                                                 Signatures...> {};

template <class... Signatures>
class boost::asio::async_result<asio_wheel::detail::partial_tagged_token, Signatures...>
    : public asio_wheel::detail::partial_result<asio_wheel::detail::partial_tagged_token,
                                                Signatures...> {};

#endif
