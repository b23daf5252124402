// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the core needs of an execution context. Asio's implementations are in service/; tests have
// others. (Its clock is in clock_port.hpp.)

#ifndef ASIO_WHEEL_DETAIL_CORE_PORTS_HPP
#define ASIO_WHEEL_DETAIL_CORE_PORTS_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>

#include <cstdint>
#include <mutex>
#include <span>

namespace asio_wheel::detail {

/// The queue of a context, and its count of work: see context_queue.hpp. It has a batch of what is
/// to be queued next, which the wheel's lock guards.
class queue_port {
public:
    /// What stands in the queue for a wait that cannot be linked there itself.
    enum class proxy : std::uint8_t {
        deliver, ///< It is there already, and has become due again after others.
        abort    ///< It is far away in memory, and is fetched meanwhile. Aborts it.
    };

    queue_port(const queue_port&) = delete;
    queue_port& operator=(const queue_port&) = delete;

    /// Whether an armed driver counts as work of the context, so that it must not be left armed.
    const bool driver_is_work;
    /// Whether the end of a context destroys operations until no work is left, as on Windows.
    const bool ends_without_work;

    // Into the batch, at its end. Each counts as work already.
    virtual void push(std::span<wait_node* const> waits) noexcept = 0;
    /// False without memory.
    [[nodiscard]] virtual bool push_proxy(wait_node& wait, proxy kind) noexcept = 0;
    /// The core's next turn: core::on_turn() is called.
    virtual void push_turn() noexcept = 0;

    /// Takes the first element out of the batch, which is not empty. The context completes it when
    /// the turn returns.
    [[nodiscard]] virtual void* take_first() noexcept = 0;

    /// Takes the batch, which may be empty; releases the lock, unless that is null; and queues the
    /// batch. A run_one() inside the handler that is running finds it.
    virtual void post(std::unique_lock<optional_mutex>* lock) noexcept = 0;

    virtual void work_started() noexcept = 0;
    virtual void work_finished() noexcept = 0;

    /// Whether the calling thread is known to run the context.
    [[nodiscard]] virtual bool running_in_this_thread() const noexcept = 0;

protected:
    queue_port(bool driver_counts, bool ends) noexcept
        : driver_is_work(driver_counts), ends_without_work(ends) {}
    ~queue_port() = default;
};

/// The one Asio timer behind a wheel. Guarded by the wheel's lock.
class driver_port {
public:
    driver_port() = default;
    driver_port(const driver_port&) = delete;
    driver_port& operator=(const driver_port&) = delete;

    /// Calls core::on_wake_up(turn) when the real clock, which shows `now`, shows `time` or has
    /// passed it; or when that turn was cancelled. The wait for the turn before goes on. False
    /// without memory.
    [[nodiscard]] virtual bool arm(std::uint64_t turn, time_count time,
                                   time_count now) noexcept = 0;
    virtual void cancel(std::uint64_t turn) noexcept = 0;

    /// In the child after fork(): what it shares with its parent is replaced. A wait for that ends.
    virtual void after_fork() = 0;

protected:
    ~driver_port() = default;
};

} // namespace asio_wheel::detail

#endif
