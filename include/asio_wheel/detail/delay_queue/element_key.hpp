// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_ELEMENT_KEY_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_ELEMENT_KEY_HPP

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace asio_wheel::detail {

/// Names an element: by its index, and by the number of elements that have had that index before.
struct element_key {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;

    friend constexpr bool operator==(const element_key&, const element_key&) noexcept = default;
    friend constexpr auto operator<=>(const element_key&, const element_key&) noexcept = default;
};

} // namespace asio_wheel::detail

/// So that users may have keys in unordered containers.
template <>
struct std::hash<asio_wheel::detail::element_key> {
    std::size_t operator()(const asio_wheel::detail::element_key& key) const noexcept {
        return std::hash<std::uint64_t>()(std::uint64_t{key.generation} << 32U | key.index);
    }
};

#endif
