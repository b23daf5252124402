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
///              -> cancelling: cancel() or stop(), if it is repeated
///   cancelling    It is being called, and will not be called again.
///              -> cancelled: the call returns
///   expired    Over: it was called for the last time, or refused.
///   cancelled  Over: it is not called, or not again.
///
/// Each step is made under the task's lock, by move_to(), which asserts that it is one of these. No
/// step leads out of expired and cancelled. So the thread that makes the step there has the task to
/// itself. It calls finalize() when it has released the lock: that destroys the function, and then
/// leaves the registry. This happens once, because the step does.
///
/// A task is on its registry while it is waiting, called or cancelling, and until finalize() has
/// removed it. While it is waiting, called or cancelling it has a timer. The lock guards the timer,
/// and is held when a wait begins. It is not held when the function is called or destroyed.
template <class Clock>
class task : public registry_entry, public std::enable_shared_from_this<task<Clock>> {
public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using handle = basic_task_handle<Clock>;
    using registry_type = task_registry<Clock>;
    using registry_ptr = std::shared_ptr<registry_type>;

    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() { BOOST_ASSERT(!is_registered(state_)); }

    /// If it is free: joins the registry, in place of the task that has its key there, and begins
    /// to wait. If this throws, nothing has happened.
    void schedule(const registry_ptr& registry, const boost::asio::any_io_executor& ex) {
        const std::shared_ptr<task> self = this->shared_from_this();
        auto& wheel = use_wheel<Clock>(context_of(ex));
        wait_handler w(self);
        std::shared_ptr<task> previous;
        bool initiated = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ != state::unscheduled) {
                return;
            }
            registry->add(*this);
            try {
                wheel_ = &wheel;
                initiated = initiate_wait(timer_.emplace(ex), expiry_, w);
            } catch (...) {
                timer_.reset();
                registry->remove(*this);
                throw;
            }
            registry_ = registry;
            previous = registry->assign_key(*this);
            move_to(state::waiting);
        }
        if (!initiated) {
            on_wait_destroyed(w.wait_id_);
        }
        if (previous) {
            previous->cancel();
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
            case state::unscheduled:
                move_to_without_timer(state::cancelled);
                break;
            case state::running:
                if (is_repeated()) {
                    move_to(state::cancelling);
                    return {cancelled, duration::zero()};
                }
                [[fallthrough]];
            case state::expired:
                return {already_fired, duration::zero()};
            case state::cancelling:
            case state::cancelled:
                return {already_cancelled, duration::zero()};
            }
        }
        const auto outcome = waited ? typename handle::outcome{cancelled, remaining_until_expiry()}
                                    : typename handle::outcome{already_cancelled, {}};
        finalize();
        return outcome;
    }

    /// Its registry has stopped. True if it is an orphan now: it was never called; and
    /// `keep_as_orphan`.
    [[nodiscard]] bool stop(bool keep_as_orphan) noexcept {
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ == state::running && is_repeated()) {
                move_to(state::cancelling);
            }
            if (state_ != state::waiting) {
                return false;
            }
            if (keep_as_orphan && !was_called_) {
                move_to_without_timer(state::unscheduled);
                std::exchange(registry_, nullptr)->remove(*this); // Before another one takes it.
                return true;
            }
            move_to_without_timer(state::cancelled);
        }
        finalize();
        return false;
    }

    [[nodiscard]] bool is_expired() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::expired || (state_ == state::running && !is_repeated());
    }
    [[nodiscard]] bool is_cancelled() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::cancelled || state_ == state::cancelling ||
               state_ == state::unscheduled;
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
        return remaining_until_expiry();
    }
    [[nodiscard]] time_point expiry() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return expiry_;
    }
    [[nodiscard]] virtual bool is_repeated() const noexcept = 0;

protected:
    explicit task(const time_point& first) noexcept : expiry_(first) {}

private:
    enum class state : std::uint8_t {
        unscheduled,
        waiting,
        running,
        cancelling,
        expired,
        cancelled
    };

    using timer =
        basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::any_io_executor>;
    using wait_id = std::uint64_t;

    // The handler of a wait. It owns the task, and keeps the memory of the wait for the next one.
    // If it is destroyed uncalled, the context has ended, or the executor has dropped it: then the
    // task is over.
    class wait_handler {
        using allocator = block_allocator<void>;

    public:
        using allocator_type = kept_memory_allocator<void, allocator>;

        explicit wait_handler(std::shared_ptr<task> t) noexcept
            : task_(std::move(t)), memory_(allocator()) {}
        wait_handler(wait_handler&&) noexcept = default;
        wait_handler& operator=(wait_handler&&) = delete;
        ~wait_handler() {
            if (task_) {
                task_->on_wait_destroyed(wait_id_);
            }
        }

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(memory_);
        }

        [[nodiscard]] allocator upstream_allocator() const noexcept { return memory_.upstream(); }

        void operator()(const boost::system::error_code& ec) noexcept {
            const std::shared_ptr<task> t = std::move(task_);
            t->on_wait(ec, *this);
        }

    private:
        friend class task;

        std::shared_ptr<task> task_; // Null once it was called.
        wait_id wait_id_ = 0;        // Which wait of the task's it is.
        mutable kept_memory<allocator> memory_;
    };

    virtual void call(const handle& h) = 0;

    /// When it is due next, having been due at `previous`.
    [[nodiscard]] virtual std::optional<time_point> next_expiry(time_point previous,
                                                                time_point now) = 0;

    /// Destroys what the function holds, which may do anything.
    virtual void destroy_function() noexcept = 0;

    [[nodiscard]] static constexpr bool is_registered(state s) noexcept {
        return s == state::waiting || s == state::running || s == state::cancelling;
    }

    [[nodiscard]] static constexpr bool may_follow(state from, state to) noexcept {
        switch (from) {
        case state::unscheduled:
            return to == state::waiting || to == state::cancelled;
        case state::waiting:
            return to == state::running || to == state::unscheduled || to == state::cancelled;
        case state::running:
            return to == state::waiting || to == state::cancelling || to == state::expired;
        case state::cancelling:
            return to == state::cancelled;
        case state::expired:
        case state::cancelled:
            break;
        }
        return false;
    }

    void move_to(state next) noexcept {
        BOOST_ASSERT(may_follow(state_, next));
        BOOST_ASSERT(!is_registered(next) || (timer_ && registry_));
        state_ = next;
    }

    // A step to a state off the registry: it waits no more.
    void move_to_without_timer(state next) noexcept {
        move_to(next);
        timer_.reset();
    }

    // What follows the step to expired or cancelled, without the lock.
    void finalize() noexcept {
        destroy_function();
        if (registry_) {
            registry_->remove(*this);
            registry_.reset();
        }
    }

    [[nodiscard]] duration remaining_until_expiry() const {
        return std::max(until_saturating(wheel_->now(), expiry()), duration::zero());
    }

    // Begins a wait. The lock is held. If this throws, there is no wait. If it returns false, the
    // handler was destroyed at once: the caller calls on_wait_destroyed() when the task is waiting
    // and the lock is free.
    //
    // The handler's destructor can't take the lock if it runs in here. So wait_id_ tells it whether
    // the wait has begun. The number of a wait is even; wait_id_ is that number first, and one more
    // when the wait has begun. A destructor that finds the even number changes it, which is noticed
    // here. (acq_rel: the two exchanges pair with each other.)
    [[nodiscard]] bool initiate_wait(timer& t, const time_point& when, wait_handler& w) {
        const wait_id id = (wait_id_.load(std::memory_order_relaxed) | 1U) + 1;
        wait_id_.store(id, std::memory_order_relaxed);
        w.wait_id_ = id;
        t.expires_at(when);
        t.async_wait(std::move(w));
        wait_id found = id;
        const bool initiated =
            wait_id_.compare_exchange_strong(found, id + 1, std::memory_order_acq_rel);
        wait_id_.store(id + 1, std::memory_order_relaxed);
        return initiated;
    }

    // The handler of a wait is destroyed without having been called.
    void on_wait_destroyed(wait_id id) noexcept {
        wait_id found = id;
        if (wait_id_.compare_exchange_strong(found, id + 2, std::memory_order_acq_rel)) {
            return; // It has not begun.
        }
        const std::shared_ptr<task> self = this->shared_from_this();
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (!is_current_wait(id)) {
                return;
            }
            move_to_without_timer(state::cancelled);
        }
        finalize();
    }

    // Whether wait `turn` is pending for this task: it was not ended, nor adopted since.
    [[nodiscard]] bool is_current_wait(wait_id id) const noexcept {
        return state_ == state::waiting && wait_id_.load(std::memory_order_relaxed) == id + 1;
    }

    void on_wait(const boost::system::error_code& ec, wait_handler& w) noexcept {
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (!is_current_wait(w.wait_id_)) {
                return;
            }
            move_to(state::running);
            was_called_ = was_called_ || !ec;
        }
        if (!is_repeated()) {
            w.memory_.release(); // What the function starts can have it.
        }
        const handle h(this->shared_from_this());
        std::optional<time_point> next;
        try {
            if (ec) {
                throw_refusal(ec);
            }
            call_function(h);
            next = next_expiry(expiry_, wheel_->now());
        } catch (...) {
            registry_->report(h, std::current_exception());
        }
        continue_or_end(next, h, w);
    }

    void call_function(const handle& h) noexcept {
        try {
            call(h);
        } catch (...) {
            registry_->report(h, std::current_exception());
        }
    }

    // The wheel refuses the wait. If it was aborted, drain() has done that: everything else that
    // aborts a wait ends the task first.
    [[noreturn]] static void throw_refusal(const boost::system::error_code& ec) {
        throw boost::system::system_error(ec == boost::asio::error::operation_aborted
                                              ? boost::system::error_code(error::wheel_stopped)
                                              : ec);
    }

    // A call has returned. Begins to wait for the next one, or lets go.
    void continue_or_end(const std::optional<time_point>& next, const handle& h,
                         wait_handler& w) noexcept {
        std::exception_ptr failure;
        bool waiting = false;
        bool initiated = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (next && state_ == state::running) {
                try {
                    w.task_ = h.task_;
                    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): see move_to().
                    initiated = initiate_wait(*timer_, *next, w);
                    waiting = true;
                } catch (...) {
                    failure = std::current_exception();
                }
            }
            if (waiting) {
                expiry_ = *next;
                move_to(state::waiting);
            } else {
                move_to_without_timer(state_ == state::cancelling ? state::cancelled
                                                                  : state::expired);
            }
        }
        if (waiting) {
            if (!initiated) {
                on_wait_destroyed(w.wait_id_);
            }
            return;
        }
        if (failure) {
            registry_->report(h, failure);
        }
        finalize();
    }

    mutable mutex mutex_;
    state state_ = state::unscheduled;
    bool was_called_ = false;
    time_point expiry_; // Changes while it is called: that thread reads it without the lock.
    atomic<wait_id> wait_id_{0}; // Of its last wait; see initiate_wait().
    std::optional<timer> timer_;
    wheel_service<Clock>* wheel_ = nullptr; // Since it has waited.
    registry_ptr registry_;
};

} // namespace asio_wheel::detail

#endif
