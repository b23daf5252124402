// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_WHEEL_OPTIONS_HPP
#define ASIO_WHEEL_WHEEL_OPTIONS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <chrono>
#include <cstddef>

namespace asio_wheel {

/// How a wheel is built. Used with designated initialisers:
///
///     auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 10ms, .slots = 512, .levels = 1});
///
/// The shape decides the cost and nothing else: every deadline is accepted by every shape, is never
/// early and is at most one tick late.
///
/// | level | a slot spans        | the level reaches, with the default 1 ms × 256 slots |
/// |------:|---------------------|-------------------------------------------------------|
/// |     0 | one tick            | 256 ms                                                |
/// |     1 | slots ticks         | 65.5 s                                                |
/// |     2 | slots² ticks        | 4.66 h                                                |
/// |     3 | slots³ ticks        | 49.7 days, and then round again                       |
struct wheel_options {
    /// Granularity: waits whose deadlines fall in one tick expire together. Greater than zero. A
    /// tick is a whole number of the clock's units, rounded down, and at least one of them:
    /// wheel_service::options() has what it really is.
    std::chrono::nanoseconds tick{std::chrono::milliseconds(1)};

    /// Slots on each level, rounded up to a power of two. 1 … 2^20. Each takes 140 bytes.
    std::size_t slots = 256;

    /// 1 is the classic hashed wheel, where a slot is visited once a round; n > 1 stacks n of them.
    /// At least 1; all levels together must fit 64 bits of ticks.
    unsigned levels = 4;

    /// How many waits may be pending at once; one more completes with error::too_many_pending. So
    /// the handler of an idle timeout closes unless its error is operation_aborted. 0 is no limit.
    std::size_t max_pending = 0;

    /// False removes the lock, for a context that is used by one thread only. Then no handler may
    /// have an executor that another thread runs: on its way there, the wait uses the wheel. Where
    /// assertions are on (see BOOST_ASSERT), a second thread that comes at the same time fails one.
    /// A context that was made with BOOST_ASIO_CONCURRENCY_HINT_UNSAFE has a wheel with a lock, as
    /// any other, because its handlers may have such executors.
    bool locking = true;

    /// True makes wheel_stats::handler_delay and wheel_service::stats_by_tag() count. For this the
    /// clock is read twice more for each wait that expires, just before its handler is called and
    /// after that, and the lock is taken once more: some 65 ns together.
    bool measure_handlers = false;

    /// If the wheel comes later than this, the context was stopped, suspended or blocked. Then data
    /// may have arrived in time that was not read yet. So the context is given turns, until nothing
    /// but the wheel has run for 500 µs, before the wheel delivers what has become due meanwhile.
    /// It is given no more turns when two turns, and 5 ms, have saved nobody: when no wait that is
    /// due was moved, touched or cancelled. Then a context that goes on being late is overloaded,
    /// and not stalled. It is given turns for no longer than the stall was, and no longer than 5 s.
    /// Sleeps, intervals, schedulers and delay queues are not held back. With several threads,
    /// handlers that have begun and take longer are not waited for. Zero turns this off. (A clock
    /// that is set forward looks like a stall.)
    std::chrono::nanoseconds stall{std::chrono::milliseconds(100)};

    /// How many entries the wheel looks at before other work of the context has its turn, if the
    /// context is idle; and how many while it holds the lock. On a busy context, it looks at as
    /// many as fit, with their handlers, into a quarter of the time of others, of which a second
    /// counts at most. 1 … 65536.
    std::size_t budget = 256;
};

/// Throws std::invalid_argument, naming the option, its value and the allowed range, unless
/// `options` are usable.
void validate(const wheel_options& options);

} // namespace asio_wheel

#endif
