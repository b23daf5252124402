// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The server behind an inspector: accepts connections, and sends events while a client wants them.
//
// One thread runs it. Its handlers and its sessions own it. So it ends when its context has
// destroyed them.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_SERVER_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_SERVER_HPP

#include "session.hpp"
#include "site.hpp"

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/text.hpp>
#include <asio_wheel/inspector.hpp>
#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <fcntl.h>
#endif

namespace asio_wheel::detail {

class inspector_server final : public inspector_site,
                               public std::enable_shared_from_this<inspector_server> {
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;
    using session_type = inspector_session;
    using socket_type = session_type::socket_type;
    using executor_type = session_type::executor_type;
    using acceptor_type = tcp::acceptor::rebind_executor<executor_type>::other;
    using timer_type = steady_timer::rebind_executor<executor_type>::other;

public:
    static constexpr std::chrono::milliseconds pause_after_failure{100};

    /// Listens, but accepts nothing before start(). Throws system_error if that is impossible, and
    /// std::invalid_argument if an option is unusable. `wheels` must live until the context ends.
    inspector_server(boost::asio::io_context& context, inspector_options options,
                     inspected_wheels& wheels)
        : options_(checked(std::move(options))), wheels_(wheels), executor_(context.get_executor()),
          acceptor_(executor_), pause_(executor_), next_event_(executor_), next_minute_(executor_) {
        listen({address_of(options_), options_.port});
        endpoint_ = acceptor_.local_endpoint();
    }

    void start() {
        accept();
        if (options_.history.count() > 0) {
            wait_for_end_of_minute();
        }
    }

    [[nodiscard]] const tcp::endpoint& endpoint() const noexcept { return endpoint_; }

    [[nodiscard]] inspector_answer answer(std::string_view path, std::string_view accept) override {
        return site_answer(path, accept, wheels_, options_);
    }

    [[nodiscard]] const std::vector<std::string>& allowed_hosts() const noexcept override {
        return options_.allowed_hosts;
    }

    void begin_events(inspector_session& client) override {
        client.send(event());
        wait_for_next_event();
    }

    void ended(inspector_session& client) noexcept override { clients_.erase(&client); }

private:
    [[nodiscard]] static inspector_options checked(inspector_options options) {
        if (options.period < std::chrono::milliseconds(10)) {
            bad_argument("inspector_options::period", in_ns(options.period), "at least 10 ms");
        }
        if (options.max_connections == 0) {
            bad_argument("inspector_options::max_connections", "0", "at least 1");
        }
        if (options.history < std::chrono::minutes(0) ||
            options.history > std::chrono::hours(24 * 7)) {
            bad_argument("inspector_options::history", std::to_string(options.history.count()),
                         "0 to 10080 minutes");
        }
        if (options.limits.critical < options.limits.warning) {
            bad_argument("inspector_options::limits.critical", in_ns(options.limits.critical),
                         "not below the limit of a warning");
        }
        return options;
    }

    [[nodiscard]] static boost::asio::ip::address address_of(const inspector_options& options) {
        error_code ec;
        const auto address = boost::asio::ip::make_address(options.address, ec);
        if (ec) {
            bad_argument("inspector_options::address", '"' + printable(options.address) + '"',
                         "an address of IPv4 or IPv6");
        }
        return address;
    }

    // A program that this one starts would keep the port, and the connections. (One that another
    // thread starts at this moment still does.)
    template <class Socket>
    static void keep_to_this_program([[maybe_unused]] Socket& socket) {
#ifndef _WIN32 // There, handles are not inherited by default.
        static_cast<void>(::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC));
#endif
    }

    void listen(const tcp::endpoint& where) {
        error_code ec;
        const auto check = [&](const char* what) {
            if (ec) {
                std::ostringstream text;
                text << "asio_wheel: the inspector cannot " << what << ' ' << where;
                BOOST_THROW_EXCEPTION(boost::system::system_error(ec, text.str()));
            }
        };
        static_cast<void>(acceptor_.open(where.protocol(), ec));
        check("open a socket for");
        keep_to_this_program(acceptor_);
#ifndef _WIN32 // There, it would let others take the port while it is in use.
        static_cast<void>(acceptor_.set_option(boost::asio::socket_base::reuse_address(true), ec));
#endif
        static_cast<void>(acceptor_.bind(where, ec));
        check("listen on");
        static_cast<void>(acceptor_.listen(boost::asio::socket_base::max_listen_connections, ec));
        check("listen on");
        static_cast<void>(acceptor_.non_blocking(true, ec));
        check("listen on");
    }

    void accept() {
        if (throws<std::exception>([this] { start_accept(); })) {
            accept_after_pause();
        }
    }

#ifdef BOOST_ASIO_HAS_IOCP
    // A completion port cannot wait until a connection can be accepted. But the operation opens the
    // socket when it starts, so that needs no memory later.
    void start_accept() {
        acceptor_.async_accept(
            [self = shared_from_this()](const error_code& ec, socket_type socket) {
                self->on_ready(ec, std::move(socket));
            });
    }
#else
    // Waits until a connection can be accepted, and then accepts it without waiting: async_accept()
    // would lose its handler if there were no memory for the socket.
    void start_accept() {
        acceptor_.async_wait(tcp::acceptor::wait_read,
                             [self = shared_from_this()](const error_code& ec) {
                                 self->on_ready(ec, std::nullopt);
                             });
    }
#endif

    void on_ready(error_code ec, std::optional<socket_type> socket) {
        const auto accept_now = [&] {
            socket.emplace(executor_);
            static_cast<void>(acceptor_.accept(*socket, ec));
            if (!ec) {
                keep_to_this_program(*socket);
            }
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
        const auto session = std::make_shared<session_type>(shared_from_this(), *std::move(socket));
        clients_.insert(session.get());
        session->start();
    }

    void accept_after_pause() {
        pause_.expires_after(pause_after_failure);
        pause_.async_wait([self = shared_from_this()](const error_code&) { self->accept(); });
    }

    // If no client wants events, no timer runs.
    void wait_for_next_event() {
        if (!sends_events_) {
            next_event_.expires_after(options_.period);
            next_event_.async_wait([self = shared_from_this()](const error_code&) {
                self->sends_events_ = false;
                if (self->any_takes_events()) {
                    self->wait_for_next_event();
                    self->send_events();
                }
            });
            sends_events_ = true;
        }
    }

    // Without memory, this minute is missing.
    void wait_for_end_of_minute() {
        next_minute_.expires_after(wheel_history::period);
        next_minute_.async_wait([self = shared_from_this()](const error_code&) {
            static_cast<void>(throws<std::exception>([&] {
                self->wheels_.remember(std::chrono::system_clock::now(), self->options_.history);
            }));
            self->wait_for_end_of_minute();
        });
    }

    [[nodiscard]] bool any_takes_events() const noexcept {
        return std::any_of(clients_.begin(), clients_.end(),
                           [](const session_type* c) { return c->takes_events(); });
    }

    void send_events() {
        std::shared_ptr<const std::string> text;
        for (const auto& client : listeners()) {
            text = text == nullptr ? event() : text;
            client->send(text);
        }
    }

    // Those that have taken the event before. One that ends leaves the set.
    [[nodiscard]] std::vector<std::shared_ptr<session_type>> listeners() {
        std::vector<std::shared_ptr<session_type>> all;
        for (session_type* client : clients_) {
            if (client->takes_event()) {
                all.push_back(client->shared_from_this());
            }
        }
        return all;
    }

    [[nodiscard]] std::shared_ptr<const std::string> event() {
        return std::make_shared<const std::string>("data: " + wheels_.json(options_) + "\n\n");
    }

    const inspector_options options_;
    inspected_wheels& wheels_;
    const executor_type executor_;
    acceptor_type acceptor_;
    timer_type pause_; // After a failure to accept.
    timer_type next_event_;
    timer_type next_minute_;
    tcp::endpoint endpoint_;
    std::set<session_type*> clients_;
    bool sends_events_ = false; // The next event is waited for.
};

} // namespace asio_wheel::detail

#endif
