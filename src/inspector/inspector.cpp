// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The inspector: one source, which includes the rest of this folder.
//
// Asio's macros change the layouts of its objects, so this must be compiled with the same ones as
// the program. So it is no part of the compiled library. The CMake target asio_wheel::inspector
// adds this source to the program that links it. Without CMake, compile it as a source of your own.

#include "own_thread.hpp"
#include "server.hpp"
#include "site.hpp"

#include <asio_wheel/inspector.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace asio_wheel {

namespace detail {

/// An inspector's wheels, and its server until it is closed.
class running_inspector {
public:
    explicit running_inspector(const inspector_options& options) {
        const auto server =
            std::make_shared<inspector_server>(thread_.emplace().context(), options, wheels_);
        endpoint_ = server->endpoint();
        server->start();
    }

    void start() { thread_->start(); }
    void close() noexcept { thread_.reset(); }

    [[nodiscard]] inspected_wheels& wheels() noexcept { return wheels_; }
    [[nodiscard]] const boost::asio::ip::tcp::endpoint& endpoint() const noexcept {
        return endpoint_;
    }

private:
    inspected_wheels wheels_;
    boost::asio::ip::tcp::endpoint endpoint_;
    std::optional<own_thread> thread_; // Its context owns the server.
};

} // namespace detail

inspector::inspector(boost::asio::execution_context& context, inspector_options options)
    : running_(std::in_place, options) {
    watch(std::move(options.name), context);
    running_->start();
}

inspector::inspector(inspector&&) noexcept = default;

inspector& inspector::operator=(inspector&& other) noexcept = default;

inspector::~inspector() = default;

void inspector::watch(std::string name, boost::asio::execution_context& context) {
    watch(std::move(name), use_wheel(context));
}

void inspector::watch(std::string name, std::shared_ptr<detail::watched_wheel> wheel) {
    running_->wheels().add(std::move(name), std::move(wheel));
}

std::uint16_t inspector::port() const {
    return running_->endpoint().port();
}

std::string inspector::url() const {
    const auto& where = running_->endpoint();
    std::ostringstream text;
    text << where;
    return "http://" +
           (where.address().is_unspecified() ? "localhost:" + std::to_string(where.port())
                                             : text.str()) +
           '/';
}

void inspector::close() noexcept {
    if (running_) {
        running_->close();
    }
}

} // namespace asio_wheel
