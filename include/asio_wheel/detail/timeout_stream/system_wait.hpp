// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the system is asked directly, for synchronous operations with a deadline, and for idle
// periods. Asio has no public function that waits for a socket and gives up after some time. Its
// own waits for sockets have no limit, and io_context::run_for() would call other handlers. Nor
// does it tell how much the peer has taken. This is the only file that knows the functions of the
// system.
//
// On Windows it uses select(): before Windows 10, version 2004, WSAPoll() does not report that a
// connection was refused. The limits of select() are no problem for a single socket there.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_SYSTEM_WAIT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_SYSTEM_WAIT_HPP

#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>

#ifndef _WIN32
#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#endif
#ifdef __linux__
#include <linux/sockios.h>
#elif defined(__FreeBSD__)
#include <sys/filio.h>
#endif

namespace asio_wheel::detail {

/// What a socket can be ready for.
enum class readiness { reading, writing, connected };

using native_socket = boost::asio::ip::tcp::socket::native_handle_type;

/// A layer that the system can be asked about: a socket, or a POSIX descriptor. What is above a
/// socket, such as a TLS stream, is none: it may hold data that the system knows nothing of.
template <class Layer>
concept system_layer = requires(Layer& layer, boost::system::error_code& ec) {
    { layer.native_handle() } -> std::convertible_to<native_socket>;
    { layer.non_blocking() } -> std::same_as<bool>;
    { layer.is_open() } -> std::same_as<bool>;
    layer.non_blocking(true, ec);
    { layer.native_non_blocking() } -> std::same_as<bool>;
    layer.native_non_blocking(true, ec);
};

/// No system waits for longer at once.
inline constexpr std::chrono::nanoseconds longest_system_wait = std::chrono::hours(1);

#ifdef _WIN32

[[nodiscard]] inline boost::system::error_code last_system_error() noexcept {
    return {::WSAGetLastError(), boost::asio::error::get_system_category()};
}

/// Waits until `s` is ready, or for `d`. True if it is ready; false without an error if not.
[[nodiscard]] inline bool wait_for_system(native_socket s, readiness what,
                                          std::chrono::nanoseconds d,
                                          boost::system::error_code& ec) noexcept {
    ec = {};
    ::fd_set ready;
    ::fd_set failed; // A connection that was refused is among these.
    FD_ZERO(&ready);
    FD_ZERO(&failed);
    FD_SET(s, &ready);
    FD_SET(s, &failed);
    const auto us =
        ceil_saturating<std::chrono::microseconds>((std::min)(d, longest_system_wait)).count();
    ::timeval limit{};
    limit.tv_sec = static_cast<long>(us / 1'000'000);
    limit.tv_usec = static_cast<long>(us % 1'000'000);
    const bool reading = what == readiness::reading;
    const int n =
        ::select(0, reading ? &ready : nullptr, reading ? nullptr : &ready, &failed, &limit);
    if (n == SOCKET_ERROR) {
        ec = last_system_error();
    }
    return n > 0;
}

[[nodiscard]] inline bool is_in_progress(const boost::system::error_code& ec) noexcept {
    return ec == boost::asio::error::would_block || ec == boost::asio::error::already_started;
}

#else

[[nodiscard]] inline boost::system::error_code last_system_error() noexcept {
    return {errno, boost::asio::error::get_system_category()};
}

/// Waits until `s` is ready, or for `d`, or until a signal. True if it is ready; false without an
/// error if not.
[[nodiscard]] inline bool wait_for_system(native_socket s, readiness what,
                                          std::chrono::nanoseconds d,
                                          boost::system::error_code& ec) noexcept {
    ec = {};
    ::pollfd asked{};
    asked.fd = s;
    asked.events = what == readiness::reading ? POLLIN : POLLOUT;
    // Rounded up, so it is never early.
    const auto ms =
        ceil_saturating<std::chrono::milliseconds>((std::min)(d, longest_system_wait)).count();
    const int n = ::poll(&asked, 1, static_cast<int>(ms));
    if (n < 0 && errno != EINTR) {
        ec = last_system_error();
    }
    return n > 0; // Also for errors, which the operation itself then reports.
}

[[nodiscard]] inline bool is_in_progress(const boost::system::error_code& ec) noexcept {
    return ec == boost::asio::error::in_progress || ec == boost::asio::error::interrupted ||
           ec == boost::asio::error::already_started;
}

#endif

/// How many bytes the socket has taken that its peer has not acknowledged, or, on the same machine,
/// not read. Has no value if the system does not say.
[[nodiscard]] inline std::optional<std::size_t>
unsent_in_system([[maybe_unused]] native_socket s) noexcept {
    [[maybe_unused]] int n = 0;
#ifdef SIOCOUTQ // Linux
    const bool known = ::ioctl(s, SIOCOUTQ, &n) == 0;
#elif defined(FIONWRITE) // FreeBSD
    const bool known = ::ioctl(s, FIONWRITE, &n) == 0;
#elif defined(SO_NWRITE) // macOS
    ::socklen_t size = sizeof n;
    const bool known = ::getsockopt(s, SOL_SOCKET, SO_NWRITE, &n, &size) == 0;
#else
    const bool known = false;
#endif
    return known && n >= 0 ? std::optional(static_cast<std::size_t>(n)) : std::nullopt;
}

/// Starts to connect a socket that does not block. (Asio's own connect() waits without limit, even
/// for such sockets.) The error is empty if it is connected, is_in_progress() if it will be ready,
/// and try_again if a local server has too many connections to accept.
template <class Endpoint>
[[nodiscard]] boost::system::error_code start_connect(native_socket s,
                                                      const Endpoint& peer) noexcept {
#ifdef _WIN32
    const auto size = static_cast<int>(peer.size());
#else
    const auto size = static_cast<::socklen_t>(peer.size());
#endif
    if (::connect(s, peer.data(), size) == 0) {
        return {};
    }
    const boost::system::error_code ec = last_system_error();
#ifndef _WIN32
    if (ec == boost::asio::error::try_again && peer.data()->sa_family != AF_UNIX) {
        return boost::asio::error::no_buffer_space; // As Asio reports it.
    }
#endif
    return ec;
}

/// How a connect that was in progress has ended.
[[nodiscard]] inline boost::system::error_code result_of_connect(native_socket s) noexcept {
    int result = 0;
#ifdef _WIN32
    int size = sizeof result;
    const int got = ::getsockopt(s, SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&result), &size);
#else
    ::socklen_t size = sizeof result;
    const int got = ::getsockopt(s, SOL_SOCKET, SO_ERROR, &result, &size);
#endif
    return got != 0 ? last_system_error()
                    : boost::system::error_code(result, boost::asio::error::get_system_category());
}

} // namespace asio_wheel::detail

#endif
