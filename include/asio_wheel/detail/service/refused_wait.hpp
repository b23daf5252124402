// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Why a wait of a utility has failed.
//
// A utility never lets the handler of a wait run with operation_aborted after it has aborted the
// wait itself. So if such a handler is called with that error, somebody else has aborted the wait,
// and only drain() does that.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_REFUSED_WAIT_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_REFUSED_WAIT_HPP

#include <asio_wheel/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

namespace asio_wheel::detail {

/// The reason to report for a wait that ended with `ec`, and that its owner has not aborted.
[[nodiscard]] inline boost::system::error_code
why_refused(const boost::system::error_code& ec) noexcept {
    return ec == boost::asio::error::operation_aborted ? make_error_code(error::wheel_stopped) : ec;
}

} // namespace asio_wheel::detail

#endif
