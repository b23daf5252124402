// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/error.hpp>

#include <string>

namespace asio_wheel {

namespace {

class category final : public boost::system::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "asio_wheel"; }

    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<error>(value)) {
        case error::too_many_pending:
            return "Too many waits are pending on the wheel";
        case error::wheel_stopped:
            return "The wheel was drained and accepts no more waits";
        }
        return "Unknown asio_wheel error";
    }
};

} // namespace

const boost::system::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

} // namespace asio_wheel
