// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A server in a process of its own, with optional limits, and connections to it. POSIX only.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SERVER_PROCESS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SERVER_PROCESS_HPP

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// A file descriptor.
class descriptor {
public:
    explicit descriptor(int fd = -1) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~descriptor() { close(); }

    void close() noexcept {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

/// The limits of a server; 0 leaves the limit as it is.
struct server_limits {
    rlim_t files = 0;
    rlim_t memory = 0; ///< Bytes of address space.
};

/// A server that prints "listening on 127.0.0.1:PORT", and on SIGTERM "result name=number …".
class server_process {
public:
    explicit server_process(std::vector<std::string> command, server_limits limits = {}) {
        int out[2];
        int err[2];
        if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe to a server");
        }
        output_ = descriptor(out[0]);
        errors_ = descriptor(err[0]);
        const descriptor output(out[1]);
        const descriptor errors(err[1]);
        std::vector<char*> argv;
        for (std::string& word : command) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ < 0) {
            throw std::runtime_error("no process for a server");
        }
        if (pid_ == 0) {
            ::dup2(output.get(), STDOUT_FILENO);
            ::dup2(errors.get(), STDERR_FILENO);
            set_limit(RLIMIT_NOFILE, limits.files);
            set_limit(RLIMIT_AS, limits.memory);
            ::execv(argv[0], argv.data());
            ::_exit(127);
        }
        const std::string line = read_until(output_, "\n");
        const auto colon = line.rfind(':');
        if (colon == std::string::npos) {
            throw std::runtime_error(command[0] + " said \"" + line + "\"");
        }
        port_ = static_cast<std::uint16_t>(std::atoi(line.c_str() + colon + 1));
        listener_ = std::thread([this] { listen(); });
    }

    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;
    ~server_process() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        if (listener_.joinable()) { // Until the server's end of the pipe is closed.
            listener_.join();
        }
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    [[nodiscard]] bool is_alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

    void signal(int number) const { ::kill(pid_, number); }

    /// Stops the server. Returns its figures, or nothing if it fails.
    [[nodiscard]] std::map<std::string, double> stop() {
        ::kill(pid_, SIGTERM);
        const std::string said = read_until(output_, "");
        listener_.join();
        int status = -1;
        ::waitpid(std::exchange(pid_, -1), &status, 0);
        std::map<std::string, double> counted;
        const auto result = said.rfind("result ");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || result == std::string::npos) {
            const std::lock_guard lock(mutex_);
            complaints_ += "(It ended with status " + std::to_string(status) +
                           ", having said: " + said + ")\n";
            return counted;
        }
        std::istringstream words(said.substr(result + 7));
        for (std::string word; words >> word;) {
            if (const auto equals = word.find('='); equals != std::string::npos) {
                counted[word.substr(0, equals)] = std::strtod(word.c_str() + equals + 1, nullptr);
            }
        }
        return counted;
    }

    /// Returns its output on stderr so far and, after stop(), how it failed.
    [[nodiscard]] std::string complaints() const {
        const std::lock_guard lock(mutex_);
        return complaints_;
    }

    /// Waits up to a minute for a condition. Returns whether it became true.
    template <class Fact>
    [[nodiscard]] static bool wait_until(Fact fact) {
        using namespace std::chrono_literals;
        for (int i = 0; i < 6000; ++i) {
            if (fact()) {
                return true;
            }
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    /// Returns the number of its open descriptors.
    [[nodiscard]] std::size_t descriptors() const {
        std::error_code gone;
        const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid_) + "/fd",
                                                        gone);
        return gone ? 0 : static_cast<std::size_t>(std::distance(begin(files), end(files)));
    }

    /// Returns the number after `name` in /proc/PID/status: "VmRSS" is in kB.
    [[nodiscard]] std::size_t status_of(std::string_view name) const {
        std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with(name) && line.substr(name.size(), 1) == ":") {
                return std::strtoul(line.c_str() + name.size() + 1, nullptr, 10);
            }
        }
        return 0;
    }

private:
    static void set_limit(int what, rlim_t most) {
        if (most != 0) {
            const rlimit limit{most, most};
            ::setrlimit(static_cast<decltype(RLIMIT_AS)>(what), &limit);
        }
    }

    // Reads up to and including `end`, or the whole file if `end` is empty.
    static std::string read_until(const descriptor& from, std::string_view end) {
        std::string text;
        char c = 0;
        while (::read(from.get(), &c, 1) == 1) {
            text += c;
            if (!end.empty() && text.ends_with(end)) {
                break;
            }
        }
        return text;
    }

    // Reads stderr all the time, because a server that cannot write would block. Skips the output
    // of handler tracking, several lines for each handler.
    void listen() {
        for (std::string line; !(line = read_until(errors_, "\n")).empty();) {
            if (!line.starts_with("@asio|")) {
                const std::lock_guard lock(mutex_);
                complaints_ += line;
            }
        }
    }

    descriptor output_;
    descriptor errors_;
    pid_t pid_ = -1;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_; // Guards complaints_.
    std::string complaints_;
    std::thread listener_;
};

/// A connection to a server on loopback that does only what the test says. All waits give up after
/// a minute, which should be enough on any machine.
class peer {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{60};

    /// `receive_buffer` is the size of our receive buffer in bytes; 0 leaves it to the system.
    explicit peer(std::uint16_t port, int receive_buffer = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_buffer != 0) {
            ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
        }
        const int yes = 1;
        ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        start_ = clock::now();
        connected_ =
            ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
        ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
    }

    [[nodiscard]] bool connected() const noexcept { return connected_; }

    /// When it started to connect.
    [[nodiscard]] clock::time_point start() const noexcept { return start_; }

    /// Sends as much as possible. Returns how much, or nothing if the server has closed.
    std::optional<std::size_t> send_some(std::string_view text) {
        const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EAGAIN) {
                return 0;
            }
            return std::nullopt;
        }
        return static_cast<std::size_t>(sent);
    }

    /// Sends everything. Returns false if the server has closed or accepts nothing any more.
    bool send(std::string_view text) {
        const auto end = clock::now() + patience;
        while (!text.empty()) {
            const auto sent = send_some(text);
            if (!sent) {
                return false;
            }
            text.remove_prefix(*sent);
            if (!text.empty() && !wait_for(POLLOUT, end)) {
                return false;
            }
        }
        return true;
    }

    /// Reads what is available without waiting. Returns false if the server has closed.
    bool read_some() {
        char bytes[65536];
        for (;;) {
            const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, 0);
            if (n > 0) {
                received_.append(bytes, static_cast<std::size_t>(n));
            } else {
                return n < 0 && errno == EAGAIN;
            }
        }
    }

    /// Reads and discards at most `most` bytes without waiting. Returns false if the server has
    /// closed.
    bool read_few(std::size_t most) {
        std::string bytes(most, ' ');
        const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        return n > 0 || (n < 0 && errno == EAGAIN);
    }

    /// Reads up to and including `end`. Returns the text before it, or nothing if the server has
    /// closed.
    std::optional<std::string> read_until(std::string_view end) {
        const auto limit = clock::now() + patience;
        for (bool open = true;; open = open && wait_for(POLLIN, limit)) {
            open = read_some() && open;
            if (const auto found = received_.find(end); found != std::string::npos) {
                std::string text = received_.substr(0, found);
                received_.erase(0, found + end.size());
                return text;
            }
            if (!open) {
                return std::nullopt;
            }
        }
    }

    /// Reads until the server closes. Returns the time since `since`, or nothing if it does not
    /// close.
    std::optional<clock::duration> wait_closed(clock::time_point since) {
        const auto limit = clock::now() + patience;
        while (read_some()) {
            received_.clear();
            if (!wait_for(POLLIN, limit)) {
                return std::nullopt;
            }
        }
        return clock::now() - since;
    }

    /// Waits until the server closes, without reading: then a write fails, or the system reports
    /// that the connection was reset. If the server had read everything when it closed, TCP does
    /// not reset the connection, and its end is queued behind unread data. So read at the end.
    std::optional<clock::duration> wait_closed_unread(clock::time_point since) {
        const auto limit = clock::now() + patience;
        while (clock::now() < limit) {
            pollfd p{socket_.get(), POLLRDHUP, 0};
            if (::poll(&p, 1, 50) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
                return clock::now() - since;
            }
        }
        return wait_closed(since);
    }

    /// Ends the connection with a reset, as a crash does.
    void reset() {
        const linger at_once{1, 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        socket_.close();
    }

    void close() { socket_.close(); }

    /// Waits a moment, or until the connection is readable or writable.
    void wait_ready() const {
        static_cast<void>(wait_for(POLLIN | POLLOUT, clock::now() + std::chrono::milliseconds(10)));
    }

    [[nodiscard]] std::string& received() noexcept { return received_; }
    [[nodiscard]] int native() const noexcept { return socket_.get(); }

private:
    [[nodiscard]] bool wait_for(short what, clock::time_point limit) const {
        using std::chrono::milliseconds;
        const auto left = std::chrono::duration_cast<milliseconds>(limit - clock::now()).count();
        pollfd p{socket_.get(), what, 0};
        return ::poll(&p, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
    }

    descriptor socket_;
    clock::time_point start_;
    bool connected_ = false;
    std::string received_;
};

} // namespace asio_wheel::test

#endif
