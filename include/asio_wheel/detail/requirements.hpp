// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the library needs: C++20 and Boost 1.81. Each public header includes this one first, so that
// a compiler or a Boost that is too old gives one readable error, not hundreds.
//
// All #ifs on the language version and on the version of Boost are here; .ci/check_layers proves
// it. This header is in layer 1, so it does not include Asio: Boost's version is Asio's version
// too.

#ifndef ASIO_WHEEL_DETAIL_REQUIREMENTS_HPP
#define ASIO_WHEEL_DETAIL_REQUIREMENTS_HPP

// Compilers go on after #error, and report what follows from it. A header that does not exist stops
// them.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "asio_wheel needs C++20: compile with -std=c++20 (MSVC: /std:c++20) or newer"
#include <see the error above>
#endif

#include <boost/version.hpp>

#include <version> // For the macros of the standard library.

#if BOOST_VERSION < 108100
#error "asio_wheel needs Boost 1.81 or newer: <boost/version.hpp> is that of an older one"
#include <see the error above>
#endif

// Boost 1.88; in 1.87 the integers of asio::config could not be read.
#if BOOST_VERSION >= 108800
#define ASIO_WHEEL_HAS_ASIO_CONFIG 1
#else
#define ASIO_WHEEL_HAS_ASIO_CONFIG 0
#endif

// The wait of std::atomic. Without a futex, which only Linux has, that of GCC 12 reads the value
// before it locks the mutex with which it falls asleep. So it may miss a notification in between,
// and then sleeps for ever.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_HAVE_LINUX_FUTEX)
#define ASIO_WHEEL_HAS_ATOMIC_WAIT 0
#else
#define ASIO_WHEEL_HAS_ATOMIC_WAIT 1
#endif

// Whether a consteval function may have std::source_location::current() as an argument in a
// coroutine. g++ 14 evaluates the call only when the argument already is a variable in the
// coroutine's frame, and then reports that it is no constant. What its current() has as an argument
// is known earlier.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 14
#define ASIO_WHEEL_HAS_EARLY_SOURCE_LOCATION 0
#else
#define ASIO_WHEEL_HAS_EARLY_SOURCE_LOCATION 1
#endif

// The members of Asio's timers that Boost 1.87 removed.
#if BOOST_VERSION < 108700 && !defined(BOOST_ASIO_NO_DEPRECATED)
#define ASIO_WHEEL_HAS_DEPRECATED_MEMBERS 1
#else
#define ASIO_WHEEL_HAS_DEPRECATED_MEMBERS 0
#endif

#endif
