// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The library also compiles without exceptions (-fno-exceptions), as Asio does. Therefore no other
// file has `throw`, `try` or `catch`:
//
//  - BOOST_THROW_EXCEPTION(std::logic_error("…")) throws. Without exceptions it calls
//    boost::throw_exception(), which the program defines, and which does not return.
//  - scope_exit.hpp undoes what has begun when something throws.
//  - The functions below handle an exception. Without exceptions they only call `f`.

#ifndef ASIO_WHEEL_DETAIL_EXCEPTIONS_HPP
#define ASIO_WHEEL_DETAIL_EXCEPTIONS_HPP

#include <boost/config.hpp>
#include <boost/throw_exception.hpp> // IWYU pragma: export

#include <exception>
#include <utility>

namespace asio_wheel::detail {

#ifndef BOOST_NO_EXCEPTIONS

/// Calls f(). Returns whether it throws.
template <class Function>
[[nodiscard]] bool throws(Function&& f) {
    try {
        std::forward<Function>(f)();
    } catch (...) {
        return true;
    }
    return false;
}

/// Calls f(). Returns whether it throws an `Exception`. Other exceptions leave this function.
template <class Exception, class Function>
[[nodiscard]] bool throws(Function&& f) {
    try {
        std::forward<Function>(f)();
    } catch (const Exception&) {
        return true;
    }
    return false;
}

/// The same, but an `Exception` leaves this function, too, unless is_handled() returns true.
template <class Exception, class Function, class Condition>
[[nodiscard]] bool throws(Function&& f, Condition is_handled) {
    try {
        std::forward<Function>(f)();
    } catch (const Exception&) {
        if (!is_handled()) {
            throw;
        }
        return true;
    }
    return false;
}

/// Calls f(). Returns what it throws, or null.
template <class Function>
[[nodiscard]] std::exception_ptr thrown_by(Function&& f) {
    try {
        std::forward<Function>(f)();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

/// Whether `e`, which is not null, points to an `Exception` for which `predicate` is true.
template <class Exception, class Predicate>
[[nodiscard]] bool points_to(const std::exception_ptr& e, Predicate predicate) {
    try {
        std::rethrow_exception(e);
    } catch (const Exception& exception) {
        return predicate(exception);
    } catch (...) {
        return false;
    }
}

#else

template <class Function>
[[nodiscard]] bool throws(Function&& f) {
    std::forward<Function>(f)();
    return false;
}

template <class Exception, class Function>
[[nodiscard]] bool throws(Function&& f) {
    std::forward<Function>(f)();
    return false;
}

template <class Exception, class Function, class Condition>
[[nodiscard]] bool throws(Function&& f, const Condition&) {
    std::forward<Function>(f)();
    return false;
}

template <class Function>
[[nodiscard]] std::exception_ptr thrown_by(Function&& f) {
    std::forward<Function>(f)();
    return nullptr;
}

// Without catch, nothing can look at an exception.
template <class Exception, class Predicate>
[[nodiscard]] bool points_to(const std::exception_ptr&, const Predicate&) {
    return false;
}

#endif

/// Points to a copy of `e`. Without exceptions, it is null if the standard library cannot make one:
/// libstdc++ without RTTI, and libc++, which would end the program.
template <class Exception>
[[nodiscard]] std::exception_ptr pointer_to(Exception e) {
#if defined(BOOST_NO_EXCEPTIONS) && defined(_LIBCPP_VERSION)
    static_cast<void>(e);
    return nullptr;
#else
    return std::make_exception_ptr(std::move(e));
#endif
}

} // namespace asio_wheel::detail

#endif
