// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The deadlines of one stream: a lock, the wheel's clock and one timer, around the state machine
// that decides. Each function takes the lock, tells the machine what has happened, and carries out
// its answer. deadline_fsm.hpp has the table of states, and the reasons for them.
//
// What always holds:
//
//  1. The lock guards everything here. It is needed because a handler may pass the stream to
//     another thread before settle() has run, as use_future does; and because any thread may scale
//     idle periods. Apart from that, operations begin and end on the stream's strand, and deadlines
//     are set there.
//  2. The lock is held for O(1) work, in which no code of the user runs. The wheel's lock may be
//     taken while it is held, but not the other way round. The lock of the idle scale is taken
//     before it.
//  3. wait() starts a wait without the lock. It is called on the strand when the machine has asked
//     for a wait, so there is none, and nothing else uses the timer, except for the idle scale. If
//     that has found a wait which was not there yet, wait() moves it afterwards.
//  4. When an operation ends, its wait goes on. If no operation needs it when the handler has
//     returned, settle() withdraws it. So an idle stream has no wait, and does not keep its context
//     running.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINES_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINES_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/idle_scale.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/threads/relaxed_atomic.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout_stream/deadline_fsm.hpp>
#include <asio_wheel/detail/timeout_stream/limits.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>
#include <boost/throw_exception.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace asio_wheel::detail {

template <class Executor>
class stream_deadlines {
    using clock = std::chrono::steady_clock;
    using traits = boost::asio::wait_traits<clock>;

public:
    using time_point = clock::time_point;
    using duration = clock::duration;
    using ending = deadline_fsm::ending;

    static constexpr time_point never = deadline_fsm::never;
    static constexpr duration no_period = deadline_fsm::no_period;

    /// What the caller does next. (`move` is done here.)
    using next = deadline_fsm::action::kind;

    /// What to do when deadlines were set.
    struct setting {
        bool needs_wait = false;             ///< Call wait(). If that throws, call take_back().
        std::optional<stream_limits> before; ///< What was set before, if it may need a wait.
    };

    stream_deadlines(const Executor& ex, const stream_limits& l)
        : wheel_(wheel_of<clock>(ex)), mutex_(wheel_.options().locking), timer_(ex), fsm_(l),
          idle_(*this, l.idle.length, l.min_idle) {
        if (l.idle.length != no_period) {
            static_cast<void>(idle_after(l.idle.length)); // Nothing is pending.
        }
    }

    stream_deadlines(const stream_deadlines&) = delete;
    stream_deadlines& operator=(const stream_deadlines&) = delete;
    ~stream_deadlines() = default; ///< Aborts the wait.

    /// What is set, without the scale.
    [[nodiscard]] stream_limits limits() const {
        const std::lock_guard<optional_mutex> guard(mutex_);
        return unscaled();
    }

    [[nodiscard]] time_point now() const { return wheel_.now(); }
    [[nodiscard]] bool paused() const noexcept { return wheel_.paused(); }

    [[nodiscard]] time_point from_now(duration d) const { return add_saturating(wheel_.now(), d); }

    /// For reads and writes, except for those of which one is pending.
    [[nodiscard]] setting expires(time_point t) {
        return set([t](deadline_fsm& fsm) {
            const bool reads = fsm.has_no_reads();
            const bool writes = fsm.has_no_writes();
            if (!reads && !writes) {
                BOOST_THROW_EXCEPTION(std::logic_error(
                    "asio_wheel: expires_after() and the like set no deadline of a timeout_stream "
                    "for what is pending, and a read and a write are pending, or a connect. Use "
                    "read_expires_after() or write_expires_after()"));
            }
            // What this is for is not pending. But if the stream was closed, what else is pending
            // has lost its wait, and gets another one.
            const auto answer = reads ? fsm.set(&stream_limits::read, t) : deadline_fsm::action{};
            return writes ? fsm.set(&stream_limits::write, t) : answer;
        });
    }

    /// Also for what is pending.
    [[nodiscard]] setting expires(time_point stream_limits::* which, time_point t) {
        return set([=](deadline_fsm& fsm) { return fsm.set(which, t); });
    }

    /// The same for a period, in which `least` bytes have to be transferred.
    [[nodiscard]] setting period(progress_period stream_limits::* which, duration d,
                                 std::size_t least) {
        return set([=, this](deadline_fsm& fsm) { return fsm.set(which, d, least, now()); });
    }

    /// Reads have to be done `d` after the next byte that is read. Without a value, this is over.
    void message_after(std::optional<duration> d) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        fsm_.message_after(d);
    }

    /// The stream was closed.
    void closed() noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        fsm_.closed();
    }

    void try_late(bool on) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        fsm_.try_late(on);
    }

    /// Also for what is pending.
    [[nodiscard]] setting idle_after(duration d) {
        if (d != no_period) {
            idle_.join(); // Before the lock is taken: see rule 2.
        }
        return set([this, d](deadline_fsm& fsm) {
            idle_.period = d;
            return fsm.set(&stream_limits::idle, idle_.scaled(), 1, now());
        });
    }

    /// To what the scale may shorten the idle period.
    [[nodiscard]] setting min_idle(duration d) {
        return set([this, d](deadline_fsm& fsm) {
            idle_.least = d;
            return fsm.set(&stream_limits::idle, idle_.scaled(), 1, now());
        });
    }

    /// The wait that a setting needs could not be started.
    void take_back(const setting& s) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const stream_limits& before = *s.before; // NOLINT(bugprone-unchecked-optional-access)
        idle_.period = before.idle.length;
        idle_.least = before.min_idle;
        fsm_.take_back_setting(before);
        static_cast<void>(fsm_.scale_idle(idle_.scaled())); // It may be another scale by now.
    }

    /// An operation is to begin. `arm`: it begins after wait(). `grace`: after its grace was
    /// started; on_grace() is the end of that. `close`: its deadline has passed, so it does not.
    [[nodiscard]] next begin(direction what, bool empty) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto now = fsm_.begin_needs_now(what) ? wheel_.now() : time_point();
        return carry_out(fsm_.begin(what, now, empty));
    }

    /// Starts the wait that was asked for.
    template <class Watch>
    void wait(Watch&& watch) {
        time_point end;
        {
            const std::lock_guard<optional_mutex> guard(mutex_);
            watch.turn = starting_ = fsm_.turn();
            end = fsm_.wait_end();
        }
        // If that throws, take_back() or refuse() follows. So what is left is no wait that is lost.
        const scope_exit started([&] { starting_ = watch.turn = 0; });
        timer_.expires_at(end);
        timer_.async_wait(std::forward<Watch>(watch));
        if (idle_.listed) { // Rule 3.
            const std::lock_guard<optional_mutex> guard(mutex_);
            if (fsm_.wait_end() < end) {
                static_cast<void>(timer_.postpone_until(fsm_.wait_end()));
            }
        }
    }

    /// wait() has thrown when an operation began. So the operation does not begin.
    void take_back(direction what) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        fsm_.take_back(what);
    }

    /// The number of the grace that begin() asked for. Needs no lock, like wait().
    [[nodiscard]] std::uint64_t grace() const noexcept { return fsm_.grace(); }

    /// The grace could not be started. So the operation does not begin.
    void take_back_grace(direction what) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        fsm_.take_back_grace(what);
    }

    /// A grace has ended.
    [[nodiscard]] next on_grace(direction what, std::uint64_t grace) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        return carry_out(fsm_.grace_ended(what, grace, wheel_.now()));
    }

    /// A period is over, and the next layer has this many bytes that the peer has not taken.
    [[nodiscard]] next asked(std::optional<std::size_t> unsent) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        return carry_out(fsm_.asked(unsent, wheel_.now()));
    }

    /// wait() has thrown in on_time() or on_grace(). True if the stream must be closed.
    [[nodiscard]] bool refuse(const boost::system::error_code& why) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        return fsm_.wait_refused(why).what == next::close;
    }

    /// An operation has ended, and has read or written so many bytes. (A connect counts as one.)
    [[nodiscard]] ending end(direction what, std::size_t bytes) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        core_type& core = core_access::of(wheel_);
        if (bytes != 0 && core.anchor().time.wants_touches()) {
            core.touched(core_access::state_of(timer_)); // A stall has not made it late.
        }
        const auto now = fsm_.end_needs_now(what, bytes) ? wheel_.now() : time_point();
        return fsm_.end(what, bytes, now);
    }

    /// An operation is to block its thread. Until when it may, or nothing if its deadline has
    /// passed: then close the stream.
    [[nodiscard]] std::optional<time_point> block(direction what) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto now = fsm_.begin_needs_now(what) ? wheel_.now() : time_point();
        const std::optional<time_point> end = fsm_.block(what, now);
        if (!end) {
            note_passed();
        }
        return end;
    }

    /// It has ended.
    void block_ended(direction what, std::size_t bytes) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto now = fsm_.end_needs_now(what, bytes) ? wheel_.now() : time_point();
        fsm_.block_ended(what, bytes, now);
    }

    /// It has not ended by `until`, and the next layer was asked as for asked(). Until when it may
    /// go on, or nothing: then close the stream.
    [[nodiscard]] std::optional<time_point> block_on(direction what, time_point until,
                                                     std::optional<std::size_t> unsent) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const std::optional<time_point> end = fsm_.block_on(what, until, unsent, wheel_.now());
        if (!end) {
            note_passed();
        }
        return end;
    }

    /// Whether asynchronous operations are pending.
    [[nodiscard]] bool any_pending() const noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        return fsm_.phase_of(direction::read) != direction_phase::unused ||
               fsm_.phase_of(direction::write) != direction_phase::unused;
    }

    /// The handler of an operation has returned.
    void settle() noexcept {
        wait_node* wait = nullptr;
        {
            const std::lock_guard<optional_mutex> guard(mutex_);
            auto& timer = core_access::state_of(timer_);
            // A timer that the wheel does not know has no wait: it was delivered, or the wheel has
            // ended.
            if (fsm_.settle().what == next::withdraw && timer.life() != timer_life::inactive) {
                wait = core_access::of(wheel_).withdraw(timer);
            }
        }
        if (wait != nullptr) {
            operation_of(*wait).destroy();
        }
    }

    /// The wait of a turn has ended.
    [[nodiscard]] next on_time(std::uint64_t turn, const boost::system::error_code& ec) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (ec) {
            return fsm_.wait_failed(turn, why_refused(ec)).what;
        }
        return carry_out(fsm_.wait_ended(turn, wheel_.now()));
    }

    /// The wait of a turn was destroyed without being called: it is lost, unless wait() throws.
    void dropped(std::uint64_t turn) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (turn != starting_) {
            fsm_.wait_dropped(turn);
        }
    }

private:
    using core_type = wheel_core<clock, traits>;

    // The idle period as it was set, and how the scale finds it. Its members are guarded by the
    // lock of the deadlines, except for those of the base class.
    class idle_period : public scaled_wait<core_type> {
        using scale_type = idle_scale<clock>;

    public:
        idle_period(stream_deadlines& owner, duration d, duration min) noexcept
            : scaled_wait<core_type>(core_access::state_of(owner.timer_), &expiry_of), period(d),
              least(min), owner_(owner) {}
        idle_period(const idle_period&) = delete;
        idle_period& operator=(const idle_period&) = delete;
        ~idle_period() {
            if (this->listed) {
                scale_->remove(*this);
            }
        }

        // From now on, the scale finds it.
        void join() {
            if (scale_ == nullptr) {
                scale_ = &boost::asio::use_service<scale_type>(owner_.wheel_.context());
                scale_->add(*this);
            }
        }

        // If the scale has changed before, this sees it: the scale's lock has ordered that before
        // the end of join(), or the lock of the deadlines before this. If it changes later, the
        // scale finds this period.
        [[nodiscard]] duration scaled() const noexcept {
            return this->listed ? scaled(scale_->scale()) : period;
        }
        [[nodiscard]] duration scaled(double scale) const noexcept {
            return scaled_period(period, scale, least);
        }

        duration period;
        duration least;

    private:
        static time_point expiry_of(scaled_wait<core_type>& self, double scale) noexcept {
            return static_cast<idle_period&>(self).owner_.scale_idle(scale);
        }

        stream_deadlines& owner_;
        scale_type* scale_ = nullptr;
    };

    // Any thread calls this, under the scale's lock. Returns when the wait has to end.
    [[nodiscard]] time_point scale_idle(double scale) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const auto answer = fsm_.scale_idle(idle_.scaled(scale));
        return answer.what == next::move ? answer.at : never;
    }

    // Tells the machine what is set.
    template <class Set>
    [[nodiscard]] setting set(Set f) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        setting s;
        if (fsm_.set_may_arm()) {
            s.before = unscaled();
        }
        s.needs_wait = carry_out(f(fsm_)) == next::arm;
        return s;
    }

    [[nodiscard]] stream_limits unscaled() const noexcept {
        stream_limits limits = fsm_.limits();
        limits.idle.length = idle_.period;
        limits.min_idle = idle_.least;
        return limits;
    }

    [[nodiscard]] next carry_out(const deadline_fsm::action& answer) noexcept {
        if (answer.what == next::move) {
            // If the wait has ended already, on_time() comes, and finds what has passed.
            static_cast<void>(timer_.postpone_until(answer.at));
            return next::none;
        }
        if (answer.what == next::close) {
            note_passed();
        }
        return answer.what;
    }

    void note_passed() noexcept { core_access::of(wheel_).expired(wait_kind::stream); }

    wheel_service<clock>& wheel_;
    mutable optional_mutex mutex_;
    basic_waitable_timer<clock, traits, Executor> timer_;
    deadline_fsm fsm_;
    relaxed_atomic<std::uint64_t> starting_ = 0; // The turn that wait() is starting; 0 if none.
    idle_period idle_; // After the timer and the machine, which the scale uses until it is removed.
};

} // namespace asio_wheel::detail

#endif
