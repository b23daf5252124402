// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How many bytes a layer has taken that its peer has not: what an idle period needs to know. A
// layer answers by a function unsent_bytes(layer), which is found by its argument. If neither the
// next layer nor the lowest one has such a function, the system is asked about the lowest one. But
// not while time is paused: what the system does takes real time.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_UNSENT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_UNSENT_HPP

#include <asio_wheel/detail/timeout_stream/system_wait.hpp>

#include <concepts>
#include <cstddef>
#include <optional>

namespace asio_wheel::detail {

/// The layer at the bottom of `layer`: that is the one to close.
template <class Layer>
[[nodiscard]] decltype(auto) lowest_layer_of(Layer& layer) noexcept {
    if constexpr (requires { layer.lowest_layer(); }) {
        return layer.lowest_layer();
    } else {
        return (layer);
    }
}

/// A layer with a function that answers.
template <class Layer>
concept knows_unsent_bytes = requires(Layer& layer) {
    { unsent_bytes(layer) } -> std::convertible_to<std::optional<std::size_t>>;
};

/// Has no value if nobody knows.
template <class Layer>
[[nodiscard]] std::optional<std::size_t> unsent_bytes_of(Layer& layer,
                                                         [[maybe_unused]] bool paused) noexcept {
    auto& lowest = lowest_layer_of(layer);
    if constexpr (knows_unsent_bytes<Layer>) {
        return unsent_bytes(layer);
    } else if constexpr (knows_unsent_bytes<std::remove_reference_t<decltype(lowest)>>) {
        return unsent_bytes(lowest);
    } else if constexpr (requires {
                             { lowest.native_handle() } -> std::convertible_to<native_socket>;
                         }) {
        return paused ? std::nullopt : unsent_in_system(lowest.native_handle());
    } else {
        return std::nullopt;
    }
}

} // namespace asio_wheel::detail

#endif
