// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The server behind an inspector: accepts connections, reads the wheels, and sends events while
// somebody listens.
//
// The inspector, the handlers of the context, and a service of the context all refer to the server.
// When the inspector ends, it closes the server, and the handlers that are left keep it. When the
// context ends first, the service takes its sockets and timers away.

#ifndef ASIO_WHEEL_DETAIL_INSPECTOR_SERVER_HPP
#define ASIO_WHEEL_DETAIL_INSPECTOR_SERVER_HPP

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/inspector/options.hpp>
#include <asio_wheel/detail/inspector/session.hpp>
#include <asio_wheel/detail/inspector/site.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/any_io_executor.hpp>
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

class inspector_server final : public inspector_site,
                               public std::enable_shared_from_this<inspector_server> {
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;

public:
    static constexpr std::chrono::milliseconds pause_after_failure{100};

    /// Listens, but accepts nothing before start(). Throws system_error if that is impossible.
    /// `alone`: on a thread of its own.
    inspector_server(const boost::asio::any_io_executor& strand, inspector_options options,
                     bool alone)
        : options_(checked(std::move(options))), wheels_(alone),
          parts_(std::make_unique<parts>(strand)) {
        listen(parts_->acceptor, {options_.address, options_.port});
        endpoint_ = parts_->acceptor.local_endpoint();
    }

    void start() {
        const std::lock_guard lock(mutex_);
        accept();
    }

    void watch(std::string name, std::shared_ptr<watched_wheel> wheel) {
        wheels_.add(std::move(name), std::move(wheel));
    }

    [[nodiscard]] const tcp::endpoint& endpoint() const noexcept { return endpoint_; }

    /// Stops listening now. The strand closes the connections. From any thread.
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        if (parts_ == nullptr || std::exchange(closed_, true)) {
            return;
        }
        error_code ignored; // It is closed anyway.
        parts_->acceptor.close(ignored);
        try {
            // Under the lock, because without it the context could end before post() is done.
            boost::asio::post(parts_->strand,
                              [self = shared_from_this()] { self->close_sessions(); });
        } catch (const std::exception&) {
            // Without memory, each connection ends with its deadline or its client.
        }
    }

    /// The context ends: nothing here may refer to it any more.
    void context_ended() noexcept {
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

    void begin_events(inspector_session& session) override {
        session.send(event());
        const std::lock_guard lock(mutex_);
        if (!closed_ && !sends_events_) {
            wait_for_next_event();
        }
    }

    void ended(inspector_session& session) noexcept override {
        const std::lock_guard lock(mutex_);
        sessions_.erase(&session);
    }

private:
    // What belongs to the context.
    struct parts {
        explicit parts(const boost::asio::any_io_executor& ex)
            : strand(ex), acceptor(ex), pause(ex), next_event(ex) {}

        boost::asio::any_io_executor strand;
        tcp::acceptor acceptor;
        steady_timer pause; // After a failure to accept.
        steady_timer next_event;
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

    static void listen(tcp::acceptor& acceptor, const tcp::endpoint& where) {
        error_code ec;
        const auto check = [&](const char* what) {
            if (ec) {
                std::ostringstream text;
                text << "asio_wheel: the inspector cannot " << what << ' ' << where;
                throw boost::system::system_error(ec, text.str());
            }
        };
        acceptor.open(where.protocol(), ec);
        check("open a socket for");
#ifndef _WIN32 // There, it would let others take the port while it is in use.
        acceptor.set_option(boost::asio::socket_base::reuse_address(true), ec);
#endif
        acceptor.bind(where, ec);
        check("listen on");
        acceptor.listen(boost::asio::socket_base::max_listen_connections, ec);
        check("listen on");
    }

    // With the lock.
    void accept() {
        const auto handler = [self = shared_from_this()](const error_code& ec, tcp::socket socket) {
            self->guarded([&] { self->on_accept(ec, std::move(socket)); });
        };
        try {
            parts_->acceptor.async_accept(handler);
        } catch (const std::exception&) {
            accept_after_pause();
        }
    }

    void on_accept(const error_code& ec, tcp::socket socket) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) {
                return;
            }
            if (ec) { // Descriptors or memory have run out; others may give some back.
                accept_after_pause();
                return;
            }
            accept();
            if (sessions_.size() >= options_.max_connections) {
                return; // Closes the socket.
            }
        }
        const auto session =
            std::make_shared<inspector_session>(shared_from_this(), std::move(socket));
        {
            const std::lock_guard lock(mutex_);
            if (closed_) {
                return;
            }
            sessions_.insert(session.get());
        }
        session->start();
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

    // With the lock. While nobody listens, no timer runs.
    void wait_for_next_event() {
        parts_->next_event.expires_after(options_.period);
        parts_->next_event.async_wait([self = shared_from_this()](const error_code& ec) {
            self->sends_events_ = false;
            if (!ec) {
                self->guarded([&] { self->send_events(); });
            }
        });
        sends_events_ = true;
    }

    void send_events() {
        bool wanted = false;
        std::shared_ptr<const std::string> text;
        for (const auto& session : sessions()) {
            wanted = wanted || session->takes_events();
            if (session->takes_event()) {
                text = text == nullptr ? event() : text;
                session->send(text);
            }
        }
        const std::lock_guard lock(mutex_);
        if (wanted && !closed_ && !sends_events_) {
            wait_for_next_event();
        }
    }

    [[nodiscard]] std::shared_ptr<const std::string> event() {
        return std::make_shared<const std::string>("data: " + wheels_.json(options_.period) +
                                                   "\n\n");
    }

    [[nodiscard]] std::vector<std::shared_ptr<inspector_session>> sessions() {
        std::vector<std::shared_ptr<inspector_session>> all;
        const std::lock_guard lock(mutex_);
        all.reserve(sessions_.size());
        for (inspector_session* session : sessions_) {
            if (auto alive = session->weak_from_this().lock()) {
                all.push_back(std::move(alive));
            }
        }
        return all;
    }

    void close_sessions() {
        guarded([&] {
            {
                const std::lock_guard lock(mutex_);
                if (parts_ != nullptr) {
                    parts_->pause.cancel();
                    parts_->next_event.cancel();
                }
            }
            for (const auto& session : sessions()) {
                session->close();
            }
        });
    }

    // No exception leaves a handler, because the context is the program's.
    template <class Function>
    void guarded(Function function) noexcept {
        try {
            function();
        } catch (const std::exception&) {
            // Out of memory. The next request or the next event may have more of it.
        }
    }

    const inspector_options options_;
    tcp::endpoint endpoint_;
    inspected_wheels wheels_;
    bool sends_events_ = false; // Used on the strand.

    // Guards what follows, and operations on the parts by close().
    mutex mutex_;
    std::unique_ptr<parts> parts_; // Null when the context has ended.
    std::set<inspector_session*> sessions_;
    bool closed_ = false;
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
