// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The deadlines of one stream as a state machine. It decides when a stream needs a wait, when the
// wait has to end, and when the stream has to be closed. It does none of this itself: it knows no
// timer, no socket, no lock and no clock, and does not include Asio. Time is an argument. So it is
// tested with plain numbers, in any order of events. What carries out its actions is
// stream_deadlines.
//
// A stream has two directions: reads are one, writes and connects are the other. A direction has
// one deadline for all of its operations, and one of three phases.
//
//   phase     meaning                                        its deadline
//   unused    no operation is pending                        may be set
//   pending   operations are pending                         is watched
//   failed    operations are pending, and the stream was     is not watched any more
//             closed because of them. Each of them is told
//             why when it ends.
//
//   from      to        when
//   unused    pending   begin()
//   pending   pending   begin(); end() and take_back() of one of several
//             unused    end() and take_back() of the last one
//             failed    its deadline has passed: begin() and wait_ended() find that. Or nothing can
//                       watch the deadline: wait_failed(), wait_refused().
//   failed    failed    begin(); end() and take_back() of one of several
//             unused    end() and take_back() of the last one
//
// There is one wait for both directions, or none. Each wait has a number, its turn.
//
//   event                           no wait       a wait that ends at t
//   begin(), its deadline passed    close         close; the wait goes on
//   begin(), nothing to watch       none          none
//   begin(), earliest deadline e    arm(e)        e < t: move(e). Else none.
//   take_back()                     not allowed   no wait
//   end()                           -             lingers if nothing is left to watch
//   settle()                        none          nothing to watch: withdraw, no wait. Else none.
//   wait_ended(), its turn          -             a deadline has passed: close, no wait.
//                                                 Else the earliest is e: arm(e). Else no wait.
//   wait_failed(), its turn         -             something to watch: close, no wait. Else no wait.
//   wait_refused()                  not allowed   the same
//   these, a past turn              none          none; the wait goes on
//
// A past turn is that of a wait which was withdrawn when it was on its way already.
//
// What always holds:
//
//  1. A wait ends at the earliest deadline that is watched, or before. It is moved when a deadline
//     is earlier, but not when a deadline becomes later or its operation ends. Most often the
//     operation's handler begins the next operation, which then finds its wait there.
//  2. Each deadline that is watched has a wait, until the machine says close. What is pending when
//     a stream is closed ends at once, so its deadline needs no wait.
//  3. A deadline does not change while operations of its direction are pending. So it is the
//     deadline of each of them.
//  4. The idle period in force is a deadline, too, of each direction that is pending. It is counted
//     from when something was last read or written, but not from before both directions were
//     unused, and not from before this period came into force.
//  5. Nothing fails before its deadline.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINE_FSM_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINE_FSM_HPP

#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>

#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace asio_wheel::detail {

/// What an operation of a stream does. A connect has the deadline of writes. While it is pending,
/// no deadline can be set.
enum class direction : std::uint8_t { read, write, connect };

/// The deadlines that were set. The last time point and the longest duration mean that there is
/// none.
struct stream_options {
    using clock = std::chrono::steady_clock;

    clock::time_point read = clock::time_point::max();
    clock::time_point write = clock::time_point::max();
    clock::duration idle = clock::duration::max();
};

/// See above. Not safe for threads.
class deadline_fsm {
    using clock = std::chrono::steady_clock; // For its types alone: nothing here reads it.

public:
    using time_point = clock::time_point;
    using duration = clock::duration;

    static constexpr time_point never = time_point::max();
    static constexpr duration no_period = duration::max();

    enum class phase : std::uint8_t { unused, pending, failed };

    /// What the caller does next.
    struct action {
        enum class kind : std::uint8_t {
            none,
            arm,      ///< Start a wait that ends at `at`. It has the current turn().
            move,     ///< Make the wait end at `at`, which is earlier.
            withdraw, ///< End the wait. If it arrives nevertheless, it comes to nothing.
            close     ///< Close the stream.
        };

        kind what = kind::none;
        time_point at = never;
    };

    /// How an operation has ended.
    struct ending {
        boost::system::error_code why; ///< If set, the stream was closed because of it.
        bool lingers;                  ///< The wait has nothing to watch: settle() has to follow.
    };

    explicit deadline_fsm(const stream_options& t) noexcept : next_idle_(t.idle) {
        reads_.deadline = t.read;
        writes_.deadline = t.write;
    }

    [[nodiscard]] stream_options current() const noexcept {
        return {reads_.deadline, writes_.deadline, next_idle_};
    }

    // Deadlines may be set only while this is true: neither what they are for nor a connect is
    // pending.
    [[nodiscard]] bool may_set_reads() const noexcept { return reads_.count + connects_ == 0; }
    [[nodiscard]] bool may_set_writes() const noexcept { return writes_.count + connects_ == 0; }

    void set_reads(time_point t) noexcept {
        BOOST_ASSERT(may_set_reads());
        reads_.deadline = t;
    }
    void set_writes(time_point t) noexcept {
        BOOST_ASSERT(may_set_writes());
        writes_.deadline = t;
    }

    /// From the next operation on; then for all that are pending.
    void idle_after(duration d) noexcept { next_idle_ = d; }

    /// At once.
    void idle_never() noexcept { next_idle_ = idle_ = no_period; }

    /// False if begin() does not look at its `now`: then the caller need not read the clock.
    [[nodiscard]] bool begin_needs_now(direction what) const noexcept {
        return next_idle_ != no_period || part_of(what).deadline != never;
    }

    /// An operation is to begin.
    ///
    /// close: its deadline has passed. It has not begun, and nothing more is told of it.
    /// arm: if the wait cannot be started, take_back() has to follow, and the operation has not
    /// begun.
    [[nodiscard]] action begin(direction what, time_point now) noexcept {
        direction_state& d = part_of(what);
        if (d.deadline != never && d.deadline <= now) {
            expire(now);
            return {action::kind::close};
        }
        if (idle_ != next_idle_ || reads_.count + writes_.count == 0) {
            idle_ = next_idle_;
            idle_since_ = now;
        }
        d.join();
        connects_ += what == direction::connect ? 1 : 0;
        return watch();
    }

    /// The wait that begin() asked for could not be started.
    void take_back(direction what) noexcept {
        disarm();
        leave(what);
        // There was no wait before, so an idle period that is in force now came with the operation.
        idle_ = no_period;
    }

    /// False if end() does not look at its `now`.
    [[nodiscard]] bool end_needs_now(bool progress) const noexcept {
        return progress && idle_ != no_period;
    }

    /// An operation has ended. `progress`: something was read or written, or the stream is
    /// connected.
    [[nodiscard]] ending end(direction what, bool progress, time_point now) noexcept {
        const boost::system::error_code why = part_of(what).why;
        leave(what);
        if (progress) {
            idle_since_ = now;
        }
        return {why, lingers()};
    }

    /// The handler of an operation has returned.
    [[nodiscard]] action settle() noexcept {
        if (!lingers()) {
            return {};
        }
        disarm();
        return {action::kind::withdraw};
    }

    /// The wait of a turn has ended.
    [[nodiscard]] action wait_ended(std::uint64_t turn, time_point now) noexcept {
        if (!is_current(turn)) {
            return {};
        }
        disarm();
        return expire(now) ? action{action::kind::close} : watch();
    }

    /// The wait of a turn was ended for another reason than its time.
    [[nodiscard]] action wait_failed(std::uint64_t turn,
                                     const boost::system::error_code& why) noexcept {
        if (!is_current(turn)) {
            return {};
        }
        disarm();
        return fail(why) ? action{action::kind::close} : action{};
    }

    /// The wait that wait_ended() asked for could not be started.
    [[nodiscard]] action wait_refused(const boost::system::error_code& why) noexcept {
        BOOST_ASSERT(armed_);
        return wait_failed(turn_, why);
    }

    [[nodiscard]] phase phase_of(direction what) const noexcept { return part_of(what).in(); }

    [[nodiscard]] bool armed() const noexcept { return armed_; }

    /// The last wait: its number, and when it ends.
    [[nodiscard]] std::uint64_t turn() const noexcept { return turn_; }
    [[nodiscard]] time_point wait_end() const noexcept { return wait_end_; }

private:
    struct direction_state {
        time_point deadline = never;
        unsigned count = 0;            // Of the operations that are pending.
        boost::system::error_code why; // Set in the phase `failed` alone.

        [[nodiscard]] phase in() const noexcept {
            return count == 0 ? phase::unused : why ? phase::failed : phase::pending;
        }

        void join() noexcept { ++count; }

        void leave() noexcept {
            BOOST_ASSERT(in() != phase::unused);
            if (--count == 0) {
                why = {};
            }
        }

        void fail(const boost::system::error_code& reason) noexcept {
            BOOST_ASSERT(in() == phase::pending && reason);
            why = reason;
        }

        // When it fails. `never` if it is not watched.
        [[nodiscard]] time_point expiry(time_point idle_end) const noexcept {
            return in() == phase::pending ? std::min(deadline, idle_end) : never;
        }
    };

    [[nodiscard]] direction_state& part_of(direction what) noexcept {
        return what == direction::read ? reads_ : writes_;
    }
    [[nodiscard]] const direction_state& part_of(direction what) const noexcept {
        return what == direction::read ? reads_ : writes_;
    }

    void leave(direction what) noexcept {
        BOOST_ASSERT(what != direction::connect || connects_ != 0);
        connects_ -= what == direction::connect ? 1 : 0;
        part_of(what).leave();
    }

    [[nodiscard]] time_point idle_end() const noexcept {
        return idle_ == no_period ? never : add_saturating(idle_since_, idle_);
    }

    [[nodiscard]] time_point earliest() const noexcept {
        const time_point idle = idle_end();
        return std::min(reads_.expiry(idle), writes_.expiry(idle));
    }

    // The wait has nothing to watch.
    [[nodiscard]] bool lingers() const noexcept { return armed_ && earliest() == never; }

    [[nodiscard]] bool is_current(std::uint64_t turn) const noexcept {
        BOOST_ASSERT(turn <= turn_);
        return armed_ && turn == turn_;
    }

    // Makes sure that there is a wait for the earliest deadline, if there is one.
    [[nodiscard]] action watch() noexcept {
        const time_point first = earliest();
        if (first == never) {
            return {};
        }
        if (!armed_) {
            arm(first);
            return {action::kind::arm, first};
        }
        if (first < wait_end_) {
            wait_end_ = first;
            return {action::kind::move, first};
        }
        return {};
    }

    void arm(time_point t) noexcept {
        BOOST_ASSERT(!armed_);
        armed_ = true;
        wait_end_ = t;
        ++turn_;
    }

    void disarm() noexcept {
        BOOST_ASSERT(armed_);
        armed_ = false;
    }

    // What is pending fails if its deadline has passed. False if there is nothing.
    bool expire(time_point now) noexcept {
        return fail(error::timed_out, [now](time_point expiry) { return expiry <= now; });
    }

    // What is pending fails if it has a deadline. False if there is nothing.
    bool fail(const boost::system::error_code& why) noexcept {
        return fail(why, [](time_point) { return true; });
    }

    template <class Concerns>
    bool fail(const boost::system::error_code& why, Concerns concerns) noexcept {
        const time_point idle = idle_end();
        bool any = false;
        for (direction_state* const d : {&reads_, &writes_}) {
            const time_point expiry = d->expiry(idle);
            if (expiry != never && concerns(expiry)) {
                d->fail(why);
                any = true;
            }
        }
        return any;
    }

    direction_state reads_;
    direction_state writes_;    // And connects.
    unsigned connects_ = 0;     // How many of the writes are connects.
    duration idle_ = no_period; // The period in force,
    duration next_idle_;        // and the one from the next operation on.
    time_point idle_since_;     // When the period in force was last counted anew.
    bool armed_ = false;        // There is a wait.
    time_point wait_end_;       // When it ends, or the last one was to end.
    std::uint64_t turn_ = 0;    // The number of that.
};

} // namespace asio_wheel::detail

#endif
