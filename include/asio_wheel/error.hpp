// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_ERROR_HPP
#define ASIO_WHEEL_ERROR_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/is_error_code_enum.hpp>

namespace asio_wheel {

/// The errors of the library. Waits, and operations that are made of them, complete with these or
/// with boost::asio::error::operation_aborted; functions that do not wait throw them as
/// boost::system::system_error.
enum class error {
    /// The wheel already holds wheel_options::max_pending waits. Nothing else was touched; try
    /// again later.
    too_many_pending = 1,

    /// The wheel was drained and accepts no more waits.
    wheel_stopped = 2,

    /// The operation was cancelled because its deadline had passed. Equal to std::errc::timed_out
    /// and boost::system::errc::timed_out.
    timed_out = 3,

    /// The queue was closed: it accepts no more elements; or it is empty, too.
    queue_closed = 4,

    /// The queue is full. Try again when an element was taken.
    queue_full = 5,

    /// The scheduler was closed or stopped, and accepts no more tasks.
    scheduler_stopped = 6,

    /// The scheduler has scheduler_options::max_pending tasks already. Try again when one is over.
    scheduler_full = 7,

    /// The rate limiter was closed, and gives no more tokens.
    limiter_closed = 8,
};

/// The category of asio_wheel::error, named "asio_wheel".
[[nodiscard]] const boost::system::error_category& error_category() noexcept;

/// An error_code of error_category(). By this function an `error` converts to an error_code.
[[nodiscard]] inline boost::system::error_code make_error_code(error e) noexcept {
    return {static_cast<int>(e), error_category()};
}

} // namespace asio_wheel

template <>
struct boost::system::is_error_code_enum<asio_wheel::error> : std::true_type {};

#endif
