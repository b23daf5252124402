// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_RELIABLE_EXECUTOR_HPP
#define ASIO_WHEEL_TEST_SUPPORT_RELIABLE_EXECUTOR_HPP

#include "support/operator_new.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_wheel::test {

/// An executor of a context that always runs functions later. Its allocations never fail.
///
/// A strand needs such an executor. If the inner executor throws, the strand has already taken the
/// function over and stays locked for ever, so all its functions are lost (Boost 1.81,
/// boost/asio/detail/impl/strand_executor_service.hpp, lines 263 to 272). If functions are left
/// after its turn, it calls that executor from a destructor (the same file, class on_invoker_exit),
/// and std::terminate() is called. A user of a strand cannot prevent either.
///
/// `Padding` makes it larger.
template <class Inner, std::size_t Padding = 0>
class reliable_executor {
public:
    explicit reliable_executor(const Inner& inner) noexcept : inner_(inner) {}

    template <class Function>
    void execute(Function&& function) const {
        const fault_line::pause no_allocation_fails(heap.faults);
        boost::asio::require(inner_, boost::asio::execution::blocking.never)
            .execute(std::forward<Function>(function));
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

/// An executor too large for the storage of an any_io_executor, which therefore allocates.
using large_strand =
    boost::asio::strand<reliable_executor<boost::asio::io_context::executor_type, 128>>;

} // namespace asio_wheel::test

#endif
