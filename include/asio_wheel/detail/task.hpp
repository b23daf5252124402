// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tasks of a scheduler, and the handles that lead to them.

#ifndef ASIO_WHEEL_DETAIL_TASK_HPP
#define ASIO_WHEEL_DETAIL_TASK_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/sync.hpp>
#include <asio_wheel/detail/task_board.hpp>
#include <asio_wheel/detail/wheel_clock.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_wheel {

template <class Clock>
class basic_scheduler;

/// What task_handle::cancel() came to.
enum class cancel_result {
    cancelled,        ///< It will not be called (any more).
    already_fired,    ///< It was called, or is being called, for the last time.
    already_cancelled ///< By somebody else, or its scheduler was stopped.
};

namespace detail {
template <class Clock>
class task;
} // namespace detail

/// A task of a scheduler: a reference that is cheap to copy, and may outlive the task and the scheduler;
/// the context, too, if the scheduler's executor may (but remaining() is not to be asked then). From any
/// thread.
template <class Clock>
class basic_task_handle {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    /// Refers to nothing.
    basic_task_handle() noexcept = default;

    struct outcome {
        cancel_result result;
        duration remaining; ///< How long it would have been; zero unless it was cancelled.
    };

    /// Lets the task not be called any more. A call that is under way goes on.
    outcome cancel() const { // NOLINT(modernize-use-nodiscard)
        return task_ ? task_->cancel() : outcome{cancel_result::already_cancelled, {}};
    }

    /// It was called, for the last time.
    [[nodiscard]] bool is_expired() const { return task_ && task_->is_expired(); }
    [[nodiscard]] bool is_cancelled() const { return task_ && task_->is_cancelled(); }

    /// How long it is until its next call; zero if there is none.
    [[nodiscard]] duration remaining() const {
        return task_ ? task_->remaining() : duration::zero();
    }

    /// When its next call is due; while it is being called, and when it is over, when that call was.
    [[nodiscard]] time_point expiry() const { return task_ ? task_->expiry() : time_point(); }

    /// It is called again and again, unless it is cancelled.
    [[nodiscard]] bool is_repeated() const noexcept { return task_ && task_->repeats(); }

    friend bool operator==(const basic_task_handle&, const basic_task_handle&) noexcept = default;

private:
    friend class detail::task<Clock>;
    friend class basic_scheduler<Clock>;
    friend struct std::hash<basic_task_handle>;

    explicit basic_task_handle(std::shared_ptr<detail::task<Clock>> t) noexcept
        : task_(std::move(t)) {}

    std::shared_ptr<detail::task<Clock>> task_;
};

namespace detail {

/// One task. Its lock guards its timer and its state, and is not held while it is called.
template <class Clock>
class task : public std::enable_shared_from_this<task<Clock>> {
public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using handle = basic_task_handle<Clock>;
    using timer =
        basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::any_io_executor>;
    using board_ptr = std::shared_ptr<task_board<Clock>>;

    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() = default;

    [[nodiscard]] const std::optional<std::string>& key() const noexcept { return key_; }
    void key(std::string k) noexcept { key_ = std::move(k); }

    /// Joins the board, instead of whoever has its key there, and begins to wait; unless it has done so
    /// before, and was not stopped since. If it throws, nothing has happened.
    void arm(const board_ptr& board, const boost::asio::any_io_executor& ex) {
        const std::shared_ptr<task> self = this->shared_from_this();
        std::shared_ptr<task> former;
        auto& wheel = use_wheel<Clock>(context_of(ex));
        {
            // Whoever stops the board waits for the rest.
            const std::lock_guard<mutex> guard(mutex_);
            if (stand_ != stand::stopped || calls_ != 0) {
                return;
            }
            former = board->add(self);
            try {
                wheel_ = &wheel;
                board_ = board;
                wait(timer_.emplace(ex));
            } catch (...) {
                board->remove(self, former);
                throw;
            }
            stand_ = stand::waiting;
        }
        if (former) {
            former->cancel();
        }
    }

    typename handle::outcome cancel() {
        const std::shared_ptr<task> self = this->shared_from_this();
        board_ptr board;
        bool waited = false;
        typename handle::outcome outcome{cancel_result::cancelled, duration::zero()};
        {
            const std::lock_guard<mutex> guard(mutex_);
            switch (stand_) {
            case stand::waiting:
                waited = true;
                break;
            case stand::called:
                if (!repeats()) {
                    return {cancel_result::already_fired, duration::zero()};
                }
                break;
            case stand::done:
                return {cancel_result::already_fired, duration::zero()};
            case stand::stopped:
            case stand::cancelled:
                return {cancel_result::already_cancelled, duration::zero()};
            }
            stand_ = stand::cancelled;
            if (end_wait()) { // Else it has come, or the context has ended.
                outcome.remaining = left();
            }
            board = board_;
        }
        board->remove(self);
        if (waited) {
            forget(); // Else who calls it does so.
        }
        return outcome;
    }

    /// Takes it from its board, which has stopped. True if it was never called, and could be adopted.
    [[nodiscard]] bool stop() {
        bool waited = false;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (stand_ != stand::waiting && stand_ != stand::called) {
                return false;
            }
            waited = stand_ == stand::waiting;
            stand_ = stand::stopped;
            end_wait();
            if (calls_ == 0) {
                return true;
            }
        }
        if (waited) {
            forget();
        }
        return false;
    }

    [[nodiscard]] bool is_expired() const {
        const std::lock_guard<mutex> guard(mutex_);
        return stand_ == stand::done || (stand_ == stand::called && !repeats());
    }
    [[nodiscard]] bool is_cancelled() const {
        const std::lock_guard<mutex> guard(mutex_);
        return stand_ == stand::cancelled || stand_ == stand::stopped;
    }
    [[nodiscard]] duration remaining() const {
        const std::lock_guard<mutex> guard(mutex_);
        return stand_ == stand::waiting ? left() : duration::zero();
    }
    [[nodiscard]] time_point expiry() const {
        const std::lock_guard<mutex> guard(mutex_);
        return expiry_;
    }
    [[nodiscard]] virtual bool repeats() const noexcept = 0;

protected:
    explicit task(const time_point& first) noexcept : expiry_(first) {}

private:
    enum class stand { stopped, waiting, called, done, cancelled };

    virtual void call(const handle& h) = 0;

    /// When it is due next, having been due at `previous`.
    [[nodiscard]] virtual std::optional<time_point> next(time_point previous, time_point now) = 0;

    /// It is over, and not being called: lets go what it holds, whoever has handles still. Not to be
    /// called with a lock held, for that may do anything.
    virtual void forget() noexcept = 0;

    [[nodiscard]] duration left() const {
        return std::max(until_saturating(wheel_->now(), expiry_), duration::zero());
    }

    /// True if it waited.
    bool end_wait() { return timer_ && timer_->cancel() != 0; }

    void wait(timer& t) {
        t.expires_at(expiry_);
        t.async_wait([self = this->shared_from_this(), turn = ++turn_](
                         const boost::system::error_code& ec) { self->come(ec, turn); });
    }

    void come(const boost::system::error_code& ec, std::size_t turn) {
        const handle h(this->shared_from_this());
        board_ptr board;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (stand_ != stand::waiting || turn != turn_) {
                return;
            }
            stand_ = stand::called;
            calls_ += ec ? 0 : 1;
            board = board_;
        }
        std::optional<time_point> then;
        bool over = true;
        try {
            if (ec == boost::asio::error::operation_aborted) { // By nobody else than drain().
                throw boost::system::system_error(error::wheel_stopped);
            }
            if (ec) {
                throw boost::system::system_error(ec);
            }
            call(h);
        } catch (...) {
            board->report(h, std::current_exception());
        }
        try {
            if (!ec) {
                then = next(expiry_, wheel_->now());
            }
            const std::lock_guard<mutex> guard(mutex_);
            if (stand_ == stand::called) { // Not cancelled or stopped meanwhile.
                if (then && timer_) {
                    expiry_ = *then;
                    stand_ = stand::waiting;
                    wait(*timer_);
                    return;
                }
                stand_ = stand::done;
            }
            over = stand_ != stand::stopped || calls_ != 0; // Else somebody may adopt it.
        } catch (...) {
            board->report(h, std::current_exception());
            const std::lock_guard<mutex> guard(mutex_);
            stand_ = stand::done;
        }
        board->remove(h.task_);
        if (over) {
            forget();
        }
    }

    mutable mutex mutex_;
    stand stand_ = stand::stopped; // It was not begun.
    time_point expiry_;            // Changed by whoever calls it, who need not lock to read it.
    std::size_t calls_ = 0;
    std::size_t turn_ =
        0; // Which wait it is; former ones, of a task that was stopped, come to nothing.
    wheel_service<Clock>* wheel_ = nullptr;
    std::optional<timer> timer_; // Since it was begun.
    board_ptr board_;
    std::optional<std::string> key_;
};

/// A task that calls `Function`, and then again as `Repeat` says: repeat(previous, now).
template <class Clock, class Function, class Repeat>
class task_of final : public task<Clock> {
    using time_point = typename Clock::time_point;
    using handle = basic_task_handle<Clock>;

public:
    task_of(const time_point& first, Function&& function, Repeat repeat)
        : task<Clock>(first), work_(std::in_place, work{std::move(function), std::move(repeat)}) {}

    [[nodiscard]] bool repeats() const noexcept override { return !std::is_null_pointer_v<Repeat>; }

private:
    struct work {
        Function function;
        [[no_unique_address]] Repeat repeat;
    };

    void call(const handle& h) override {
        if (!work_) {
            return;
        }
        if constexpr (std::invocable<Function&, const handle&>) {
            static_cast<void>(work_->function(h));
        } else {
            static_cast<void>(work_->function());
        }
    }

    [[nodiscard]] std::optional<time_point> next([[maybe_unused]] time_point previous,
                                                 [[maybe_unused]] time_point now) override {
        if constexpr (!std::is_null_pointer_v<Repeat>) {
            if (work_) {
                return work_->repeat(previous, now);
            }
        }
        return std::nullopt;
    }

    void forget() noexcept override { work_.reset(); }

    std::optional<work> work_; // None when it is over.
};

} // namespace detail

} // namespace asio_wheel

/// So that handles can be keys of what belongs to their tasks.
template <class Clock>
struct std::hash<asio_wheel::basic_task_handle<Clock>> {
    [[nodiscard]] std::size_t
    operator()(const asio_wheel::basic_task_handle<Clock>& h) const noexcept {
        return std::hash<std::shared_ptr<asio_wheel::detail::task<Clock>>>()(h.task_);
    }
};

#endif
