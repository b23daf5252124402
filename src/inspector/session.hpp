// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection to an inspector. It answers one request after the other, or sends events until the
// client goes.
//
// No step waits for ever: a client may be silent for `silence`, and each request and each write
// has a deadline. A client that does not read its events loses those that it is too slow for, and
// then its connection.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_SESSION_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_SESSION_HPP

#include "requests.hpp"

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

struct inspector_answer {
    boost::beast::http::status status = boost::beast::http::status::ok;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
    std::string policy = "default-src 'none'; frame-ancestors 'none'";
    bool events = false; ///< Events follow.
};

class inspector_session;

/// What a session needs from its inspector.
class inspector_site {
public:
    [[nodiscard]] virtual inspector_answer answer(std::string_view path,
                                                  std::string_view accept) = 0;
    [[nodiscard]] virtual const std::vector<std::string>& allowed_hosts() const noexcept = 0;

    /// The client is ready for events.
    virtual void begin_events(inspector_session& client) = 0;

    /// The client no longer exists.
    virtual void ended(inspector_session& client) noexcept = 0;

protected:
    ~inspector_site() = default;
};

class inspector_session final : public std::enable_shared_from_this<inspector_session> {
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;
    using status = boost::beast::http::status;
    using parser_type = boost::beast::http::request_parser<boost::beast::http::empty_body>;
    using serializer_type =
        boost::beast::http::response_serializer<boost::beast::http::string_body>;

    // A handler that calls a member function. Without memory, this connection ends, and nothing
    // else.
    template <class Function>
    [[nodiscard]] auto next(Function function) {
        return [self = shared_from_this(), function](const error_code& ec, std::size_t n) {
            if (throws<std::exception>([&] { ((*self).*function)(ec, n); })) {
                self->close();
            }
        };
    }

public:
    // The context's own: any_io_executor would allocate for each operation, also where Asio cannot
    // report that there is no memory.
    using executor_type = boost::asio::io_context::executor_type;
    using socket_type = tcp::socket::rebind_executor<executor_type>::other;

    static constexpr std::chrono::seconds silence{60}; // Prometheus asks once a minute by default.
    static constexpr std::chrono::seconds request_time{5};
    static constexpr std::chrono::seconds write_time{10};
    static constexpr std::chrono::seconds linger_time{1};
    static constexpr std::uint32_t longest_header = 16384;

    inspector_session(std::shared_ptr<inspector_site> site, socket_type socket)
        : site_(std::move(site)), stream_(std::move(socket)), buffer_(longest_header) {
        error_code ignored; // Of a connection that has ended already.
        here_ = stream_.socket().local_endpoint(ignored);
        // An event is written at once, and is small: it must not wait for an acknowledgement.
        static_cast<void>(stream_.socket().set_option(tcp::no_delay(true), ignored));
    }
    inspector_session(const inspector_session&) = delete;
    inspector_session& operator=(const inspector_session&) = delete;
    ~inspector_session() { site_->ended(*this); }

    void start() { read_request(); }

    /// Whether events are wanted.
    [[nodiscard]] bool takes_events() const noexcept { return events_; }

    /// Whether events are wanted, and the one before has been sent.
    [[nodiscard]] bool takes_event() const noexcept { return events_ && event_ == nullptr; }

    void send(std::shared_ptr<const std::string> event) {
        event_ = std::move(event);
        stream_.write_expires_after(write_time);
        const auto write = [this] {
            boost::asio::async_write(stream_, boost::asio::buffer(*event_),
                                     next(&inspector_session::on_event));
        };
        if (throws<std::exception>(write)) {
            close(); // Without memory, this client ends, and the others get the event.
        }
    }

private:
    void close() { stream_.close(); }

    void read_request() {
        parser_ = std::make_unique<parser_type>();
        parser_->header_limit(longest_header / 2);
        parser_->body_limit(0);
        if (buffer_.size() == 0) {
            stream_.read_expires_after(silence);
            stream_.message_expires_after(request_time);
        } else {
            stream_.read_expires_after(request_time);
        }
        boost::beast::http::async_read(stream_, buffer_, *parser_,
                                       next(&inspector_session::on_request));
    }

    void on_request(const error_code& ec, std::size_t) {
        using boost::beast::http::error;
        const bool has_body = ec == error::body_limit || ec == error::unexpected_body;
        if (ec && !has_body) {
            refuse_request(ec);
            return;
        }
        const auto& request = parser_->get();
        keep_alive_ = request.keep_alive();
        if (const auto refusal = refusal_of(request, here_, site_->allowed_hosts())) {
            refuse(refusal->status, refusal->reason);
        } else if (has_body) {
            refuse(status::payload_too_large, "A request has no body here.");
        } else {
            const std::string_view target(request.target().data(), request.target().size());
            respond(site_->answer(target.substr(0, target.find('?')),
                                  field_of(request, boost::beast::http::field::accept)));
        }
    }

    void refuse_request(const error_code& ec) {
        using boost::beast::http::error;
        if (ec == error::header_limit || ec == error::buffer_overflow) {
            refuse(status::request_header_fields_too_large, "The header is too long.");
        } else if (ec != error::end_of_stream && ec != error::partial_message &&
                   ec.category() == make_error_code(error::bad_method).category()) {
            refuse(status::bad_request, "This is not a request of HTTP.");
        } else {
            close(); // The client has gone, or was silent for too long.
        }
    }

    void refuse(status why, std::string_view reason) {
        inspector_answer answer;
        answer.status = why;
        answer.body = std::string(reason) + '\n';
        keep_alive_ = false;
        respond(std::move(answer));
    }

    void respond(inspector_answer answer) {
        using boost::beast::http::field;
        using boost::beast::http::verb;
        response_ = {answer.status, 11};
        response_.set(field::server, "asio-wheel");
        response_.set(field::content_type, answer.type);
        response_.set(field::cache_control, "no-store");
        response_.set("Content-Security-Policy", answer.policy);
        response_.set("X-Content-Type-Options", "nosniff");
        response_.set("X-Frame-Options", "DENY");
        response_.set("Cross-Origin-Opener-Policy", "same-origin");
        response_.set("Cross-Origin-Resource-Policy", "same-origin");
        response_.set("Referrer-Policy", "no-referrer");
        if (answer.status == status::method_not_allowed) {
            response_.set(field::allow, "GET, HEAD");
        }
        events_follow_ = answer.events && parser_->get().method() == verb::get;
        response_.keep_alive(keep_alive_ && !answer.events);
        response_.body() = std::move(answer.body);
        if (!answer.events) { // Events end with the connection.
            response_.prepare_payload();
        }
        serializer_ = std::make_unique<serializer_type>(response_);
        stream_.write_expires_after(write_time);
        if (answer.events || parser_->get().method() == verb::head) {
            boost::beast::http::async_write_header(stream_, *serializer_,
                                                   next(&inspector_session::on_response));
        } else {
            boost::beast::http::async_write(stream_, *serializer_,
                                            next(&inspector_session::on_response));
        }
    }

    void on_response(const error_code& ec, std::size_t) {
        if (ec) {
            close();
        } else if (events_follow_) {
            stream_.read_expires_never(); // Only to notice when the client goes.
            read_nothing(&inspector_session::on_read_among_events);
            events_ = true;
            site_->begin_events(*this);
        } else if (response_.keep_alive()) {
            read_request();
        } else {
            linger();
        }
    }

    void on_event(const error_code& ec, std::size_t) {
        event_.reset();
        if (ec) {
            events_ = false;
            close();
        }
    }

    // A client that was sent all events so far has nothing to say.
    void on_read_among_events(const error_code&, std::size_t) {
        events_ = false;
        close();
    }

    // If unread data is left when a socket is closed, TCP resets the connection, and the response
    // may be lost. So the client closes first, but not later than a second from now.
    void linger() {
        error_code ignored;
        static_cast<void>(stream_.socket().shutdown(tcp::socket::shutdown_send, ignored));
        stream_.read_expires_after(linger_time);
        read_nothing(&inspector_session::on_lingering);
    }

    void on_lingering(const error_code& ec, std::size_t) {
        if (ec) {
            close();
        } else {
            read_nothing(&inspector_session::on_lingering);
        }
    }

    template <class Function>
    void read_nothing(Function function) {
        stream_.async_read_some(boost::asio::buffer(ignored_), next(function));
    }

    std::shared_ptr<inspector_site> site_;
    timeout_stream<socket_type> stream_;
    tcp::endpoint here_;
    boost::beast::flat_buffer buffer_;
    std::unique_ptr<parser_type> parser_;
    boost::beast::http::response<boost::beast::http::string_body> response_;
    std::unique_ptr<serializer_type> serializer_;
    std::array<char, 512> ignored_{};
    std::shared_ptr<const std::string> event_; // While it is written.
    bool events_ = false;                      // They are wanted.
    bool keep_alive_ = false;
    bool events_follow_ = false; // After the header that is being written.
};

} // namespace asio_wheel::detail

#endif
