// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a shared object that uses timers offers to the program that loads it.

#ifndef ASIO_WHEEL_TEST_FAULTS_PLUGIN_HPP
#define ASIO_WHEEL_TEST_FAULTS_PLUGIN_HPP

#include <boost/asio/io_context.hpp>

#include <cstddef>

namespace asio_wheel::test {

/// The functions of a plugin; they run in its own copy of the library.
struct plugin_functions {
    /// Starts `count` waits that are due, and runs the context until it has no work. Returns how
    /// many handlers were called with success.
    std::size_t (*expire)(boost::asio::io_context& ctx, std::size_t count);

    /// Starts `count` waits of an hour, cancels them and runs the context until it has no work.
    /// Returns how many handlers were called with operation_aborted.
    std::size_t (*cancel)(boost::asio::io_context& ctx, std::size_t count);

    /// Starts a wait of an hour whose handler owns its timer, and adds one to `ended` when it ends.
    void (*leave)(boost::asio::io_context& ctx, int& ended);

    /// The address of the context's wheel, and how many waits are pending there.
    const void* (*wheel_of)(boost::asio::io_context& ctx, std::size_t& pending);
};

} // namespace asio_wheel::test

/// The one name that a plugin exports.
extern "C" const asio_wheel::test::plugin_functions* asio_wheel_test_plugin();

#endif
