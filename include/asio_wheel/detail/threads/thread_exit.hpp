// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Whether a thread can leave something in order when it ends.

#ifndef ASIO_WHEEL_DETAIL_THREADS_THREAD_EXIT_HPP
#define ASIO_WHEEL_DETAIL_THREADS_THREAD_EXIT_HPP

namespace asio_wheel::detail {

/// Whether thread-local objects may have destructors. g++ for Windows frees the memory of a
/// thread's objects before it calls their destructors (its bug 80816).
#if defined(__MINGW32__) && !defined(__clang__)
inline constexpr bool has_thread_exit = false;
#else
inline constexpr bool has_thread_exit = true;
#endif

} // namespace asio_wheel::detail

#endif
