// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The server behind an inspector: accepts connections, reads the wheels, and sends events while a
// client wants them.
//
// The inspector, the handlers of the context, and a service of the context all refer to the server.
// When the inspector ends, it closes the server, and the handlers that are left keep it. When the
// context ends first, the service takes its sockets and timers away.

#ifndef ASIO_WHEEL_DETAIL_INSPECTOR_SERVER_HPP
#define ASIO_WHEEL_DETAIL_INSPECTOR_SERVER_HPP

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/inspector/options.hpp>
#include <asio_wheel/detail/inspector/session.hpp>
#include <asio_wheel/detail/inspector/site.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

/// A server on a context of any type.
class inspector_server : public inspector_site {
public:
    inspector_server() = default;
    inspector_server(const inspector_server&) = delete;
    inspector_server& operator=(const inspector_server&) = delete;

    virtual void start() = 0;
    virtual void watch(std::string name, std::shared_ptr<watched_wheel> wheel) = 0;
    [[nodiscard]] virtual const boost::asio::ip::tcp::endpoint& endpoint() const noexcept = 0;

    /// Stops listening now. The strand closes the connections. From any thread.
    virtual void close() noexcept = 0;

    /// The context ends: nothing here may refer to it any more.
    virtual void context_ended() noexcept = 0;

protected:
    ~inspector_server() = default;
};

template <class Executor>
class inspector_server_on final
    : public inspector_server,
      public std::enable_shared_from_this<inspector_server_on<Executor>> {
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;
    using strand_type = boost::asio::strand<Executor>;
    using session_type = inspector_session<strand_type>;
    using socket_type = typename session_type::socket_type;
    using acceptor_type = typename tcp::acceptor::rebind_executor<Executor>::other;
    using timer_type = typename steady_timer::rebind_executor<Executor>::other;

    using inspector_server_on::enable_shared_from_this::shared_from_this;

public:
    static constexpr std::chrono::milliseconds pause_after_failure{100};

    /// Listens, but accepts nothing before start(). Throws system_error if that is impossible.
    /// `alone`: on a thread of its own.
    inspector_server_on(const Executor& executor, inspector_options options, bool alone)
        : options_(checked(std::move(options))), wheels_(alone),
          parts_(std::make_unique<parts>(executor)) {
        listen(parts_->acceptor, {options_.address, options_.port});
        endpoint_ = parts_->acceptor.local_endpoint();
    }

    void start() override {
        const std::lock_guard lock(mutex_);
        accept();
    }

    void watch(std::string name, std::shared_ptr<watched_wheel> wheel) override {
        wheels_.add(std::move(name), std::move(wheel));
    }

    [[nodiscard]] const tcp::endpoint& endpoint() const noexcept override { return endpoint_; }

    void close() noexcept override {
        const std::lock_guard lock(mutex_);
        if (parts_ == nullptr || std::exchange(closed_, true)) {
            return;
        }
        error_code ignored; // It is closed anyway.
        static_cast<void>(parts_->acceptor.close(ignored));
        // Under the lock, because without it the context could end before post() is done. Without
        // memory, each connection ends with its deadline or its client.
        guarded([this] {
            boost::asio::post(parts_->strand,
                              [self = shared_from_this()] { self->close_clients(); });
        });
    }

    void context_ended() noexcept override {
        std::unique_ptr<parts> ended;
        const std::lock_guard lock(mutex_);
        closed_ = true;
        ended = std::move(parts_); // Destroyed without the lock.
    }

    [[nodiscard]] inspector_answer answer(std::string_view path, std::string_view accept) override {
        return site_answer(path, accept, wheels_, options_.period);
    }

    [[nodiscard]] const std::vector<std::string>& allowed_hosts() const noexcept override {
        return options_.allowed_hosts;
    }

    void begin_events(inspector_client& client) override {
        client.send(event());
        const std::lock_guard lock(mutex_);
        if (!closed_ && !sends_events_) {
            wait_for_next_event();
        }
    }

    void ended(inspector_client& client) noexcept override {
        const std::lock_guard lock(mutex_);
        clients_.erase(&client);
    }

private:
    // What belongs to the context. The acceptor and the timers do not use the strand: a strand
    // allocates for each handler. So these handlers are called also if there is no memory. They
    // take the lock, and go on from there.
    struct parts {
        explicit parts(const Executor& ex) : strand(ex), acceptor(ex), pause(ex), next_event(ex) {}

        strand_type strand; // For all connections.
        acceptor_type acceptor;
        timer_type pause; // After a failure to accept.
        timer_type next_event;
    };

    [[nodiscard]] static inspector_options checked(inspector_options options) {
        if (options.period < std::chrono::milliseconds(10)) {
            bad_argument("inspector_options::period", in_ns(options.period), "at least 10 ms");
        }
        if (options.max_connections == 0) {
            bad_argument("inspector_options::max_connections", "0", "at least 1");
        }
        return options;
    }

    static void listen(acceptor_type& acceptor, const tcp::endpoint& where) {
        error_code ec;
        const auto check = [&](const char* what) {
            if (ec) {
                std::ostringstream text;
                text << "asio_wheel: the inspector cannot " << what << ' ' << where;
                BOOST_THROW_EXCEPTION(boost::system::system_error(ec, text.str()));
            }
        };
        static_cast<void>(acceptor.open(where.protocol(), ec));
        check("open a socket for");
#ifndef _WIN32 // There, it would let others take the port while it is in use.
        static_cast<void>(acceptor.set_option(boost::asio::socket_base::reuse_address(true), ec));
#endif
        static_cast<void>(acceptor.bind(where, ec));
        check("listen on");
        static_cast<void>(acceptor.listen(boost::asio::socket_base::max_listen_connections, ec));
        check("listen on");
        static_cast<void>(acceptor.non_blocking(true, ec));
        check("listen on");
    }

    // With the lock.
    void accept() {
        if (throws<std::exception>([this] { start_accept(); })) {
            accept_after_pause();
        }
    }

#ifdef BOOST_ASIO_HAS_IOCP
    // A completion port cannot wait until a connection can be accepted. But the operation opens the
    // socket when it starts, so that needs no memory later.
    void start_accept() {
        parts_->acceptor.async_accept(
            parts_->strand, [self = shared_from_this()](const error_code& ec, socket_type socket) {
                self->guarded([&] { self->on_ready(ec, std::move(socket)); });
            });
    }
#else
    // Waits until a connection can be accepted, and then accepts it without waiting: async_accept()
    // would lose its handler if there were no memory for the socket.
    void start_accept() {
        parts_->acceptor.async_wait(tcp::acceptor::wait_read,
                                    [self = shared_from_this()](const error_code& ec) {
                                        self->guarded([&] { self->on_ready(ec, std::nullopt); });
                                    });
    }
#endif

    void on_ready(error_code ec, std::optional<socket_type> socket) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) {
                return;
            }
            const auto accept_now = [&] {
                socket.emplace(parts_->strand);
                static_cast<void>(parts_->acceptor.accept(*socket, ec));
            };
            if (!ec && !socket && throws<std::exception>(accept_now)) {
                ec = boost::asio::error::no_memory;
            }
            if (ec && ec != boost::asio::error::would_block) {
                accept_after_pause(); // Descriptors or memory have run out. That may pass.
                return;
            }
            accept();
            if (ec || clients_.size() >= options_.max_connections) {
                return; // Closes the socket.
            }
        }
        begin_session(*std::move(socket));
    }

    void begin_session(socket_type socket) {
        const auto session = std::make_shared<session_type>(shared_from_this(), std::move(socket));
        const std::lock_guard lock(mutex_);
        if (!closed_) {
            clients_.insert(session.get());
            boost::asio::post(parts_->strand,
                              [self = shared_from_this(), session] { self->start(*session); });
        }
    }

    void start(session_type& session) {
        guarded([&] { session.start(); });
    }

    // With the lock.
    void accept_after_pause() {
        parts_->pause.expires_after(pause_after_failure);
        parts_->pause.async_wait([self = shared_from_this()](const error_code&) {
            self->guarded([&] {
                const std::lock_guard lock(self->mutex_);
                if (!self->closed_) {
                    self->accept();
                }
            });
        });
    }

    // With the lock. If no client wants events, no timer runs.
    void wait_for_next_event() {
        parts_->next_event.expires_after(options_.period);
        parts_->next_event.async_wait([self = shared_from_this()](const error_code& ec) {
            const std::lock_guard lock(self->mutex_);
            self->sends_events_ = false;
            if (!ec && !self->closed_) {
                self->guarded([&] { self->send_events_soon(); });
            }
        });
        sends_events_ = true;
    }

    // With the lock.
    void send_events_soon() {
        if (throws<std::exception>([this] {
                boost::asio::post(parts_->strand,
                                  [self = shared_from_this()] { self->on_period(); });
            })) {
            wait_for_next_event();
        }
    }

    void on_period() {
        bool wanted = true; // If sending fails, it is tried again in the next period.
        guarded([&] { wanted = send_events(); });
        guarded([&] {
            const std::lock_guard lock(mutex_);
            if (wanted && !closed_ && !sends_events_) {
                wait_for_next_event();
            }
        });
    }

    // Returns whether a client wants events.
    [[nodiscard]] bool send_events() {
        bool wanted = false;
        std::shared_ptr<const std::string> text;
        for (const auto& client : clients()) {
            wanted = wanted || client->takes_events();
            if (client->takes_event()) {
                text = text == nullptr ? event() : text;
                client->send(text);
            }
        }
        return wanted;
    }

    [[nodiscard]] std::shared_ptr<const std::string> event() {
        return std::make_shared<const std::string>("data: " + wheels_.json(options_.period) +
                                                   "\n\n");
    }

    [[nodiscard]] std::vector<std::shared_ptr<inspector_client>> clients() {
        std::vector<std::shared_ptr<inspector_client>> all;
        const std::lock_guard lock(mutex_);
        all.reserve(clients_.size());
        for (inspector_client* client : clients_) {
            if (auto alive = client->weak_from_this().lock()) {
                all.push_back(std::move(alive));
            }
        }
        return all;
    }

    void close_clients() {
        guarded([&] {
            {
                const std::lock_guard lock(mutex_);
                if (parts_ != nullptr) {
                    parts_->pause.cancel();
                    parts_->next_event.cancel();
                }
            }
            for (const auto& client : clients()) {
                client->close();
            }
        });
    }

    // No exception leaves a handler, because the context is the program's.
    template <class Function>
    void guarded(Function function) noexcept {
        // Out of memory. The next request or the next event may have more of it.
        static_cast<void>(throws<std::exception>(function));
    }

    const inspector_options options_;
    tcp::endpoint endpoint_;
    inspected_wheels wheels_;

    // Guards what follows, and operations on the parts by close().
    mutex mutex_;
    std::unique_ptr<parts> parts_; // Null when the context has ended.
    std::set<inspector_client*> clients_;
    bool closed_ = false;
    bool sends_events_ = false; // The next event is waited for.
};

/// Tells the servers of a context when it ends.
class inspector_servers : public boost::asio::execution_context::service {
public:
    using key_type = inspector_servers;
    static inline boost::asio::execution_context::id id;

    explicit inspector_servers(boost::asio::execution_context& context) : service(context) {}

    void add(const std::shared_ptr<inspector_server>& server) {
        const std::lock_guard lock(mutex_);
        std::erase_if(servers_, [](const auto& old) { return old.expired(); });
        servers_.push_back(server);
    }

private:
    void shutdown() noexcept override {
        const std::lock_guard lock(mutex_);
        for (const auto& weak : servers_) {
            if (const auto server = weak.lock()) {
                server->context_ended();
            }
        }
        servers_.clear();
    }

    mutex mutex_; // Guards servers_.
    std::vector<std::weak_ptr<inspector_server>> servers_;
};

} // namespace asio_wheel::detail

#endif
