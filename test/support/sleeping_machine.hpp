// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A machine that can be suspended, as far as this process can tell: its boot time jumps, and the
// timerfds on the boot time whose time has passed expire, as after a resume. The monotonic clock
// and all other timers go on as if nothing had happened. Replaces clock_gettime(), timerfd_create()
// and timerfd_settime(), so include it in one source file of a test program. Linux with glibc only.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SLEEPING_MACHINE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SLEEPING_MACHINE_HPP

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <mutex>

namespace asio_wheel::test {

class sleeping_machine {
public:
    /// The machine sleeps for `d`, and is resumed.
    static void suspend(std::chrono::nanoseconds d) {
        const std::lock_guard<std::mutex> guard(mutex_);
        asleep_ += d.count();
        for (const auto& [fd, expiry] : boot_timers_) {
            if (expiry != 0) {
                arm(fd, expiry);
            }
        }
    }

    /// As long as this lives, the system has no timerfd on the boot time.
    class without_timerfd {
    public:
        without_timerfd() { refuse_ = true; }
        without_timerfd(const without_timerfd&) = delete;
        without_timerfd& operator=(const without_timerfd&) = delete;
        ~without_timerfd() { refuse_ = false; }
    };

    static int get_time(clockid_t id, std::timespec* t) noexcept {
        const bool boot = id == CLOCK_BOOTTIME;
        const int result =
            static_cast<int>(::syscall(SYS_clock_gettime, boot ? CLOCK_MONOTONIC : id, t));
        if (boot && result == 0) {
            *t = split(count(*t) + asleep_);
        }
        return result;
    }

    static int create(clockid_t id, int flags) noexcept {
        const bool boot = id == CLOCK_BOOTTIME;
        if (boot && refuse_) {
            errno = EINVAL;
            return -1;
        }
        const int fd =
            static_cast<int>(::syscall(SYS_timerfd_create, boot ? CLOCK_MONOTONIC : id, flags));
        const std::lock_guard<std::mutex> guard(mutex_);
        boot_timers_.erase(fd); // Of a descriptor that was closed.
        if (boot && fd >= 0) {
            boot_timers_[fd] = 0;
        }
        return fd;
    }

    static int set(int fd, int flags, const ::itimerspec* value, ::itimerspec* old) noexcept {
        const std::lock_guard<std::mutex> guard(mutex_);
        const auto it = boot_timers_.find(fd);
        if (it == boot_timers_.end()) {
            return static_cast<int>(::syscall(SYS_timerfd_settime, fd, flags, value, old));
        }
        if (flags != TFD_TIMER_ABSTIME || value->it_interval.tv_sec != 0 ||
            value->it_interval.tv_nsec != 0 || value->it_value.tv_nsec < 0 ||
            value->it_value.tv_nsec > 999'999'999) {
            errno = EINVAL; // Nothing else is imitated.
            return -1;
        }
        it->second = count(value->it_value);
        return arm(fd, it->second);
    }

private:
    static constexpr std::int64_t second = 1'000'000'000;

    [[nodiscard]] static std::int64_t count(const std::timespec& t) noexcept {
        return t.tv_sec * second + t.tv_nsec;
    }
    [[nodiscard]] static std::timespec split(std::int64_t ns) noexcept {
        return {.tv_sec = ns / second, .tv_nsec = ns % second};
    }

    // Sets the monotonic timer that stands for one on the boot time. Zero disarms it.
    static int arm(int fd, std::int64_t expiry) noexcept {
        ::itimerspec t{};
        t.it_value = expiry == 0 ? split(0) : split(std::max<std::int64_t>(expiry - asleep_, 1));
        return static_cast<int>(::syscall(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, &t, nullptr));
    }

    inline static std::atomic<std::int64_t> asleep_{0};
    inline static std::atomic<bool> refuse_{false};
    inline static std::mutex mutex_;                        // Guards:
    inline static std::map<int, std::int64_t> boot_timers_; // Their expiries; 0 if not armed.
};

} // namespace asio_wheel::test

extern "C" {

int clock_gettime(clockid_t id, std::timespec* t) noexcept {
    return asio_wheel::test::sleeping_machine::get_time(id, t);
}

int timerfd_create(clockid_t id, int flags) noexcept {
    return asio_wheel::test::sleeping_machine::create(id, flags);
}

int timerfd_settime(int fd, int flags, const ::itimerspec* value, ::itimerspec* old) noexcept {
    return asio_wheel::test::sleeping_machine::set(fd, flags, value, old);
}
}

#endif
