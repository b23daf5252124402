// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which sanitizers this build has, as 1 or 0: ASIO_WHEEL_TEST_ADDRESS_SANITIZER and
// ASIO_WHEEL_TEST_THREAD_SANITIZER.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SANITIZERS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SANITIZERS_HPP

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

#endif
