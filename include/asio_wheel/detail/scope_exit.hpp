// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SCOPE_EXIT_HPP
#define ASIO_WHEEL_DETAIL_SCOPE_EXIT_HPP

#include <utility>

namespace asio_wheel::detail {

/// Calls a function when its scope is left, also by an exception, unless release() was called
/// before. So it can undo what has begun, without a catch: release() it when nothing can fail any
/// more.
template <class Function>
class [[nodiscard]] scope_exit {
public:
    explicit scope_exit(Function f) : function_(std::move(f)) {}
    scope_exit(const scope_exit&) = delete;
    scope_exit& operator=(const scope_exit&) = delete;
    ~scope_exit() {
        if (active_) {
            function_();
        }
    }

    void release() noexcept { active_ = false; }

private:
    Function function_;
    bool active_ = true;
};

} // namespace asio_wheel::detail

#endif
