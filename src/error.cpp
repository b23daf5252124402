// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The error category of the library, and the text of each error.

#include <asio_wheel/error.hpp>

#include <boost/system/errc.hpp>
#include <boost/system/error_condition.hpp>

#include <string>

namespace asio_wheel {

namespace {

const char* message_of(error e) noexcept {
    switch (e) {
    case error::too_many_pending:
        return "Too many waits are pending on the wheel";
    case error::wheel_stopped:
        return "The wheel was drained and accepts no more waits";
    case error::timed_out:
        return "The deadline of the operation has passed";
    case error::queue_closed:
        return "The queue was closed";
    case error::queue_full:
        return "The queue is full";
    case error::scheduler_stopped:
        return "The scheduler was stopped";
    case error::scheduler_full:
        return "The scheduler is full";
    case error::limiter_closed:
        return "The rate limiter was closed";
    }
    return "Unknown asio_wheel error";
}

class category final : public boost::system::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "asio_wheel"; }

    [[nodiscard]] std::string message(int value) const override {
        return message_of(static_cast<error>(value));
    }

    [[nodiscard]] boost::system::error_condition
    default_error_condition(int value) const noexcept override {
        if (value == static_cast<int>(error::timed_out)) {
            return make_error_condition(boost::system::errc::timed_out);
        }
        return {value, *this};
    }
};

} // namespace

const boost::system::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

} // namespace asio_wheel
