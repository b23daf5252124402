// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/time/boottime_clock.hpp>

#include <chrono>
#include <cstdint>

#if defined(__linux__)
#include <ctime>
#elif defined(__APPLE__)
#include <mach/mach_time.h>
#elif defined(_WIN32)
#include <windows.h>
#endif

namespace asio_wheel {
namespace {

using std::chrono::nanoseconds;

#if defined(__linux__)

nanoseconds since_boot() noexcept {
    std::timespec t{};
    static_cast<void>(::clock_gettime(CLOCK_BOOTTIME, &t)); // Linux has had it since 2.6.39.
    return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec);
}

#elif defined(__APPLE__)

nanoseconds since_boot() noexcept {
    static const mach_timebase_info_data_t base = [] {
        mach_timebase_info_data_t b{};
        static_cast<void>(::mach_timebase_info(&b));
        return b;
    }();
    // The whole units first: the product of all of them would overflow after some days.
    const std::uint64_t t = ::mach_continuous_time();
    return nanoseconds(static_cast<std::int64_t>(t / base.denom * base.numer +
                                                 t % base.denom * base.numer / base.denom));
}

#elif defined(_WIN32)

nanoseconds since_boot() noexcept {
    // Found at run time. Linked, it would need a library of its own, and Windows 10.
    using query = void(WINAPI*)(PULONGLONG);
    static const auto query_interrupt_time =
        reinterpret_cast<query>(reinterpret_cast<void*>( // NOLINT(*-reinterpret-cast)
            ::GetProcAddress(::GetModuleHandleW(L"kernelbase.dll"), "QueryInterruptTime")));
    if (query_interrupt_time == nullptr) {
        return std::chrono::milliseconds(static_cast<std::int64_t>(::GetTickCount64()));
    }
    ULONGLONG units = 0; // Of 100 ns.
    query_interrupt_time(&units);
    return nanoseconds(static_cast<std::int64_t>(units) * 100);
}

#else

nanoseconds since_boot() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch();
}

#endif

} // namespace

boottime_clock::time_point boottime_clock::now() noexcept {
    return time_point(since_boot());
}

} // namespace asio_wheel
