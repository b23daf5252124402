// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a test has to know of how it was compiled.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SANITIZERS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SANITIZERS_HPP

#include <boost/asio/detail/config.hpp>

namespace asio_wheel::test {

/// AddressSanitizer or ThreadSanitizer is at work: everything takes more time, memory and stack.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

/// The compiler does not optimise, or a line is written for each handler.
#if defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING) || (defined(__GNUC__) && !defined(__OPTIMIZE__))
inline constexpr bool is_slow = true;
#else
inline constexpr bool is_slow = is_sanitized;
#endif

} // namespace asio_wheel::test

#endif
