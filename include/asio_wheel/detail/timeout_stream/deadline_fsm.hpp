// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The deadlines of one stream as a state machine. It decides when a stream needs a wait, when the
// wait has to end, and when the stream has to be closed. It does none of this itself: it knows no
// timer, no socket, no lock and no clock, and does not include Asio. Time is an argument. So it is
// tested with plain numbers, in any order of events. What carries out its actions is
// stream_deadlines.
//
// A stream has two directions: reads are one, writes and connects are the other. A direction has
// one deadline for all of its operations, and one of three phases. Both have the same lifetime.
//
//   phase     meaning                                        its deadline
//   unused    no operation is pending                        is not watched
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
//   the same, late ones are tried   grace         grace; the wait goes on
//   begin(), nothing to watch       none          none
//   begin(), earliest deadline e    arm(e)        e < t: move(e). Else none.
//   take_back()                     not allowed   no wait
//   end()                           -             lingers if nothing is left to watch
//   settle()                        none          nothing to watch: withdraw, no wait. Else none.
//   wait_ended(), its turn          -             a deadline has passed: close, no wait.
//                                                 Only a period is over: ask, no wait.
//                                                 Else the earliest is e: arm(e). Else no wait.
//   asked(), bytes were taken       arm(e)        e < t: move(e). Else none.
//   asked(), else                   close         close; the wait goes on
//   wait_failed(), its turn         -             something to watch: close, no wait. Else no wait.
//   wait_refused()                  not allowed   the same
//   wait_dropped(), its turn        -             no wait. The next event finds that.
//   these, a past turn              none          none; the wait goes on
//   grace_ended(), its grace        close. With a later deadline: ask, or as with set()
//   the same, a past grace          none          none; the wait goes on
//   block(), its deadline passed    close         close; the wait goes on
//   set(), the earliest is e        arm(e)        e < t: move(e). Else none.
//   set(), nothing to watch         none          none
//   take_back_setting()             not allowed   no wait
//   scale_idle(), the earliest is e none          e < t: move(e). Else none.
//
// A past turn is that of a wait which was withdrawn when it was on its way already.
//
// A grace is for operations that begin after the deadline of their direction, but within the
// lifetime, if such operations are tried. It ends when what was ready at once has completed. Then
// the deadline counts. Meanwhile nothing watches the direction. A grace has a number, too. It is
// past when no operation of its direction is pending any more.
//
// Periods. In each of them, the stream has to make progress: see limits.hpp. If one is over, the
// next layer is asked how many bytes the peer has not taken yet: asked().
//
// Operations that block their thread are not counted. Until one of them ends, nothing else happens
// to the stream. So block() only says until when it may take, and no wait is needed.
//
// The next message. message_after() gives a message a deadline that is not known yet. It becomes
// the deadline of reads when something was read since, and no read is pending any more.
//
// What always holds:
//
//  1. A wait ends at the earliest deadline that is watched, or before. It is moved when a deadline
//     is earlier, but not when a deadline becomes later or its operation ends. Most often the
//     operation's handler begins the next operation, which then finds its wait there.
//  2. Each deadline that is watched has a wait, until the machine says close, or the wait is
//     dropped. What is pending when a stream is closed ends at once, so its deadline needs no wait.
//  3. A deadline is that of each operation of its direction that is pending. When it is set, it
//     changes for all of them. A message's deadline begins between two reads.
//  4. The end of a period is a deadline, too, of each direction that it concerns.
//  5. Nothing fails before its deadline.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINE_FSM_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINE_FSM_HPP

#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout_stream/direction.hpp>
#include <asio_wheel/detail/timeout_stream/limits.hpp>
#include <asio_wheel/error.hpp>

#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// See above. Not safe for threads.
class deadline_fsm {
    using clock = std::chrono::steady_clock; // For its types alone: nothing here reads it.

public:
    using time_point = clock::time_point;
    using duration = clock::duration;

    static constexpr time_point never = progress_period::never;
    static constexpr duration no_period = progress_period::none;

    using phase = direction_phase;

    /// What the caller does next.
    struct action {
        enum class kind : std::uint8_t {
            none,
            arm,      ///< Start a wait that ends at `at`. It has the current turn().
            move,     ///< Make the wait end at `at`, which is earlier.
            ask,      ///< Ask the next layer what the peer has not taken, and call asked().
            grace,    ///< Call grace_ended() after what is ready at once. It has number grace().
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
        bool last;                     ///< No other operation is pending.
    };

    explicit deadline_fsm(const stream_limits& l) noexcept : limits_(l) {}

    [[nodiscard]] const stream_limits& limits() const noexcept { return limits_; }

    /// Whether neither a read nor a connect is pending, and neither a write nor a connect.
    [[nodiscard]] bool has_no_reads() const noexcept {
        return directions_.reads.count + directions_.connects == 0;
    }
    [[nodiscard]] bool has_no_writes() const noexcept {
        return directions_.writes.count + directions_.connects == 0;
    }

    /// Whether set() may ask for a wait.
    [[nodiscard]] bool set_may_arm() const noexcept {
        return !armed_ && (directions_.reads.is_watched() || directions_.writes.is_watched());
    }

    /// Sets a deadline, also for what is pending. arm: if the wait cannot be started,
    /// take_back_setting() has to follow. The same holds for a period.
    [[nodiscard]] action set(time_point stream_limits::* which, time_point t) noexcept {
        limits_.*which = t;
        return watch();
    }

    /// Sets a period, in which `least` bytes have to be transferred. What takes the place of
    /// another one is counted from the same time. Without a period, `now` does not matter.
    [[nodiscard]] action set(progress_period stream_limits::* which, duration d, std::size_t least,
                             time_point now) noexcept {
        (limits_.*which).set(d, least, now);
        return watch();
    }

    /// The deadline of reads will be `d` after the next byte that is read. Without a value, it
    /// stays as it is.
    void message_after(std::optional<duration> d) noexcept {
        limits_.message = d;
        message_begun_ = false;
    }

    /// Whether operations that begin after their deadline are tried. From the next one on.
    void try_late(bool on) noexcept { limits_.try_late = on; }

    /// The wait that set() asked for could not be started. `before` is what was set before.
    void take_back_setting(const stream_limits& before) noexcept {
        disarm();
        limits_ = before;
    }

    /// Changes the idle period, if there is one, by somebody who cannot start a wait. What has none
    /// needs none: rule 2.
    [[nodiscard]] action scale_idle(duration d) noexcept {
        limits_.idle.length = limits_.idle.length == no_period ? no_period : d;
        return armed_ ? watch() : action{};
    }

    /// False if begin() does not look at its `now`: then the caller need not read the clock.
    [[nodiscard]] bool begin_needs_now(direction what) const noexcept {
        return limits_.has_period() || limits_.deadline_of(what) != never;
    }

    /// An operation is to begin. `empty`: it will read or write nothing.
    ///
    /// close: its deadline has passed. It has not begun, and nothing more is told of it.
    /// arm: if the wait cannot be started, take_back() has to follow, and the operation has not
    /// begun. grace: the same, with take_back_grace().
    [[nodiscard]] action begin(direction what, time_point now, bool empty) noexcept {
        direction_state& d = directions_.part_of(what);
        const bool late = has_passed(limits_.deadline_of(what), now);
        // If others of its direction are pending, their wait or grace ends soon.
        const bool grace = late && limits_.tries_late(now) && d.in() == phase::unused;
        if (late && (!limits_.tries_late(now) || (grace && empty))) {
            expire(now);
            return {action::kind::close};
        }
        resume_periods(what, now);
        directions_.join(what);
        if (grace) {
            d.grace = ++grace_;
            return {action::kind::grace};
        }
        return watch();
    }

    /// The wait that begin() asked for could not be started.
    void take_back(direction what) noexcept {
        disarm();
        directions_.leave(what);
    }

    /// The grace that begin() asked for could not be started.
    void take_back_grace(direction what) noexcept {
        BOOST_ASSERT(directions_.part_of(what).grace == grace_ &&
                     directions_.part_of(what).count == 1);
        directions_.leave(what);
    }

    /// False if end() does not look at its `now`.
    [[nodiscard]] bool end_needs_now(direction what, std::size_t bytes) const noexcept {
        return limits_.has_period() ||
               (what == direction::read && limits_.message && (bytes != 0 || message_begun_));
    }

    /// An operation has ended, and has read or written so many bytes. (A connect counts as one.)
    [[nodiscard]] ending end(direction what, std::size_t bytes, time_point now) noexcept {
        const boost::system::error_code why = directions_.part_of(what).why;
        directions_.leave(what);
        note_end(what, bytes, now);
        return {why, lingers(), directions_.are_unused()};
    }

    /// An operation is to block its thread. Until when it may: `never` if nothing limits it. If it
    /// may not begin, nothing is returned: then close the stream.
    [[nodiscard]] std::optional<time_point> block(direction what, time_point now) noexcept {
        if (has_passed(limits_.deadline_of(what), now) && !limits_.tries_late(now)) {
            expire(now);
            return std::nullopt;
        }
        resume_periods(what, now);
        return limits_.end_of(what);
    }

    /// It has ended.
    void block_ended(direction what, std::size_t bytes, time_point now) noexcept {
        note_end(what, bytes, now);
    }

    /// It has not ended by `until`, and the next layer was asked as for asked(). Until when it may
    /// go on. If it may not, nothing is returned: then close the stream. (It may be over in real
    /// time, but not by the wheel's.)
    [[nodiscard]] std::optional<time_point> block_on(direction what, time_point until,
                                                     std::optional<std::size_t> unsent,
                                                     time_point now) noexcept {
        if (now >= until && !has_passed(limits_.deadline_of(what), now)) {
            const bool writing = what != direction::read || directions_.writes.count != 0;
            limits_.look(unsent, writing, now);
            if (!has_passed(limits_.end_of(what), now)) {
                return limits_.end_of(what);
            }
        }
        expire(now);
        return std::nullopt;
    }

    /// The stream was closed. What begins when no operation is pending any more is another
    /// connection.
    void closed() noexcept { closed_ = true; }

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
        return judge(now);
    }

    /// The next layer has `unsent` bytes that the peer has not taken. It has no value if the layer
    /// does not know.
    [[nodiscard]] action asked(std::optional<std::size_t> unsent, time_point now) noexcept {
        limits_.look(unsent, directions_.writes.count != 0, now);
        return expire(now) ? action{action::kind::close} : watch();
    }

    /// The wait of a turn was ended for another reason than its time.
    [[nodiscard]] action wait_failed(std::uint64_t turn,
                                     const boost::system::error_code& why) noexcept {
        return is_current(turn) ? wait_refused(why) : action{};
    }

    /// The wait that wait_ended() asked for could not be started.
    [[nodiscard]] action wait_refused(const boost::system::error_code& why) noexcept {
        disarm();
        return fail(why) ? action{action::kind::close} : action{};
    }

    /// The wait of a turn was destroyed without having ended: its executor has thrown.
    void wait_dropped(std::uint64_t turn) noexcept { armed_ = armed_ && turn != turn_; }

    /// The grace of a direction has ended.
    [[nodiscard]] action grace_ended(direction what, std::uint64_t grace, time_point now) noexcept {
        direction_state& d = directions_.part_of(what);
        BOOST_ASSERT(grace != 0 && grace <= grace_);
        if (d.grace != grace) {
            return {};
        }
        d.grace = 0;
        return judge(now);
    }

    [[nodiscard]] phase phase_of(direction what) const noexcept {
        return directions_.part_of(what).in();
    }

    [[nodiscard]] bool armed() const noexcept { return armed_; }

    /// The last wait: its number, and when it ends.
    [[nodiscard]] std::uint64_t turn() const noexcept { return turn_; }
    [[nodiscard]] time_point wait_end() const noexcept { return wait_end_; }

    /// The number of the last grace.
    [[nodiscard]] std::uint64_t grace() const noexcept { return grace_; }

private:
    // An operation is to begin.
    void resume_periods(direction what, time_point now) noexcept {
        const bool unused = directions_.are_unused();
        if (unused && (std::exchange(closed_, false) || what == direction::connect)) {
            limits_.restart_periods(now);
        } else {
            limits_.resume_periods(unused, directions_.would_be_only_write(what), now);
        }
    }

    // An operation has ended.
    void note_end(direction what, std::size_t bytes, time_point now) noexcept {
        if (bytes != 0) {
            limits_.transferred(what, bytes, now);
            message_begun_ = message_begun_ || (what == direction::read && limits_.message);
        }
        if (limits_.message && message_begun_ && directions_.reads.count == 0) {
            limits_.read = add_saturating(now, *limits_.message);
            message_after(std::nullopt);
        }
        limits_.pause_periods(directions_.are_unused(), directions_.would_be_only_write(what), now);
    }

    [[nodiscard]] time_point earliest() const noexcept {
        return directions_.earliest([this](direction what) { return limits_.end_of(what); });
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

    // A wait or a grace has ended. If nothing but a period is over, the peer is asked.
    [[nodiscard]] action judge(time_point now) noexcept {
        const auto deadline = [this](direction what) { return limits_.deadline_of(what); };
        if (has_passed(earliest(), now) && !has_passed(directions_.earliest(deadline), now)) {
            return {action::kind::ask};
        }
        return expire(now) ? action{action::kind::close} : watch();
    }

    // What is pending fails if its deadline has passed. False if there is nothing.
    bool expire(time_point now) noexcept {
        return directions_.fail(error::timed_out, [this, now](direction what) {
            return has_passed(limits_.end_of(what), now);
        });
    }

    // What is pending fails if it has a deadline. False if there is nothing.
    bool fail(const boost::system::error_code& why) noexcept {
        return directions_.fail(why,
                                [this](direction what) { return limits_.end_of(what) != never; });
    }

    stream_directions directions_;
    stream_limits limits_;
    bool message_begun_ = false; // Something was read of the next message.
    bool closed_ = false;        // And no operation has begun another connection.
    bool armed_ = false;         // There is a wait.
    time_point wait_end_;        // When it ends, or the last one was to end.
    std::uint64_t turn_ = 0;     // The number of that.
    std::uint64_t grace_ = 0;    // The number of the last grace.
};

} // namespace asio_wheel::detail

#endif
