// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_SRC_INSPECTOR_OWN_THREAD_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_OWN_THREAD_HPP

#include <asio_wheel/detail/exceptions.hpp>

#include <boost/asio/io_context.hpp>

#include <exception>
#include <thread>

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

namespace asio_wheel::detail {

/// Blocks all signals of this thread, and of those that it starts, so that the program's own
/// threads get them. Restores them at its end.
class blocked_signals {
public:
#ifndef _WIN32
    blocked_signals() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
#else
    blocked_signals() noexcept = default;
    ~blocked_signals() {} // NOLINT(modernize-use-equals-default): it is used for its scope.
#endif
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;

private:
#ifndef _WIN32
    sigset_t before_;
#endif
};

/// A context, and a thread that runs it until this object ends.
class own_thread {
public:
    own_thread() = default;
    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;
    ~own_thread() {
        context_.stop();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }

    /// The context must have work.
    void start() {
        const blocked_signals scope;
        thread_ = std::thread([this] { run(); });
    }

private:
    void run() noexcept {
        while (throws<std::exception>([this] { context_.run(); })) {
            // Out of memory somewhere in Asio: go on, as the program does.
        }
    }

    boost::asio::io_context context_{1}; // One thread runs it.
    std::thread thread_;
};

} // namespace asio_wheel::detail

#endif
