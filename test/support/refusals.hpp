// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The exceptions that calls throw instead of doing their work.

#ifndef ASIO_WHEEL_TEST_SUPPORT_REFUSALS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_REFUSALS_HPP

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace asio_wheel::test {

/// Returns the exception that `f` throws, or null if it returns.
template <class Exception, class Function>
[[nodiscard]] std::optional<Exception> thrown_by(Function f) {
    try {
        f();
    } catch (const Exception& e) {
        return e;
    }
    return std::nullopt;
}

/// Returns the message of the exception that `f` throws, or "nothing".
template <class Exception = std::invalid_argument, class Function>
[[nodiscard]] std::string message_of(Function f) {
    try {
        f();
    } catch (const Exception& e) {
        return e.what();
    }
    return "nothing";
}

/// Returns the error that `f` throws, or success if it returns.
template <class Function>
[[nodiscard]] boost::system::error_code refusal_of(Function f) {
    const auto refused = thrown_by<boost::system::system_error>(f);
    return refused ? refused->code() : boost::system::error_code();
}

} // namespace asio_wheel::test

#endif
