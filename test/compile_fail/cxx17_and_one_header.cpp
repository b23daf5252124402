// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: asio_wheel needs C++20: compile with -std=c++20
// errors: 2
// standard: 17

// Other headers were fine until here.
#include <boost/asio/steady_timer.hpp>

#include <asio_wheel/steady_timer.hpp>
