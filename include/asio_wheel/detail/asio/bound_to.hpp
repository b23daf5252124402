// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_BOUND_TO_HPP
#define ASIO_WHEEL_DETAIL_ASIO_BOUND_TO_HPP

#include <asio_wheel/detail/asio/executors.hpp>

#include <boost/asio/associated_executor.hpp>

#include <utility>

namespace asio_wheel::detail {

/// A base of a handler, with the associated executor `Executor`, or with none if that is
/// `unassociated`.
template <class Executor>
struct bound_to {
    using bound = Executor;
    using executor_type = Executor;

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor; }

    Executor executor;
};

template <>
struct bound_to<unassociated> {
    using bound = unassociated;
};

/// For a handler that is called where `handler` is, of an operation on `ex`.
template <class Handler, class Executor>
[[nodiscard]] auto bound_as(const Handler& handler, const Executor& ex) {
    if constexpr (has_own_executor<Handler>) {
        auto bound = boost::asio::get_associated_executor(handler, ex);
        return bound_to<decltype(bound)>{std::move(bound)};
    } else {
        return bound_to<unassociated>();
    }
}

} // namespace asio_wheel::detail

#endif
