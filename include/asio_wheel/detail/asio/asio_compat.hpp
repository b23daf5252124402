// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Differences between versions of Asio that several headers have to know. Which version has what is
// decided in detail/requirements.hpp.

#ifndef ASIO_WHEEL_DETAIL_ASIO_ASIO_COMPAT_HPP
#define ASIO_WHEEL_DETAIL_ASIO_ASIO_COMPAT_HPP

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/requirements.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

// Boost.Asio is not meant to be used by parts of its detail namespace; this header is, by way of
// the documented BOOST_ASIO_CUSTOM_HANDLER_TRACKING: its macros expand to nothing unless handler
// tracking is enabled.
#include <boost/asio/detail/handler_tracking.hpp>

#if ASIO_WHEEL_HAS_ASIO_CONFIG
#include <boost/asio/config.hpp>
#endif

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace asio_wheel::detail {

#if ASIO_WHEEL_HAS_ASIO_CONFIG

/// A time out of the section "wheel", in microseconds.
inline std::chrono::nanoseconds configured_time(const boost::asio::config& config, const char* key,
                                                std::chrono::nanoseconds otherwise) {
    using std::chrono::microseconds;
    const std::int64_t given = std::chrono::duration_cast<microseconds>(otherwise).count();
    const auto us = config.get("wheel", key, given);
    constexpr std::int64_t longest =
        std::chrono::duration_cast<microseconds>(std::chrono::nanoseconds::max()).count();
    if (us > longest) {
        bad_argument(std::string("wheel.") + key, std::to_string(us),
                     "at most " + std::to_string(longest));
    }
    return us == given ? otherwise : microseconds(us);
}

/// Section "wheel" of the context's configuration (tick_us, slots, levels, max_pending, locking,
/// budget, stall_us, measure_handlers), where each missing key is as in `defaults`. Unless it says
/// otherwise, a context that does not lock has a wheel that does not.
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

/// `options`, unless the context's configuration says something else: two ways to configure one
/// wheel must not disagree.
inline wheel_options agreed_options(boost::asio::execution_context& context,
                                    const wheel_options& options) {
    const wheel_options configured = configured_options(context, options);
    const auto compare = [](const char* name, auto given, auto from_config) {
        if (given != from_config) {
            throw std::invalid_argument(
                std::string("asio_wheel: wheel_options::") + name + " is " + std::to_string(given) +
                ", but the context's section \"wheel\" says " + std::to_string(from_config));
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

/// The options of a wheel that was not made explicitly.
inline wheel_options default_options(boost::asio::execution_context& context) {
    wheel_options options;
    options.locking = boost::asio::config(context).get("scheduler", "locking", true);
    return configured_options(context, options);
}

/// Whether the context promises that one thread runs it. Asio's scheduler then keeps what a handler
/// posts in a list of the thread.
template <class Scheduler>
[[nodiscard]] bool has_one_thread(boost::asio::execution_context& context, const Scheduler&) {
    return boost::asio::config(context).get("scheduler", "concurrency_hint", 0) == 1;
}

#else

inline wheel_options agreed_options(boost::asio::execution_context&, const wheel_options& options) {
    return options;
}

/// The options of a wheel that was not made explicitly: a context that does not lock has a wheel
/// that does not.
inline wheel_options default_options(boost::asio::execution_context& context) {
    const int hint =
        boost::asio::use_service<boost::asio::detail::io_context_impl>(context).concurrency_hint();
    wheel_options options;
    options.locking = BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(SCHEDULER, hint);
    return options;
}

template <class Scheduler>
[[nodiscard]] bool has_one_thread(boost::asio::execution_context&, const Scheduler& scheduler) {
    const int hint = scheduler.concurrency_hint();
    return hint == 1 || !BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(SCHEDULER, hint) ||
           !BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(REACTOR_IO, hint);
}

#endif

/// The initiation that was there before Asio's adaptors of tokens (as_tuple, append, ...) wrapped
/// it: until Boost 1.82 a wrapped one does not tell its executor, and until 1.83 redirect_error's
/// has it among its arguments.
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

/// Whether `Initiation` is what Asio's concepts "start" to see whether something is a completion
/// token: never run, and without an executor. Boost 1.83 compiles even its body.
template <class Initiation>
constexpr bool only_checks_token = false;

#ifdef BOOST_ASIO_HAS_CONCEPTS
template <class... Signatures>
constexpr bool only_checks_token<boost::asio::detail::initiation_archetype<Signatures...>> = true;
#endif

} // namespace asio_wheel::detail

#endif
