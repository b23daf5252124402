// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_MANUAL_STREAM_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MANUAL_STREAM_HPP

#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/manual_layer.hpp"

#include <boost/system/error_code.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace asio_wheel::test {

/// A stream in virtual time, whose next layer is the test's.
struct manual_stream : virtual_world {
    std::optional<timeout_stream<manual_layer>> s{std::in_place, ctx};
    std::shared_ptr<manual_layer::state> wire = s->socket().wire;
    std::array<char, 1000> memory{};

    manual_stream() = default;
    manual_stream(const manual_stream&) = delete;
    manual_stream& operator=(const manual_stream&) = delete;
    ~manual_stream() {
        s.reset();
        poll();
    }

    /// Logs `what`, and "late" after a timeout.
    [[nodiscard]] auto note(const std::string& what) {
        return [this, what](boost::system::error_code ec, std::size_t) {
            const bool late = ec == error::timed_out;
            log.add(late ? what + " late" : what, late ? boost::system::error_code() : ec);
        };
    }
};

} // namespace asio_wheel::test

#endif
