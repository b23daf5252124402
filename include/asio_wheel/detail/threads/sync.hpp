// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The mutex and the atomics of the library, in one place. So tests can replace them: by types that
// count, that measure, or that hand control to a scheduler at each operation.
//
// If a program defines ASIO_WHEEL_SYNC_HEADER as the name of a header, that header is used instead.
// It must define asio_wheel::detail::mutex and asio_wheel::detail::atomic<T>, with the members of
// std::mutex and std::atomic<T> that the library uses. All sources of such a program must be
// compiled with the same definition.

#ifndef ASIO_WHEEL_DETAIL_THREADS_SYNC_HPP
#define ASIO_WHEEL_DETAIL_THREADS_SYNC_HPP

#ifdef ASIO_WHEEL_SYNC_HEADER
#include ASIO_WHEEL_SYNC_HEADER
#else

#include <atomic>
#include <mutex>

namespace asio_wheel::detail {

using mutex = std::mutex;

template <class T>
using atomic = std::atomic<T>;

} // namespace asio_wheel::detail

#endif

#endif
