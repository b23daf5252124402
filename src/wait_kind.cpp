// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/wait_kind.hpp>

#include <string_view>

namespace asio_wheel {

std::string_view to_string(wait_kind kind) noexcept {
    switch (kind) {
    case wait_kind::timer:
        return "timer";
    case wait_kind::sleep:
        return "sleep";
    case wait_kind::timeout:
        return "timeout";
    case wait_kind::interval:
        return "interval";
    case wait_kind::scheduler:
        return "scheduler";
    case wait_kind::idle:
        return "idle";
    case wait_kind::heartbeat:
        return "heartbeat";
    case wait_kind::queue:
        return "queue";
    case wait_kind::stream:
        return "stream";
    }
    return "unknown";
}

} // namespace asio_wheel
