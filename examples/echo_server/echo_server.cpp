// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An echo and heartbeat server on loopback that closes connections which stay idle.
//
// One thread, two coroutines a connection (session.hpp), and the timer type as a parameter: the
// same server runs on asio_wheel::steady_timer and on boost::asio::steady_timer.

#include "../support/coroutine.hpp"
#include "../support/options.hpp"
#include "../support/process_usage.hpp"
#include "../support/record.hpp"
#include "file_limit.hpp"
#include "listener.hpp"
#include "meters.hpp"
#include "other_deadlines.hpp"

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace {

using namespace echo;
using namespace std::chrono_literals;

struct settings {
    int port = 0;
    double idle = 5;
    bool on_asio = false;
    bool per_line = false;
    bool without = false;
};

template <class Timer>
class server {
    using plain_timer = typename echo::plain_timer<Timer>::type;

public:
    explicit server(const settings& s)
        : io_(1), listener_(io_, loopback(s.port), from_seconds(s.idle), meters_), ticker_(io_) {}

    void run() {
        asio::signal_set signals(io_, SIGINT, SIGTERM);
        signals.async_wait([this](auto, int) { io_.stop(); });
        std::printf("listening on 127.0.0.1:%d\n", listener_.port());
        std::fflush(stdout);
        asio::co_spawn(io_, listener_.accept(), asio::detached);
        asio::co_spawn(io_, show_progress(), rethrow);
        run_until_stopped();

        // Take no more, and give what is under way a moment to end: with the last connection goes
        // the last wait, and a context without waits runs out of work at once.
        listener_.close();
        ticker_.cancel();
        io_.restart();
        io_.run_for(1s);
        print_result(summary());
    }

private:
    static tcp::endpoint loopback(int port) {
        return {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)};
    }

    /// What a connection throws for want of memory leaves run(). The others go on.
    void run_until_stopped() {
        while (!io_.stopped()) {
            try {
                if (listener_.is_accepting()) {
                    io_.run_one();
                } else { // after a while, in which some memory may come back
                    io_.run_for(10ms);
                    asio::co_spawn(io_, listener_.accept(), asio::detached);
                }
            } catch (const std::bad_alloc&) {
                ++meters_.given_up;
            } catch (const asio::multiple_exceptions&) {
                ++meters_.given_up;
            }
        }
    }

    asio::awaitable<void> show_progress() {
        std::printf("%5s %12s %8s %10s %11s %12s %31s\n", "s", "connections", "waits", "re-arms/s",
                    "wake-ups/s", "closed idle", "lateness ms:  p50     p99     max");
        std::uint64_t lines = 0;
        std::uint64_t wake_ups = process_usage::now().wake_ups;
        ticker_.expires_after(1s);
        for (int second = 1;; ++second) {
            auto [error] = co_await ticker_.async_wait(as_result);
            if (error) {
                co_return;
            }
            const auto used = process_usage::now();
            const auto& late = meters_.lateness;
            std::printf("%5d %12.0f %8.0f %10.0f %11.0f %12.0f %15.2f %7.2f %7.2f\n", second,
                        number(meters_.connections), number(waits_pending()),
                        number(meters_.lines - std::exchange(lines, meters_.lines)),
                        number(used.wake_ups - std::exchange(wake_ups, used.wake_ups)),
                        number(meters_.idle_closes), milliseconds(late.quantile(0.50)),
                        milliseconds(late.quantile(0.99)), milliseconds(late.max()));
            std::fflush(stdout);
            ticker_.expires_at(ticker_.expiry() + 1s);
        }
    }

    std::uint64_t waits_pending() {
        if constexpr (postponable<Timer>) {
            return asio_wheel::use_wheel(io_).pending();
        } else {
            return meters_.waits; // Asio does not tell
        }
    }

    record summary() {
        const auto used = process_usage::now();
        const auto& late = meters_.lateness;
        record values{
            {"accepted", number(meters_.accepted)},
            {"not_accepted", number(meters_.not_accepted)},
            {"given_up", number(meters_.given_up)},
            {"connections_left", number(meters_.connections)},
            {"waits_left", number(waits_pending())},
            {"lines", number(meters_.lines)},
            {"timer_handlers", number(meters_.timer_handlers)},
            {"idle_closes", number(meters_.idle_closes)},
            {"early_closes", number(meters_.early_closes)},
            {"late_p50_ms", milliseconds(late.quantile(0.50))},
            {"late_p99_ms", milliseconds(late.quantile(0.99))},
            {"late_max_ms", milliseconds(late.max())},
            {"cpu_seconds", used.cpu_seconds},
            {"wake_ups", number(used.wake_ups)},
            {"peak_megabytes", used.peak_megabytes},
            {"tick_ms", 0},
        };
        if constexpr (postponable<Timer>) {
            const auto& wheel = asio_wheel::use_wheel(io_);
            const auto stats = wheel.stats();
            values["tick_ms"] = milliseconds(wheel.options().tick);
            values["wheel_postponed"] = number(stats.postponed);
            values["wheel_wake_ups"] = number(stats.wake_ups);
            values["wheel_late_p99_ms"] = milliseconds(stats.lateness.quantile(0.99));
        }
        return values;
    }

    static double number(std::uint64_t n) { return static_cast<double>(n); }

    meters meters_; // outlives the context, whose last connections count themselves out
    asio::io_context io_;
    listener<Timer> listener_;
    plain_timer ticker_;
};

} // namespace

int main(int argc, char** argv) {
    settings s;
    const command_line options("echo_server", "Echo server on loopback with idle timeouts.",
                               {{"--port", &s.port, "port, 0 for any free one (default)", 0, 65535},
                                {"--idle", &s.idle, "seconds of silence allowed (5)", 0.2, 3600},
                                {"--asio", &s.on_asio, "use boost::asio::steady_timer"},
                                {"--asio-per-line", &s.per_line, "the same, set anew by each line"},
                                {"--none", &s.without, "allow silence for ever, use no timers"}});
    options.parse(argc, argv);
    if (s.on_asio + s.per_line + s.without > 1) {
        options.fail("--asio, --asio-per-line and --none exclude each other");
    }
    try {
        raise_file_limit();
        if (s.on_asio) {
            server<asio::steady_timer>(s).run();
        } else if (s.per_line) {
            server<per_line<asio::steady_timer>>(s).run();
        } else if (s.without) {
            server<no_timer>(s).run();
        } else {
            server<asio_wheel::steady_timer>(s).run();
        }
    } catch (const boost::system::system_error& e) {
        std::fprintf(stderr, "echo_server: cannot listen on port %d: %s\n", s.port,
                     e.code().message().c_str());
        return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_server: %s\n", e.what());
        return 1;
    }
    return 0;
}
