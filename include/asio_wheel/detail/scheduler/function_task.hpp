// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A task with its function and its key. All that depends on their types is here.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_FUNCTION_TASK_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_FUNCTION_TASK_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/scheduler/coroutine_call.hpp>
#include <asio_wheel/detail/scheduler/first_call.hpp>
#include <asio_wheel/detail/scheduler/on_cancel.hpp>
#include <asio_wheel/detail/scheduler/task.hpp>
#include <asio_wheel/detail/scheduler/task_key.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/assert.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Calls `Function`. Then repeat(previous, now) returns the time of the next call, or none. If
/// `Repeat` is std::nullptr_t, there is only one call. If it has a member begin_call, that has the
/// last word on each call: see fixed_rate. `Key` is the type of the key, or no_key. `Tag` is
/// wait_tag or no_tag.
template <class Clock, class Function, class Repeat, class Key, class Tag>
class function_task final : public task<Clock> {
    using time_point = typename Clock::time_point;
    using handle = basic_task_handle<Clock>;
    using group_ptr = typename task<Clock>::group_ptr;

public:
    template <class KeyArgument>
    function_task(const group_ptr& group, KeyArgument&& k, const first_call<time_point>& first,
                  Function&& function, Repeat repeat, const Tag& tag)
        : task<Clock>(first, group), tag_(tag), parts_(std::in_place, std::forward<KeyArgument>(k),
                                                       std::move(function), std::move(repeat)) {
        this->key = parts_->holder.view();
    }

    [[nodiscard]] bool is_repeated() const noexcept override {
        return !std::is_null_pointer_v<Repeat>;
    }

private:
    struct parts {
        template <class KeyArgument>
        parts(KeyArgument&& k, Function&& f, Repeat&& r)
            : holder(std::forward<KeyArgument>(k)), function(std::move(f)), repeat(std::move(r)) {}

        ASIO_WHEEL_NO_UNIQUE_ADDRESS key_holder<Key> holder;
        Function function;
        ASIO_WHEEL_NO_UNIQUE_ADDRESS Repeat repeat;
    };

    using wait_handler = typename task<Clock>::wait_handler;

    [[nodiscard]] bool call(const handle& h, [[maybe_unused]] wait_handler& w) override {
        BOOST_ASSERT(parts_);
        if constexpr (is_coroutine_of_a_task<result_with_handle<Function, handle>>) {
            spawn_call(h, parts_->function, this->get_executor(), w);
            return false;
        } else {
            static_cast<void>(call_with_handle(parts_->function, h));
            return true;
        }
    }

    [[nodiscard]] bool
    begin_call([[maybe_unused]] time_point& expiry,
               [[maybe_unused]] const wheel_service<Clock>& wheel) noexcept override {
        const auto now = [&wheel] { return wheel.now(); };
        if constexpr (requires { parts_->repeat.begin_call(expiry, now); }) {
            // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the task is not over.
            return parts_->repeat.begin_call(expiry, now);
        } else {
            return true;
        }
    }

    [[nodiscard]] std::optional<time_point> next_expiry([[maybe_unused]] time_point previous,
                                                        [[maybe_unused]] time_point now) override {
        if constexpr (!std::is_null_pointer_v<Repeat>) {
            // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the task is not over.
            return parts_->repeat(previous, now);
        } else {
            return std::nullopt;
        }
    }

    void tell_of_cancellation(const handle& h) override {
        BOOST_ASSERT(parts_);
        detail::tell_of_cancellation(parts_->function, h);
    }

    [[nodiscard]] const wait_tag* tag() const noexcept override {
        if constexpr (std::is_same_v<Tag, wait_tag>) {
            return &tag_;
        } else {
            return nullptr;
        }
    }

    void destroy_function() noexcept override { parts_.reset(); }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS const Tag tag_;
    std::optional<parts> parts_; // None after destroy_function().
};

} // namespace asio_wheel::detail

#endif
