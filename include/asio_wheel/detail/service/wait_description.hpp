// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is known of a wait: its kind, the user's tag, and the place in the source that has started
// it. The kind is known when the wait is compiled. Only a wait with a tag or a place stores them.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WAIT_DESCRIPTION_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WAIT_DESCRIPTION_HPP

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <concepts>
#include <source_location>
#include <type_traits>

namespace asio_wheel::detail {

/// The place of a call if places are not tracked.
struct no_place {
    [[nodiscard]] static constexpr no_place current() noexcept { return {}; }
};

/// The type of the last parameter of functions that start waits, which is call_place::current() by
/// default.
#ifdef ASIO_WHEEL_TRACK_SOURCE
using call_place = std::source_location;
#else
using call_place = no_place;
#endif

/// A handler of the library. It names the kind of its waits as kind_of_wait.
template <class Handler>
concept knows_kind = requires {
    { Handler::kind_of_wait } -> std::same_as<const wait_kind&>;
};

/// The waits of other handlers are those of timers; or of sleeps, if the operation has the timer as
/// a part.
template <class Handler, class Part>
[[nodiscard]] constexpr wait_kind kind_of_wait() noexcept {
    if constexpr (knows_kind<Handler>) {
        return Handler::kind_of_wait;
    } else if constexpr (handler_wrapper<Handler>) {
        return kind_of_wait<typename Handler::wrapped_handler, Part>();
    } else {
        return std::is_same_v<Part, unassociated> ? wait_kind::timer : wait_kind::sleep;
    }
}

template <class Handler>
inline constexpr bool has_tag = std::is_same_v<typename associated_tag<Handler>::type, wait_tag>;

/// Whether a wait stores its place. Where the library starts a wait does not tell users anything.
template <class Handler, class Place>
inline constexpr bool has_place =
    std::is_same_v<Place, std::source_location> && !knows_kind<Handler>;

/// Whether a wait stores a description.
template <class Handler, class Place>
inline constexpr bool is_described = has_tag<Handler> || has_place<Handler, Place>;

/// The place is that of the tag, if there is one: it is nearer to the user.
template <class Handler, class Place>
[[nodiscard]] wait_description describe(const Handler& handler, const Place& place) noexcept {
    wait_description d;
    if constexpr (has_tag<Handler>) {
        const wait_tag tag = associated_tag<Handler>::get(handler);
        d = {tag.name(), tag.place()};
    } else if constexpr (has_place<Handler, Place>) {
        d.place = place;
    }
    return d;
}

} // namespace asio_wheel::detail

#endif
