// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A task of a scheduler: a function that is called once or repeatedly. Its states are in
// task_state.hpp.
//
// Each transition is made by move_to(), under the task's mutex. The final states are entered once.
// The thread that enters one calls finalize() after it has released the mutex. That destroys the
// function, and then removes the task from the registry. So a task counts as pending until its
// function is destroyed.
//
// A task has a timer exactly while it is waiting, running or cancelling. The mutex guards the
// timer, and is held while a wait is initiated. It is not held while the function is called or
// destroyed, because users' code may use the task. The mutex of the registry may be taken while it
// is held.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/scheduler/task_state.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// A task, without its function, which is in a derived class.
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

    /// If the task is unscheduled, adds it to the registry and starts to wait. If another task has
    /// the same key there, takes its place and cancels it. If this throws, nothing has changed.
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
        // The state is final, so no other thread changes the task now.
        const auto outcome =
            waited ? typename handle::outcome{cancelled, until_or_zero(wheel_->now(), expiry_)}
                   : typename handle::outcome{already_cancelled, {}};
        finalize();
        return outcome;
    }

    template <class Rep, class Period>
    [[nodiscard]] bool postpone(const std::chrono::duration<Rep, Period>& d) {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::waiting && move_wait(add_saturating(wheel_->now(), d));
    }
    [[nodiscard]] bool postpone_until(const time_point& t) {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::waiting && move_wait(t);
    }

    /// Called when the task's registry was stopped. Returns true if the task is an orphan now. It
    /// becomes one if it was never called and `keep_as_orphan` is set.
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
                std::exchange(registry_, nullptr)->remove(*this); // Before it can be adopted.
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
    /// Whether the state is final.
    [[nodiscard]] bool is_over() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::expired || state_ == state::cancelled;
    }
    [[nodiscard]] duration remaining() const {
        const wheel_service<Clock>* wheel = nullptr;
        time_point expiry{};
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ != state::waiting) {
                return duration::zero();
            }
            wheel = wheel_;
            expiry = expiry_;
        }
        return until_or_zero(wheel->now(), expiry);
    }
    [[nodiscard]] time_point expiry() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return expiry_;
    }
    [[nodiscard]] virtual bool is_repeated() const noexcept = 0;

protected:
    explicit task(const time_point& first) noexcept : expiry_(first) {}

private:
    using state = task_state;
    using timer =
        basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::any_io_executor>;
    using wait_id = std::uint64_t;

    // The handler of a wait. It owns the task, and keeps the memory of the wait for the next wait.
    // If it is destroyed uncalled, the context has ended or the executor has dropped it, and the
    // task is cancelled.
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

        std::shared_ptr<task> task_; // Null if the handler was called or moved from.
        wait_id wait_id_ = 0;        // Which wait of the task it belongs to.
        mutable kept_memory<allocator> memory_;
    };

    virtual void call(const handle& h) = 0;

    /// The time of the next call; none if there is none. `previous` is the time for which this call
    /// was scheduled.
    [[nodiscard]] virtual std::optional<time_point> next_expiry(time_point previous,
                                                                time_point now) = 0;

    /// Destroys the function. The destructors of what it holds may run any code.
    virtual void destroy_function() noexcept = 0;

    void move_to(state next) noexcept {
        BOOST_ASSERT(may_follow(state_, next));
        BOOST_ASSERT(!is_registered(next) || (timer_ && registry_));
        state_ = next;
    }

    // A transition to a state without a timer.
    void move_to_without_timer(state next) noexcept {
        move_to(next);
        timer_.reset();
    }

    // Called once, without the mutex, after the transition to expired or cancelled.
    void finalize() noexcept {
        destroy_function();
        if (registry_) {
            registry_->remove(*this);
            registry_.reset();
        }
    }

    // Starts a wait. The mutex is held. If this throws, there is no wait. If it returns false, the
    // handler of the wait was destroyed immediately: then the caller calls on_wait_destroyed(),
    // when the task is waiting and the mutex is released.
    //
    // The reason for that: if the handler's destructor runs inside this function, it cannot take
    // the mutex. wait_id_ tells it whether it does.
    //
    //   wait_id_       meaning
    //   id (even)      wait `id` is being initiated, under the mutex
    //   id + 1         wait `id` was initiated
    //   id + 2         the handler of wait `id` was destroyed while the wait was being initiated
    //
    // The two compare-exchanges, here and in on_wait_destroyed(), pair with each other.
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

    // Gives the pending wait another time. The mutex is held. False if it is too late.
    [[nodiscard]] bool move_wait(const time_point& t) {
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): see move_to().
        const bool moved = timer_->postpone_until(t) != 0;
        expiry_ = moved ? t : expiry_;
        return moved;
    }

    // Called when the handler of a wait is destroyed without having been called.
    void on_wait_destroyed(wait_id id) noexcept {
        wait_id found = id;
        if (wait_id_.compare_exchange_strong(found, id + 2, std::memory_order_acq_rel)) {
            return; // The wait is being initiated. initiate_wait() returns false.
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

    // Whether this wait is pending. It is not if the task was cancelled, or was stopped and
    // adopted, since it started.
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
            w.memory_.release(); // So that what the function starts can use it.
        }
        const handle h(this->shared_from_this());
        std::optional<time_point> next;
        try {
            if (ec) {
                throw boost::system::system_error(why_refused(ec));
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

    // Called when the function has returned: starts the wait for the next call, or ends the task.
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

    mutable mutex mutex_; // Guards all that follows, except where it says otherwise.
    state state_ = state::unscheduled;
    bool was_called_ = false;
    // Written under the mutex while the task is unscheduled or waiting, or by the thread that calls
    // it. So the thread that calls or ends the task may read these without the mutex.
    time_point expiry_;
    wheel_service<Clock>* wheel_ = nullptr;
    registry_ptr registry_;
    std::optional<timer> timer_;
    atomic<wait_id> wait_id_{0}; // Of the last wait: see initiate_wait().
};

} // namespace asio_wheel::detail

#endif
