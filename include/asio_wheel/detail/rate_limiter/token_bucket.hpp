// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A token bucket, without a clock. Times are counts of a clock's units.
//
// The bucket gains `gain_` tokens in `per_` units, in lowest terms. It holds `level_` whole tokens
// and `part_` per_-ths of one, as of the time `at_`. All of it is integers, so nothing is ever
// rounded: however often one looks, the bucket has exactly what it has gained, less what was taken.
//
// The level may be negative: who takes more than `burst_` takes it from a full bucket, and those
// who come later wait until the debt is paid.
//
//   what always holds              why no product overflows
//   0 <= gain_, 1 <= per_
//   per_ * (gain_ + 1) < 2^63      a part of a period, times gain_, and a part of a token
//   burst_ - level_ < 2^63         no burst, no number and no debt is more than max_tokens
//   part_ < per_; 0 if it is full

#ifndef ASIO_WHEEL_DETAIL_RATE_LIMITER_TOKEN_BUCKET_HPP
#define ASIO_WHEEL_DETAIL_RATE_LIMITER_TOKEN_BUCKET_HPP

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

namespace asio_wheel::detail {

/// a * b / c, rounded down, for 0 <= a < c < 2^62 and b >= 0. The result is less than or equal to
/// b. It needs no larger numbers.
[[nodiscard]] constexpr std::int64_t scaled_part(std::int64_t a, std::int64_t b,
                                                 std::int64_t c) noexcept {
    std::int64_t quotient = 0;
    std::int64_t rest = 0;
    for (int bit = 62; bit >= 0; --bit) {
        quotient *= 2;
        rest *= 2;
        if (rest >= c) {
            rest -= c;
            ++quotient;
        }
        if (((b >> bit) & 1) != 0) {
            rest += a;
            if (rest >= c) {
                rest -= c;
                ++quotient;
            }
        }
    }
    return quotient;
}

class token_bucket {
public:
    using count = std::int64_t;

    static constexpr count max = (std::numeric_limits<count>::max)();
    /// No burst and no number of tokens is larger: so no debt is.
    static constexpr count max_tokens = max / 4;
    static constexpr count never = max; ///< As a result of until().

    /// Whether a rate can be counted exactly: `gain` tokens in `per` units.
    [[nodiscard]] static constexpr bool is_rate(count gain, count per) noexcept {
        if (gain < 0 || per <= 0) {
            return false;
        }
        const count common = std::gcd(gain, per);
        return gain / common < max / (per / common) && per / common < max / 2;
    }

    /// Full, at the time `now`. `gain` and `per` are a rate; 1 <= burst <= max_tokens.
    constexpr token_bucket(count gain, count per, count burst, count now) noexcept
        : gain_(gain / std::gcd(gain, per)), per_(per / std::gcd(gain, per)), burst_(burst),
          level_(burst), at_(now) {}

    /// How many whole tokens there are; negative if more were taken.
    [[nodiscard]] constexpr count level() const noexcept { return level_; }
    [[nodiscard]] constexpr count burst() const noexcept { return burst_; }
    /// The time of the last advance().
    [[nodiscard]] constexpr count at() const noexcept { return at_; }

    /// It is `now`. If that is before the last time, nothing was gained.
    constexpr void advance(count now) noexcept {
        const count before = at_;
        at_ = now;
        if (now <= before || level_ == burst_) {
            return;
        }
        gain(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before));
    }

    /// Whether `n` tokens can be taken: there are as many, or the bucket is full.
    [[nodiscard]] constexpr bool has(count n) const noexcept {
        return level_ >= (std::min)(n, burst_);
    }

    /// Takes `n` tokens; has(n) is true.
    constexpr void take(count n) noexcept { level_ -= n; }

    /// Lets time pass until there are `n` tokens, and takes them. They are taken first, so the
    /// bucket is not full meanwhile, and loses nothing. until(n) is not `never`.
    constexpr void take_next(count n) noexcept {
        const count units = until(n);
        level_ -= n;
        at_ += units;
        gain(static_cast<std::uint64_t>(units));
    }

    /// After how many units has(n) is true: 0 if it is now.
    [[nodiscard]] constexpr count until(count n) const noexcept {
        if (has(n)) {
            return 0;
        }
        if (gain_ == 0) {
            return never;
        }
        // It is at least 1. At most max_tokens are missing, and as much debt.
        const count missing = (std::min)(n, burst_) - level_;
        const count periods = missing / gain_;
        const count more = missing % gain_ * per_ - part_; // In per_-ths of a token.
        // More than -per_, so rounding towards zero is up if it is negative.
        const count rest = more > 0 ? (more - 1) / gain_ + 1 : more / gain_;
        if (periods > (max - per_) / per_) {
            return never;
        }
        return periods * per_ + rest;
    }

    /// Changes the rate. What was gained until the last advance() stays, but for less than one of
    /// the new parts of a token.
    constexpr void rate(count gain, count per) noexcept {
        const count common = std::gcd(gain, per);
        part_ = scaled_part(part_, per / common, per_);
        gain_ = gain / common;
        per_ = per / common;
    }

    /// Changes the size. What does not fit is lost.
    constexpr void burst(count b) noexcept {
        burst_ = b;
        keep_in();
    }

private:
    // The time that has passed may be twice as long as a count.
    constexpr void gain(std::uint64_t passed) noexcept {
        const auto per = static_cast<std::uint64_t>(per_);
        const std::uint64_t periods = passed / per;
        const count parts = static_cast<count>(passed % per) * gain_ + part_;
        const count tokens = parts / per_;
        part_ = parts % per_;
        const count room = burst_ - level_; // At most 2^63 - 1.
        if (tokens >= room ||
            (gain_ != 0 && periods > static_cast<std::uint64_t>((room - tokens) / gain_))) {
            level_ = burst_;
        } else if (gain_ != 0) {
            level_ += tokens + static_cast<count>(periods) * gain_;
        }
        keep_in();
    }

    constexpr void keep_in() noexcept {
        if (level_ >= burst_) {
            level_ = burst_;
            part_ = 0;
        }
    }

    count gain_;
    count per_;
    count burst_;
    count level_;
    count part_ = 0;
    count at_;
};

} // namespace asio_wheel::detail

#endif
