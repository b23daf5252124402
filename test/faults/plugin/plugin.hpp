// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The interface of a shared object that uses timers, for the program that loads it.

#ifndef ASIO_WHEEL_TEST_FAULTS_PLUGIN_HPP
#define ASIO_WHEEL_TEST_FAULTS_PLUGIN_HPP

#include <boost/asio/io_context.hpp>

#include <cstddef>

namespace asio_wheel::test {

/// The functions of a plugin; they run in its own copy of the library.
struct plugin_functions {
    /// Starts `count` due waits, and runs the context until it has no work. Returns how many
    /// handlers were called with success.
    std::size_t (*expire)(boost::asio::io_context& ctx, std::size_t count);

    /// Starts `count` waits of an hour, cancels them and runs the context until it has no work.
    /// Returns how many handlers were called with operation_aborted.
    std::size_t (*cancel)(boost::asio::io_context& ctx, std::size_t count);

    /// Starts a wait of an hour whose handler owns its timer, and increments `ended` when the
    /// handler is destroyed.
    void (*leave)(boost::asio::io_context& ctx, int& ended);

    /// The address of the context's wheel, and how many waits are pending there.
    const void* (*wheel_of)(boost::asio::io_context& ctx, std::size_t& pending);
};

} // namespace asio_wheel::test

/// The only name that a plugin exports.
extern "C" const asio_wheel::test::plugin_functions* asio_wheel_test_plugin();

#endif
