// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A wait that replaces the one before it on the same timer.
//
// Starting a wait may throw. Then the wait before must go on, for the same time. So it is aborted,
// and the timer's expiry is changed, only when the new operation has all of its memory.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WAIT_ANEW_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WAIT_ANEW_HPP

#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// A timer whose expiry is set by `Set` when nothing can fail any more.
template <class Core, class Set>
class timer_anew : public held_timer<Core> {
public:
    timer_anew(typename Core::state& s, Set set) noexcept
        : held_timer<Core>(s), set_(std::move(set)) {}

    void accepted() const noexcept { set_(); }

private:
    Set set_;
};

/// As timer.async_wait(handler) after set(), which calls timer.expires_at(), and must not throw.
/// But if this throws, set() has not been called.
template <class Service, class Timer, class Handler, class Set>
void wait_anew(Service& wheel, Timer& timer, Handler&& handler, Set set) {
    auto& core = core_access::of(wheel);
    start_wait(core,
               timer_anew<std::remove_reference_t<decltype(core)>, Set>(
                   core_access::state_of(timer), std::move(set)),
               timer.get_executor(), std::forward<Handler>(handler));
}

} // namespace asio_wheel::detail

#endif
