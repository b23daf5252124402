// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The deadlines of one stream: of its reads, of its writes, and of its being idle.
//
// Ground rules.
//
//  1. There is one timer, with at most one wait. The wait ends at the earliest deadline of all
//     pending operations, or earlier. A deadline that becomes later does not move the wait. One
//     that is earlier does. When the wait ends, on_time() checks which deadlines have passed, and
//     waits for the others.
//  2. When an operation ends, the wait goes on. Most often the operation's handler starts the next
//     operation, which uses the same wait: then nothing is armed, moved or cancelled. When the
//     handler has returned and no operation needs the wait, settle() withdraws it. So an idle
//     stream has no wait, and does not keep its context running.
//  3. Operations begin and end, and deadlines are set, on the stream's strand. But a handler may
//     pass the stream to another thread, as use_future does, before settle() has run. That is why
//     there is a lock. It guards everything here. It is held for O(1) work, in which no code of the
//     user runs. The wheel's lock may be taken while it is held, but not the other way round.
//  4. A wait is started only if there is none. This needs no lock, because nothing else uses the
//     timer then.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINES_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_DEADLINES_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_wheel::detail {

/// What an operation of a stream does. A connect has the deadline of a write.
enum class direction : std::uint8_t { read, write, connect };

/// The deadlines that were set. The last time point and the longest duration mean that there is
/// none.
struct stream_options {
    using clock = std::chrono::steady_clock;

    clock::time_point read = clock::time_point::max();
    clock::time_point write = clock::time_point::max();
    clock::duration idle = clock::duration::max();
};

template <class Executor>
class stream_deadlines {
    using clock = std::chrono::steady_clock;
    using traits = boost::asio::wait_traits<clock>;

public:
    using time_point = clock::time_point;
    using duration = clock::duration;

    static constexpr time_point never = time_point::max();

    /// What to do about an operation that is to begin.
    enum class start {
        at_once,   ///< Begin it.
        with_wait, ///< Begin it, after calling wait().
        too_late   ///< Its deadline has passed. Close the stream; it has not begun.
    };

    /// How an operation ended.
    struct ending {
        boost::system::error_code why; ///< The stream was closed because of it.
        bool lingers;                  ///< settle() is to be called after the handler.
    };

    /// What to do when a wait has ended.
    enum class action { none, wait, close };

    stream_deadlines(const Executor& ex, const stream_options& t)
        : wheel_(use_wheel<clock>(context_of(ex))), mutex_(wheel_.options().locking), timer_(ex),
          next_idle_(t.idle) {
        read_.expiry = t.read;
        write_.expiry = t.write;
    }

    stream_deadlines(const stream_deadlines&) = delete;
    stream_deadlines& operator=(const stream_deadlines&) = delete;
    ~stream_deadlines() = default; ///< Aborts the wait.

    [[nodiscard]] stream_options current() const {
        const std::lock_guard<optional_mutex> guard(mutex_);
        return {read_.expiry, write_.expiry, next_idle_};
    }

    [[nodiscard]] time_point from_now(duration d) const { return add_saturating(wheel_.now(), d); }

    /// For reads and writes, but for those of which one is pending.
    void expires(time_point t) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        const bool reads = free(read_);
        const bool writes = free(write_);
        if (!reads && !writes) {
            reject("a read and a write are pending, or a connect");
        }
        read_.expiry = reads ? t : read_.expiry;
        write_.expiry = writes ? t : write_.expiry;
    }

    void read_expires(time_point t) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (!free(read_)) {
            reject("a read or a connect is pending");
        }
        read_.expiry = t;
    }

    void write_expires(time_point t) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (!free(write_)) {
            reject("a write or a connect is pending");
        }
        write_.expiry = t;
    }

    /// From the next operation on. A wait for one that is pending may belong to another executor.
    void idle_after(duration d) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        next_idle_ = d;
    }

    void idle_never() {
        const std::lock_guard<optional_mutex> guard(mutex_);
        next_idle_ = idle_ = duration::max();
    }

    [[nodiscard]] start begin(direction what) {
        const std::lock_guard<optional_mutex> guard(mutex_);
        direction_state& s = state_of(what);
        const bool needs_now = next_idle_ != duration::max() || s.expiry != never;
        const time_point now = needs_now ? wheel_.now() : time_point();
        if (s.expiry <= now) {
            expire(now);
            return start::too_late;
        }
        if (idle_ != next_idle_ || read_.pending + write_.pending == 0) {
            idle_ = next_idle_;
            last_ = now; // While there is nothing to wait for, nothing is idle.
        }
        ++s.pending;
        connecting_ += what == direction::connect ? 1 : 0;
        const time_point first = earliest();
        if (first == never) {
            return start::at_once;
        }
        if (!armed_) {
            arm(first);
            return start::with_wait;
        }
        if (first < armed_for_) {
            armed_for_ = first;
            // If it is too late to move the wait, on_time() follows, and checks.
            static_cast<void>(timer_.postpone_until(first));
        }
        return start::at_once;
    }

    /// Starts the wait that begin() or on_time() asked for.
    template <class Watch>
    void wait(Watch&& watch) {
        watch.turn = turn_;
        timer_.expires_at(armed_for_);
        timer_.async_wait(std::forward<Watch>(watch));
    }

    /// wait() has thrown at the beginning of an operation, which does not begin then.
    void take_back(direction what) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        armed_ = false;
        leave(what);
        // There was no wait, so nothing that is pending had an idle period before.
        idle_ = duration::max();
    }

    /// wait() has thrown in on_time(). True if the stream must be closed.
    [[nodiscard]] bool refuse(const boost::system::error_code& why) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        armed_ = false;
        return fail(why);
    }

    /// `progress`: something was read, or written, or the stream is connected.
    [[nodiscard]] ending end(direction what, bool progress) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        direction_state& s = state_of(what);
        const boost::system::error_code why = s.why;
        leave(what);
        if (progress && idle_ != duration::max()) {
            last_ = wheel_.now();
        }
        return {why, armed_ && earliest() == never};
    }

    /// The handler of an operation has returned.
    void settle() noexcept {
        wait_op* op = nullptr;
        {
            const std::lock_guard<optional_mutex> guard(mutex_);
            auto& timer = core_access::state_of(timer_);
            if (armed_ && earliest() == never) {
                armed_ = false;
                // Else the wait was delivered, or the wheel has ended.
                if (timer.life() != timer_life::unknown) {
                    op = core_access::of(wheel_).withdraw(timer);
                }
            }
        }
        if (op != nullptr) {
            op->destroy();
        }
    }

    /// The wait of a turn has ended.
    [[nodiscard]] action on_time(std::uint64_t turn, const boost::system::error_code& ec) noexcept {
        const std::lock_guard<optional_mutex> guard(mutex_);
        if (!armed_ || turn != turn_) {
            return action::none; // Withdrawn when it was on its way.
        }
        armed_ = false;
        if (ec) {
            // A wait that was aborted, but not withdrawn, means that the wheel was drained.
            const bool drained = ec == boost::asio::error::operation_aborted;
            return fail(drained ? error::wheel_stopped : ec) ? action::close : action::none;
        }
        if (expire(wheel_.now())) {
            return action::close;
        }
        const time_point first = earliest();
        if (first == never) {
            return action::none;
        }
        arm(first);
        return action::wait;
    }

private:
    struct direction_state {
        time_point expiry = never;
        unsigned pending = 0;
        boost::system::error_code why; // Why the stream was closed under what is pending.
    };

    [[nodiscard]] direction_state& state_of(direction what) noexcept {
        return what == direction::read ? read_ : write_;
    }

    [[nodiscard]] bool free(const direction_state& s) const noexcept {
        return s.pending + connecting_ == 0;
    }

    [[noreturn]] static void reject(const char* why) {
        throw std::logic_error("asio_wheel: the deadline of a timeout_stream is set while " +
                               std::string(why));
    }

    void arm(time_point t) noexcept {
        armed_ = true;
        armed_for_ = t;
        ++turn_;
    }

    void leave(direction what) noexcept {
        direction_state& s = state_of(what);
        connecting_ -= what == direction::connect ? 1 : 0;
        if (--s.pending == 0) {
            s.why = {};
        }
    }

    [[nodiscard]] time_point idle_end() const noexcept {
        return idle_ == duration::max() ? never : add_saturating(last_, idle_);
    }

    // The first deadline of what is pending.
    [[nodiscard]] time_point earliest() const noexcept {
        const time_point idle = idle_end();
        time_point first = never;
        for (const direction_state* const s : {&read_, &write_}) {
            if (s->pending != 0 && !s->why) {
                first = std::min({first, s->expiry, idle});
            }
        }
        return first;
    }

    // Marks what is pending though its deadline has passed. False if there is nothing.
    bool expire(time_point now) noexcept {
        return fail(error::timed_out, [now, idle = idle_end()](const direction_state& s) {
            return std::min(s.expiry, idle) <= now;
        });
    }

    // Marks what is pending and has a deadline.
    bool fail(const boost::system::error_code& why) noexcept {
        return fail(why, [idle = idle_end()](const direction_state& s) {
            return std::min(s.expiry, idle) != never;
        });
    }

    template <class Concerns>
    bool fail(const boost::system::error_code& why, Concerns concerns) noexcept {
        bool any = false;
        for (direction_state* const s : {&read_, &write_}) {
            if (s->pending != 0 && !s->why && concerns(*s)) {
                s->why = why;
                any = true;
            }
        }
        return any;
    }

    wheel_service<clock>& wheel_;
    mutable optional_mutex mutex_;
    basic_waitable_timer<clock, traits, Executor> timer_;
    direction_state read_;
    direction_state write_;
    unsigned connecting_ = 0;         // Counts as a read, too, but without its deadline.
    duration idle_ = duration::max(); // The period in force,
    duration next_idle_;              // and from the next operation on.
    time_point last_;                 // When it was idle last, or began to be.
    bool armed_ = false;     // There is a wait, until it is withdrawn or on_time() is called.
    time_point armed_for_;   // When it ends.
    std::uint64_t turn_ = 0; // Tells it from those that were withdrawn.
};

} // namespace asio_wheel::detail

#endif
