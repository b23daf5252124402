// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A live page about the timers of a program, and their metrics, over HTTP:
//
//     asio_wheel::inspector inspector(ctx, {.port = 9464});
//
// It includes Beast, so the umbrella header does not include it.

#ifndef ASIO_WHEEL_INSPECTOR_HPP
#define ASIO_WHEEL_INSPECTOR_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/inspector/options.hpp>
#include <asio_wheel/detail/inspector/own_thread.hpp>
#include <asio_wheel/detail/inspector/server.hpp>
#include <asio_wheel/detail/inspector/watched.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/throw_exception.hpp>

#include <chrono>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_wheel {

/// Tells an inspector to run on a thread of its own.
struct on_own_thread_t {
    explicit on_own_thread_t() = default; ///< Explicit, so that `{}` is not one.
};

/// The value to write: inspector(on_own_thread, ctx).
inline constexpr on_own_thread_t on_own_thread{};

/// An HTTP server that shows the wheels of this program, in a browser or to Prometheus:
///
/// | path          | what it answers                                                          |
/// |---------------|--------------------------------------------------------------------------|
/// | `/`           | a page that shows the wheels while they turn                             |
/// | `/metrics`    | the numbers of openmetrics.hpp: OpenMetrics if the client prefers that,  |
/// |               | otherwise the older text format of Prometheus                            |
/// | `/wheel.json` | everything that the page shows, once                                     |
/// | `/events`     | the same as server-sent events, one in each period                       |
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
/// Where it runs. By default on the context that it shows: then it shares the thread, and is late
/// when the context is late. With `on_own_thread` it has a thread and a context of its own, and
/// still answers when a handler blocks. Then it reads the wheel from another thread, so the wheel
/// must have a lock (see wheel_options::locking). It also answers when the wheel refuses waits:
/// without its own thread, a wheel that is full or was drained closes its connections.
///
/// Cost. Without a connection, there is no timer, no wake-up and no other cost. While a page is
/// open, the wheels are read once in each period, which takes 20 to 50 µs for each wheel, however
/// many slots it has; so does each `/wheel.json`. At most every two seconds, all waits are visited,
/// which takes about 0.1 µs for each. (On a context of the program not if there are more than
/// 50,000; on an own thread not if there are more than two million.) While a connection is open,
/// its deadline is one wait on the wheel of the context that the inspector runs on, and the page
/// shows that, too.
///
/// Work. An inspector on a context is work of that context: run() does not return before the
/// inspector is closed. With `on_own_thread` it is not.
///
/// Thread safety. watch(), close() and the destructor may be called from any thread, if no two
/// calls are made at the same time, except for two calls of watch(). All else is constant.
///
/// Lifetimes. The inspector and the contexts may end in any order. A context that has ended is
/// shown as ended. If the context ends that the inspector runs on, the inspector is closed. The
/// inspector does not survive fork(): in the child, neither use nor destroy one that has its own
/// thread.
class inspector {
public:
    /// Listens on `context`, and shows its wheel for the steady_clock; makes the wheel if there is
    /// none.
    ///
    /// Throws boost::system::system_error, which names the address and the port, if it cannot
    /// listen there, and std::invalid_argument if an option is unusable.
    template <class Context>
        requires detail::is_context<Context>
    explicit inspector(Context& context, inspector_options options = {})
        : inspector(closed(), context, context.get_executor(), std::move(options), false) {
        watch(name_, context);
        server_->start();
    }

    /// Listens on a thread of its own, and shows the wheel of `context`, which it does not run.
    /// Throws as above, std::invalid_argument if the wheel has no lock, and std::system_error if
    /// there is no thread.
    inspector(on_own_thread_t, boost::asio::execution_context& context,
              inspector_options options = {})
        : inspector(closed(), std::make_unique<detail::own_thread>(), std::move(options)) {
        watch(name_, context);
        server_->start();
        thread_->start();
    }

    /// Takes over the server. `other` can then only be destroyed or assigned to.
    inspector(inspector&& other) noexcept = default;
    /// The same, after close().
    inspector& operator=(inspector&& other) noexcept {
        if (this != &other) {
            close();
            thread_ = std::move(other.thread_);
            server_ = std::move(other.server_);
            context_ = other.context_;
            name_ = std::move(other.name_);
        }
        return *this;
    }

    /// close().
    ~inspector() { close(); }

    /// Shows the wheel of one more context, for a clock; makes the wheel if there is none.
    ///
    ///     inspector.watch("workers", pool);
    ///     inspector.watch<std::chrono::system_clock>("wall clock", ctx);
    ///
    /// Throws std::invalid_argument if the name is empty, not UTF-8, or that of another wheel whose
    /// context lives, and if the wheel has no lock and the inspector runs elsewhere.
    template <class Clock = std::chrono::steady_clock,
              class WaitTraits = boost::asio::wait_traits<Clock>>
    void watch(std::string name, boost::asio::execution_context& context) {
        if (&context != context_ && !use_wheel<Clock, WaitTraits>(context).options().locking) {
            BOOST_THROW_EXCEPTION(std::invalid_argument(
                "asio_wheel: the wheel of \"" + name +
                "\" has no lock, so only an inspector on its own context can show it"));
        }
        using service = detail::watch_service<Clock, WaitTraits>;
        server_->watch(std::move(name), boost::asio::use_service<service>(context).wheel());
    }

    /// Where it listens.
    [[nodiscard]] boost::asio::ip::tcp::endpoint local_endpoint() const {
        return server_->endpoint();
    }

    /// The address of the page, such as `http://127.0.0.1:9464/`.
    [[nodiscard]] std::string url() const {
        std::ostringstream text;
        text << "http://" << local_endpoint() << '/';
        return text.str();
    }

    /// Stops listening at once, and closes all connections. On a context of the program, the
    /// context closes them when it next runs, or when it ends. Only with a thread of its own, this
    /// waits for that thread, which takes no longer than one answer. Can be called again.
    void close() noexcept {
        if (server_ != nullptr) {
            server_->close();
        }
        thread_.reset();
    }

private:
    struct closed {};

    // Listens, but is not started.
    template <class Executor>
    inspector(closed, boost::asio::execution_context& context, const Executor& executor,
              inspector_options options, bool alone)
        : context_(&context), name_(options.name),
          server_(std::make_shared<detail::inspector_server_on<Executor>>(
              executor, std::move(options), alone)) {
        // After the services that the server uses, so that the context ends this one before them.
        boost::asio::use_service<detail::inspector_servers>(context).add(server_);
    }

    inspector(closed, std::unique_ptr<detail::own_thread> thread, inspector_options options)
        : inspector(closed(), thread->context(), thread->context().get_executor(),
                    std::move(options), true) {
        thread_ = std::move(thread);
    }

    boost::asio::execution_context* context_; // Where the inspector runs. Only compared.
    std::string name_;
    std::unique_ptr<detail::own_thread> thread_;
    std::shared_ptr<detail::inspector_server> server_; // Null if the inspector was moved from.
};

} // namespace asio_wheel

#endif
