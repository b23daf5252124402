// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Attributes that Microsoft's compiler spells differently. It warns of those that it does not know,
// and ignores [[no_unique_address]] so that layouts stay as they were.

#ifndef ASIO_WHEEL_DETAIL_ATTRIBUTES_HPP
#define ASIO_WHEEL_DETAIL_ATTRIBUTES_HPP

/// A member without data takes no room. Write it before the type.
#ifdef _MSC_VER
#define ASIO_WHEEL_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define ASIO_WHEEL_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

/// A function that is called rarely stays out of its callers. Write it after [[nodiscard]], and
/// before all else.
#ifdef _MSC_VER
#define ASIO_WHEEL_NOINLINE __declspec(noinline)
#else
#define ASIO_WHEEL_NOINLINE [[gnu::noinline]]
#endif

/// A class whose static data both headers and the compiled library use: there is one instance, also
/// if a program hides its symbols and the library is a shared one. Write it before the name.
#ifdef _WIN32
#define ASIO_WHEEL_ONE_INSTANCE // There, the library is never shared.
#else
#define ASIO_WHEEL_ONE_INSTANCE [[gnu::visibility("default")]]
#endif

#endif
