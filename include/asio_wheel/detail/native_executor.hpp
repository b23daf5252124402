// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_NATIVE_EXECUTOR_HPP
#define ASIO_WHEEL_DETAIL_NATIVE_EXECUTOR_HPP

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace asio_wheel::detail {

/// The executor that is a context's own: it runs what it is given on the context's threads, in no
/// particular order, and adds nothing. An execution_context cannot be asked for it, but the
/// executors that lead to one can.
using native_executor =
    std::variant<std::monostate, boost::asio::io_context::executor_type,
                 boost::asio::thread_pool::executor_type, boost::asio::system_executor>;

/// An executor of the Networking TS. It has other members than a standard one, and no properties.
template <class Executor>
inline constexpr bool is_ts_executor = !boost::asio::execution::is_executor<Executor>::value;

template <class Executor>
[[nodiscard]] boost::asio::execution_context& context_of(const Executor& ex) {
    if constexpr (is_ts_executor<Executor>) {
        return ex.context();
    } else {
        return boost::asio::query(ex, boost::asio::execution::context);
    }
}

/// Keeps the context of an executor running, and leads to it.
template <class Executor>
[[nodiscard]] auto track_work(const Executor& ex) {
    if constexpr (is_ts_executor<Executor>) {
        return boost::asio::make_work_guard(ex);
    } else {
        return boost::asio::prefer(ex, boost::asio::execution::outstanding_work.tracked);
    }
}
template <class Executor>
using work_on = decltype(track_work(std::declval<const Executor&>()));

/// The executor that `work` leads to.
template <class Executor>
[[nodiscard]] auto executor_of(const work_on<Executor>& work) {
    if constexpr (is_ts_executor<Executor>) {
        return work.get_executor();
    } else {
        return work;
    }
}

/// Keeps the context of a native executor running, if it is known.
class native_work {
public:
    [[nodiscard]] bool held() const noexcept { return work_.index() != 0; }

    void hold(const native_executor& native) noexcept {
        std::visit(
            [this](const auto& ex) {
                if constexpr (!std::is_same_v<const std::monostate&, decltype(ex)>) {
                    work_ = track_work(ex);
                }
            },
            native);
    }

    void release() noexcept { work_ = std::monostate(); }

private:
    std::variant<std::monostate, work_on<boost::asio::io_context::executor_type>,
                 work_on<boost::asio::thread_pool::executor_type>,
                 work_on<boost::asio::system_executor>>
        work_;
};

/// What is known of an executor.
struct executor_traits {
    native_executor native; ///< The executor of its context itself, if known.
    bool direct = false; ///< Whether it is that executor, so that on the context's threads it has
                         ///< nothing to add.
};

template <class Executor>
executor_traits traits_of(const Executor& ex);

template <class Executor>
inline constexpr bool is_strand = false;
template <class Inner>
inline constexpr bool is_strand<boost::asio::strand<Inner>> = true;

template <class Executor>
inline constexpr bool is_io_context_executor = false;
template <class Allocator, std::uintptr_t Bits>
inline constexpr bool
    is_io_context_executor<boost::asio::io_context::basic_executor_type<Allocator, Bits>> = true;

template <class Executor>
inline constexpr bool is_thread_pool_executor = false;
template <class Allocator, unsigned int Bits>
inline constexpr bool
    is_thread_pool_executor<boost::asio::thread_pool::basic_executor_type<Allocator, Bits>> = true;

// An executor that hides another one, such as any_io_executor.
template <class Executor>
concept polymorphic_executor =
    requires(const Executor& ex) { ex.template target<boost::asio::io_context::executor_type>(); };

template <class Target, class Executor>
[[nodiscard]] bool look_behind(const Executor& ex, executor_traits& found) {
    if (const auto* const target = ex.template target<Target>()) {
        found = traits_of(*target);
        return true;
    }
    return false;
}

/// Looks for the native executor behind strands and polymorphic executors.
template <class Executor>
executor_traits traits_of(const Executor& ex) {
    namespace asio = boost::asio;
    if constexpr (is_io_context_executor<Executor> || is_thread_pool_executor<Executor>) {
        return {asio::query(ex, asio::execution::context).get_executor(), true};
    } else if constexpr (std::is_same_v<Executor, asio::system_executor>) {
        return {ex, true};
    } else if constexpr (is_strand<Executor>) {
        return {traits_of(ex.get_inner_executor()).native, false};
    } else if constexpr (polymorphic_executor<Executor>) {
        executor_traits found;
        static_cast<void>(look_behind<asio::io_context::executor_type>(ex, found) ||
                          look_behind<asio::thread_pool::executor_type>(ex, found) ||
                          look_behind<asio::system_executor>(ex, found) ||
                          look_behind<asio::strand<asio::io_context::executor_type>>(ex, found) ||
                          look_behind<asio::strand<asio::thread_pool::executor_type>>(ex, found) ||
                          (!std::is_same_v<Executor, asio::any_io_executor>
                               ? false
                               : look_behind<asio::strand<Executor>>(ex, found)));
        return found;
    } else {
        return {};
    }
}

} // namespace asio_wheel::detail

#endif
