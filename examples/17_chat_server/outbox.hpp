// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The messages to a peer that are not written yet. Any coroutine may add messages. Only one, the
// writer, takes them out, so two messages are never written at the same time.

#ifndef CHAT_OUTBOX_HPP
#define CHAT_OUTBOX_HPP

#include <asio_wheel.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace chat {

namespace asio = boost::asio;

/// A message to several peers shares its text.
using message = std::shared_ptr<const std::string>;

inline message line(std::string text) {
    text += '\n';
    return std::make_shared<const std::string>(std::move(text));
}

class outbox {
public:
    outbox(const asio::any_io_executor& ex, std::size_t limit)
        : changed_(ex, asio_wheel::steady_timer::time_point::max()), limit_(limit) {}

    /// Returns false if the outbox is full. After finish(), messages are dropped.
    [[nodiscard]] bool push(message m) {
        if (finished_) {
            return true;
        }
        if (messages_.size() == limit_) {
            return false;
        }
        messages_.push_back(std::move(m));
        changed_.cancel();
        return true;
    }

    /// `last` is the last message. There is always room for it.
    void finish(message last) {
        if (!finished_) {
            messages_.push_back(std::move(last));
            finished_ = true;
            changed_.cancel();
        }
    }

    /// Drops all messages.
    void close() {
        messages_.clear();
        finished_ = true;
        changed_.cancel();
    }

    /// Waits for the next message. A null pointer is the end.
    asio::awaitable<message> next() {
        while (messages_.empty() && !finished_) {
            // The timer never expires. push(), finish() and close() cancel the wait.
            const auto token = asio::as_tuple(asio::use_awaitable);
            const auto [ec] = co_await changed_.async_wait(token);
            if (ec != asio::error::operation_aborted) { // The wheel is full, or drained.
                throw boost::system::system_error(ec);
            }
        }
        message m;
        if (!messages_.empty()) {
            m = std::move(messages_.front());
            messages_.pop_front();
        }
        co_return m;
    }

    [[nodiscard]] bool empty() const { return messages_.empty(); }

private:
    asio_wheel::steady_timer changed_;
    std::deque<message> messages_;
    std::size_t limit_;
    bool finished_ = false;
};

} // namespace chat

#endif
