// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The core of a wheel on an execution context: the core with Asio's queue and driver, and in the
// types of a clock.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/pending_walk.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/asio_driver.hpp>
#include <asio_wheel/detail/service/asio_queue.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/execution_context.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace asio_wheel::detail {

/// They come before the core.
template <class Clock, class WaitTraits>
struct wheel_ports {
    wheel_ports(boost::asio::execution_context& context, core& c)
        : queue(context, c), driver(context, c) {}

    asio_queue queue;
    asio_driver<Clock, WaitTraits> driver;
};

template <class Clock, class WaitTraits>
class wheel_core : private wheel_ports<Clock, WaitTraits>, public core {
    using ports = wheel_ports<Clock, WaitTraits>;
    using counts = clock_counts<Clock>;

public:
    using clock = Clock;
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using state = timer_state;

    wheel_core(boost::asio::execution_context& context, const wheel_options& options)
        : ports(context, *this),
          core(with_real_tick(options), counts::port(options.tick), anchors_, this->queue,
               this->driver, optional_mutex::complain_by_assertion()) {
        anchor().context(&context);
    }

    ~wheel_core() {
        destroy_all(); // Without shutdown(), if it was made while its context ended.
        core::end();
    }

    [[nodiscard]] time_point now() const { return corrected(Clock::now()); }
    [[nodiscard]] time_point corrected(time_point real) const {
        return counts::corrected(anchor().time, real);
    }

    // For timers: see core.
    void schedule(timer_state& s, wait_node& wait) noexcept {
        this->queue.start_work();
        ASIO_WHEEL_PROBE2(arm, &s, s.expiry.get());
        if (!start_unlocked(s, wait)) {
            start(s, wait);
        }
    }

    std::size_t cancel(timer_state& s) noexcept {
        if (wait_node* const ended = end_unlocked(s)) {
            this->queue.post_aborted(*ended, is_crowded());
            return 1;
        }
        return s.life() == timer_life::tombstone ? 0 : abort_all(s);
    }
    using core::cancel;

    std::size_t cancel_one(timer_state& s) noexcept {
        if (wait_node* const ended = end_unlocked(s)) {
            this->queue.post_aborted(*ended, is_crowded());
            return 1;
        }
        return abort_first(s);
    }

    /// Aborts the waits for the old expiry. A timer that is filed early enough stays filed. The
    /// wait that ends without the lock is posted last: its handler may destroy the timer.
    std::size_t set_expiry(timer_state& s, time_count expiry) noexcept {
        wait_node* const ended = end_unlocked(s);
        std::size_t count = ended != nullptr ? 1 : 0;
        if (!set_expiry_unlocked(s, expiry)) {
            count += core::set_expiry(s, expiry);
        }
        if (ended != nullptr) {
            this->queue.post_aborted(*ended, is_crowded());
        }
        return count;
    }

    /// The same for a timer that has no waits.
    void set_idle_expiry(timer_state& s, time_point expiry) noexcept {
        const time_count t = counts::up(expiry);
        if (s.life() == timer_life::inactive) {
            s.expiry.set(t);
        } else if (!set_expiry_unlocked(s, t)) {
            core::set_expiry(s, t);
        }
    }

    void bring_forward(timer_state& s, time_point expiry) noexcept {
        core::bring_forward(s, counts::up(expiry));
    }

    // For the service: see core.
    std::size_t advance_to(time_point t) { return core::advance_to(counts::up(t)); }

    std::vector<time_point> drain() {
        std::vector<time_point> all;
        std::vector<time_count> some(options().budget);
        const std::size_t most = stop();
        scope_exit undo([this] { undo_stop(); });
        all.reserve(most);
        undo.release(); // Nothing throws from now on.
        for (bool more = true; more;) {
            const std::size_t ended = core::drain(some, more);
            for (std::size_t i = 0; i < ended; ++i) {
                all.push_back(counts::at(some[i]));
            }
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    /// May be called more than once. Waits that handlers start while they are destroyed are in the
    /// context's queue, which destroys them.
    void destroy_all() noexcept {
        wait_list doomed;
        while (end(doomed)) {
            while (!doomed.empty()) {
                wait_node& wait = doomed.front();
                doomed.erase(wait);
                operation_of(wait).destroy();
            }
        }
    }

private:
    [[nodiscard]] static wheel_options with_real_tick(wheel_options options) noexcept {
        options.tick = to_nanoseconds(typename counts::unit(
            static_cast<typename counts::unit::rep>(counts::tick_for(options.tick))));
        return options;
    }

    static inline wheel_anchor::list anchors_;
};

} // namespace asio_wheel::detail

#endif
