// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_FAULT_LINE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_FAULT_LINE_HPP

#include <atomic>
#include <cstddef>
#include <limits>

namespace asio_wheel::test {

/// Counts steps of one kind, such as allocations. Watched steps are numbered 0, 1, 2 …, and those
/// in a range of numbers fail.
class fault_line {
public:
    static constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();

    /// Starts to number the steps. Step `n` fails if first <= n < last.
    void watch(std::size_t first, std::size_t last) noexcept {
        seen_ = failed_ = 0;
        first_ = first;
        last_ = last;
        watched_ = true;
    }

    /// Stops: further steps are not counted and do not fail.
    void ignore() noexcept { watched_ = false; }

    /// Resumes after ignore().
    void mind() noexcept { watched_ = true; }

    /// Calls ignore() for its own lifetime: for the test's own steps.
    class pause {
    public:
        explicit pause(fault_line& line) noexcept
            : line_(line), watched_(line.watched_.exchange(false)) {}
        pause(const pause&) = delete;
        pause& operator=(const pause&) = delete;
        ~pause() { line_.watched_ = watched_; }

    private:
        fault_line& line_;
        const bool watched_;
    };

    /// Call this on each step. Returns whether it must fail.
    [[nodiscard]] bool strikes() noexcept {
        if (!watched_) {
            return false;
        }
        const std::size_t n = seen_++;
        const bool strikes = first_ <= n && n < last_;
        failed_ += strikes ? 1 : 0;
        return strikes;
    }

    /// Changes which steps fail, without restarting the count.
    void fail(std::size_t first, std::size_t last) noexcept {
        first_ = first;
        last_ = last;
    }

    /// Returns whether the next watched step will fail.
    [[nodiscard]] bool is_down() const noexcept { return first_ <= seen_ && seen_ < last_; }

    /// Returns the number of steps since watch() was called.
    [[nodiscard]] std::size_t seen() const noexcept { return seen_; }

    /// Returns how many of these have failed.
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }

private:
    std::atomic<bool> watched_{false};
    std::atomic<std::size_t> seen_{0};
    std::atomic<std::size_t> failed_{0};
    std::atomic<std::size_t> first_{endless};
    std::atomic<std::size_t> last_{endless};
};

} // namespace asio_wheel::test

#endif
