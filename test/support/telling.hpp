// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_TELLING_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TELLING_HPP

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/wheel_options.hpp>

#include "support/context.hpp"

#include <exception>
#include <string>
#include <utility>

namespace asio_wheel::test {

/// A scheduler in virtual time, and the story that its tasks tell.
///
///     BOOST_FIXTURE_TEST_CASE(a_name, telling) {
///         tasks.schedule_after(30s, tell("a"));
///         pass(30s);
///         BOOST_TEST(told() == "a");
struct telling : virtual_world {
    std::string story;
    std::string errors;
    scheduler tasks{ctx, {.on_error = [this](const task_handle&, const std::exception_ptr& e) {
                        try {
                            std::rethrow_exception(e);
                        } catch (const std::exception& failure) {
                            errors += failure.what();
                        }
                    }}};

    explicit telling(const wheel_options& options = {}) : virtual_world(options) {}

    /// A task that tells `what`.
    [[nodiscard]] auto tell(std::string what) {
        return [this, what = std::move(what)] { story += what; };
    }

    /// What was told since the last call.
    [[nodiscard]] std::string told() { return std::exchange(story, {}); }

    /// Lets time go by in steps, so that each wait is delivered before the next step.
    void pass_in(int steps, duration step) {
        for (int i = 0; i < steps; ++i) {
            pass(step);
        }
    }
};

} // namespace asio_wheel::test

#endif
