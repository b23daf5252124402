// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A task of a scheduler: a function that is called once or repeatedly. Its states are in
// task_state.hpp.
//
// Each transition is made by move_to(), under the task's mutex. The final states are entered once.
// The thread that enters one calls finalize() after it has released the mutex. That destroys the
// function, and then removes the task from the registry and from its group. So a task counts as
// pending until its function is destroyed. From then on, and as an orphan, a task is at rest, which
// is what idle_source.hpp calls idle.
//
// A task has a timer exactly while it is waiting, running or cancelling. The mutex guards the
// timer, and is held while a wait is initiated. It is not held while the function is called or
// destroyed, because users' code may use the task. The mutexes of the registry and of the group may
// be taken while it is held.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>
#include <asio_wheel/detail/scheduler/first_call.hpp>
#include <asio_wheel/detail/scheduler/task_group.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/scheduler/task_state.hpp>
#include <asio_wheel/detail/scheduler/task_wait.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// A task, without its function and its key, which are in a derived class.
template <class Clock>
class task : public registry_entry,
             public group_member,
             public idle_source,
             public std::enable_shared_from_this<task<Clock>> {
public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using handle = basic_task_handle<Clock>;
    using wait_handler = task_wait_handler<task>;
    using registry_type = task_registry<Clock>;
    using registry_ptr = std::shared_ptr<registry_type>;
    using group_ptr = std::shared_ptr<task_group<task>>;

    virtual ~task() {
        BOOST_ASSERT(!is_registered(state_));
        if (group_) {
            group_->forget(*this);
        }
    }

    /// If the task is unscheduled, adds it to the registry and starts to wait. If another task has
    /// the same key there, takes its place and cancels it. If this throws, the task is unscheduled
    /// as before, and nothing else has changed.
    void schedule(const registry_ptr& registry, const boost::asio::any_io_executor& ex) {
        const std::shared_ptr<task> self = this->shared_from_this();
        wait_handler w(self);
        std::shared_ptr<task> previous;
        bool initiated = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (state_ != state::unscheduled) {
                return;
            }
            previous = register_and_wait(*registry, ex, w, initiated);
            registry_ = registry;
            move_to(state::waiting);
        }
        after_initiate({true, initiated, nullptr}, w);
        if (previous) {
            previous->cancel();
        }
    }

    /// `tell`: calls the function's on_cancel.
    typename handle::outcome cancel(bool tell = true) noexcept {
        using enum cancel_result;
        const std::shared_ptr<task> self = this->shared_from_this();
        bool waited = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            switch (state_) {
            case state::waiting:
                waited = true;
                move_to_without_timer(state::cancelled);
                break;
            case state::unscheduled:
                move_to_without_timer(state::cancelled);
                if (group_) {
                    group_->begin_cancelling();
                }
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
        finalize(tell);
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

    /// The same, if it is a burst of this group.
    [[nodiscard]] bool postpone_burst(const group_ptr& group, const duration& d) {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::waiting && first_.is_burst && group_ == group &&
               move_wait(add_saturating(wheel_->now(), d));
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
                if (group_) {
                    group_->rest();
                }
                finish_waits_if_idle();
                return true;
            }
            move_to_without_timer(state::cancelled);
        }
        finalize(true);
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
    [[nodiscard]] duration remaining() const {
        const std::lock_guard<mutex> guard(mutex_);
        return state_ == state::waiting ? until_or_zero(wheel_->now(), expiry_) : duration::zero();
    }
    [[nodiscard]] time_point expiry() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return expiry_;
    }

    [[nodiscard]] virtual bool is_repeated() const noexcept = 0;

    // What coroutine_call.hpp calls, once for each coroutine.

    static void end_call(const handle& h, const std::exception_ptr& thrown,
                         wait_handler& w) noexcept {
        task& t = *h.task_;
        const idle_source::idle_call in_call(t, t.group_.get(), t.registry_.get());
        if (thrown) {
            t.report(h, thrown);
        }
        t.after_call(h, w);
    }
    static void drop_call(const handle& h) noexcept {
        task& t = *h.task_;
        {
            const std::lock_guard<mutex> guard(t.mutex_);
            t.move_to_without_timer(state::cancelled);
        }
        t.finalize(false);
    }

protected:
    task(const first_call<time_point>& first, const group_ptr& group) noexcept
        : expiry_(first.at), first_(first), group_(group) {}

    /// Of its timer: there is one while it is being called.
    [[nodiscard]] boost::asio::any_io_executor get_executor() { return timer_.get_executor(); }

private:
    using state = task_state;
    friend wait_handler;

    /// Calls the function. Returns false if it is a coroutine, which ends the call by end_call() or
    /// drop_call(), at once or later, on any thread. Then `w` was moved from.
    [[nodiscard]] virtual bool call(const handle& h, wait_handler& w) = 0;

    /// A call is about to begin: see fixed_rate::begin_call(). The mutex is held.
    [[nodiscard]] virtual bool begin_call(time_point& expiry,
                                          const wheel_service<Clock>& wheel) noexcept = 0;

    /// The time of the next call; none if there is none. `previous` is the time for which this call
    /// was scheduled.
    [[nodiscard]] virtual std::optional<time_point> next_expiry(time_point previous,
                                                                time_point now) = 0;

    /// Calls the function's on_cancel, if it has one.
    virtual void tell_of_cancellation(const handle& h) = 0;

    /// The tag of its waits, or null.
    [[nodiscard]] virtual const wait_tag* tag() const noexcept = 0;

    /// Destroys the function and the key. The destructors of what they hold may run any code.
    virtual void destroy_function() noexcept = 0;

    // At rest: see idle_source.
    [[nodiscard]] bool is_idle() const noexcept override {
        return state_ == state::unscheduled || finalized_;
    }

    void move_to(state next) noexcept {
        BOOST_ASSERT(may_follow(state_, next));
        BOOST_ASSERT(!is_registered(next) || (timer_.has_value() && registry_));
        state_ = next;
    }

    void move_to_without_timer(state next) noexcept {
        move_to(next);
        timer_.reset();
    }

    // Called once, without the mutex, after the transition to expired or cancelled. `tell`: if the
    // task was cancelled by the user, who may want to be told.
    void finalize(bool tell) noexcept {
        const idle_source::idle_call in_call(*this, group_.get(), registry_.get());
        if (registry_ && this->key != nullptr) {
            registry_->release_place(*this);
        }
        if (tell) {
            const handle h(this->shared_from_this());
            guarded(h, [&] { tell_of_cancellation(h); });
        }
        destroy_function();
        if (const registry_ptr registry = std::exchange(registry_, nullptr)) {
            registry->remove(*this);
        }
        if (const group_ptr group = std::exchange(group_, nullptr)) {
            group->leave(*this);
        }
        const std::lock_guard<mutex> guard(mutex_);
        finalized_ = true;
        finish_waits_if_idle();
    }

    // Calls f(), and reports what it throws.
    template <class Function>
    void guarded(const handle& h, Function f) noexcept {
        if (const std::exception_ptr thrown = thrown_by(f)) {
            report(h, thrown);
        }
    }

    void report(const handle& h, const std::exception_ptr& e) noexcept {
        registry_ ? registry_->report(h, e) : registry_type::report_orphan(e);
    }

    // The part of schedule() that may fail. Returns the task that had the key before.
    [[nodiscard]] std::shared_ptr<task> register_and_wait(registry_type& registry,
                                                          const boost::asio::any_io_executor& ex,
                                                          wait_handler& w, bool& initiated) {
        if (group_) {
            group_->begin(*this);
        }
        scope_exit undo([&] {
            timer_.reset();
            if (group_) {
                group_->rest();
            }
        });
        // So that no wait begins for a task that is refused, maybe after the context's end.
        registry.prepare_to_add(*this);
        wheel_ = &wheel_of<Clock>(ex);
        timer_.emplace(ex);
        initiated = timer_.initiate(expiry_, w, tag());
        std::shared_ptr<task> previous = registry.add(*this); // Last, since the key takes effect.
        undo.release();
        return previous;
    }

    // Moves the pending wait. The mutex is held. False if it is too late.
    [[nodiscard]] bool move_wait(time_point t) {
        t = (std::min)(t, first_.latest);
        const bool moved = t == expiry_ || timer_.postpone_until(t); // Keeps its place in a queue.
        expiry_ = moved ? t : expiry_;
        return moved;
    }

    // The handler of a wait is destroyed without having been called.
    void on_wait_destroyed(wait_id id) noexcept {
        if (timer_.is_initiating(id)) {
            return; // initiate() returns false.
        }
        const std::shared_ptr<task> self = this->shared_from_this();
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (!is_current_wait(id)) {
                return;
            }
            move_to_without_timer(state::cancelled);
        }
        finalize(false);
    }

    // Whether this wait is pending. It is not if the task was cancelled, or was stopped and
    // adopted, since it started.
    [[nodiscard]] bool is_current_wait(wait_id id) const noexcept {
        return state_ == state::waiting && timer_.is_last(id);
    }

    void on_wait(const boost::system::error_code& ec, wait_handler& w) noexcept {
        const handle h(this->shared_from_this());
        begun_wait next_wait;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (!is_current_wait(w.wait_id_)) {
                return;
            }
            if (!ec && !begin_call(expiry_, *wheel_)) { // It is skipped.
                next_wait = timer_.initiate_again(expiry_, h.task_, w, tag());
            } else {
                was_called_ = was_called_ || !ec;
            }
            if (!next_wait.waiting) {
                move_to(state::running);
            }
        }
        if (next_wait.waiting) {
            return after_initiate(next_wait, w);
        }
        const idle_source::idle_call in_call(*this, group_.get(), registry_.get());
        if (next_wait.failure) {
            registry_->report(h, next_wait.failure);
            return continue_or_end(std::nullopt, h, w);
        }
        if (!is_repeated()) {
            w.memory_.release(); // So that what the function starts can use it.
        }
        if (ec) {
            guarded(h,
                    [&] { report(h, pointer_to(boost::system::system_error(why_refused(ec)))); });
            return continue_or_end(std::nullopt, h, w);
        }
        bool ended = true;
        guarded(h, [&] { ended = call(h, w); });
        if (ended) {
            after_call(h, w);
        }
    }

    void after_call(const handle& h, wait_handler& w) noexcept {
        registry_->count_call();
        std::optional<time_point> next;
        guarded(h, [&] { next = next_expiry(expiry_, wheel_->now()); });
        continue_or_end(next, h, w);
    }

    // The call has ended: starts the wait for the next call, or ends the task.
    void continue_or_end(const std::optional<time_point>& next, const handle& h,
                         wait_handler& w) noexcept {
        begun_wait next_wait;
        bool cancelled = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (next && state_ == state::running) {
                next_wait = timer_.initiate_again(*next, h.task_, w, tag());
            }
            cancelled = state_ == state::cancelling;
            if (next_wait.waiting) {
                expiry_ = next.value_or(expiry_);
                move_to(state::waiting);
            } else {
                move_to_without_timer(cancelled ? state::cancelled : state::expired);
            }
        }
        if (next_wait.waiting) {
            return after_initiate(next_wait, w);
        }
        if (next_wait.failure) {
            registry_->report(h, next_wait.failure);
        }
        finalize(cancelled);
    }

    void after_initiate(const begun_wait& a, const wait_handler& w) noexcept {
        if (!a.initiated) {
            on_wait_destroyed(w.wait_id_);
        }
    }

    // The mutex of idle_source guards all that follows, except where it says otherwise.
    state state_ = state::unscheduled;
    bool was_called_ = false;
    bool finalized_ = false;
    // Written under the mutex while the task is unscheduled or waiting, or by the thread that calls
    // it. So the thread that calls or ends the task may read these without the mutex.
    time_point expiry_;
    const first_call<time_point> first_;
    wheel_service<Clock>* wheel_ = nullptr;
    registry_ptr registry_;
    // Constant until the task is over. Read without the mutex by the thread that calls or ends it.
    group_ptr group_;
    task_timer<Clock> timer_;
};

} // namespace asio_wheel::detail

#endif
