// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Handlers that belong to a group: from the start of the operation to their end.

#ifndef ASIO_WHEEL_DETAIL_HANDLER_GROUP_GROUPED_TOKEN_HPP
#define ASIO_WHEEL_DETAIL_HANDLER_GROUP_GROUPED_TOKEN_HPP

#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/asio/wrapped_token.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/assert.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_wheel::detail {

/// Idle if it has no handler.
class group_of_handlers final : public idle_source {
public:
    void add() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        ++size_;
    }
    void remove() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        BOOST_ASSERT(size_ != 0);
        --size_;
        finish_waits_if_idle();
    }
    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return size_;
    }

private:
    [[nodiscard]] bool is_idle() const noexcept override { return size_ == 0; }

    std::size_t size_ = 0;
};

/// Stands for one handler of a group, while it exists and was not moved from.
class place_in_group {
public:
    explicit place_in_group(std::shared_ptr<group_of_handlers> group) noexcept
        : group_(std::move(group)) {
        group_->add();
    }
    place_in_group(place_in_group&& other) noexcept = default;
    place_in_group& operator=(place_in_group&&) = delete;
    ~place_in_group() {
        if (group_) {
            group_->remove();
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return group_ != nullptr; }
    [[nodiscard]] const group_of_handlers& group() const noexcept { return *group_; }

private:
    std::shared_ptr<group_of_handlers> group_;
};

template <class Handler>
class grouped_handler {
public:
    using wrapped_handler = Handler;

    grouped_handler(Handler&& handler, const std::shared_ptr<group_of_handlers>& group)
        : place_(group), handler_(std::move(handler)) {}
    grouped_handler(grouped_handler&& other)
        : place_(std::move(other.place_)), handler_(std::move(other.handler_)) {}
    grouped_handler& operator=(grouped_handler&&) = delete;
    ~grouped_handler() {
        if (place_) { // It was not moved from. What it destroys cannot wait for the group, either.
            const idle_source::idle_call in_call(place_.group());
            handler_.~Handler();
        } else {
            handler_.~Handler();
        }
    }

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

    template <class... Args>
    void operator()(Args&&... args) {
        const idle_source::idle_call in_call(place_.group());
        // Where it is. If it were moved, and that were a copy, the copy would end first.
        std::move(handler_)(std::forward<Args>(args)...);
    }

private:
    place_in_group place_; // Ends after the handler.
    union {                // So that the destructor says when it ends.
        Handler handler_;
    };
};

/// Makes handlers belong to a group.
class add_to_group {
public:
    explicit add_to_group(const std::shared_ptr<group_of_handlers>& group) noexcept
        : group_(group) {}

    template <class Handler>
    [[nodiscard]] grouped_handler<Handler> operator()(Handler handler) const {
        return grouped_handler<Handler>(std::move(handler), group_);
    }

private:
    std::shared_ptr<group_of_handlers> group_;
};

/// A completion token whose handlers belong to a group, and which otherwise behaves as `Token`.
template <class Token>
class grouped_token {
public:
    template <class T>
    grouped_token(T&& token, const std::shared_ptr<group_of_handlers>& group)
        : token_(std::forward<T>(token)), group_(group) {}

    // For boost::asio::async_result.
    using wrapped_token = Token;
    template <class Initiation, class... Signatures>
    using initiation = wrapping_initiation<Initiation, add_to_group>;
    template <class RawToken>
    [[nodiscard]] static const add_to_group& property_of(const grouped_token& t) noexcept {
        return t.group_;
    }
    Token token_;
    add_to_group group_;
};

} // namespace asio_wheel::detail

template <class Token, class... Signatures>
class boost::asio::async_result<asio_wheel::detail::grouped_token<Token>, Signatures...>
    : public asio_wheel::detail::wrapping_result<asio_wheel::detail::grouped_token<Token>,
                                                 Signatures...> {};

#endif
