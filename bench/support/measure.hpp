// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What every benchmark needs: reproducible random numbers, clocks that other processes do not
// disturb, and a check that the measured work was really done.

#ifndef BENCH_MEASURE_HPP
#define BENCH_MEASURE_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace bench {

/// Ends the program unless the condition holds: a benchmark that did not do its work has no result.
inline void require(bool condition, const char* what) {
    if (!condition) {
        std::fprintf(stderr, "benchmark invalid: %s\n", what);
        std::abort();
    }
}

/// S. Vigna's generator. The seed is fixed, so every run does the same work.
class splitmix64 {
public:
    explicit splitmix64(std::uint64_t seed = 42) noexcept : state_(seed) {}

    std::uint64_t operator()() noexcept {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// Returns a number from 0 to bound - 1. The bias is negligible here.
    std::uint64_t below(std::uint64_t bound) noexcept { return (*this)() % bound; }

private:
    std::uint64_t state_;
};

/// Returns the numbers from 0 to n - 1 in random order.
inline std::vector<std::uint32_t> random_order(std::size_t n, splitmix64& random) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = n; i > 1; --i) {
        std::swap(order[i - 1], order[random.below(i)]);
    }
    return order;
}

/// Returns the numbers from 0 to n - 1 in ascending order.
inline std::vector<std::uint32_t> index_order(std::size_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

/// The processor time of this process (all threads) or of the calling thread, in user space and in
/// the kernel.
template <clockid_t Id>
struct cpu_clock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<cpu_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        std::timespec t{};
        ::clock_gettime(Id, &t);
        return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
    }
};

using process_clock = cpu_clock<CLOCK_PROCESS_CPUTIME_ID>;
using thread_clock = cpu_clock<CLOCK_THREAD_CPUTIME_ID>;

/// Adds up the time between start() and stop(), minus the cost of reading the clock.
template <class Clock>
class stopwatch {
public:
    using duration = std::chrono::nanoseconds;

    void start() noexcept { begin_ = Clock::now(); }

    /// Returns the time since start().
    duration stop() noexcept {
        const duration stretch =
            std::max(duration::zero(), duration(Clock::now() - begin_) - cost());
        total_ += stretch;
        return stretch;
    }

    [[nodiscard]] duration total() const noexcept { return total_; }
    [[nodiscard]] double seconds() const noexcept {
        return std::chrono::duration<double>(total_).count();
    }

private:
    // The shortest measured time between two readings of the clock.
    [[nodiscard]] static duration cost() noexcept {
        static const duration least = [] {
            duration found = duration::max();
            for (int i = 0; i < 1000; ++i) {
                const auto begin = Clock::now();
                found = std::min(found, duration(Clock::now() - begin));
            }
            return found;
        }();
        return least;
    }

    typename Clock::time_point begin_{};
    duration total_{};
};

[[nodiscard]] inline double seconds(std::chrono::nanoseconds d) noexcept {
    return std::chrono::duration<double>(d).count();
}

/// Returns how often to repeat a round of `operations`, so that the resolution of the clock does
/// not matter.
[[nodiscard]] inline std::size_t rounds_of(std::size_t operations) noexcept {
    constexpr std::size_t enough = 100'000;
    return std::max<std::size_t>(1, enough / operations);
}

/// Returns how many operations to do on n timers: enough for the resolution of the clock, but at
/// most a million.
[[nodiscard]] inline std::size_t operations_on(std::size_t n) noexcept {
    return std::min<std::size_t>(n * rounds_of(n), 1'000'000);
}

} // namespace bench

#endif
