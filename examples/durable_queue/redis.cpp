// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The compiled part of Boost.Redis.

#include <boost/redis/src.hpp>
