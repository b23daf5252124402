// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The messages to a peer that are not written yet. Any coroutine may add messages. Only one, the
// writer, takes them out, so two messages are never written at the same time.

#ifndef CHAT_OUTBOX_HPP
#define CHAT_OUTBOX_HPP

#include "message.hpp"

#include <asio_wheel.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <deque>
#include <utility>

namespace chat {

namespace asio = boost::asio;

class outbox {
public:
    outbox(const asio::any_io_executor& ex, std::size_t limit)
        : changed_(ex, asio_wheel::steady_timer::time_point::max()), limit_(limit) {}

    /// Returns false if the outbox is full. After finish(), messages are dropped.
    [[nodiscard]] bool push(message m) {
        const bool fits = finished_ || messages_.size() < limit_;
        if (fits && !finished_) {
            messages_.push_back(std::move(m));
            changed_.cancel();
        }
        return fits;
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

    /// Waits until it is at most half full.
    asio::awaitable<void> room() {
        co_await until([this] { return messages_.size() <= limit_ / 2; });
    }

    /// Waits for the next message. A null pointer is the end.
    asio::awaitable<message> next() {
        co_await until([this] { return !messages_.empty(); });
        if (messages_.empty()) {
            co_return nullptr;
        }
        message m = std::move(messages_.front());
        messages_.pop_front();
        changed_.cancel();
        co_return m;
    }

    [[nodiscard]] bool empty() const { return messages_.empty(); }

private:
    // Or until no messages come any more.
    template <class Condition>
    asio::awaitable<void> until(Condition holds) {
        while (!holds() && !finished_) {
            // The timer never expires. Whatever changes the messages cancels the wait.
            const auto [ec] = co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
            if (ec != asio::error::operation_aborted) { // The wheel is full, or drained.
                throw boost::system::system_error(ec);
            }
        }
    }

    asio_wheel::steady_timer changed_;
    std::deque<message> messages_;
    std::size_t limit_;
    bool finished_ = false;
};

} // namespace chat

#endif
