// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A live page about the timers of a program, and their metrics, over HTTP:
//
//     asio_wheel::inspector inspector(ctx, {.port = 9464});
//
// It is a library of its own, the CMake target asio_wheel::inspector. That is one source, which
// each program compiles with its own settings of Asio. This header includes neither Asio nor Beast.

#ifndef ASIO_WHEEL_INSPECTOR_HPP
#define ASIO_WHEEL_INSPECTOR_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/lateness.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace boost::asio {
class execution_context;
}

namespace asio_wheel {

template <class Clock, class WaitTraits>
class wheel_service;

namespace detail {
class running_inspector;
class watched_wheel;
} // namespace detail

/// Where an inspector listens, and what it allows.
///
///     const asio_wheel::inspector_options options{.port = 9464, .name = "workers"};
struct inspector_options {
    /// The address, of IPv4 or IPv6. By default, only programs on this machine can connect. The
    /// inspector has no passwords and no encryption: with another address, each program that can
    /// connect to it sees all of the page.
    std::string address = "127.0.0.1";

    /// The port; with 0, the system chooses one, which inspector::port() returns.
    std::uint16_t port = 0;

    /// The name of the wheel of the constructor, on the page, and in metrics as the label
    /// `context`.
    std::string name = "main";

    /// How often the page gets new numbers while it is open. At least 10 ms.
    std::chrono::milliseconds period{500};

    /// From when on the page says that lateness is bad: the verdict, and its colour.
    lateness_limits limits{};

    /// How far back the page shows what each minute was like, though nobody looked: one week at
    /// most. A minute takes some 150 bytes for each wheel, and one wake-up of the inspector's
    /// thread. 0 turns that off.
    std::chrono::minutes history{180};

    /// How many connections there may be at once. A further one is closed at once. At least 1. A
    /// page takes one, and a browser opens some more for a short time.
    std::size_t max_connections = 64;

    /// Names by which clients reach the server, such as `host` or `host:port`, besides localhost
    /// and the address itself. Needed for a proxy, or for `ssh -L 8080:localhost:9464`:
    /// `{"localhost:8080"}`. A name without a port allows any port.
    // NOLINTNEXTLINE(readability-redundant-member-init): so that it can be left out.
    std::vector<std::string> allowed_hosts{};
};

/// An HTTP server that shows the wheels of this program, in a browser or to Prometheus:
///
/// | path            | what it answers                                                        |
/// |-----------------|------------------------------------------------------------------------|
/// | `/`             | a page that shows the wheels while they turn                           |
/// | `/metrics`      | the numbers of openmetrics.hpp: OpenMetrics if the client prefers that,|
/// |                 | otherwise the older text format of Prometheus                          |
/// | `/wheel.json`   | everything that the page shows, once                                   |
/// | `/history.json` | what each of the last minutes was like                                 |
/// | `/events`       | the page's numbers as server-sent events, one in each period           |
///
///     boost::asio::io_context ctx;
///     asio_wheel::inspector inspector(ctx, {.port = 9464});
///     std::cout << "timers: " << inspector.url() << '\n';
///     ctx.run();
///
/// By default it listens on 127.0.0.1 only. It refuses requests whose header Host does not name it
/// (status 421), and those of other sites, unless they lead to a document of its own: a link is
/// followed, a frame is not (403). It answers only GET and HEAD, limits headers to 8 kB and the
/// number of connections, and closes connections that are silent for a minute, that send a request
/// for longer than 5 s, or that do not read an answer for 10 s.
///
/// Where it runs. On a thread and a context of its own. So it also answers while a handler of the
/// program blocks, and it is no work for the contexts that it shows. The thread blocks all signals.
/// It reads a wheel from another thread than those that use it, so the wheel must have a lock (see
/// wheel_options::locking).
///
/// Cost. Without a connection, the wheels are read once a minute for inspector_options::history; if
/// that is 0, there is no timer, no wake-up and no other cost. While a page is open, the wheels are
/// read once in each period, which takes 20 to 50 µs for each wheel, however many slots it has; so
/// does each `/wheel.json` and each `/metrics`. At most every two seconds, and for at most 2 % of
/// the time, all waits of a wheel are visited, as by wheel_service::for_each_pending(); unless
/// there are more than two million.
///
/// Thread safety. watch(), close() and the destructor may be called from any thread, if no two
/// calls are made at the same time, except for two calls of watch(). All else is constant.
///
/// Lifetimes. The inspector and the contexts may end in any order. A context that has ended is
/// shown as ended. The inspector does not survive fork(): in the child, neither use nor destroy it.
/// The port and the connections stay open there until the child ends, or starts another program.
/// The child can use the contexts if Asio's notify_fork() is called before and after fork(): no
/// inspector reads them meanwhile.
class inspector {
public:
    /// Listens, and shows the wheel of `context` for the steady_clock; makes the wheel if there is
    /// none.
    ///
    /// Throws boost::system::system_error, which names the address and the port, if it cannot
    /// listen there; std::invalid_argument if an option is unusable, or if the wheel has no lock;
    /// std::system_error if there is no thread.
    explicit inspector(boost::asio::execution_context& context, inspector_options options = {});

    /// Takes over the server. `other` can then only be closed, destroyed or assigned to.
    inspector(inspector&& other) noexcept;
    /// The same, after close().
    inspector& operator=(inspector&& other) noexcept;

    /// close().
    ~inspector();

    /// Shows the wheel of one more context, for the steady_clock; makes the wheel if there is none.
    ///
    ///     inspector.watch("workers", pool);
    ///
    /// A wheel whose context has ended keeps its name, and its history, until another wheel gets
    /// the name. So a program whose contexts come and go uses the same names again.
    ///
    /// Throws std::invalid_argument if the name is empty, not UTF-8, or that of another wheel whose
    /// context lives, and if the wheel has no lock. After close(), nobody sees the wheel.
    void watch(std::string name, boost::asio::execution_context& context);

    /// The same for a wheel of any clock.
    ///
    ///     inspector.watch("wall clock", asio_wheel::use_wheel<std::chrono::system_clock>(ctx));
    template <class Clock, class WaitTraits>
    void watch(std::string name, wheel_service<Clock, WaitTraits>& wheel) {
        watch(std::move(name), wheel.watched());
    }

    /// The port on which it listens, or has listened.
    [[nodiscard]] std::uint16_t port() const;

    /// The address of the page, such as `http://127.0.0.1:9464/`; that of localhost, if it listens
    /// on all addresses.
    [[nodiscard]] std::string url() const;

    /// Ends all connections, stops listening, and waits for the thread, which takes no longer than
    /// one answer. Can be called again.
    void close() noexcept;

private:
    void watch(std::string name, std::shared_ptr<detail::watched_wheel> wheel);

    detail::stable_impl<detail::running_inspector> running_;
};

} // namespace asio_wheel

#endif
