// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel is asked what waits on it. See book.hpp for walks.

#ifndef ASIO_WHEEL_DETAIL_CORE_PENDING_WALK_HPP
#define ASIO_WHEEL_DETAIL_CORE_PENDING_WALK_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/pending.hpp>

#include <memory>
#include <span>

namespace asio_wheel::detail {

/// There is one at a time for a wheel. Another thread waits for it.
class core::pending_walk {
public:
    explicit pending_walk(core& c);
    pending_walk(const pending_walk&) = delete;
    pending_walk& operator=(const pending_walk&) = delete;
    ~pending_walk();

    /// The next ones, until the next call. Empty if there are no more.
    [[nodiscard]] std::span<const pending_wait> next();

private:
    class walk;

    const std::unique_ptr<walk> walk_;
};

} // namespace asio_wheel::detail

#endif
