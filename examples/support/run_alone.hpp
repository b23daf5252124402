// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef DEMO_RUN_ALONE_HPP
#define DEMO_RUN_ALONE_HPP

#include "child_process.hpp"
#include "coroutine.hpp"
#include "show_output.hpp"
#include "trial_settings.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <exception>
#include <filesystem>

namespace demo {

/// Runs a program to its end. Returns its figures, or none if it failed or took longer than
/// `at_most`.
inline record run_alone(const std::filesystem::path& folder, const program& what,
                        steady_clock::duration at_most) {
    record result;
    bool stop = false;
    asio::io_context io;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](error_code error, int) {
        if (!error) {
            stop = true;
            io.stop();
        }
    });
    child_process child(io, folder / what.name, what.options);
    asio::co_spawn(io, show_output(child, result), [&](std::exception_ptr thrown) {
        signals.cancel();
        rethrow(thrown);
    });
    io.run_for(at_most);
    if (stop) {
        throw interrupted();
    }
    const bool ended = io.stopped() && child.wait();
    return ended ? result : record();
}

} // namespace demo

#endif
