// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How long to wait before the next attempt:
//
//     asio_wheel::backoff pauses({.initial = 100ms, .max = 30s});
//     while (!co_await connect()) {
//         co_await asio_wheel::async_sleep_for(ex, pauses.next(), use_awaitable);
//     }

#ifndef ASIO_WHEEL_BACKOFF_HPP
#define ASIO_WHEEL_BACKOFF_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/time/jitter.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace asio_wheel {

/// How long the pauses of a backoff are.
struct backoff_options {
    /// The first pause; greater than zero.
    std::chrono::nanoseconds initial{std::chrono::milliseconds(100)};

    /// No pause is longer. At least `initial`.
    std::chrono::nanoseconds max{std::chrono::seconds(60)};

    /// How many times as long as the one before each pause is; 1 or more.
    double factor = 2;

    /// The share of each pause that is left to chance, 0 … 1: with 0.5, a pause of 10 s becomes 5 …
    /// 10 s. So those who failed together do not try again together.
    double jitter = 0.5;
};

/// Pauses that grow exponentially, up to a limit.
///
/// Bad options throw std::invalid_argument, naming the option, its value and the allowed range.
///
/// Thread safety. Distinct objects: safe. One object: unsafe.
class backoff {
public:
    /// The first pause will be `options.initial`, less its jitter.
    explicit backoff(const backoff_options& options = {})
        : options_(checked(options)), pause_(options.initial) {}

    /// The next pause.
    [[nodiscard]] std::chrono::nanoseconds next() {
        const auto pause = pause_;
        ++attempts_;
        pause_ = detail::scaled(pause, options_.factor, options_.max);
        return pause - detail::random_share(pause, options_.jitter);
    }

    /// How many pauses there were since the beginning, or reset().
    [[nodiscard]] std::size_t attempts() const noexcept { return attempts_; }

    /// Begins anew: it worked.
    void reset() noexcept {
        pause_ = options_.initial;
        attempts_ = 0;
    }

private:
    [[nodiscard]] static backoff_options checked(const backoff_options& options) {
        if (options.initial.count() <= 0) {
            refuse("initial", detail::in_ns(options.initial), "greater than 0 ns");
        }
        if (options.max < options.initial) {
            refuse("max", detail::in_ns(options.max),
                   "at least initial, " + detail::in_ns(options.initial));
        }
        if (!(options.factor >= 1)) {
            refuse("factor", std::to_string(options.factor), "1 or more");
        }
        detail::require_share("backoff_options::jitter", options.jitter);
        return options;
    }

    [[noreturn]] static void refuse(const std::string& option, const std::string& value,
                                    const std::string& allowed) {
        detail::bad_argument("backoff_options::" + option, value, allowed);
    }

    backoff_options options_;
    std::chrono::nanoseconds pause_;
    std::size_t attempts_ = 0;
};

} // namespace asio_wheel

#endif
