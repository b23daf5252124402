// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_LOGGED_SCHEDULER_HPP
#define ASIO_WHEEL_TEST_SUPPORT_LOGGED_SCHEDULER_HPP

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/wheel_options.hpp>

#include "support/context.hpp"

#include <exception>
#include <string>
#include <utility>

namespace asio_wheel::test {

/// A scheduler in virtual time, and a log of its tasks.
///
///     BOOST_FIXTURE_TEST_CASE(a_name, logged_scheduler) {
///         tasks.schedule_after(30s, note("a"));
///         BOOST_TEST(log_after(30s) == "a");
struct logged_scheduler : virtual_world {
    std::string errors;
    scheduler tasks{ctx, {.on_error = [this](const task_handle&, const std::exception_ptr& e) {
                        try {
                            std::rethrow_exception(e);
                        } catch (const std::exception& failure) {
                            errors += failure.what();
                        }
                    }}};

    explicit logged_scheduler(const wheel_options& options = {}) : virtual_world(options) {}

    /// A task that appends `what` to the log.
    [[nodiscard]] auto note(std::string what) {
        return [this, what = std::move(what)] { log.text += what; };
    }

    /// Advances time in steps, so that each wait is delivered before the next step.
    void pass_in(int steps, duration step) {
        for (int i = 0; i < steps; ++i) {
            pass(step);
        }
    }
};

} // namespace asio_wheel::test

#endif
