// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is known of a wait: its kind, the user's tag, and the place in the source that has started
// it. The kind is known when the wait is compiled. Only a wait with a tag or a place stores them.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WAIT_DESCRIPTION_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WAIT_DESCRIPTION_HPP

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <algorithm>
#include <concepts>
#include <source_location>
#include <type_traits>

namespace asio_wheel::detail {

/// The tag and the place of a wait. Neither needs to be there: then it is null, or its line is 0.
struct wait_description {
    const char* tag = nullptr;
    std::source_location place;
};

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

/// Whether a delivered wait of this kind has expired for the user. Otherwise its handler looks
/// whether that is so, and tells the core.
[[nodiscard]] constexpr bool expires_when_delivered(wait_kind kind) noexcept {
    return kind <= wait_kind::scheduler;
}
static_assert(wait_kind::scheduler < (std::min)({wait_kind::idle, wait_kind::heartbeat,
                                                 wait_kind::queue, wait_kind::stream}));

/// Whether the handler of a wait of this kind asks the wheel before it calls the user's.
[[nodiscard]] constexpr bool needs_wheel_when_delivered(wait_kind kind) noexcept {
    return kind == wait_kind::interval || kind == wait_kind::idle || kind == wait_kind::heartbeat ||
           kind == wait_kind::stream;
}

/// Whether a wait of this kind may guard something that arrives, so that it must not expire before
/// what has arrived was read. A user's timer may.
[[nodiscard]] constexpr bool guards_io(wait_kind kind) noexcept {
    switch (kind) {
    case wait_kind::timer:
    case wait_kind::timeout:
    case wait_kind::idle:
    case wait_kind::heartbeat:
    case wait_kind::stream:
        return true;
    case wait_kind::sleep:
    case wait_kind::interval:
    case wait_kind::scheduler:
    case wait_kind::queue:
        break;
    }
    return false;
}

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
