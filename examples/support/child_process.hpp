// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A child process whose output can be read line by line.

#ifndef DEMO_CHILD_PROCESS_HPP
#define DEMO_CHILD_PROCESS_HPP

#include "coroutine.hpp"
#include "start_process.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace demo {

class child_process {
public:
    child_process(asio::io_context& io, const std::filesystem::path& program,
                  std::vector<std::string> arguments)
        : output_(io) {
        int output = -1;
        pid_ = start_process(program, std::move(arguments), output);
        output_.assign(output);
    }

    ~child_process() {
        signal(SIGKILL);
        wait();
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// Returns the next line of output without its newline, or nothing at the end of the output.
    asio::awaitable<std::optional<std::string>> next_line() {
        auto [error, size] = co_await asio::async_read_until(
            output_, asio::dynamic_buffer(received_), '\n', as_result);
        if (error) {
            co_return std::nullopt;
        }
        std::string line = received_.substr(0, size - 1);
        received_.erase(0, size);
        co_return line;
    }

    pid_t id() const { return pid_; }

    void signal(int number) {
        if (!status_) {
            ::kill(pid_, number);
        }
    }

    /// Waits until the child has ended. Returns whether its exit status is 0.
    bool wait() {
        if (!status_) {
            int status = -1;
            while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
            }
            status_ = status;
        }
        return WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
    }

private:
    asio::posix::stream_descriptor output_;
    std::string received_;
    pid_t pid_ = -1;
    std::optional<int> status_;
};

} // namespace demo

#endif
