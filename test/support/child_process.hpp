// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs parts of a test in a child process, because they fork, are stopped, exhaust resources or may
// crash. POSIX only.

#ifndef ASIO_WHEEL_TEST_SUPPORT_CHILD_PROCESS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CHILD_PROCESS_HPP

#include <boost/test/unit_test.hpp>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace asio_wheel::test {

/// A child process that calls a function and exits with its result, or with 99 if it throws.
/// SIGALRM ends a child that exceeds its limit in seconds, so a child that hangs does not make the
/// test hang.
class child_process {
public:
    template <class Function>
    child_process(Function f, unsigned limit) {
        std::fflush(nullptr); // Otherwise the child could write it again.
        pid_ = ::fork();
        if (pid_ == 0) {
            ::signal(SIGALRM, SIG_DFL);
            ::alarm(limit);
            int result = 99;
            try {
                result = f();
            } catch (const std::exception& e) {
                std::fprintf(stderr, "the child threw: %s\n", e.what());
            } catch (...) {
                std::fprintf(stderr, "the child threw\n");
            }
            std::fflush(nullptr);
            ::_exit(result);
        }
        BOOST_TEST_REQUIRE(pid_ > 0, "there is no child");
    }

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            static_cast<void>(wait());
        }
    }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    void signal(int number) const { ::kill(pid_, number); }

    /// Waits until the child has stopped, as by SIGSTOP. Returns false if it has ended instead.
    [[nodiscard]] bool wait_until_stopped() {
        int status = 0;
        while (::waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
        }
        if (WIFSTOPPED(status)) {
            return true;
        }
        pid_ = -1;
        return false;
    }

    /// Waits for the end. Returns its status: "exited with 0", "killed by signal 14" …
    [[nodiscard]] std::string wait() {
        int status = 0;
        const pid_t pid = std::exchange(pid_, -1);
        while (::waitpid(pid, &status, 0) < 0) {
            if (errno != EINTR) {
                return "lost";
            }
        }
        if (WIFEXITED(status)) {
            return "exited with " + std::to_string(WEXITSTATUS(status));
        }
        const int number = WTERMSIG(status);
        return number == SIGALRM ? "not finished in time"
                                 : "killed by signal " + std::to_string(number);
    }

private:
    pid_t pid_ = -1;
};

/// The child reports that it is ready, and the parent waits for it.
class starting_line {
public:
    starting_line() { BOOST_TEST_REQUIRE(::pipe(ends_) == 0); }
    starting_line(const starting_line&) = delete;
    starting_line& operator=(const starting_line&) = delete;
    ~starting_line() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    void ready() const { static_cast<void>(::write(ends_[1], "r", 1) == 1); } ///< The child.
    void wait() const {                                                       ///< The parent.
        char c = 0;
        BOOST_TEST_REQUIRE(::read(ends_[0], &c, 1) == 1);
    }

private:
    int ends_[2];
};

inline const std::string exited_well = "exited with 0";

/// Returns the status of a child that calls `f`.
template <class Function>
[[nodiscard]] std::string outcome_in_child(Function f, unsigned limit = 60) {
    return child_process(std::move(f), limit).wait();
}

} // namespace asio_wheel::test

#endif
