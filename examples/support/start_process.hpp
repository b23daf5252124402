// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Starts programs from the folder of this one.

#ifndef DEMO_START_PROCESS_HPP
#define DEMO_START_PROCESS_HPP

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

extern char** environ;

namespace demo {

/// Starts a program. Its output can be read from the descriptor `output`.
inline pid_t start_process(const std::filesystem::path& program, std::vector<std::string> arguments,
                           int& output) {
    int ends[2];
    if (::pipe(ends) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    output = ends[0];
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
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
        ::close(ends[0]);
        throw std::system_error(error, std::generic_category(), "start " + program.string());
    }
    return pid;
}

/// Returns the folder of this program.
inline std::filesystem::path own_folder(const char* argv0) {
    std::error_code unknown;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    return unknown ? std::filesystem::absolute(argv0).parent_path() : self.parent_path();
}

} // namespace demo

#endif
