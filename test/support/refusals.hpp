// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a call throws instead of doing what it was asked for.

#ifndef ASIO_WHEEL_TEST_SUPPORT_REFUSALS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_REFUSALS_HPP

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace asio_wheel::test {

/// The exception that `f` throws; none if it returns.
template <class Exception, class Function>
[[nodiscard]] std::optional<Exception> thrown_by(Function f) {
    try {
        f();
    } catch (const Exception& e) {
        return e;
    }
    return std::nullopt;
}

/// What the exception says that `f` throws; "nothing" if it returns.
template <class Exception = std::invalid_argument, class Function>
[[nodiscard]] std::string message_of(Function f) {
    try {
        f();
    } catch (const Exception& e) {
        return e.what();
    }
    return "nothing";
}

/// The error that `f` throws; success if it returns.
template <class Function>
[[nodiscard]] boost::system::error_code refusal_of(Function f) {
    const auto refused = thrown_by<boost::system::system_error>(f);
    return refused ? refused->code() : boost::system::error_code();
}

} // namespace asio_wheel::test

#endif
