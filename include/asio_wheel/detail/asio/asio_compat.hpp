// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The differences between versions of Asio that more than one header would have to know. Each is
// hidden behind a function or a constant. detail/requirements.hpp decides which version has what.

#ifndef ASIO_WHEEL_DETAIL_ASIO_ASIO_COMPAT_HPP
#define ASIO_WHEEL_DETAIL_ASIO_ASIO_COMPAT_HPP

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/requirements.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

// For the macros of handler tracking. This header is in Asio's detail folder, but its macros are
// documented: see BOOST_ASIO_CUSTOM_HANDLER_TRACKING. They expand to nothing unless handler
// tracking is enabled.
#if __has_include(<boost/asio/detail/handler_tracking.hpp>)
#include <boost/asio/detail/handler_tracking.hpp>
#else
#define BOOST_ASIO_INHERIT_TRACKED_HANDLER
#define BOOST_ASIO_HANDLER_CREATION(args) (void)0
#define BOOST_ASIO_HANDLER_COMPLETION(args) (void)0
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) (void)0
#define BOOST_ASIO_HANDLER_INVOCATION_END (void)0
#define BOOST_ASIO_HANDLER_OPERATION(args) (void)0
#endif

#if ASIO_WHEEL_HAS_ASIO_CONFIG
#include <boost/asio/config.hpp>
#include <boost/throw_exception.hpp>
#endif

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

// Whether to look at Asio's private interface at all: see context_queue.hpp.
#if !defined(ASIO_WHEEL_PUBLIC_ASIO_ONLY) && __has_include(<boost/asio/detail/op_queue.hpp>) &&    \
    __has_include(<boost/asio/detail/operation.hpp>)
#define ASIO_WHEEL_HAS_ASIO_SCHEDULER 1
#else
#define ASIO_WHEEL_HAS_ASIO_SCHEDULER 0
#endif

#ifdef BOOST_ASIO_HAS_CONCEPTS
namespace boost::asio::detail {
template <typename...>
struct initiation_archetype; // If Asio no longer has it, this declares it.
}
#endif

namespace asio_wheel::detail {

#if ASIO_WHEEL_HAS_ASIO_CONFIG

/// A time in section "wheel" of the configuration, in microseconds; `fallback` if the key is
/// missing.
inline std::chrono::nanoseconds configured_time(const boost::asio::config& config, const char* key,
                                                std::chrono::nanoseconds fallback) {
    using std::chrono::microseconds;
    const std::int64_t fallback_us = std::chrono::duration_cast<microseconds>(fallback).count();
    const auto us = config.get("wheel", key, fallback_us);
    if (us == fallback_us) {
        return fallback;
    }
    constexpr std::int64_t max_us =
        std::chrono::duration_cast<microseconds>((std::chrono::nanoseconds::max)()).count();
    if (us > max_us || us < 0) {
        bad_argument(std::string("wheel.") + key, std::to_string(us),
                     "from 0 to " + std::to_string(max_us));
    }
    return microseconds(us);
}

/// The options in section "wheel" of the context's configuration: tick_us, slots, levels,
/// max_pending, locking, budget, stall_us and measure_handlers. A key that is missing there has its
/// value from `defaults`.
inline wheel_options configured_options(boost::asio::execution_context& context,
                                        const wheel_options& defaults) {
    const boost::asio::config config(context);
    wheel_options options = defaults;
    options.tick = configured_time(config, "tick_us", defaults.tick);
    options.stall = configured_time(config, "stall_us", defaults.stall);
    options.slots = config.get("wheel", "slots", defaults.slots);
    options.levels = config.get("wheel", "levels", defaults.levels);
    options.max_pending = config.get("wheel", "max_pending", defaults.max_pending);
    options.budget = config.get("wheel", "budget", defaults.budget);
    options.locking = config.get("wheel", "locking", defaults.locking);
    options.measure_handlers = config.get("wheel", "measure_handlers", defaults.measure_handlers);
    return options;
}

/// Returns `options`. Throws std::invalid_argument if the context's configuration has another value
/// for any of them: if a wheel is configured in two ways, they must agree.
inline wheel_options checked_options(boost::asio::execution_context& context,
                                     const wheel_options& options) {
    const wheel_options configured = configured_options(context, options);
    const auto compare = [](const char* name, auto given, auto from_config) {
        if (given != from_config) {
            BOOST_THROW_EXCEPTION(std::invalid_argument(
                std::string("asio_wheel: wheel_options::") + name + " is " + std::to_string(given) +
                ", but the context's section \"wheel\" says " + std::to_string(from_config)));
        }
    };
    compare("tick", options.tick.count(), configured.tick.count());
    compare("slots", options.slots, configured.slots);
    compare("levels", options.levels, configured.levels);
    compare("max_pending", options.max_pending, configured.max_pending);
    compare("budget", options.budget, configured.budget);
    compare("locking", options.locking, configured.locking);
    compare("stall", options.stall.count(), configured.stall.count());
    compare("measure_handlers", options.measure_handlers, configured.measure_handlers);
    return options;
}

/// Whether the context promises that only one thread runs it. Then Asio's scheduler keeps what a
/// handler posts in a private list of that thread.
template <class Scheduler>
[[nodiscard]] bool has_one_thread(boost::asio::execution_context& context, const Scheduler&) {
    return boost::asio::config(context).get("scheduler", "concurrency_hint", 0) == 1;
}

#else

inline wheel_options configured_options(boost::asio::execution_context&,
                                        const wheel_options& defaults) {
    return defaults;
}

inline wheel_options checked_options(boost::asio::execution_context&,
                                     const wheel_options& options) {
    return options;
}

template <class Scheduler>
[[nodiscard]] bool has_one_thread(boost::asio::execution_context&, const Scheduler& scheduler) {
    const int hint = scheduler.concurrency_hint();
    return hint == 1 || !BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(SCHEDULER, hint) ||
           !BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(REACTOR_IO, hint);
}

#endif

/// The initiation inside those that Asio's adaptors of tokens (as_tuple, append and others) have
/// put around it. The caller needs its executor. Until Boost 1.82, the adaptors' initiations have
/// no get_executor(). Until 1.83, redirect_error passes the inner initiation as an argument.
template <class Initiation, class... Args>
[[nodiscard]] const auto& innermost_initiation(const Initiation& initiation,
                                               const Args&... args) noexcept {
    constexpr bool has_executor = requires { initiation.get_executor(); };
    if constexpr (!has_executor && requires { initiation.initiation_; }) {
        return innermost_initiation(initiation.initiation_, args...);
    } else if constexpr (!has_executor && sizeof...(args) != 0) {
        return innermost_initiation(args...);
    } else {
        return initiation;
    }
}

/// Whether `Initiation` only serves Asio's concepts, which check by it whether something is a
/// completion token. It is never run, and has no executor. But Boost 1.83 compiles its body.
template <class Initiation>
constexpr bool only_checks_token = false;

#ifdef BOOST_ASIO_HAS_CONCEPTS
template <class... Signatures>
constexpr bool only_checks_token<boost::asio::detail::initiation_archetype<Signatures...>> = true;
#endif

} // namespace asio_wheel::detail

#endif
