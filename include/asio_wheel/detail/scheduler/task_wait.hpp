// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The waits of a task: its timer, and the handler of each wait.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_WAIT_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_WAIT_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

using wait_id = std::uint64_t;

/// Owns the task, and keeps the memory of the wait for the next wait. If it is destroyed uncalled,
/// the context has ended or the executor has dropped it, and the task is cancelled.
template <class Task>
class task_wait_handler {
    using allocator = block_allocator<void>;

public:
    using allocator_type = kept_memory_allocator<void, allocator>;
    static constexpr wait_kind kind_of_wait = wait_kind::scheduler;

    explicit task_wait_handler(std::shared_ptr<Task> t) noexcept
        : task_(std::move(t)), memory_(allocator()) {}
    task_wait_handler(task_wait_handler&&) noexcept = default;
    task_wait_handler& operator=(task_wait_handler&&) = delete;
    ~task_wait_handler() {
        if (task_) {
            task_->on_wait_destroyed(wait_id_);
        }
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(memory_); }

    [[nodiscard]] allocator upstream_allocator() const noexcept { return memory_.upstream(); }

    void operator()(const boost::system::error_code& ec) noexcept {
        const std::shared_ptr<Task> t = std::move(task_);
        t->on_wait(ec, *this);
    }

private:
    friend Task;
    template <class>
    friend class task_timer;

    std::shared_ptr<Task> task_; // Null if the handler was called or moved from.
    wait_id wait_id_ = 0;        // Which wait of the task it belongs to.
    mutable kept_memory<allocator> memory_;
};

/// What became of the attempt to start a wait.
struct begun_wait {
    bool waiting = false;
    bool initiated = false;     // See task_timer::initiate().
    std::exception_ptr failure; // If it is not waiting.
};

/// The task's mutex guards it, except where it says otherwise.
template <class Clock>
class task_timer {
    using timer =
        basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::any_io_executor>;

public:
    void emplace(const boost::asio::any_io_executor& ex) { timer_.emplace(ex); }
    void reset() noexcept { timer_.reset(); }
    [[nodiscard]] bool has_value() const noexcept { return timer_.has_value(); }
    [[nodiscard]] const boost::asio::any_io_executor& get_executor() noexcept {
        return timer_->get_executor(); // NOLINT(bugprone-unchecked-optional-access)
    }

    /// Starts a wait. If this throws, there is no wait. If it returns false, the handler of the
    /// wait was destroyed immediately. Then the caller calls the task's on_wait_destroyed(), when
    /// the task is waiting and the mutex is released.
    ///
    /// The reason for that: if the handler's destructor runs inside this function, it cannot take
    /// the mutex. id_ tells it whether it does.
    ///
    ///   id_            meaning
    ///   id (even)      wait `id` is being initiated, under the mutex
    ///   id + 1         wait `id` was initiated
    ///   id + 2         the handler of wait `id` was destroyed while the wait was being initiated
    ///
    /// The two compare-exchanges, here and in is_initiating(), pair with each other.
    template <class Handler>
    [[nodiscard]] bool initiate(const typename Clock::time_point& when, Handler& h,
                                const wait_tag* tag) {
        const wait_id id = (id_.load(std::memory_order_relaxed) | 1U) + 1;
        id_.store(id, std::memory_order_relaxed);
        h.wait_id_ = id;
        timer& t = *timer_; // NOLINT(bugprone-unchecked-optional-access)
        t.expires_at(when);
        if (tag == nullptr) {
            t.async_wait(std::move(h));
        } else {
            t.async_wait(with_tag(std::move(h), *tag));
        }
        wait_id found = id;
        const bool initiated =
            id_.compare_exchange_strong(found, id + 1, std::memory_order_acq_rel);
        id_.store(id + 1, std::memory_order_relaxed);
        return initiated;
    }

    /// The same for the next wait of `t`, by the handler of its last one. If the task is waiting
    /// then, the caller releases the mutex and calls the task's after_initiate().
    template <class Task, class Handler>
    [[nodiscard]] begun_wait initiate_again(const typename Clock::time_point& when,
                                            const std::shared_ptr<Task>& t, Handler& h,
                                            const wait_tag* tag) noexcept {
        h.task_ = t;
        bool initiated = false;
        const auto failure = thrown_by([&] { initiated = initiate(when, h, tag); });
        if (failure) {
            h.task_ = nullptr;
        }
        return {!failure, initiated, failure};
    }

    /// Called without the mutex, when the handler of wait `id` is destroyed. Returns whether that
    /// happens inside initiate().
    [[nodiscard]] bool is_initiating(wait_id id) noexcept {
        return id_.compare_exchange_strong(id, id + 2, std::memory_order_acq_rel);
    }

    /// Whether no other wait was initiated after wait `id`.
    [[nodiscard]] bool is_last(wait_id id) const noexcept {
        return id_.load(std::memory_order_relaxed) == id + 1;
    }

    /// Gives the pending wait another time. False if it is too late.
    [[nodiscard]] bool postpone_until(const typename Clock::time_point& t) {
        return timer_->postpone_until(t) != 0; // NOLINT(bugprone-unchecked-optional-access)
    }

private:
    std::optional<timer> timer_;
    atomic<wait_id> id_{0}; // Of the last wait: see initiate().
};

} // namespace asio_wheel::detail

#endif
