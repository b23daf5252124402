// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: asio_wheel needs Boost 1.81 or newer
// errors: 2
// include: old_boost

#include <asio_wheel.hpp>
