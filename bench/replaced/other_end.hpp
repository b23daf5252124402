// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The other end of the connections: a process of its own, as small as it can be. It uses neither
// Asio nor timers.

#ifndef BENCH_REPLACED_OTHER_END_HPP
#define BENCH_REPLACED_OTHER_END_HPP

#include "../support/measure.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// A listening socket on loopback.
struct listener {
    listener() {
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        require(::bind(socket, any, size) == 0 && ::listen(socket, SOMAXCONN) == 0 &&
                    ::getsockname(socket, any, &size) == 0,
                "cannot listen");
    }

    [[nodiscard]] std::uint16_t port() const { return ntohs(address.sin_port); }

    int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    socklen_t size = sizeof address;
};

/// A process that runs a function, and ends with this object.
class other_end {
public:
    template <class F>
    explicit other_end(F f) : process_(::fork()) {
        require(process_ >= 0, "cannot fork");
        if (process_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            f();
            ::_exit(0);
        }
    }
    other_end(const other_end&) = delete;
    other_end& operator=(const other_end&) = delete;
    ~other_end() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }

private:
    pid_t process_;
};

/// Sockets of which this process reads.
class reactor {
public:
    void add(int socket) {
        epoll_event readable{};
        readable.events = EPOLLIN;
        readable.data.fd = socket;
        require(::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &readable) == 0, "epoll_ctl");
    }

    /// Calls read(socket) whenever one of the sockets can be read, and tick() each millisecond,
    /// until read() returns false.
    template <class Read, class Tick>
    void run(Read read, Tick tick) {
        std::vector<epoll_event> events(128);
        for (bool more = true; more; tick()) {
            const int n = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1);
            for (int i = 0; i < n && more; ++i) {
                more = read(events[static_cast<std::size_t>(i)].data.fd);
            }
        }
    }

private:
    int epoll_ = ::epoll_create1(0);
};

inline void send(int socket, const std::string& text) {
    static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL));
}

/// Appends what can be read without waiting. False if the connection has ended.
inline bool receive(int socket, std::string& text) {
    char data[4096];
    const auto got = ::recv(socket, data, sizeof data, MSG_DONTWAIT);
    text.append(data, got > 0 ? static_cast<std::size_t>(got) : 0);
    return got != 0;
}

/// Connects n clients. Each says hello and reads the answer.
inline std::vector<int> connect_clients(const listener& server, std::size_t n,
                                        const std::string& hello) {
    std::vector<int> sockets;
    for (std::size_t i = 0; i < n; ++i) {
        const int s = ::socket(AF_INET, SOCK_STREAM, 0);
        const int on = 1;
        ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        require(::connect(s, reinterpret_cast<const sockaddr*>(&server.address), server.size) == 0,
                "cannot connect");
        send(s, hello);
        char data[4096];
        require(::recv(s, data, sizeof data, 0) > 0, "no answer");
        sockets.push_back(s);
    }
    return sockets;
}

} // namespace bench

#endif
