// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_RELIABLE_EXECUTOR_HPP
#define ASIO_WHEEL_TEST_SUPPORT_RELIABLE_EXECUTOR_HPP

#include "support/operator_new.hpp"

#include <boost/asio/detail/recycling_allocator.hpp>
#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::test {

template <class Allocator>
inline constexpr bool is_asios = std::is_same_v<Allocator, std::allocator<void>>;
template <class T, class Purpose>
inline constexpr bool is_asios<boost::asio::detail::recycling_allocator<T, Purpose>> = true;

/// The executor of a context, which runs what it is given later. What it takes from an allocator of
/// Asio's for that never fails.
///
/// A strand needs such an executor. Where the one that it is on throws, the strand has taken the
/// function over already, and is locked for ever: all that it is given is lost (Boost 1.81,
/// boost/asio/detail/impl/strand_executor_service.hpp, lines 263 to 272). And where functions are
/// left when it has had its turn, it calls that executor from a destructor (the same file, class
/// on_invoker_exit): then std::terminate() is called. No user of a strand can do anything about
/// that, but for the memory that comes from the function's allocator.
///
/// `Padding` makes it larger.
template <class Inner, std::size_t Padding = 0>
class reliable_executor {
public:
    explicit reliable_executor(const Inner& inner) noexcept : inner_(inner) {}

    template <class Function>
    void execute(Function&& function) const {
        using allocator =
            std::decay_t<decltype(boost::asio::query(inner_, boost::asio::execution::allocator))>;
        const auto later = boost::asio::require(inner_, boost::asio::execution::blocking.never);
        if constexpr (is_asios<allocator>) {
            const fault_line::pause no_allocation_fails(heap.faults);
            later.execute(std::forward<Function>(function));
        } else {
            later.execute(std::forward<Function>(function));
        }
    }

    template <class Property>
        requires boost::asio::can_query_v<const Inner&, Property>
    [[nodiscard]] decltype(auto) query(const Property& p) const {
        return boost::asio::query(inner_, p);
    }

    template <class Property>
        requires boost::asio::can_require_v<const Inner&, Property>
    [[nodiscard]] auto require(const Property& p) const {
        using required = std::decay_t<decltype(boost::asio::require(inner_, p))>;
        return reliable_executor<required, Padding>(boost::asio::require(inner_, p));
    }

    friend bool operator==(const reliable_executor&, const reliable_executor&) noexcept = default;

private:
    Inner inner_;
    [[no_unique_address]] std::array<std::byte, Padding> padding_{};
};

using reliable_strand =
    boost::asio::strand<reliable_executor<boost::asio::io_context::executor_type>>;

/// One that an any_io_executor has no place for, and takes memory.
using large_strand =
    boost::asio::strand<reliable_executor<boost::asio::io_context::executor_type, 128>>;

} // namespace asio_wheel::test

#endif
