// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An HTTP server that answers `hello`, with any timer manager of RESTinio.

#ifndef SERVER_HPP
#define SERVER_HPP

#include <restinio/all.hpp>

#include <boost/asio.hpp>

#include <chrono>

template <class TimerManager>
class server {
public:
    // Connections without a request are closed after `read_limit`, exceeded by `check_period` at
    // most.
    server(boost::asio::io_context& ctx, std::chrono::milliseconds read_limit,
           std::chrono::milliseconds check_period)
        : server_(restinio::external_io_context(ctx), [&](auto& settings) {
              settings.address("127.0.0.1")
                  .port(0)
                  .timer_manager(check_period)
                  .read_next_http_message_timelimit(read_limit)
                  .acceptor_post_bind_hook(
                      [&](auto& acceptor) { where_ = acceptor.local_endpoint(); })
                  .request_handler([](const auto& request) {
                      return request->create_response().set_body("hello").done();
                  });
          }) {
        server_.open_sync();
    }

    boost::asio::ip::tcp::endpoint where() const { return where_; }
    void close() { server_.close_sync(); }

private:
    struct traits : restinio::single_thread_traits_t<TimerManager, restinio::null_logger_t> {};

    boost::asio::ip::tcp::endpoint where_;
    restinio::http_server_t<traits> server_;
};

#endif
