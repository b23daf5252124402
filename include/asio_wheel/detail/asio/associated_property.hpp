// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Properties of handlers that are associated with them as Asio's executors, allocators and slots
// are. So all wrappers that forward what is associated forward these, too: Asio's and others.

#ifndef ASIO_WHEEL_DETAIL_ASIO_ASSOCIATED_PROPERTY_HPP
#define ASIO_WHEEL_DETAIL_ASIO_ASSOCIATED_PROPERTY_HPP

#include <boost/asio/associator.hpp>

namespace asio_wheel::detail {

template <class T, class Property>
concept has_itself = requires { typename Property::template type_of<T>; };

template <template <class, class> class Associator, class Property, class T, class Candidate>
concept has_inside = !has_itself<T, Property> &&
                     requires { typename boost::asio::associator<Associator, T, Candidate>::type; };

/// The base class of an associator for a `Property`, which has
///
///   type_of<T>   the type of the property, for a handler `T` that has it itself
///   get(t)       returns it
template <template <class, class> class Associator, class Property, class T, class Candidate>
struct associated_property {
    /// What get() returns: the type of the handler's property, or the candidate.
    using type = Candidate;
    /// The property of a handler; the candidate if the handler has none.
    [[nodiscard]] static type get(const T&) noexcept { return Candidate(); }
    [[nodiscard]] static type get(const T&, const Candidate& c) noexcept { return c; }
};

template <template <class, class> class Associator, class Property, class T, class Candidate>
    requires has_inside<Associator, Property, T, Candidate>
struct associated_property<Associator, Property, T, Candidate>
    : boost::asio::associator<Associator, T, Candidate> {};

template <template <class, class> class Associator, class Property, class T, class Candidate>
    requires has_itself<T, Property>
struct associated_property<Associator, Property, T, Candidate> {
    using type = typename Property::template type_of<T>;
    [[nodiscard]] static type get(const T& t) noexcept { return Property::get(t); }
    [[nodiscard]] static type get(const T& t, const Candidate&) noexcept {
        return Property::get(t);
    }
};

} // namespace asio_wheel::detail

#endif
