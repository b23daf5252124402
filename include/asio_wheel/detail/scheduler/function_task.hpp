// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A task with its function. All that depends on the type of the function is here.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_FUNCTION_TASK_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_FUNCTION_TASK_HPP

#include <asio_wheel/detail/scheduler/task.hpp>

#include <boost/assert.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Calls `Function`. Then repeat(previous, now) returns the time of the next call, or none. If
/// `Repeat` is std::nullptr_t, there is only one call.
template <class Clock, class Function, class Repeat>
class function_task final : public task<Clock> {
    using time_point = typename Clock::time_point;
    using handle = basic_task_handle<Clock>;

public:
    function_task(const time_point& first, Function&& function, Repeat repeat)
        : task<Clock>(first),
          functions_(std::in_place, functions{std::move(function), std::move(repeat)}) {}

    [[nodiscard]] bool is_repeated() const noexcept override {
        return !std::is_null_pointer_v<Repeat>;
    }

private:
    struct functions {
        Function function;
        [[no_unique_address]] Repeat repeat;
    };

    void call(const handle& h) override {
        BOOST_ASSERT(functions_);
        if constexpr (std::invocable<Function&, const handle&>) {
            static_cast<void>(functions_->function(h));
        } else {
            static_cast<void>(functions_->function());
        }
    }

    [[nodiscard]] std::optional<time_point> next_expiry([[maybe_unused]] time_point previous,
                                                        [[maybe_unused]] time_point now) override {
        if constexpr (!std::is_null_pointer_v<Repeat>) {
            // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the task is not over.
            return functions_->repeat(previous, now);
        } else {
            return std::nullopt;
        }
    }

    void destroy_function() noexcept override { functions_.reset(); }

    std::optional<functions> functions_; // None after destroy_function().
};

} // namespace asio_wheel::detail

#endif
