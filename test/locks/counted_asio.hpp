// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Counts the locks and the atomic read-modify-writes of Asio. Include this before anything of Asio,
// in a program with one source file.
//
// Locks are counted if pthread_mutex_lock() can be replaced; otherwise the count is zero. Asio's
// atomic counters are replaced by a counting class. Newer versions of Asio have a mutex of their
// own in addition to that of pthreads. Here they use the latter, as on platforms without the
// former. All of this counts as often as the original does.

#ifndef ASIO_WHEEL_TEST_LOCKS_COUNTED_ASIO_HPP
#define ASIO_WHEEL_TEST_LOCKS_COUNTED_ASIO_HPP

#if defined(BOOST_ASIO_DETAIL_ATOMIC_COUNT_HPP) || defined(BOOST_ASIO_DETAIL_SLIM_MUTEX_HPP)
#error counted_asio.hpp must be included before Asio
#endif
#define BOOST_ASIO_DETAIL_ATOMIC_COUNT_HPP

#include "support/counted_sync.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/detail/config.hpp>

#include <atomic>
#include <cstddef>
#include <map>
#include <utility>

#ifndef BOOST_ASIO_INLINE_NAMESPACE_BEGIN // Not every version has one.
#define BOOST_ASIO_INLINE_NAMESPACE_BEGIN
#define BOOST_ASIO_INLINE_NAMESPACE_END
#endif

namespace asio_wheel::test {

/// What Asio has done since counting began.
struct asio_counts {
    std::map<const void*, std::size_t> locks; ///< By the address of the mutex.
    std::size_t modifications = 0;

    static inline thread_local asio_counts* here = nullptr; ///< Null: nothing is counted.
};

} // namespace asio_wheel::test

namespace boost::asio {
BOOST_ASIO_INLINE_NAMESPACE_BEGIN
namespace detail {

class atomic_count {
public:
    atomic_count(long value) noexcept : value_(value) {} // Implicit, as the original.
    atomic_count(const atomic_count&) = delete;
    atomic_count& operator=(const atomic_count&) = delete;
    ~atomic_count() = default;

    operator long() const noexcept { return value_.load(); }
    long operator=(long value) noexcept { return value_ = value; }
    long operator++() noexcept { return ++modified(); }
    long operator--() noexcept { return --modified(); }
    long operator+=(long change) noexcept { return modified() += change; }
    long operator-=(long change) noexcept { return modified() -= change; }

private:
    std::atomic<long>& modified() noexcept {
        if (asio_wheel::test::asio_counts::here != nullptr) {
            ++asio_wheel::test::asio_counts::here->modifications;
        }
        return value_;
    }

    std::atomic<long> value_;
};

inline void increment(atomic_count& a, long b) {
    a += b;
}
inline void decrement(atomic_count& a, long b) {
    a -= b;
}
inline void ref_count_up(atomic_count& a) {
    ++a;
}
inline void ref_count_up_release(atomic_count& a) {
    ++a;
}
inline bool ref_count_down(atomic_count& a) {
    return --a == 0;
}
inline long ref_count_read_acquire(atomic_count& a) {
    return a;
}

} // namespace detail
BOOST_ASIO_INLINE_NAMESPACE_END
} // namespace boost::asio

#if __has_include(<boost/asio/detail/slim_mutex.hpp>)
#define BOOST_ASIO_DETAIL_SLIM_MUTEX_HPP
#include <boost/asio/detail/mutex.hpp>
namespace boost::asio {
BOOST_ASIO_INLINE_NAMESPACE_BEGIN
namespace detail {
using slim_mutex = mutex;
} // namespace detail
BOOST_ASIO_INLINE_NAMESPACE_END
} // namespace boost::asio
#endif

#if defined(__GLIBC__) && !ASIO_WHEEL_TEST_ADDRESS_SANITIZER && !ASIO_WHEEL_TEST_THREAD_SANITIZER
#if __GLIBC_PREREQ(2, 34) // dlsym() is in libc itself.
#define ASIO_WHEEL_TEST_COUNTS_ASIOS_LOCKS 1
#endif
#endif
#ifndef ASIO_WHEEL_TEST_COUNTS_ASIOS_LOCKS
#define ASIO_WHEEL_TEST_COUNTS_ASIOS_LOCKS 0
#endif

#if ASIO_WHEEL_TEST_COUNTS_ASIOS_LOCKS
#include <dlfcn.h>
#include <pthread.h>

namespace asio_wheel::test {

// A lock that was taken. The containers here take none.
inline void count_lock(const pthread_mutex_t* mutex) {
    if (asio_counts::here != nullptr && !inside_counted_mutex) {
        ++asio_counts::here->locks[mutex];
    }
}

template <class Function>
Function* next_of(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

} // namespace asio_wheel::test

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    static auto* const real =
        asio_wheel::test::next_of<int(pthread_mutex_t*)>("pthread_mutex_lock");
    const int error = real(mutex);
    if (error == 0) {
        asio_wheel::test::count_lock(mutex);
    }
    return error;
}

extern "C" int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
    static auto* const real =
        asio_wheel::test::next_of<int(pthread_mutex_t*)>("pthread_mutex_trylock");
    const int error = real(mutex);
    if (error == 0) {
        asio_wheel::test::count_lock(mutex);
    }
    return error;
}
#endif

#endif
