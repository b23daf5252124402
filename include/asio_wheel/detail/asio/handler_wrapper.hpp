// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Handlers that stand in front of other handlers. A wrapper names the type of the other handler as
// wrapped_handler, and returns it by inner(). What is associated with the inner handler, such as an
// executor or an allocator, is associated with the wrapper, too, unless the wrapper has its own.

#ifndef ASIO_WHEEL_DETAIL_ASIO_HANDLER_WRAPPER_HPP
#define ASIO_WHEEL_DETAIL_ASIO_HANDLER_WRAPPER_HPP

#include <boost/asio/associator.hpp>

namespace asio_wheel::detail {

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
