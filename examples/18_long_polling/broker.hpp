// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a broker knows: topics, which only grow, and the fetches that wait for more.

#ifndef LONG_POLLING_BROKER_HPP
#define LONG_POLLING_BROKER_HPP

#include <asio_wheel/delayed_operations.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace long_polling {

namespace asio = boost::asio;

/// How far a consumer has read each topic.
using offsets = std::map<std::string, std::size_t>;

/// What is new in some topics, and how far that is.
struct batch {
    std::string text;
    offsets read;
};

struct fetch_request {
    std::vector<std::string> topics;
    std::size_t min_bytes = 1; // No answer with less before this time has passed:
    std::chrono::milliseconds max_wait{0};
};

class broker {
public:
    explicit broker(asio::io_context& ctx) : fetches_(ctx) {}

    void append(const std::string& topic, const std::string& text) {
        topics_[topic] += text;
        completed_ += fetches_.check(topic);
    }

    /// Waits until there is enough that is new. When the time is over, that is what there is.
    asio::awaitable<batch> fetch(const fetch_request& request, const offsets& read) {
        const auto enough = [&](asio_wheel::attempt which) -> std::optional<batch> {
            batch b = news(request.topics, read);
            if (b.text.size() >= request.min_bytes || which == asio_wheel::attempt::last) {
                return b;
            }
            return std::nullopt;
        };
        co_return co_await fetches_.async_wait(request.topics, request.max_wait, enough,
                                               asio::use_awaitable);
    }

    /// Answers all that wait with what there is. Returns how many these were.
    std::size_t answer_all() { return fetches_.force(); }

    [[nodiscard]] std::size_t waiting() const { return fetches_.pending(); }
    [[nodiscard]] std::size_t completed_by_appends() const { return completed_; }

private:
    [[nodiscard]] batch news(const std::vector<std::string>& topics, const offsets& read) {
        batch b{.text = {}, .read = read};
        for (const std::string& topic : topics) {
            const auto it = topics_.find(topic); // Who asks creates no topic.
            if (it != topics_.end()) {
                b.text += it->second.substr(b.read[topic]);
                b.read[topic] = it->second.size();
            }
        }
        return b;
    }

    std::map<std::string, std::string> topics_;
    asio_wheel::delayed_operations<std::string, batch> fetches_;
    std::size_t completed_ = 0;
};

} // namespace long_polling

#endif
