// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_OF_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_OF_HPP

#include <asio_wheel/detail/scheduler/task.hpp>

#include <boost/assert.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// A task that calls `Function`, and then again as `Repeat` says: repeat(previous, now).
template <class Clock, class Function, class Repeat>
class task_of final : public task<Clock> {
    using time_point = typename Clock::time_point;
    using handle = basic_task_handle<Clock>;

public:
    task_of(const time_point& first, Function&& function, Repeat repeat)
        : task<Clock>(first), work_(std::in_place, work{std::move(function), std::move(repeat)}) {}

    [[nodiscard]] bool repeats() const noexcept override { return !std::is_null_pointer_v<Repeat>; }

private:
    struct work {
        Function function;
        [[no_unique_address]] Repeat repeat;
    };

    void call(const handle& h) override {
        BOOST_ASSERT(work_);
        if constexpr (std::invocable<Function&, const handle&>) {
            static_cast<void>(work_->function(h));
        } else {
            static_cast<void>(work_->function());
        }
    }

    [[nodiscard]] std::optional<time_point> next([[maybe_unused]] time_point previous,
                                                 [[maybe_unused]] time_point now) override {
        if constexpr (!std::is_null_pointer_v<Repeat>) {
            // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it is not over.
            return work_->repeat(previous, now);
        } else {
            return std::nullopt;
        }
    }

    void forget() noexcept override { work_.reset(); }

    std::optional<work> work_; // None when it is over.
};

} // namespace asio_wheel::detail

#endif
