// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_CALLING_OP_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CALLING_OP_HPP

#include <asio_wheel/detail/asio/public_operation.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace asio_wheel::test {

/// An operation that calls a function, and then no longer exists.
template <class Function>
class calling_op final : public detail::public_operation {
public:
    explicit calling_op(Function f) : public_operation(&calling_op::run), function_(std::move(f)) {}

private:
    static void run(void* queue, public_operation* self, const boost::system::error_code&,
                    std::size_t) {
        const std::unique_ptr<calling_op> op(static_cast<calling_op*>(self));
        if (queue != nullptr) {
            op->function_();
        }
    }

    Function function_;
};

template <class Function>
[[nodiscard]] detail::public_operation& call(Function f) {
    return *new calling_op<Function>(std::move(f));
}

} // namespace asio_wheel::test

#endif
