// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program that runs beside this one, and whose output can be read line by line.

#ifndef DEMO_CHILD_PROCESS_HPP
#define DEMO_CHILD_PROCESS_HPP

#include "coroutine.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

extern char** environ;

namespace demo {

class child_process {
public:
    child_process(asio::io_context& io, const std::filesystem::path& program,
                  std::vector<std::string> arguments)
        : output_(io) {
        int ends[2];
        if (::pipe(ends) != 0) {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
        output_.assign(ends[0]);
        ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);

        arguments.insert(arguments.begin(), program.string());
        std::vector<char*> argv;
        argv.reserve(arguments.size() + 1);
        for (std::string& argument : arguments) {
            argv.push_back(argument.data());
        }
        argv.push_back(nullptr);

        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        ::posix_spawn_file_actions_addclose(&actions, ends[1]);
        const int error =
            ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        if (error != 0) {
            throw std::system_error(error, std::generic_category(), "start " + program.string());
        }
    }

    ~child_process() {
        signal(SIGKILL);
        wait();
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// The next line of output without its end; nothing when the child has closed it.
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

    /// Waits for the end; true if the child was content.
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

/// The folder this program lies in.
inline std::filesystem::path own_folder(const char* argv0) {
    std::error_code unknown;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    return unknown ? std::filesystem::absolute(argv0).parent_path() : self.parent_path();
}

} // namespace demo

#endif
