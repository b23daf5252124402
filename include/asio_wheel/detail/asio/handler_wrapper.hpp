// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Handlers that wrap another handler.
//
// Asio asks a handler for its associated executor, allocator, cancellation slot and so on. A
// wrapper must answer as the handler inside would, unless it has an answer of its own. The one
// specialisation of boost::asio::associator below does that for all wrappers of the library.

#ifndef ASIO_WHEEL_DETAIL_ASIO_HANDLER_WRAPPER_HPP
#define ASIO_WHEEL_DETAIL_ASIO_HANDLER_WRAPPER_HPP

#include <boost/asio/associator.hpp>

namespace asio_wheel::detail {

/// A wrapper names the type of the handler inside as wrapped_handler, and returns it by inner().
template <class T>
concept handler_wrapper = requires(const T& t) {
    typename T::wrapped_handler;
    static_cast<const typename T::wrapped_handler&>(t.inner());
};

} // namespace asio_wheel::detail

template <template <class, class> class Associator, asio_wheel::detail::handler_wrapper Wrapper,
          class Candidate>
struct boost::asio::associator<Associator, Wrapper, Candidate>
    : Associator<typename Wrapper::wrapped_handler, Candidate> {
    using inner_associator = Associator<typename Wrapper::wrapped_handler, Candidate>;

    static auto get(const Wrapper& w) noexcept { return inner_associator::get(w.inner()); }
    static auto get(const Wrapper& w, const Candidate& fallback) noexcept {
        return inner_associator::get(w.inner(), fallback);
    }
};

#endif
