// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tasks of a scheduler, the board that it keeps them on, and the handles that lead to them.

#ifndef ASIO_WHEEL_DETAIL_TASK_HPP
#define ASIO_WHEEL_DETAIL_TASK_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/executors.hpp>
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
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

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
template <class Clock>
class task_board;
} // namespace detail

/// A task of a scheduler: a reference that is cheap to copy, and may outlive the task and the scheduler.
/// (Once the context is gone there is nothing left to ask of it.) From any thread.
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

/// What a scheduler knows of its tasks. Its lock may be taken while a task's is held, not the other way
/// round.
template <class Clock>
class task_board {
public:
    using handle = basic_task_handle<Clock>;
    using error_handler = std::function<void(const handle&, std::exception_ptr)>;
    using task_ptr = std::shared_ptr<task<Clock>>;

    std::size_t max_pending = 0;
    error_handler on_error;

    void add(const task_ptr& t) {
        const std::lock_guard<std::mutex> guard(mutex_);
        if (closed_) {
            throw boost::system::system_error(error::scheduler_stopped);
        }
        if (max_pending != 0 && tasks_.size() >= max_pending) {
            throw boost::system::system_error(error::too_many_pending);
        }
        tasks_.insert(t);
    }

    void remove(const task_ptr& t) noexcept {
        const std::lock_guard<std::mutex> guard(mutex_);
        tasks_.erase(t);
        if (const auto it = keyed_.find(t->key()); it != keyed_.end() && it->second == t) {
            keyed_.erase(it);
        }
    }

    /// Gives the key to `t`. Returns who had it.
    [[nodiscard]] task_ptr name(const task_ptr& t) {
        const std::lock_guard<std::mutex> guard(mutex_);
        return std::exchange(keyed_[t->key()], t);
    }

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return tasks_.size();
    }

    void close() {
        const std::lock_guard<std::mutex> guard(mutex_);
        closed_ = true;
    }
    [[nodiscard]] bool closed() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return closed_;
    }

    [[nodiscard]] std::vector<task_ptr> stop() {
        const std::lock_guard<std::mutex> guard(mutex_);
        closed_ = true;
        std::vector<task_ptr> all(tasks_.begin(), tasks_.end());
        tasks_.clear();
        keyed_.clear();
        return all;
    }

    void report(const handle& h, const std::exception_ptr& e) const noexcept {
        try {
            if (on_error) {
                return on_error(h, e);
            }
            std::rethrow_exception(e);
        } catch (const std::exception& failure) {
            std::clog << "asio_wheel: a task has thrown: " << failure.what() << '\n';
        } catch (...) {
            std::clog << "asio_wheel: a task has thrown something\n";
        }
    }

private:
    mutable std::mutex mutex_;
    bool closed_ = false;
    std::unordered_set<task_ptr> tasks_;
    std::unordered_map<std::string, task_ptr> keyed_;
};

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

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    void key(std::string k) noexcept { key_ = std::move(k); }

    /// Joins the board, and begins to wait. If it throws, nothing has happened.
    void arm(const board_ptr& board, const boost::asio::any_io_executor& ex) {
        const std::shared_ptr<task> self = this->shared_from_this();
        auto& wheel = use_wheel<Clock>(context_of(ex));
        const std::lock_guard<std::mutex> guard(
            mutex_); // Whoever stops the board waits for the rest.
        board->add(self);
        wheel_ = &wheel;
        timer_.emplace(ex);
        board_ = board;
        try {
            wait();
        } catch (...) {
            board->remove(self);
            throw;
        }
        stand_ = stand::waiting;
    }

    typename handle::outcome cancel() {
        const std::shared_ptr<task> self = this->shared_from_this();
        board_ptr board;
        typename handle::outcome outcome{cancel_result::cancelled, duration::zero()};
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            switch (stand_) {
            case stand::waiting:
                outcome.remaining = left();
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
            timer_->cancel();
            board = board_;
        }
        board->remove(self);
        return outcome;
    }

    /// Takes it from its board, which has stopped. True if it was never called, and could be adopted.
    [[nodiscard]] bool stop() {
        const std::lock_guard<std::mutex> guard(mutex_);
        if (stand_ != stand::waiting && stand_ != stand::called) {
            return false;
        }
        stand_ = stand::stopped;
        timer_->cancel();
        return calls_ == 0;
    }

    [[nodiscard]] bool is_expired() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return stand_ == stand::done || (stand_ == stand::called && !repeats());
    }
    [[nodiscard]] bool is_cancelled() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return stand_ == stand::cancelled || stand_ == stand::stopped;
    }
    [[nodiscard]] duration remaining() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return stand_ == stand::waiting ? left() : duration::zero();
    }
    [[nodiscard]] time_point expiry() const {
        const std::lock_guard<std::mutex> guard(mutex_);
        return expiry_;
    }
    [[nodiscard]] virtual bool repeats() const noexcept = 0;

protected:
    explicit task(const time_point& first) noexcept : expiry_(first) {}

private:
    enum class stand { waiting, called, done, cancelled, stopped };

    virtual void call(const handle& h) = 0;

    /// When it is due next, having been due at `previous`.
    [[nodiscard]] virtual std::optional<time_point> next(time_point previous, time_point now) = 0;

    [[nodiscard]] duration left() const {
        return std::max(until_saturating(wheel_->now(), expiry_), duration::zero());
    }

    void wait() {
        timer_->expires_at(expiry_);
        timer_->async_wait([self = this->shared_from_this()](const boost::system::error_code& ec) {
            self->come(ec);
        });
    }

    void come(const boost::system::error_code& ec) {
        const handle h(this->shared_from_this());
        board_ptr board;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            if (stand_ != stand::waiting || ec == boost::asio::error::operation_aborted) {
                return;
            }
            stand_ = stand::called;
            calls_ += ec ? 0 : 1;
            board = board_;
        }
        std::optional<time_point> then;
        try {
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
            const std::lock_guard<std::mutex> guard(mutex_);
            if (stand_ != stand::called) {
                return; // Cancelled or stopped meanwhile.
            }
            if (then) {
                expiry_ = *then;
                stand_ = stand::waiting;
                wait();
                return;
            }
            stand_ = stand::done;
        } catch (...) {
            board->report(h, std::current_exception());
            const std::lock_guard<std::mutex> guard(mutex_);
            stand_ = stand::done;
        }
        board->remove(h.task_);
    }

    mutable std::mutex mutex_;
    stand stand_ = stand::waiting;
    time_point expiry_; // Changed by whoever calls it, who need not lock to read it.
    std::size_t calls_ = 0;
    wheel_service<Clock>* wheel_ = nullptr;
    std::optional<timer> timer_;
    board_ptr board_;
    std::string key_;
};

/// A task that calls `Function`, and then again as `Repeat` says: repeat(previous, now).
template <class Clock, class Function, class Repeat>
class task_of final : public task<Clock> {
    using time_point = typename Clock::time_point;
    using handle = basic_task_handle<Clock>;

public:
    task_of(const time_point& first, Function&& function, Repeat repeat)
        : task<Clock>(first), function_(std::move(function)), repeat_(std::move(repeat)) {}

    [[nodiscard]] bool repeats() const noexcept override { return !std::is_null_pointer_v<Repeat>; }

private:
    void call(const handle& h) override {
        if constexpr (std::invocable<Function&, const handle&>) {
            static_cast<void>(function_(h));
        } else {
            static_cast<void>(function_());
        }
    }

    [[nodiscard]] std::optional<time_point> next(time_point previous, time_point now) override {
        if constexpr (std::is_null_pointer_v<Repeat>) {
            return std::nullopt;
        } else {
            return repeat_(previous, now);
        }
    }

    Function function_;
    [[no_unique_address]] Repeat repeat_;
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
