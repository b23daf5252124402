// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One run of the demo: a server process, a load generator process, and what they report.

#ifndef DEMO_TRIAL_HPP
#define DEMO_TRIAL_HPP

#include "child_process.hpp"
#include "coroutine.hpp"
#include "machine.hpp"
#include "outcome.hpp"
#include "show_output.hpp"
#include "trial_settings.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace demo {

class trial {
public:
    explicit trial(trial_settings s) : settings_(std::move(s)) {}

    outcome run() {
        result_.timer = settings_.timer;
        bool stop = false;
        asio::signal_set signals(io_, SIGINT, SIGTERM);
        signals.async_wait([&](error_code error, int) {
            if (!error) {
                stop = true;
                io_.stop();
            }
        });
        server_.emplace(io_, settings_.folder / settings_.server.name, settings_.server.options);
        machine_.add(server_->id());
        asio::co_spawn(io_, machine_.run(), rethrow);
        asio::co_spawn(io_, watch_server(), [&](std::exception_ptr thrown) {
            signals.cancel();
            machine_.stop();
            rethrow(thrown);
        });
        io_.run_for(settings_.at_most);
        if (stop) {
            throw interrupted();
        }
        result_.end = ended();
        result_.machine = machine_.seen();
        result_.machine.clients_ms = figure(result_.load, "own_delay_ms");
        return std::move(result_);
    }

private:
    ending ended() {
        if (!io_.stopped()) {
            return ending::out_of_time;
        }
        const bool reported = clients_ && !result_.load.empty() && !result_.server.empty();
        return reported && clients_->wait() && server_->wait() ? ending::reported : ending::crashed;
    }

    asio::awaitable<void> watch_server() {
        const auto hello = co_await server_->next_line();
        if (!hello) {
            co_return; // It has printed the reason.
        }
        std::printf("\n%s, %s\n", result_.timer.c_str(), hello->c_str());
        std::vector<std::string> how = settings_.load.options;
        how.insert(how.end(), {"--port", hello->substr(hello->rfind(':') + 1)});
        clients_.emplace(io_, settings_.folder / settings_.load.name, how);
        machine_.add(clients_->id());
        asio::co_spawn(io_, watch_clients(), rethrow);
        co_await show_output(*server_, result_.server);
        clients_->signal(SIGKILL); // They still run only if the server has crashed.
    }

    asio::awaitable<void> watch_clients() {
        co_await show_output(*clients_, result_.load);
        server_->signal(SIGTERM);
    }

    trial_settings settings_;
    outcome result_;
    asio::io_context io_;
    machine_monitor machine_{io_};
    std::optional<child_process> server_;
    std::optional<child_process> clients_;
};

} // namespace demo

#endif
