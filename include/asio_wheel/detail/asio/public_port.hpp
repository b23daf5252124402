// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_PUBLIC_PORT_HPP
#define ASIO_WHEEL_DETAIL_ASIO_PUBLIC_PORT_HPP

#include <asio_wheel/detail/asio/public_operation.hpp>

namespace asio_wheel::detail {

/// A way to the queue of an execution context by public functions. Any thread may use it.
class public_port {
public:
    public_port() = default;
    public_port(const public_port&) = delete;
    public_port& operator=(const public_port&) = delete;
    virtual ~public_port() = default;

    /// Queues an operation, and counts it as work.
    virtual void post(public_operation& op) noexcept = 0;

    virtual void work_started() noexcept = 0;
    virtual void work_finished() noexcept = 0;

    [[nodiscard]] virtual bool running_in_this_thread() const noexcept = 0;
};

} // namespace asio_wheel::detail

#endif
