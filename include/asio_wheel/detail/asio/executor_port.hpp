// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of a context by the context's own executor.

#ifndef ASIO_WHEEL_DETAIL_ASIO_EXECUTOR_PORT_HPP
#define ASIO_WHEEL_DETAIL_ASIO_EXECUTOR_PORT_HPP

#include <asio_wheel/detail/asio/public_operation.hpp>
#include <asio_wheel/detail/asio/public_port.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Counts work of a context. An executor of the Networking TS does that by itself.
template <class Executor>
class executor_work {
public:
    explicit executor_work(const Executor& ex) noexcept : executor_(ex) {}

    void started() noexcept { executor_.on_work_started(); }
    void finished() noexcept { executor_.on_work_finished(); }

private:
    const Executor executor_;
};

/// Without the Networking TS, an executor that tracks work is one piece of work while it exists.
///
/// The count may be negative: what Asio's timer counts for a wheel's wake-up is subtracted here,
/// and waits may have ended since. Then the context runs on until the timer has expired, or the
/// wheel has cancelled it.
template <class Executor>
    requires(!requires(const Executor& ex) { ex.on_work_started(); })
class executor_work<Executor> {
public:
    explicit executor_work(const Executor& ex) noexcept : executor_(ex) {}

    void started() noexcept {
        const std::lock_guard guard(mutex_);
        if (++count_ == 1) {
            tracked_.emplace(
                boost::asio::prefer(executor_, boost::asio::execution::outstanding_work.tracked));
        }
    }
    void finished() noexcept {
        const std::lock_guard guard(mutex_);
        if (--count_ == 0) {
            tracked_.reset();
        }
    }

private:
    using tracked = std::decay_t<decltype(boost::asio::prefer(
        std::declval<const Executor&>(), boost::asio::execution::outstanding_work.tracked))>;

    const Executor executor_;
    std::mutex mutex_; // Guards the others.
    long count_ = 0;
    std::optional<tracked> tracked_; // Exists if count_ > 0.
};

/// `Executor` is native: see executors.hpp.
template <class Executor>
class executor_port final : public public_port {
public:
    explicit executor_port(const Executor& ex) : executor_(posting(ex)), work_(ex) {}

    void post(public_operation& op) noexcept override {
        operation_function function(op);
        boost::asio::prefer(executor_, boost::asio::execution::allocator(function.get_allocator()))
            .execute(std::move(function));
    }

    void work_started() noexcept override { work_.started(); }
    void work_finished() noexcept override { work_.finished(); }

    [[nodiscard]] bool running_in_this_thread() const noexcept override {
        if constexpr (requires { executor_.running_in_this_thread(); }) {
            return executor_.running_in_this_thread();
        } else {
            return false; // The system executor does not say.
        }
    }

private:
    // An executor that only queues functions, for any thread of the context. (Asio hides
    // continuations of a handler from other threads until the handler has returned.)
    [[nodiscard]] static auto posting(const Executor& ex) {
        namespace execution = boost::asio::execution;
        return boost::asio::prefer(boost::asio::require(ex, execution::blocking.never),
                                   execution::relationship.fork);
    }

    const decltype(posting(std::declval<const Executor&>())) executor_;
    executor_work<Executor> work_;
};

} // namespace asio_wheel::detail

#endif
