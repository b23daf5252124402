// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Defines ASIO_WHEEL_HAS_ADDRESS_SANITIZER if the program is compiled with AddressSanitizer. g++
// says so by a macro, clang by __has_feature.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_ADDRESS_SANITIZER_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_ADDRESS_SANITIZER_HPP

#if defined(__SANITIZE_ADDRESS__)
#define ASIO_WHEEL_HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASIO_WHEEL_HAS_ADDRESS_SANITIZER 1
#endif
#endif

#endif
