// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tasks of a scheduler: how they wait, are called, and end.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// One task.
///
/// How it stands, and how it may go on:
///
///   free       New, or an orphan: never called, and on no registry.
///              -> waiting: arm()    -> cancelled: cancel()
///   waiting    One wait is pending. Its handler owns the task.
///              -> called: the wait ends    -> free: stop(), unless it was called before
///              -> cancelled: cancel(); stop(); the handler is destroyed, as with the context
///   called     It is being called; or the wheel has refused the wait, and that is being reported.
///              -> waiting: it is repeated    -> expired: it is not
///              -> revoked: cancel() or stop(), if it is repeated
///   revoked    It is being called, and will not be called again.
///              -> cancelled: the call returns
///   expired    Over: it was called for the last time, or refused.
///   cancelled  Over: it is not called, or not again.
///
/// Each step is made under the task's lock, by move_to(), which asserts that it is one of these. No
/// step leads out of expired and cancelled. So the thread that makes the step there has the task to
/// itself. It calls let_go() when it has released the lock: that destroys the function, and then
/// leaves the registry. This happens once, because the step does.
///
/// A task is on its registry while it is waiting, called or revoked, and until let_go() has removed
/// it. While it is waiting, called or revoked it has a timer. The lock guards the timer, and is
/// held when a wait begins. It is not held when the function is called or destroyed.
template <class Clock>
class task : public board_member, public std::enable_shared_from_this<task<Clock>> {
public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using handle = basic_task_handle<Clock>;
    using registry_type = task_registry<Clock>;
    using board_ptr = std::shared_ptr<registry_type>;

    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() { BOOST_ASSERT(!on_board(state_)); }

    /// If it is free: joins the registry, in place of the task that has its key there, and begins
    /// to wait. If this throws, nothing has happened.
    void arm(const board_ptr& registry, const boost::asio::any_io_executor& ex) {
        const std::shared_ptr<task> self = this->shared_from_this();
        auto& wheel = use_wheel<Clock>(context_of(ex));
        waiter w(self);
        std::shared_ptr<task> former;
        bool begun = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ != state::free) {
                return;
            }
            registry->enter(*this);
            try {
                wheel_ = &wheel;
                begun = begin_wait(timer_.emplace(ex), expiry_, w);
            } catch (...) {
                timer_.reset();
                registry->leave(*this);
                throw;
            }
            registry_ = registry;
            former = registry->take_key(*this);
            move_to(state::waiting);
        }
        if (!begun) {
            wait_dropped(w.turn_);
        }
        if (former) {
            former->cancel();
        }
    }

    typename handle::outcome cancel() noexcept {
        using enum cancel_result;
        const std::shared_ptr<task> self = this->shared_from_this();
        bool waited = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            switch (state_) {
            case state::waiting:
                waited = true;
                [[fallthrough]];
            case state::free:
                end(state::cancelled);
                break;
            case state::called:
                if (repeats()) {
                    move_to(state::revoked);
                    return {cancelled, duration::zero()};
                }
                [[fallthrough]];
            case state::expired:
                return {already_fired, duration::zero()};
            case state::revoked:
            case state::cancelled:
                return {already_cancelled, duration::zero()};
            }
        }
        const auto outcome = waited ? typename handle::outcome{cancelled, left()}
                                    : typename handle::outcome{already_cancelled, {}};
        let_go();
        return outcome;
    }

    /// Its registry has stopped. True if it is an orphan now: it was never called; and
    /// `may_be_orphan`.
    [[nodiscard]] bool stop(bool may_be_orphan) noexcept {
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ == state::called && repeats()) {
                move_to(state::revoked);
            }
            if (state_ != state::waiting) {
                return false;
            }
            if (may_be_orphan && !was_called_) {
                end(state::free);
                std::exchange(registry_, nullptr)->leave(*this); // Before another one takes it.
                return true;
            }
            end(state::cancelled);
        }
        let_go();
        return false;
    }

    [[nodiscard]] bool is_expired() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::expired || (state_ == state::called && !repeats());
    }
    [[nodiscard]] bool is_cancelled() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::cancelled || state_ == state::revoked || state_ == state::free;
    }
    /// Neither cancel() nor adopt() makes a difference any more.
    [[nodiscard]] bool is_over() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::expired || state_ == state::cancelled;
    }
    [[nodiscard]] duration remaining() const {
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ != state::waiting) {
                return duration::zero();
            }
        }
        return left();
    }
    [[nodiscard]] time_point expiry() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return expiry_;
    }
    [[nodiscard]] virtual bool repeats() const noexcept = 0;

protected:
    explicit task(const time_point& first) noexcept : expiry_(first) {}

private:
    enum class state : std::uint8_t { free, waiting, called, revoked, expired, cancelled };

    using timer =
        basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::any_io_executor>;
    using turn_t = std::uint64_t;

    // The handler of a wait. It owns the task, and keeps the memory of the wait for the next one.
    // If it is destroyed uncalled, the context has ended, or the executor has dropped it: then the
    // task is over.
    class waiter {
        using allocator = block_allocator<void>;

    public:
        using allocator_type = keeping_allocator<void, allocator>;

        explicit waiter(std::shared_ptr<task> t) noexcept
            : task_(std::move(t)), memory_(allocator()) {}
        waiter(waiter&&) noexcept = default;
        waiter& operator=(waiter&&) = delete;
        ~waiter() {
            if (task_) {
                task_->wait_dropped(turn_);
            }
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(memory_);
        }

        [[nodiscard]] allocator upstream_allocator() const noexcept { return memory_.upstream(); }

        void operator()(const boost::system::error_code& ec) noexcept {
            const std::shared_ptr<task> t = std::move(task_);
            t->wait_ended(ec, *this);
        }

    private:
        friend class task;

        std::shared_ptr<task> task_; // Null once it was called.
        turn_t turn_ = 0;            // Which wait of the task's it is.
        mutable kept_memory<allocator> memory_;
    };

    virtual void call(const handle& h) = 0;

    /// When it is due next, having been due at `previous`.
    [[nodiscard]] virtual std::optional<time_point> next(time_point previous, time_point now) = 0;

    /// Destroys what the function holds, which may do anything.
    virtual void forget() noexcept = 0;

    [[nodiscard]] static constexpr bool on_board(state s) noexcept {
        return s == state::waiting || s == state::called || s == state::revoked;
    }

    [[nodiscard]] static constexpr bool may_follow(state from, state to) noexcept {
        switch (from) {
        case state::free:
            return to == state::waiting || to == state::cancelled;
        case state::waiting:
            return to == state::called || to == state::free || to == state::cancelled;
        case state::called:
            return to == state::waiting || to == state::revoked || to == state::expired;
        case state::revoked:
            return to == state::cancelled;
        case state::expired:
        case state::cancelled:
            break;
        }
        return false;
    }

    void move_to(state next) noexcept {
        BOOST_ASSERT(may_follow(state_, next));
        BOOST_ASSERT(!on_board(next) || (timer_ && registry_));
        state_ = next;
    }

    // A step to a state off the registry: it waits no more.
    void end(state next) noexcept {
        move_to(next);
        timer_.reset();
    }

    // What follows the step to expired or cancelled, without the lock.
    void let_go() noexcept {
        forget();
        if (registry_) {
            registry_->leave(*this);
            registry_.reset();
        }
    }

    [[nodiscard]] duration left() const {
        return std::max(until_saturating(wheel_->now(), expiry()), duration::zero());
    }

    // Begins a wait. The lock is held. If this throws, there is no wait. If it returns false, the
    // handler was destroyed at once: the caller calls wait_dropped() when the task is waiting and
    // the lock is free.
    //
    // The handler's destructor can't take the lock if it runs in here. So turn_ tells it whether
    // the wait has begun. The number of a wait is even; turn_ is that number first, and one more
    // when the wait has begun. A destructor that finds the even number changes it, which is noticed
    // here. (acq_rel: the two exchanges pair with each other.)
    [[nodiscard]] bool begin_wait(timer& t, const time_point& when, waiter& w) {
        const turn_t turn = (turn_.load(std::memory_order_relaxed) | 1U) + 1;
        turn_.store(turn, std::memory_order_relaxed);
        w.turn_ = turn;
        t.expires_at(when);
        t.async_wait(std::move(w));
        turn_t found = turn;
        const bool begun =
            turn_.compare_exchange_strong(found, turn + 1, std::memory_order_acq_rel);
        turn_.store(turn + 1, std::memory_order_relaxed);
        return begun;
    }

    // The handler of a wait is destroyed without having been called.
    void wait_dropped(turn_t turn) noexcept {
        turn_t found = turn;
        if (turn_.compare_exchange_strong(found, turn + 2, std::memory_order_acq_rel)) {
            return; // It has not begun.
        }
        const std::shared_ptr<task> self = this->shared_from_this();
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (!waits_by(turn)) {
                return;
            }
            end(state::cancelled);
        }
        let_go();
    }

    // Whether wait `turn` is pending for this task: it was not ended, nor adopted since.
    [[nodiscard]] bool waits_by(turn_t turn) const noexcept {
        return state_ == state::waiting && turn_.load(std::memory_order_relaxed) == turn + 1;
    }

    void wait_ended(const boost::system::error_code& ec, waiter& w) noexcept {
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (!waits_by(w.turn_)) {
                return;
            }
            move_to(state::called);
            was_called_ = was_called_ || !ec;
        }
        if (!repeats()) {
            w.memory_.release(); // What the function starts can have it.
        }
        const handle h(this->shared_from_this());
        std::optional<time_point> then;
        try {
            if (ec) {
                refuse(ec);
            }
            call_and_report(h);
            then = next(expiry_, wheel_->now());
        } catch (...) {
            registry_->report(h, std::current_exception());
        }
        go_on(then, h, w);
    }

    void call_and_report(const handle& h) noexcept {
        try {
            call(h);
        } catch (...) {
            registry_->report(h, std::current_exception());
        }
    }

    // The wheel refuses the wait. If it was aborted, drain() has done that: everything else that
    // aborts a wait ends the task first.
    [[noreturn]] static void refuse(const boost::system::error_code& ec) {
        throw boost::system::system_error(ec == boost::asio::error::operation_aborted
                                              ? boost::system::error_code(error::wheel_stopped)
                                              : ec);
    }

    // A call has returned. Begins to wait for the next one, or lets go.
    void go_on(const std::optional<time_point>& then, const handle& h, waiter& w) noexcept {
        std::exception_ptr failure;
        bool waits = false;
        bool begun = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (then && state_ == state::called) {
                try {
                    w.task_ = h.task_;
                    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): see move_to().
                    begun = begin_wait(*timer_, *then, w);
                    waits = true;
                } catch (...) {
                    failure = std::current_exception();
                }
            }
            if (waits) {
                expiry_ = *then;
                move_to(state::waiting);
            } else {
                end(state_ == state::revoked ? state::cancelled : state::expired);
            }
        }
        if (waits) {
            if (!begun) {
                wait_dropped(w.turn_);
            }
            return;
        }
        if (failure) {
            registry_->report(h, failure);
        }
        let_go();
    }

    mutable mutex mutex_;
    state state_ = state::free;
    bool was_called_ = false;
    time_point expiry_;      // Changes while it is called: that thread reads it without the lock.
    atomic<turn_t> turn_{0}; // Of its last wait; see begin_wait().
    std::optional<timer> timer_;
    wheel_service<Clock>* wheel_ = nullptr; // Since it has waited.
    board_ptr registry_;
};

} // namespace asio_wheel::detail

#endif
