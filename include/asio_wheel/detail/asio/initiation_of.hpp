// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_INITIATION_OF_HPP
#define ASIO_WHEEL_DETAIL_ASIO_INITIATION_OF_HPP

#include <asio_wheel/detail/asio/misuse.hpp>

#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Begins the asynchronous operation of an object that has one: by its start(handler). Asio's
/// adaptors, such as default tokens and deferred, ask it for the object's executor. The object must
/// not move: of a utility that users may move, it is the state that stays in place.
template <class Object>
class initiation_of {
public:
    using executor_type = typename Object::executor_type;

    explicit initiation_of(Object* object) noexcept : object_(object) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return object_->get_executor();
    }

    template <class Handler>
    void operator()(Handler&& handler) const {
        expect_storable<Handler>();
        object_->start(std::decay_t<Handler>(std::forward<Handler>(handler)));
    }

private:
    Object* object_;
};

} // namespace asio_wheel::detail

#endif
