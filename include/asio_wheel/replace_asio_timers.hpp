// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Puts each of Asio's timers in a program on a wheel, whatever library has written it: those of
// Beast, Boost.MySQL, Boost.Redis, and Asio's own cancel_after().
//
// With CMake, one line:
//
//     target_link_libraries(server PRIVATE asio_wheel::replace_asio_timers)
//
// Otherwise, include this header before all others, in each source: `-include
// asio_wheel/replace_asio_timers.hpp`, or `/FI` for Microsoft's compiler. All sources of the
// program, and all libraries that were compiled with Asio's timers inside, must agree. The linker
// does not say so if they do not: see docs/guide/replace_asio_timers.md.

#ifndef ASIO_WHEEL_REPLACE_ASIO_TIMERS_HPP
#define ASIO_WHEEL_REPLACE_ASIO_TIMERS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/wait_traits.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

/// Defined if Asio's timers are replaced.
#define ASIO_WHEEL_REPLACES_ASIO_TIMERS 1

namespace boost::asio {

/// A timer of Asio's name that waits on the wheel: a specialisation for all clocks and executors,
/// with Asio's own traits. Has all that asio_wheel::basic_waitable_timer has. Timers with a clock
/// of Boost.Chrono stay Asio's, because a wheel knows the durations of std::chrono only.
///
/// One thing is as with Asio, since libraries depend on it: a wait that the wheel refuses (see
/// wheel_options::max_pending and wheel_service::drain()) ends with operation_aborted.
template <class Clock, class Executor>
    requires asio_wheel::detail::is_duration<typename Clock::duration>
class basic_waitable_timer<Clock, wait_traits<Clock>, Executor>
    : public asio_wheel::basic_waitable_timer<Clock, wait_traits<Clock>, Executor> {
    using base = asio_wheel::basic_waitable_timer<Clock, wait_traits<Clock>, Executor>;

    template <class Executor1>
    using other_base = asio_wheel::basic_waitable_timer<Clock, wait_traits<Clock>, Executor1>;

public:
    /// The same timer for another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_waitable_timer<Clock, wait_traits<Clock>, Executor1>;
    };

    /// For an executor or a context. May have an expiry, as a time point or as a duration.
    template <class Where, class... Expiry>
        requires(sizeof...(Expiry) <= 1 && std::constructible_from<base, Where, Expiry...> &&
                 !std::derived_from<std::remove_cvref_t<Where>, base>)
    explicit(sizeof...(Expiry) == 0 || !std::convertible_to<Where, const Executor&>)
        basic_waitable_timer(Where&& where, Expiry&&... expiry)
        : base(std::forward<Where>(where), std::forward<Expiry>(expiry)...) {
        end_as_asios();
    }

    basic_waitable_timer(basic_waitable_timer&& other) : base(std::move(other)) { end_as_asios(); }
    basic_waitable_timer& operator=(basic_waitable_timer&& other) = default;

    /// Moves from a timer with another executor.
    template <class Executor1>
        requires(std::convertible_to<Executor1, Executor> && !std::same_as<Executor1, Executor>)
    basic_waitable_timer(basic_waitable_timer<Clock, wait_traits<Clock>, Executor1>&& other)
        : base(static_cast<other_base<Executor1>&&>(other)) {
        end_as_asios();
    }

    template <class Executor1>
        requires(std::convertible_to<Executor1, Executor> && !std::same_as<Executor1, Executor>)
    basic_waitable_timer&
    operator=(basic_waitable_timer<Clock, wait_traits<Clock>, Executor1>&& other) {
        base::operator=(static_cast<other_base<Executor1>&&>(other));
        return *this;
    }

    ~basic_waitable_timer() = default;

private:
    // A wait that is refused ends as aborted.
    void end_as_asios() noexcept {
        asio_wheel::detail::core_access::state_of(*this).replaces_asios = true;
    }
};

} // namespace boost::asio

#endif
