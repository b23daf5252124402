// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What an inspector serves: the wheels that it watches, as JSON and as metrics, and the page.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_SITE_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_SITE_HPP

#include "history.hpp"
#include "json.hpp"
#include "page.hpp"
#include "requests.hpp"
#include "session.hpp"
#include "snapshot.hpp"

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/service/watched_wheel.hpp>
#include <asio_wheel/detail/text.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/inspector.hpp>
#include <asio_wheel/openmetrics.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>

#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <locale>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

/// A number that cannot be guessed, in hexadecimal digits.
[[nodiscard]] inline std::string random_word() {
    std::random_device random;
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << std::hex;
    for (int i = 0; i < 4; ++i) {
        text << static_cast<std::uint32_t>(random());
    }
    return text.str();
}

/// What waits on a wheel, as it was when it was last read. To visit all waits takes time, so it is
/// done at most once in two seconds, for at most 2 % of the time, and not if there are too many.
class recent_report {
    using clock = std::chrono::steady_clock;

public:
    static constexpr std::uint64_t most_waits = 2'000'000;
    static constexpr std::chrono::seconds pause{2};
    static constexpr int cost_factor = 50;

    /// Writes it, if there is one.
    void write(json_writer& json, watched_wheel& wheel, std::uint64_t pending) {
        const auto now = clock::now();
        if (pending > most_waits) {
            report_.reset();
            next_ = now;
        } else if (now >= next_) {
            report_ = wheel.report();
            read_ = clock::now();
            next_ = read_ + (std::max<clock::duration>)(pause, (read_ - now) * cost_factor);
        }
        if (report_) {
            const auto age = (std::max)(clock::duration::zero(), now - read_);
            write_waits(json, *report_, std::chrono::duration_cast<std::chrono::milliseconds>(age));
        }
    }

private:
    std::optional<wheel_report> report_;
    clock::time_point read_;
    clock::time_point next_;
};

/// The wheels by their names. add() may be called from any thread, everything else by the server's.
class inspected_wheels {
public:
    /// Throws std::invalid_argument if the name cannot be used.
    void add(std::string name, std::shared_ptr<watched_wheel> wheel) {
        const std::string shown = '"' + printable(name) + '"';
        if (name.empty() || !is_utf8(name)) {
            bad_argument("the name of an inspected wheel", shown, "UTF-8, and not empty");
        }
        auto history = std::make_shared<wheel_history>(); // The server does not know it yet.
        if (const auto reading = wheel->read()) {
            history->end_period(*reading, std::chrono::system_clock::now(), 0);
        }
        const std::lock_guard lock(mutex_);
        // The name of a wheel whose context has ended is free again.
        std::erase_if(wheels_, [&](const entry& e) { return e.name == name && e.wheel->ended(); });
        for (const entry& e : wheels_) {
            if (e.name == name) {
                bad_argument("the name of an inspected wheel", shown,
                             "different from those of the others");
            }
        }
        wheels_.push_back({std::move(name), std::move(wheel), std::make_shared<recent_report>(),
                           std::move(history)});
    }

    /// A minute ends.
    void remember(std::chrono::system_clock::time_point now, std::chrono::minutes most) {
        for (const entry& e : wheels()) {
            if (const auto reading = e.wheel->read()) {
                e.history->end_period(*reading, now, static_cast<std::size_t>(most.count()));
            }
        }
    }

    [[nodiscard]] std::string history_json(const lateness_limits& limits) {
        std::string text;
        json_writer json(text);
        json.open('{');
        json.member("instance", std::string_view(instance_));
        json.member("period_ms", std::chrono::milliseconds(wheel_history::period).count());
        json.member("warning_ns", limits.warning);
        json.member("critical_ns", limits.critical);
        wheel_history::write_columns(json.key("columns"));
        json.key("wheels").open('[');
        for (const entry& e : wheels()) {
            json.open('{').member("name", std::string_view(e.name));
            e.history->write(json.key("minutes"), limits);
            json.close('}');
        }
        json.close(']').close('}');
        return text;
    }

    [[nodiscard]] std::string json(const inspector_options& options) {
        std::string text;
        json_writer json(text);
        json.open('{');
        json.member("instance", std::string_view(instance_));
        json.member("sequence", ++sequence_);
        json.member("period_ms", options.period.count());
        json.key("wheels").open('[');
        for (const entry& e : wheels()) {
            json.open('{').member("name", std::string_view(e.name));
            const auto reading = e.wheel->read();
            json.member("ended", !reading.has_value());
            if (reading) {
                write_wheel(json, *reading, options.limits);
                e.report->write(json, *e.wheel, reading->stats.pending);
            }
            json.close('}');
        }
        json.close(']').close('}');
        return text;
    }

    [[nodiscard]] std::vector<labelled_stats> stats() {
        std::vector<labelled_stats> all;
        for (const entry& e : wheels()) {
            if (auto reading = e.wheel->read()) {
                all.push_back(
                    {{{"context", e.name}}, std::move(reading->stats), std::move(reading->tags)});
            }
        }
        return all;
    }

private:
    struct entry {
        std::string name;
        std::shared_ptr<watched_wheel> wheel;
        std::shared_ptr<recent_report> report;  // Used by the server.
        std::shared_ptr<wheel_history> history; // Likewise.
    };

    [[nodiscard]] std::vector<entry> wheels() {
        const std::lock_guard lock(mutex_);
        return wheels_;
    }

    const std::string instance_ = random_word(); // A page sees whether the program is another one.
    std::uint64_t sequence_ = 0;
    mutex mutex_; // Guards wheels_.
    std::vector<entry> wheels_;
};

[[nodiscard]] inline inspector_answer metrics_answer(inspected_wheels& wheels,
                                                     std::string_view accept) {
    inspector_answer answer;
    std::ostringstream text;
    if (prefers_openmetrics(accept)) {
        answer.type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        to_openmetrics(text, wheels.stats());
    } else {
        answer.type = "text/plain; version=0.0.4; charset=utf-8";
        to_prometheus(text, wheels.stats());
    }
    answer.body = text.str();
    return answer;
}

[[nodiscard]] inline inspector_answer page_answer() {
    inspector_answer answer;
    const std::string nonce = random_word();
    answer.type = "text/html; charset=utf-8";
    answer.policy = "default-src 'none'; connect-src 'self'; img-src data:; style-src 'nonce-" +
                    nonce + "'; script-src 'nonce-" + nonce +
                    "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    answer.body = inspector_page(nonce);
    return answer;
}

[[nodiscard]] inline inspector_answer site_answer(std::string_view path, std::string_view accept,
                                                  inspected_wheels& wheels,
                                                  const inspector_options& options) {
    inspector_answer answer;
    if (path == "/") {
        return page_answer();
    }
    if (path == "/metrics") {
        return metrics_answer(wheels, accept);
    }
    if (path == "/wheel.json") {
        answer.type = "application/json";
        answer.body = wheels.json(options) + "\n";
    } else if (path == "/history.json") {
        answer.type = "application/json";
        answer.body = wheels.history_json(options.limits) + "\n";
    } else if (path == "/events") {
        answer.type = "text/event-stream";
        answer.events = true;
    } else {
        answer.status = boost::beast::http::status::not_found;
        answer.body = "There are /, /metrics, /wheel.json, /history.json and /events.\n";
    }
    return answer;
}

} // namespace asio_wheel::detail

#endif
