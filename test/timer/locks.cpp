// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// How often timers lock a mutex: never in a single-threaded context, and otherwise hardly more
// often than Asio's.
//
// Counted only if pthread_mutex_lock() can be replaced and Asio takes no other locks (as it does
// for handler tracking and select()). Otherwise, all counts are zero.

#include <asio_wheel/steady_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

namespace {

thread_local std::size_t locks = 0;

} // namespace

#if defined(__GLIBC__) && !ASIO_WHEEL_TEST_ADDRESS_SANITIZER &&                                    \
    !ASIO_WHEEL_TEST_THREAD_SANITIZER && defined(BOOST_ASIO_HAS_EPOLL) &&                          \
    !defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING)
#if __GLIBC_PREREQ(2, 34) // dlsym() is in libc itself.
#define ASIO_WHEEL_TEST_COUNTS_LOCKS
#include <dlfcn.h>
#include <pthread.h>

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    using function = int (*)(pthread_mutex_t*);
    // Not initialised by a call, because the guard of libc++ for that takes a mutex itself.
    static constinit std::atomic<function> found = nullptr;
    function real = found.load(std::memory_order_relaxed);
    if (real == nullptr) {
        real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
        found.store(real, std::memory_order_relaxed);
    }
    ++locks;
    return real(mutex);
}
#endif
#endif

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;

#ifdef ASIO_WHEEL_TEST_COUNTS_LOCKS
constexpr bool counting = true;
#else
constexpr bool counting = false;
#endif

// Newer versions of Asio have their own mutex, which cannot be counted.
#if __has_include(<boost/asio/detail/slim_mutex.hpp>)
constexpr bool counting_asios = false;
#else
constexpr bool counting_asios = counting;
#endif

template <class Timer>
constexpr bool is_wheels = std::is_same_v<Timer, steady_timer>;

// Returns how many locks `f` takes.
template <class Function>
std::size_t locks_of(Function f) {
    const std::size_t before = locks;
    f();
    return locks - before;
}

// Waits of all kinds, from start to end. Returns how many handlers were called.
template <class Timer>
int many_waits(asio::io_context& ctx, Timer& a, Timer& b) {
    int called = 0;
    const auto count = [&called](const error_code&) { ++called; };
    for (int i = 0; i < 100; ++i) {
        a.expires_after(1h);
        a.async_wait(count);
        b.expires_after(0s);
        b.async_wait(count);
        b.async_wait(count);
        ctx.restart();
        poll_with_timers(ctx);
        a.expires_after(2h);
        a.async_wait(count);
        Timer moved(std::move(a));
        moved.cancel_one();
        moved.async_wait(count);
        a = std::move(moved);
        if constexpr (is_wheels<Timer>) {
            static_cast<void>(a.postpone(3h));
        }
        a.cancel();
        poll_with_timers(ctx);
    }
    return called;
}

} // namespace

BOOST_AUTO_TEST_SUITE(timer_locks)

BOOST_AUTO_TEST_CASE(a_lock_is_counted, *only_if(counting)) {
    std::mutex mutex;
    BOOST_TEST(locks_of([&] { const std::lock_guard lock(mutex); }) == 1U);
    drained_context locking;
    steady_timer a(locking.ctx);
    steady_timer b(locking.ctx);
    BOOST_TEST(locks_of([&] { many_waits(locking.ctx, a, b); }) > 500U);
}

// By public functions, each port of a context has a lock of its own.
BOOST_TEST_DECORATOR(*only_if(!asio_wheel::detail::context_queue::is_public))
BOOST_AUTO_TEST_CASE_TEMPLATE(where_one_thread_is_all_there_is_no_wait_takes_a_lock, Timer,
                              timers) {
    drained_context world(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    asio_wheel::make_wheel<typename Timer::clock_type>(world.ctx, {.locking = false});
    Timer a(world.ctx);
    Timer b(world.ctx);
    int called = 0;
    BOOST_TEST(locks_of([&] { called = many_waits(world.ctx, a, b); }) == 0U);
    BOOST_TEST(called == 500);
}

// The life of a timeout: it is set, it is not needed, its handler is aborted.
BOOST_AUTO_TEST_CASE(a_timeout_takes_no_more_locks_than_asios, *only_if(counting_asios)) {
    constexpr int rounds = 1000;
    const auto from_outside = [](auto& t, asio::io_context& ctx) {
        for (int i = 0; i < rounds; ++i) {
            t.expires_after(1h);
            t.async_wait(ignore);
            t.cancel();
            ctx.restart();
            ctx.poll();
        }
    };
    const auto in_a_handler = [](auto& t, asio::io_context& ctx) {
        int left = rounds;
        std::function<void(const error_code&)> again = [&](const error_code&) {
            if (left-- > 0) {
                t.expires_after(1h);
                t.async_wait(again);
                t.cancel();
            }
        };
        again({});
        ctx.restart();
        ctx.poll();
    };
    const auto compare = [](const char* where, const auto& use) {
        const auto count = [&use]<class Timer>(std::type_identity<Timer>) {
            drained_context world;
            Timer earlier(world.ctx, 10min); // The timeout is never the next to expire.
            earlier.async_wait(ignore);
            Timer t(world.ctx);
            const std::size_t result = locks_of([&] { use(t, world.ctx); });
            earlier.cancel();
            return result;
        };
        const std::size_t wheels = count(std::type_identity<steady_timer>());
        const std::size_t asios = count(std::type_identity<asio::steady_timer>());
        BOOST_TEST_INFO(where << ": " << wheels << " locks, Asio's timer " << asios);
        BOOST_TEST(wheels <= asios + 2); // 2 for the wake-up, once.
        BOOST_TEST(asios >= 4U * rounds);
    };
    compare("from outside", from_outside);
    compare("in a handler", in_a_handler);
}

BOOST_AUTO_TEST_SUITE_END()
