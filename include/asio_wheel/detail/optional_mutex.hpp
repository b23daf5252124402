// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_OPTIONAL_MUTEX_HPP
#define ASIO_WHEEL_DETAIL_OPTIONAL_MUTEX_HPP

#include <asio_wheel/detail/sync.hpp>

#include <mutex>

namespace asio_wheel::detail {

/// A mutex that can be told, once and for all, that only one thread will ever come by.
class optional_mutex {
public:
    explicit optional_mutex(bool enabled) noexcept : enabled_(enabled) {}

    void lock() {
        if (enabled_) {
            mutex_.lock();
        }
    }

    void unlock() noexcept {
        if (enabled_) {
            mutex_.unlock();
        }
    }

private:
    mutex mutex_;
    const bool enabled_;
};

} // namespace asio_wheel::detail

#endif
