// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_CANCELLATION_HPP
#define ASIO_WHEEL_DETAIL_ASIO_CANCELLATION_HPP

#include <boost/asio/cancellation_type.hpp>

namespace asio_wheel::detail {

/// Whether a signal of this type, emitted to a handler's cancellation slot, aborts the operation.
/// This is the one rule for all operations of the library, and that of Asio's timers: terminal,
/// partial and total do, alone or with others. Bits that are none of these mean nothing.
[[nodiscard]] constexpr bool aborts(boost::asio::cancellation_type type) noexcept {
    using boost::asio::cancellation_type;
    constexpr auto any =
        cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
    return (type & any) != cancellation_type::none;
}

} // namespace asio_wheel::detail

#endif
