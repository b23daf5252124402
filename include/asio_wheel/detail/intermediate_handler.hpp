// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_INTERMEDIATE_HANDLER_HPP
#define ASIO_WHEEL_DETAIL_INTERMEDIATE_HANDLER_HPP

#include <boost/asio/associator.hpp>
#include <boost/system/error_code.hpp>

#include <utility>

namespace asio_wheel::detail {

/// Stands between a wait and the handler of an operation that is made of waits: calls
/// step(handler, error code), which completes the operation or starts the next wait. Its executor,
/// allocator and so on are those of the handler.
template <class Handler, class Step>
class intermediate_handler {
public:
    intermediate_handler(Handler&& handler, Step step)
        : handler_(std::move(handler)), step_(std::move(step)) {}

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

    void operator()(const boost::system::error_code& ec) {
        std::move(step_)(std::move(handler_), ec);
    }

private:
    Handler handler_;
    Step step_;
};

} // namespace asio_wheel::detail

template <template <class, class> class Associator, class Handler, class Step,
          class DefaultCandidate>
struct boost::asio::associator<Associator, asio_wheel::detail::intermediate_handler<Handler, Step>,
                               DefaultCandidate> : Associator<Handler, DefaultCandidate> {
    using intermediate = asio_wheel::detail::intermediate_handler<Handler, Step>;

    static auto get(const intermediate& h) noexcept {
        return Associator<Handler, DefaultCandidate>::get(h.inner());
    }
    static auto get(const intermediate& h, const DefaultCandidate& otherwise) noexcept {
        return Associator<Handler, DefaultCandidate>::get(h.inner(), otherwise);
    }
};

#endif
