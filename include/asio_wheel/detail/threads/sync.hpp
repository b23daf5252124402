// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The mutex and the atomics of the library, in one place. So tests can replace them: by types that
// count, that measure, or that hand control to a scheduler at each operation.
//
// If a program defines ASIO_WHEEL_SYNC_HEADER as the name of a header, that header is used instead.
// It must define asio_wheel::detail::mutex and atomic<T>, with the members of std::mutex and of
// std::atomic<T> that the library uses. All sources of such a program must be compiled with the
// same definition.

#ifndef ASIO_WHEEL_DETAIL_THREADS_SYNC_HPP
#define ASIO_WHEEL_DETAIL_THREADS_SYNC_HPP

#ifdef ASIO_WHEEL_SYNC_HEADER
#include ASIO_WHEEL_SYNC_HEADER
#else

#include <asio_wheel/detail/requirements.hpp>

#include <atomic>
#include <mutex>

#if !ASIO_WHEEL_HAS_ATOMIC_WAIT
#include <chrono>
#include <thread>
#endif

namespace asio_wheel::detail {

using mutex = std::mutex;

#if ASIO_WHEEL_HAS_ATOMIC_WAIT

template <class T>
using atomic = std::atomic<T>;

#else

/// wait() reads the value again and again: often at first, then each millisecond. So it needs no
/// notification. That serves for short waits only; a thread that may block for long uses an event.
template <class T>
class atomic : public std::atomic<T> {
public:
    using std::atomic<T>::atomic;
    using std::atomic<T>::operator=;

    void wait(T old, std::memory_order order = std::memory_order_seq_cst) const noexcept {
        for (int reads = 0; this->load(order) == old; ++reads) {
            if (reads < 100) {
                std::this_thread::yield();
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    }
    void notify_one() noexcept {}
    void notify_all() noexcept {}
};

#endif

} // namespace asio_wheel::detail

#endif

#endif
