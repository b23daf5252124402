// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_ERROR_HPP
#define ASIO_WHEEL_ERROR_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/is_error_code_enum.hpp>

namespace asio_wheel {

/// What waits, and operations made of them, may complete with besides success and
/// boost::asio::error::operation_aborted; and what is thrown by functions that do not wait.
enum class error {
    /// The wheel already holds wheel_options::max_pending waits. Nothing else was touched; try
    /// again later.
    too_many_pending = 1,

    /// The wheel was drained and accepts no more waits.
    wheel_stopped = 2,

    /// The operation was cancelled because its deadline had passed. Equal to std::errc::timed_out
    /// and boost::system::errc::timed_out.
    timed_out = 3,

    /// The queue was closed: it takes nothing more, and nothing more will come out of it.
    queue_closed = 4,

    /// The queue holds as many elements as it may. Try again when one was taken.
    queue_full = 5,

    /// The scheduler was closed or stopped, and takes no more tasks.
    scheduler_stopped = 6,
};

/// The category of asio_wheel::error, named "asio_wheel".
[[nodiscard]] const boost::system::error_category& error_category() noexcept;

[[nodiscard]] inline boost::system::error_code make_error_code(error e) noexcept {
    return {static_cast<int>(e), error_category()};
}

} // namespace asio_wheel

template <>
struct boost::system::is_error_code_enum<asio_wheel::error> : std::true_type {};

#endif
