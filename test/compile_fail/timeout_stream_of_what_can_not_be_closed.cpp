// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: must have an executor, and a lowest layer that can be closed

#include <asio_wheel/timeout_stream.hpp>

void misuse(asio_wheel::timeout_stream<int> stream) {
    stream.expires_never();
}
