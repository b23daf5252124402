// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The initiation of an operation that is a member function of an object, such as async_pop() of a
// delay queue.
//
// It is a class and not a lambda, because Asio's adaptors of tokens (default tokens, deferred and
// others) ask an initiation for the executor of the object.

#ifndef ASIO_WHEEL_DETAIL_ASIO_INITIATION_OF_HPP
#define ASIO_WHEEL_DETAIL_ASIO_INITIATION_OF_HPP

#include <asio_wheel/detail/asio/misuse.hpp>

#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Starts the operation by object.start(handler, arguments...); by start(handler, Tag(),
/// arguments...) if an object has several. The object must stay where it is until then. So for a
/// utility that users may move, it is the part that does not move.
template <class Object, class... Tag>
class initiation_of {
public:
    using executor_type = typename Object::executor_type;

    explicit initiation_of(Object* object) noexcept : object_(object) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return object_->get_executor();
    }

    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) const {
        expect_storable<Handler>();
        object_->start(std::decay_t<Handler>(std::forward<Handler>(handler)), Tag()...,
                       std::forward<Arguments>(arguments)...);
    }

private:
    Object* object_;
};

} // namespace asio_wheel::detail

#endif
