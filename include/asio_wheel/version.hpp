// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_VERSION_HPP
#define ASIO_WHEEL_VERSION_HPP

#include <asio_wheel/detail/requirements.hpp>

/// The version of these headers as a number: MAJOR * 100000 + MINOR * 100 + PATCH, as Boost counts.
/// For conditions of the preprocessor:
///
///     #if ASIO_WHEEL_VERSION < 200
///     #error "asio-wheel 0.2.0 or a newer version is needed"
///     #endif
#define ASIO_WHEEL_VERSION 200

/// The same as text: "MAJOR.MINOR.PATCH".
#define ASIO_WHEEL_VERSION_STRING "0.2.0"

#endif
