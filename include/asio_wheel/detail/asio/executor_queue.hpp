// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of an execution context, by public functions only. An operation goes there as a
// function object, one by one: by the context's own executor, if any timer or handler has
// introduced it, or else by an Asio timer.
//
// What is different from scheduler_queue, as far as users can see:
//
//  - A post takes a virtual call, an executor's copy and a lock for each operation; and each
//    operation is larger by the memory for that.
//  - If the context was made for one thread, a run_one() inside a handler misses waits that became
//    due in the handler's own turn, and may never return. A poll() there may stop the context. Asio
//    does the same with functions that the handler has posted, but not with its timers, which come
//    from the reactor.

#ifndef ASIO_WHEEL_DETAIL_ASIO_EXECUTOR_QUEUE_HPP
#define ASIO_WHEEL_DETAIL_ASIO_EXECUTOR_QUEUE_HPP

#include <asio_wheel/detail/asio/executor_port.hpp>
#include <asio_wheel/detail/asio/public_operation.hpp>
#include <asio_wheel/detail/asio/public_port.hpp>
#include <asio_wheel/detail/asio/timer_port.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The port of a context. It is chosen at its first use, or when a native executor is introduced
/// before. `TimerPort` is the type of the port for other contexts.
template <class TimerPort>
class queue_ports : public boost::asio::execution_context::service {
public:
    using key_type = queue_ports;
    static inline boost::asio::execution_context::id id;

    explicit queue_ports(boost::asio::execution_context& context) : service(context) {}

    template <class Executor>
    void introduce(const Executor& ex) {
        if (port_.load(std::memory_order_relaxed) == nullptr) {
            auto port = std::make_unique<executor_port<Executor>>(ex);
            const std::lock_guard guard(mutex_);
            if (port_.load(std::memory_order_relaxed) == nullptr) {
                executor_port_ = std::move(port);
                port_.store(executor_port_.get(), std::memory_order_release);
            }
        }
    }

    [[nodiscard]] public_port& port() {
        public_port* const port = port_.load(std::memory_order_acquire);
        return port != nullptr ? *port : first_use();
    }

private:
    void shutdown() noexcept override {}

    [[nodiscard]] public_port& first_use() {
        auto& by_timer = boost::asio::use_service<TimerPort>(context());
        const std::lock_guard guard(mutex_);
        if (port_.load(std::memory_order_relaxed) == nullptr) {
            port_.store(&by_timer, std::memory_order_release);
        }
        return *port_.load(std::memory_order_relaxed);
    }

    std::mutex mutex_; // Taken to write the others.
    std::unique_ptr<public_port> executor_port_;
    std::atomic<public_port*> port_{nullptr}; // Litmus test: port.
};

/// See context_queue.hpp. Templates, because most programs only name it.
template <class Ports>
class basic_executor_queue {
public:
    using operation = public_operation;
    using batch = public_batch;

    explicit basic_executor_queue(boost::asio::execution_context& context)
        : ports_(boost::asio::use_service<Ports>(context)) {}

    static constexpr bool is_public = true;
#if defined(BOOST_ASIO_HAS_IOCP)
    static constexpr bool serves_thread_pools = false;
#else
    static constexpr bool serves_thread_pools = true;
#endif

    template <class Executor>
    static void introduce(const Executor& ex) {
        auto& context = boost::asio::query(ex, boost::asio::execution::context);
        boost::asio::use_service<Ports>(context).introduce(ex);
    }
    static void prepare(boost::asio::execution_context& context) {
        static_cast<void>(boost::asio::use_service<Ports>(context).port());
    }

    void work_started() noexcept { ports_.port().work_started(); }
    void work_finished() noexcept { ports_.port().work_finished(); }

    static void post_to(boost::asio::execution_context& context, public_operation& op) {
        boost::asio::use_service<Ports>(context).port().post(op);
    }

    void post(public_operation& op) noexcept {
        public_port& port = ports_.port();
        port.post(op);
        port.work_finished(); // Not the last work: the operation counts.
    }

    void post(public_batch& ops) noexcept {
        while (!ops.empty()) {
            post(ops.pop());
        }
    }

    [[nodiscard]] static bool running_in_this_thread(boost::asio::execution_context& context) {
        return boost::asio::use_service<Ports>(context).port().running_in_this_thread();
    }
    [[nodiscard]] bool running_in_this_thread() const noexcept {
        return ports_.port().running_in_this_thread();
    }

private:
    Ports& ports_;
};

using executor_queue = basic_executor_queue<queue_ports<timer_port<std::chrono::steady_clock>>>;

} // namespace asio_wheel::detail

#endif
