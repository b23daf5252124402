// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_STABLE_IMPL_HPP
#define ASIO_WHEEL_DETAIL_STABLE_IMPL_HPP

#include <boost/throw_exception.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_wheel::detail {

/// `what` is what was moved from.
[[noreturn]] inline void throw_moved_from(const char* what = "an object") {
    BOOST_THROW_EXCEPTION(
        std::logic_error("asio_wheel: " + std::string(what) + " is used that was moved from"));
}

/// The part of a utility that stays where it is when the user moves the utility, because what is
/// pending points to it. A utility that was moved from has none.
template <class Impl>
class stable_impl {
public:
    template <class... Args>
    explicit stable_impl(std::in_place_t, Args&&... args)
        : impl_(std::make_unique<Impl>(std::forward<Args>(args)...)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return impl_ != nullptr; }

    /// Throws std::logic_error if the utility was moved from.
    [[nodiscard]] Impl* get() const {
        if (impl_ == nullptr) {
            throw_moved_from();
        }
        return impl_.get();
    }
    [[nodiscard]] Impl* operator->() const { return get(); }

private:
    std::unique_ptr<Impl> impl_;
};

} // namespace asio_wheel::detail

#endif
