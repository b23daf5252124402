// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_FAULT_LINE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_FAULT_LINE_HPP

#include <atomic>
#include <cstddef>
#include <limits>

namespace asio_wheel::test {

/// Steps of one kind, such as allocations. While they are watched they are numbered 0, 1, 2 …, and
/// those with certain numbers fail.
class fault_line {
public:
    static constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();

    /// Numbers the steps from now on. Step `n` fails if first <= n < last.
    void watch(std::size_t first, std::size_t last) noexcept {
        seen_ = failed_ = 0;
        first_ = first;
        last_ = last;
        watched_ = true;
    }

    /// From now on steps neither count nor fail.
    void ignore() noexcept { watched_ = false; }

    /// From now on they do again, as before.
    void mind() noexcept { watched_ = true; }

    /// As ignore() while it lives, and then as before: for what the test itself does.
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

    /// To be called on each step: whether it has to fail.
    [[nodiscard]] bool strikes() noexcept {
        if (!watched_) {
            return false;
        }
        const std::size_t n = seen_++;
        const bool strikes = first_ <= n && n < last_;
        failed_ += strikes ? 1 : 0;
        return strikes;
    }

    /// Changes which steps fail, without counting anew.
    void fail(std::size_t first, std::size_t last) noexcept {
        first_ = first;
        last_ = last;
    }

    /// Whether the next step will fail, if it is watched.
    [[nodiscard]] bool is_down() const noexcept { return first_ <= seen_ && seen_ < last_; }

    /// Since watch() was called, how many steps there were,
    [[nodiscard]] std::size_t seen() const noexcept { return seen_; }

    /// and how many of these have failed.
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
