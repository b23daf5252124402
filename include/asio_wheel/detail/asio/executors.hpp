// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Questions about executors that have different answers for different kinds of executors: standard
// executors, executors of the Networking TS, and type-erased ones such as any_io_executor.
//
// A native executor is the executor of an execution context itself: of an io_context, a thread_pool
// or the system context. It runs functions on the threads that run the context's queue, in no
// particular order. So an operation for it can be put into that queue directly, without the
// executor. A strand is not native, and neither is an executor of an unknown kind. A type-erased
// executor is native if the executor inside is.

#ifndef ASIO_WHEEL_DETAIL_ASIO_EXECUTORS_HPP
#define ASIO_WHEEL_DETAIL_ASIO_EXECUTORS_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// An executor of the Networking TS: it has other member functions than a standard executor, and no
/// properties.
template <class Executor>
inline constexpr bool is_ts_executor = !boost::asio::execution::is_executor<Executor>::value;

template <class T>
concept is_executor =
    boost::asio::execution::is_executor<T>::value || boost::asio::is_executor<T>::value;

template <class T>
concept is_context = std::convertible_to<T&, boost::asio::execution_context&>;

/// The default completion token of a context's operations; void if there is none.
template <class Context>
using default_token_of_context = typename boost::asio::default_completion_token<
    typename std::decay_t<Context>::executor_type>::type;

/// Whether context_of() works for this type. It does not for any_completion_executor.
template <class Executor>
inline constexpr bool has_context =
    is_ts_executor<Executor> ||
    boost::asio::can_query<const Executor&, boost::asio::execution::context_t>::value;

template <class Executor>
[[nodiscard]] boost::asio::execution_context& context_of(const Executor& ex) {
    if constexpr (is_ts_executor<Executor>) {
        return ex.context();
    } else {
        return boost::asio::query(ex, boost::asio::execution::context);
    }
}

/// Returns an object that counts as work of the context of `ex` while it lives. executor_of() and
/// untracked_executor() return the executor of such an object.
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

/// A candidate for an associated type. If a handler is associated with this, it has no executor,
/// allocator or slot of its own.
struct unassociated {};

/// Whether a handler has an executor of its own. Otherwise that of the operation is used.
template <class Handler>
inline constexpr bool has_own_executor =
    !std::is_same_v<boost::asio::associated_executor_t<Handler, unassociated>, unassociated>;

/// In place of work_on<Executor>, where there is no work to track.
struct no_work {};

/// The executor of `work`. It may count as work, too.
template <class Executor>
[[nodiscard]] auto executor_of(const work_on<Executor>& work) {
    if constexpr (is_ts_executor<Executor>) {
        return work.get_executor();
    } else {
        return work;
    }
}

/// The executor of `work`. It does not count as work.
template <class Executor>
[[nodiscard]] auto untracked_executor(const work_on<Executor>& work) {
    if constexpr (is_ts_executor<Executor>) {
        return work.get_executor();
    } else {
        return boost::asio::prefer(work, boost::asio::execution::outstanding_work.untracked);
    }
}

template <class Executor>
inline constexpr bool is_io_context_executor = false;
template <class Allocator, std::uintptr_t Bits>
inline constexpr bool
    is_io_context_executor<boost::asio::io_context::basic_executor_type<Allocator, Bits>> = true;

template <class Executor>
inline constexpr bool is_pool_executor = std::is_same_v<Executor, boost::asio::system_executor>;
template <class Allocator, unsigned int Bits>
inline constexpr bool
    is_pool_executor<boost::asio::thread_pool::basic_executor_type<Allocator, Bits>> = true;

/// Whether all executors of this type are native.
template <class Executor>
inline constexpr bool is_native_type =
    is_io_context_executor<Executor> ||
    (is_pool_executor<Executor> && context_queue::serves_thread_pools);

/// Whether a context of this type tells that its executor is native.
template <class Context>
concept has_native_executor = requires(Context context) { context.get_executor(); } &&
                              is_native_type<decltype(std::declval<Context>().get_executor())>;

/// If `ex` is native, calls f(executor) with the native executor that `ex` is or has inside, and
/// returns the result. Otherwise returns a default-constructed result. Throws what f() throws.
template <class Executor, class Function>
auto visit_native(const Executor& ex, Function f) {
    namespace asio = boost::asio;
    using result = decltype(f(std::declval<const asio::io_context::executor_type&>()));
    if constexpr (is_native_type<Executor>) {
        return f(ex);
    } else if constexpr (requires { ex.template target<asio::io_context::executor_type>(); }) {
        if (const auto* io = ex.template target<asio::io_context::executor_type>()) {
            return f(*io);
        }
        if constexpr (context_queue::serves_thread_pools) {
            if (const auto* pool = ex.template target<asio::thread_pool::executor_type>()) {
                return f(*pool);
            }
            if (const auto* system = ex.template target<asio::system_executor>()) {
                return f(*system);
            }
        }
        return result();
    } else {
        return result();
    }
}

/// Whether `ex` is native.
template <class Executor>
[[nodiscard]] bool is_native(const Executor& ex) noexcept {
    return visit_native(ex, [](const auto&) { return true; });
}

/// The context of `ex`, as the type that the executor tells.
template <class Executor>
[[nodiscard]] auto& typed_context_of(const Executor& ex) {
    if constexpr (is_ts_executor<Executor>) {
        return ex.context();
    } else {
        return boost::asio::query(ex, boost::asio::execution::context);
    }
}

/// Makes the queue of the context of `ex` ready for use. If only public functions of Asio may be
/// used, the context's own executor is needed for that. It is found here if `ex` is or has it, or
/// tells the type of its context.
template <class Executor>
void prepare_queue([[maybe_unused]] const Executor& ex) {
    if constexpr (context_queue::is_public) {
        const auto introduce = [](const auto& native) {
            context_queue::introduce(native);
            return true;
        };
        if constexpr (!has_context<Executor>) {
            visit_native(ex, introduce);
        } else {
            auto& context = typed_context_of(ex);
            if constexpr (has_native_executor<decltype(context)>) {
                introduce(context.get_executor());
            } else {
                visit_native(ex, introduce);
            }
            context_queue::prepare(context);
        }
    }
}

/// The queue of the context of `ex`.
template <class Executor>
[[nodiscard]] context_queue queue_of(const Executor& ex) {
    prepare_queue(ex);
    return context_queue(context_of(ex));
}

/// The context of a native executor; null for any other.
template <class Executor>
[[nodiscard]] boost::asio::execution_context* native_context(const Executor& ex) noexcept {
    if constexpr (has_context<Executor>) {
        // context_of() of `ex`, not of the executor inside: that would link Asio's system_context,
        // and all that belongs to it, into each program.
        return is_native(ex) ? &context_of(ex) : nullptr;
    } else {
        return visit_native(ex, [](const auto& native) { return &context_of(native); });
    }
}

/// Whether both executors are the same, or one is a type-erased executor with the other one inside.
template <class Executor, class Other>
[[nodiscard]] bool is_same_executor(const Executor& ex, const Other& other) noexcept {
    if constexpr (std::is_same_v<Executor, Other>) {
        return ex == other;
    } else if constexpr (requires { ex.template target<Other>(); }) {
        const Other* const target = ex.template target<Other>();
        return target != nullptr && *target == other;
    } else {
        return false;
    }
}

/// Whether an executor may call a function before execute() returns.
template <class Executor>
[[nodiscard]] bool may_block(const Executor& ex) noexcept {
    namespace execution = boost::asio::execution;
    return boost::asio::query(ex, execution::blocking) != execution::blocking.never;
}

/// How a native executor would run a function now.
enum class native_execution {
    none,       ///< Unknown: the executor is not native.
    inline_now, ///< Now, on the calling thread.
    queued      ///< When its turn in the queue of the context comes.
};

template <class Executor>
[[nodiscard]] native_execution native_execution_of(const Executor& ex) noexcept {
    return visit_native(ex, [](const auto& native) {
        bool inline_now = may_block(native);
        if constexpr (requires { native.running_in_this_thread(); }) {
            inline_now = inline_now && native.running_in_this_thread();
        } // The system executor has no such member: it may use any thread.
        return inline_now ? native_execution::inline_now : native_execution::queued;
    });
}

} // namespace asio_wheel::detail

#endif
