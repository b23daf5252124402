// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the test was compiled.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SANITIZERS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SANITIZERS_HPP

#include <boost/asio/detail/config.hpp>

// For the preprocessor: 1 if this sanitizer is active, otherwise 0.
#if defined(__SANITIZE_ADDRESS__) // g++
#define ASIO_WHEEL_TEST_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define ASIO_WHEEL_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature) // clang
#if __has_feature(address_sanitizer)
#define ASIO_WHEEL_TEST_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define ASIO_WHEEL_TEST_THREAD_SANITIZER 1
#endif
#endif
#ifndef ASIO_WHEEL_TEST_ADDRESS_SANITIZER
#define ASIO_WHEEL_TEST_ADDRESS_SANITIZER 0
#endif
#ifndef ASIO_WHEEL_TEST_THREAD_SANITIZER
#define ASIO_WHEEL_TEST_THREAD_SANITIZER 0
#endif

namespace asio_wheel::test {

inline constexpr bool has_address_sanitizer = ASIO_WHEEL_TEST_ADDRESS_SANITIZER != 0;
inline constexpr bool has_thread_sanitizer = ASIO_WHEEL_TEST_THREAD_SANITIZER != 0;

/// A sanitizer is active: everything needs more time, memory and stack.
inline constexpr bool is_sanitized = has_address_sanitizer || has_thread_sanitizer;

/// Asio writes some lines for each handler.
#ifdef BOOST_ASIO_ENABLE_HANDLER_TRACKING
inline constexpr bool is_tracked = true;
#else
inline constexpr bool is_tracked = false;
#endif

/// QEMU imitates another processor, which takes ten to thirty times as long: see .ci/cross.
#ifdef ASIO_WHEEL_TEST_EMULATED
inline constexpr bool is_emulated = true;
#else
inline constexpr bool is_emulated = false;
#endif

/// Handler tracking or a sanitizer is active, or the compiler does not optimise.
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
inline constexpr bool is_slow = true;
#else
inline constexpr bool is_slow = is_sanitized || is_tracked;
#endif

/// Returns `usual`, or fewer in builds where that would take too long or write too much.
[[nodiscard]] constexpr int scaled(int usual) {
    return is_tracked || is_emulated ? usual / 50 : is_slow ? usual / 10 : usual;
}

/// Returns `usual`, or a tenth of it where another processor is imitated.
[[nodiscard]] constexpr int unless_emulated(int usual) {
    return is_emulated ? usual / 10 : usual;
}

/// Asio waits by select(): for few descriptors only, and a handler that starts to wait for one may
/// need memory.
#if defined(BOOST_ASIO_HAS_IOCP) || defined(BOOST_ASIO_HAS_EPOLL) ||                               \
    defined(BOOST_ASIO_HAS_KQUEUE) || defined(BOOST_ASIO_HAS_DEV_POLL)
inline constexpr bool uses_select = false;
#else
inline constexpr bool uses_select = true;
#endif

} // namespace asio_wheel::test

#endif
