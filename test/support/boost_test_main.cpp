// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Boost.Test and its main(), compiled once for all test programs, so that no compiled Boost library
// is needed.

#define BOOST_TEST_MODULE asio_wheel
#include <boost/test/included/unit_test.hpp>
