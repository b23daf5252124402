// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The connection pool of Boost.MySQL, with as many borrowers as connections. Each borrows one, with
// a timeout of TIMEOUT seconds, executes a statement, with the same timeout, and gives it back.
// Then the pool resets it, with its own timeout. The server only says "OK", but takes a quarter of
// the time of measuring for a statement. So nearly all connections are borrowed at any time. The
// work is one such round.

#include "mysql_server.hpp"
#include "other_end.hpp"
#include "trial.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/mysql/connection_pool.hpp>
#include <boost/mysql/pool_params.hpp>
#include <boost/mysql/results.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using boost::system::error_code;

class borrower {
public:
    // `next`: who begins when this one has its first connection, so that not all connect at once.
    borrower(mysql::connection_pool& pool, std::chrono::milliseconds timeout, borrower* next)
        : pool_(pool), timeout_(timeout), next_(next) {}

    void borrow() {
        pool_.async_get_connection(asio::cancel_after(
            timeout_, [this](error_code ec, mysql::pooled_connection connection) {
                bench::require(!ec, "no connection");
                connection_ = std::move(connection);
                execute();
                if (!std::exchange(ready_, true)) {
                    bench::count(bench::ready);
                    if (next_ != nullptr) {
                        next_->borrow();
                    }
                }
            }));
    }

private:
    void execute() {
        auto gives_back = [this](error_code ec) {
            bench::require(!ec, "the statement failed");
            connection_ = {};
            bench::count(bench::done);
            borrow();
        };
        connection_->async_execute(bench::mysql_statement, results_,
                                   asio::cancel_after(timeout_, std::move(gives_back)));
    }

    mysql::connection_pool& pool_;
    std::chrono::milliseconds timeout_;
    borrower* next_;
    mysql::pooled_connection connection_;
    mysql::results results_;
    bool ready_ = false;
};

} // namespace

int main(int argc, char** argv) {
    const bench::trial_settings settings(argc, argv);
    const bench::listener listening;
    const bench::other_end server(
        [&] { bench::run_mysql_server(listening, settings.seconds / 4); });
    asio::io_context io;
    bench::measured_run measured(settings, io);
    mysql::pool_params parameters;
    parameters.server_address.emplace_host_and_port("127.0.0.1", listening.port());
    parameters.username = "bench";
    parameters.ssl = mysql::ssl_mode::disable;
    parameters.max_size = settings.connections;
    mysql::connection_pool pool(io, std::move(parameters));
    pool.async_run(asio::detached);
    std::deque<borrower> borrowers;
    for (std::size_t i = 0; i < settings.connections; ++i) {
        borrowers.emplace_back(pool, settings.timeout,
                               borrowers.empty() ? nullptr : &borrowers.back());
    }
    borrowers.back().borrow();
    measured.run();
}
