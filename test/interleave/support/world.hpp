// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Helpers for scenarios that use an io_context: its wheel with virtual time, and handlers that
// record their results.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_WORLD_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_WORLD_HPP

#include <asio_wheel/wheel_options.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "interleave/support/explorer.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>

namespace asio_wheel::test::interleave {

/// Shared by threads of a scenario, but no yield point. It orders nothing.
class observed {
public:
    void set() noexcept { add(1); }
    void add(int n) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    [[nodiscard]] int count() const noexcept { return value_.load(std::memory_order_relaxed); }
    explicit operator bool() const noexcept { return count() != 0; }

private:
    std::atomic<int> value_{0};
};

/// A clock that a scenario sets, and that starts at the same time in each run. It is no yield
/// point, because Asio reads it under its mutex.
struct scripted_clock {
    using duration = std::chrono::steady_clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<scripted_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        return time_point(duration(now_.load(std::memory_order_relaxed)));
    }
    static void reset() noexcept {
        now_.store(duration(std::chrono::hours(1000)).count(), std::memory_order_relaxed);
    }
    static void forward(duration d) noexcept {
        now_.fetch_add(d.count(), std::memory_order_relaxed);
    }

private:
    static inline std::atomic<rep> now_{0};
};

} // namespace asio_wheel::test::interleave

/// For the driver of a wheel: Asio reads the clock whenever it is polled.
template <>
struct boost::asio::wait_traits<asio_wheel::test::interleave::scripted_clock> {
    using clock = asio_wheel::test::interleave::scripted_clock;
    static clock::duration to_wait_duration(const clock::duration&) { return {}; }
    static clock::duration to_wait_duration(const clock::time_point&) { return {}; }
};

namespace asio_wheel::test::interleave {

/// How long a stall lasts depends on the real time, so a scenario with one would not repeat itself.
[[nodiscard]] inline wheel_options without_stalls(wheel_options options) {
    options.stall = {};
    return options;
}

/// An io_context with a wheel on that clock; a small one, because each run creates a new one.
class world {
    struct set_clock {
        set_clock() { scripted_clock::reset(); }
    };
    [[no_unique_address]] set_clock first_of_all_;

public:
    boost::asio::io_context ctx;
    wheel_service<scripted_clock>& wheel;

    explicit world(const wheel_options& options = {.slots = 8, .levels = 8})
        : wheel(make_wheel<scripted_clock>(ctx, without_stalls(options))) {}
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    ~world() {
        poll();
        check(ctx.stopped(), "the context runs out of work");
        check(wheel.pending() == 0, "no wait is left");
    }

    /// Advances time beyond the tick in which due waits expire. Any thread may call it.
    void forward(scripted_clock::duration d) { scripted_clock::forward(d + wheel.options().tick); }

    /// For the scenario, not for its threads: none may restart a context that another one polls.
    void poll() {
        ctx.restart();
        ctx.poll();
    }

    void pass(scripted_clock::duration d) {
        forward(d);
        poll();
    }
};

/// The results that the handlers of a wait saw.
struct fate {
    observed expired, aborted, refused, destroyed;

    [[nodiscard]] int calls() const noexcept {
        return expired.count() + aborted.count() + refused.count();
    }

    /// Checks that exactly one handler was called.
    void check_once() const {
        check(calls() == 1, "a handler is called once");
        check(destroyed.count() == 1, "a handler is destroyed once");
    }

    /// Checks that the count of cancellations matches what the handler saw.
    void check_counted(std::size_t cancelled) const {
        check_once();
        check(aborted.count() == static_cast<int>(cancelled), "what was counted is aborted");
    }

    class handler {
    public:
        explicit handler(fate& f) noexcept : fate_(&f) {}
        handler(handler&& other) noexcept : fate_(std::exchange(other.fate_, nullptr)) {}
        handler& operator=(handler&&) = delete;
        ~handler() {
            if (fate_ != nullptr) {
                fate_->destroyed.set();
            }
        }
        void operator()(const boost::system::error_code& ec) {
            (!ec                                           ? fate_->expired
             : ec == boost::asio::error::operation_aborted ? fate_->aborted
                                                           : fate_->refused)
                .set();
        }

    private:
        fate* fate_;
    };

    [[nodiscard]] handler watch() noexcept { return handler(*this); }
};

} // namespace asio_wheel::test::interleave

#endif
