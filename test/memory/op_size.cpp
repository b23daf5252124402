// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The operations of waits are no larger than those of Asio's timers. So memory that a handler
// provides for these is large enough for ours. The compiler checks that.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detail/wait_handler.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace detail = asio_wheel::detail;
using asio::any_io_executor;
using boost::system::error_code;
using context_executor = asio::io_context::executor_type;
using pool_executor = asio::thread_pool::executor_type;
using strand = asio::strand<context_executor>;

struct small_handler {
    void* what;
    void operator()(error_code) const {}
};

struct large_handler {
    std::byte what[100];
    void operator()(error_code) const {}
};

// Where pointers have 32 bits, ours may be four bytes larger; and eight, if the handler has a slot
// and an executor that is not a context's own, be it the timer's. Asio's operation has an error
// code, of three words with Boost, but of two with standalone Asio; ours is as large with both.
constexpr std::size_t more_than_asios = sizeof(void*) == 8 ? 24 - sizeof(error_code) : 4;

template <class Handler, class Executor>
constexpr std::size_t asios = sizeof(asio::detail::wait_handler<Handler, Executor>);

template <class Handler>
constexpr bool is_bound =
    !std::is_same_v<asio::associated_executor_t<Handler, detail::unassociated>,
                    detail::unassociated>;

// Where only public functions of Asio may be used, an operation has room for what they allocate.
constexpr std::size_t further_room =
    detail::context_queue::is_public
        ? sizeof(detail::operation) - sizeof(asio::detail::operation) + alignof(detail::operation)
        : 0;

// All operation types that a wait with this handler, on a timer with this executor, instantiates.
template <class Handler, class Executor>
constexpr bool fits() {
    constexpr std::size_t slot = detail::has_own_slot<Handler> ? 8 : 0;
    constexpr std::size_t most = asios<Handler, Executor> + more_than_asios + further_room;
    constexpr bool native = detail::is_native_type<Executor>;
    using bound = std::decay_t<decltype(asio::get_associated_executor(
        std::declval<const Handler&>(), std::declval<const Executor&>()))>;
    using work = detail::work_on<Executor>;
    bool result = sizeof(detail::direct_op<Handler>) <= most;
    if constexpr (is_bound<Handler> || !native) {
        result &= sizeof(detail::dispatched_op<Handler, bound, detail::no_work>) <= most + slot;
    }
    if constexpr (is_bound<Handler> && !native) {
        result &= sizeof(detail::dispatched_op<Handler, bound, work>) <= most + slot;
    }
    return result;
}

template <class Handler>
constexpr bool fits_on_all_timers() {
    return fits<Handler, any_io_executor>() && fits<Handler, context_executor>() &&
           fits<Handler, pool_executor>() && fits<Handler, strand>();
}

template <class Handler, class Executor>
using on = asio::executor_binder<Handler, Executor>;
template <class Handler>
using with_slot = asio::cancellation_slot_binder<Handler, asio::cancellation_slot>;

template <class Handler>
constexpr bool fits_however_bound() {
    return fits_on_all_timers<Handler>() && fits_on_all_timers<on<Handler, strand>>() &&
           fits_on_all_timers<on<Handler, context_executor>>() &&
           fits_on_all_timers<on<Handler, pool_executor>>() &&
           fits_on_all_timers<on<Handler, any_io_executor>>() &&
           fits_on_all_timers<with_slot<Handler>>() &&
           fits_on_all_timers<with_slot<on<Handler, strand>>>() &&
           fits_on_all_timers<on<with_slot<Handler>, strand>>() &&
           fits_on_all_timers<with_slot<on<Handler, any_io_executor>>>();
}

// Handler tracking gives each operation a number, and other platforms have other operations.
#if !defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING) && defined(__LP64__)
static_assert(fits_however_bound<small_handler>());
static_assert(fits_however_bound<large_handler>());
#endif

} // namespace

BOOST_AUTO_TEST_SUITE(op_size)

BOOST_AUTO_TEST_CASE(no_operation_of_a_wait_is_larger_than_asios) {
    const auto tell = [](const char* what, std::size_t size) {
        BOOST_TEST_MESSAGE("Asio's for a pointer and any_io_executor, " << what << ": " << size);
    };
    tell("not bound", asios<small_handler, any_io_executor>);
    tell("bound to a strand", asios<on<small_handler, strand>, any_io_executor>);
    tell("bound to a context", asios<on<small_handler, context_executor>, any_io_executor>);
    tell("with a slot", asios<with_slot<small_handler>, any_io_executor>);
    BOOST_TEST((fits_however_bound<small_handler>()));
}

BOOST_AUTO_TEST_SUITE_END()
