// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Time that a test moves, with handlers run on the way:
//
//     asio_wheel::virtual_time time(ctx);
//     time.advance(30s); // A handler that is due after 10 s runs at 10 s.

#ifndef ASIO_WHEEL_VIRTUAL_TIME_HPP
#define ASIO_WHEEL_VIRTUAL_TIME_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/wheel_list.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/jitter.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/throw_exception.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_wheel {

/// How long virtual_time::run_until() waits for sockets, and how long time may stand still.
struct virtual_time_options {
    /// run_until() moves time when all sockets have been silent for so long, in real time. The
    /// default is enough for peers in this thread. Peers in other threads or processes need more.
    std::chrono::nanoseconds io_grace{std::chrono::microseconds(50)};

    /// If nothing waits for time, run_until() waits for sockets so long, in real time, and then
    /// throws.
    std::chrono::nanoseconds io_timeout{std::chrono::seconds(5)};

    /// How many waits may begin and expire while time stands still, in one call. A loop that sleeps
    /// for 0 would go on for ever, so there is a limit. 0 is no limit.
    std::size_t spin_limit = 100'000;
};

/// Pauses the time of io_contexts, of all clocks of each, and moves it: for tests.
///
/// All wheels of the contexts stand still, also those that are made later, and go on from where
/// they stand when the virtual_time ends. Wheels of one clock show the same time, whenever they are
/// made. (But a context whose time was moved by an earlier virtual_time stays ahead of others that
/// have a wheel already.) Time is moved by advance(), run() and run_until(), which
/// run the handlers, too. It goes from one deadline to the next, the same for all contexts and
/// clocks, and stands still at each until every context has run what it has. So a handler sees the
/// time it was waiting for, and what it starts is due in its turn.
///
///     boost::asio::io_context ctx;
///     asio_wheel::virtual_time time(ctx);
///     asio_wheel::steady_timer timer(ctx, 24h);
///     timer.async_wait(handler);
///     time.advance(24h); // calls handler
///
/// The same program does the same each time, if it uses no other threads, no sockets, and seed().
///
/// Not followed: `boost::asio::steady_timer` and Asio's other timers. A context's own run() does
/// not move time: it would wait for ever for what waits on a wheel.
///
/// Thread safety. The contexts are run by this object only, on the thread that calls it. Other
/// threads may use timers of the contexts meanwhile.
///
/// A loop that waits for 0, again and again, keeps time from moving on. After
/// virtual_time_options::spin_limit waits, the function that runs it throws std::runtime_error,
/// whose message names the wait: what it is part of, its tag, and its place if it is known.
///
/// The functions that run the contexts throw std::logic_error if a handler that they run calls one
/// of them, and std::invalid_argument for a time that is not a number (NaN).
///
/// Handlers that throw: the exception leaves the function that runs them, and that function may be
/// called again. After io_context::stop(), the functions return when the present handler has; the
/// next call restarts the context.
class virtual_time {
public:
    using duration = std::chrono::nanoseconds; ///< What elapsed() returns.
    using options = virtual_time_options;      ///< What a constructor takes.

    /// Throws std::logic_error if a context has a virtual_time already.
    template <std::same_as<boost::asio::io_context>... Contexts>
    explicit virtual_time(boost::asio::io_context& context, Contexts&... more)
        : virtual_time(options(), context, more...) {}

    template <std::same_as<boost::asio::io_context>... Contexts>
    explicit virtual_time(const options& o, boost::asio::io_context& context, Contexts&... more)
        : options_(o), contexts_{&context, &more...} {
        pause();
    }

    virtual_time(const virtual_time&) = delete;
    virtual_time& operator=(const virtual_time&) = delete;

    /// Time goes on by itself, from where it stands. Must come before the contexts' end.
    ~virtual_time() {
        resume(contexts_.size());
        if (seeded_) {
            detail::this_threads_jitter().seed(std::random_device{}());
        }
    }

    /// How far time was moved.
    [[nodiscard]] duration elapsed() const noexcept { return time_.now; }

    /// Runs what is ready, and all that becomes due in the next `d`, each at its own time. Then
    /// time has moved by `d`; by less if a context was stopped. A negative `d` counts as zero. If
    /// elapsed() cannot count `d` more, time is moved as far as something waits, as by run().
    /// Returns how many handlers were run, as io_context::poll() counts them.
    template <class Rep, class Period>
    std::size_t advance(const std::chrono::duration<Rep, Period>& d) {
        detail::throw_if_nan("the time to advance", d);
        const duration end = after(d);
        const running contexts(*this);
        std::size_t handlers = contexts.poll();
        while (!contexts.stopped()) {
            if (!move_to_next(end)) {
                move_to_end(end);
                break;
            }
            handlers += contexts.poll();
        }
        return handlers;
    }

    /// Moves time from deadline to deadline, and runs handlers, until nothing is ready and nothing
    /// waits for time; so it does not return while something waits again and again, as an interval
    /// does. What waits for sockets, or for time_point::max(), is left waiting. Returns how many
    /// handlers were run, as io_context::poll() counts them.
    std::size_t run() {
        const running contexts(*this);
        std::size_t handlers = contexts.poll();
        while (!contexts.stopped() && move_to_next(never)) {
            handlers += contexts.poll();
        }
        return handlers;
    }

    /// For programs with sockets: runs handlers until predicate() is true. It is asked first, after
    /// each handler, again and again while nothing happens, and when `within` is over. Time is
    /// moved to the next deadline only when all sockets have been silent for options::io_grace.
    ///
    ///     time.run_until([&] { return client.connected(); });
    ///
    /// Throws std::runtime_error, which says why, if the predicate is false and cannot become true:
    /// nothing waits for time, and no socket has had news for options::io_timeout; a context was
    /// stopped; or time would be moved by more than `within`.
    template <std::predicate Predicate, class Rep = duration::rep, class Period = duration::period>
    void run_until(Predicate predicate,
                   const std::chrono::duration<Rep, Period>& within = (duration::max)()) {
        detail::throw_if_nan("the time to run", within);
        const duration end = after(within);
        running contexts(*this);
        while (!contexts.run_until_silent(predicate, options_.io_grace)) {
            if (contexts.stopped()) {
                fail("a context was stopped");
            }
            duration next = never;
            if (move_to_next(end, next)) {
                continue;
            }
            if (next != never) {
                move_to_end(end);
                if (predicate()) {
                    return;
                }
                fail("the time to run is over");
            }
            if (contexts.silence() >= options_.io_timeout) {
                fail("nothing waits for time, and no socket has had news for " +
                     detail::in_ns(options_.io_timeout));
            }
        }
    }

    /// Makes random_phase(), backoff and the jitter of intervals repeatable on this thread, until
    /// the virtual_time ends: with the same seed they are the same, in the same program.
    void seed(std::uint32_t n) {
        detail::this_threads_jitter().seed(n);
        seeded_ = true;
    }

private:
    static constexpr duration never = detail::listed_wheel::never;
    static constexpr std::size_t most_looks = 100;

    // The contexts while they are run. They do not run out of work, so if one is stopped, somebody
    // has stopped it.
    class running {
        using clock = std::chrono::steady_clock;

    public:
        explicit running(virtual_time& time) : time_(time) {
            if (time_.running_) {
                BOOST_THROW_EXCEPTION(
                    std::logic_error("asio_wheel: virtual_time moves time, and was asked to do "
                                     "so by one of the handlers that it runs"));
            }
            for (boost::asio::io_context* const context : time_.contexts_) {
                context->restart();
                work_.emplace_back(context->get_executor());
            }
            time_.running_ = true;
            time_.spinning_ = spinning();
            time_.time_.mover = std::this_thread::get_id();
        }
        running(const running&) = delete;
        running& operator=(const running&) = delete;
        ~running() { time_.running_ = false; }

        [[nodiscard]] bool stopped() const {
            return std::any_of(time_.contexts_.begin(), time_.contexts_.end(),
                               [](const auto* context) { return context->stopped(); });
        }

        // Until nothing is ready: what one context does may give another one work.
        std::size_t poll() const {
            std::size_t handlers = 0;
            for (std::size_t before = 1; handlers != before && !stopped();) {
                before = handlers;
                for (boost::asio::io_context* const context : time_.contexts_) {
                    while (!stopped() && context->poll_one() != 0) {
                        ++handlers;
                        time_.expect_no_spinning();
                    }
                }
            }
            return handlers;
        }

        // Asks first, and after each handler. False if nothing was ready for `silence`, or a
        // context was stopped.
        template <class Predicate>
        [[nodiscard]] bool run_until_silent(Predicate& predicate, duration silence) {
            const auto asked = clock::now();
            if (predicate()) {
                return true;
            }
            news_ += clock::now() - asked; // Its time is not that of the sockets.
            for (auto last = clock::now(); !stopped();) {
                const bool long_enough = clock::now() - last >= silence; // When this pass began.
                bool silent = true;
                for (boost::asio::io_context* const context : time_.contexts_) {
                    if (!stopped() && context->poll_one() != 0) {
                        if (predicate()) {
                            return true;
                        }
                        time_.expect_no_spinning();
                        silent = false;
                    }
                }
                if (!silent) {
                    last = news_ = clock::now();
                } else if (long_enough) {
                    return false;
                } else {
                    std::this_thread::yield(); // To peers in other threads.
                }
            }
            return false;
        }

        // For how long run_until_silent() has found nothing ready.
        [[nodiscard]] duration silence() const { return clock::now() - news_; }

    private:
        virtual_time& time_;
        clock::time_point news_ = clock::now();
        std::vector<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
    };

    void pause() {
        std::size_t paused = 0;
        detail::scope_exit undo([&] { resume(paused); });
        for (; paused != contexts_.size(); ++paused) {
            list_of(*contexts_[paused]).pause(time_);
        }
        undo.release();
    }

    void resume(std::size_t paused) {
        for (std::size_t i = 0; i != paused; ++i) {
            list_of(*contexts_[i]).resume();
        }
    }

    [[nodiscard]] static detail::wheel_list& list_of(boost::asio::io_context& context) {
        return boost::asio::use_service<detail::wheel_list>(context);
    }

    template <class Rep, class Period>
    [[nodiscard]] duration after(const std::chrono::duration<Rep, Period>& d) const {
        return detail::add_saturating(elapsed(),
                                      (std::max)(detail::to_nanoseconds(d), duration::zero()));
    }

    // Moves time to the next deadline, if that is not after `end`. True if anything is due then.
    [[nodiscard]] bool move_to_next(duration end) {
        duration next = never;
        return move_to_next(end, next);
    }

    // If not, `next` is what it has seen. Other threads may start waits meanwhile.
    [[nodiscard]] bool move_to_next(duration end, duration& next) {
        for (next = next_step(); next <= end && next != never; next = next_step()) {
            if (move_to(next) != 0) {
                return true;
            }
        }
        return false;
    }

    // Nothing is due before.
    void move_to_end(duration end) {
        if (end != never) {
            move_to(end);
        }
    }

    // Up to where time can be moved at once: nothing is due before.
    [[nodiscard]] duration next_step() const {
        duration first = never;
        for_each_wheel([&](detail::listed_wheel& w) { first = (std::min)(first, w.next_step()); });
        return (std::max)(first, elapsed());
    }

    // Since time has moved, or a function was called.
    struct spinning {
        std::size_t handlers = 0;
        std::uint64_t expected = 0; // So many waits may have ended: those that were pending.
        std::size_t looks = 0;      // For a wait to name, when more than the limit have ended.
    };

    // Called after each handler. Asks the wheels now and then.
    void expect_no_spinning() {
        const std::size_t often = (std::min<std::size_t>)(options_.spin_limit, 1000);
        if (often == 0 || (++spinning_.handlers % often != 0 && spinning_.looks == 0)) {
            return;
        }
        std::uint64_t ended = 0;
        std::uint64_t pending = 0;
        std::optional<pending_wait> wait;
        for_each_wheel([&](detail::listed_wheel& w) {
            const detail::wait_totals totals = w.totals();
            ended += totals.ended;
            pending += totals.pending;
            if (spinning_.looks != 0 && !wait) {
                wait = w.find_overdue();
            }
        });
        if (spinning_.handlers == often) {
            spinning_.expected = ended + pending;
        }
        // The wait is seen right after its handler has started it anew.
        if (wait || spinning_.looks == most_looks) {
            fail_spinning(wait);
        }
        if (ended > spinning_.expected + options_.spin_limit) {
            ++spinning_.looks;
        }
    }

    [[noreturn]] void fail_spinning(const std::optional<pending_wait>& wait) const {
        std::string what = "asio_wheel: virtual time does not move on, because more than " +
                           std::to_string(options_.spin_limit) +
                           " waits have begun and expired meanwhile";
        if (wait) {
            what += ". One of them is a " + std::string(to_string(wait->kind));
            if (!wait->tag.empty()) {
                what += " \"" + std::string(wait->tag) + '"';
            }
            if (wait->place.line() != 0) {
                what += " of " + std::string(wait->place.file_name()) + ':' +
                        std::to_string(wait->place.line());
            }
        }
        BOOST_THROW_EXCEPTION(std::runtime_error(
            what + ". Wait for more than 0, or set virtual_time_options::spin_limit"));
    }

    // Returns how many waits become due.
    std::size_t move_to(duration t) {
        if (t != elapsed()) {
            spinning_ = spinning();
        }
        time_.now = t; // For wheels that are made later.
        std::size_t due = 0;
        for_each_wheel([&](detail::listed_wheel& w) { due += w.advance_to(t); });
        return due;
    }

    template <class Function>
    void for_each_wheel(Function f) const {
        for (boost::asio::io_context* const context : contexts_) {
            list_of(*context).for_each(f);
        }
    }

    [[noreturn]] static void fail(const std::string& why) {
        BOOST_THROW_EXCEPTION(std::runtime_error(
            "asio_wheel: virtual_time::run_until(): the predicate is false, and " + why));
    }

    options options_;
    std::vector<boost::asio::io_context*> contexts_;
    detail::moved_time time_;
    spinning spinning_;
    bool running_ = false;
    bool seeded_ = false;
};

} // namespace asio_wheel

#endif
