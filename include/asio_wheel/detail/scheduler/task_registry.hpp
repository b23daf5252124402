// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The registry of a scheduler: all of its tasks, and the keys of those that have one.
//
// stop(), cancel() and the end of a call never allocate and never fail. The function that schedules
// a task allocates all that they need. So the list of tasks and the table of keys are intrusive,
// and there is always capacity for as many orphans as there are tasks.
//
// A task is registered from the start of its first wait until its function is destroyed. The
// registry does not own the tasks: the pending wait of a task does, and a call of it. So when the
// context ends, its tasks end, too, even those that own their scheduler.
//
// A mutex guards the registry. It may be taken while a task's mutex is held. A task's mutex must
// not be taken while it is held.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_REGISTRY_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_REGISTRY_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/scheduler/idle_source.hpp>
#include <asio_wheel/detail/scheduler/key_table.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace asio_wheel {

template <class Clock>
class basic_task_handle;

namespace detail {

template <class Clock>
class task;

template <class Clock>
class task_registry final : public idle_source {
public:
    using handle = basic_task_handle<Clock>;
    using error_handler = std::function<void(const handle&, std::exception_ptr)>;
    using task_ptr = std::shared_ptr<task<Clock>>;
    using orphans = std::vector<handle>;

    task_registry(std::size_t max_pending, error_handler on_error)
        : max_pending_(max_pending), on_error_(std::move(on_error)) {}
    task_registry(const task_registry&) = delete;
    task_registry& operator=(const task_registry&) = delete;
    ~task_registry() { BOOST_ASSERT(tasks_.empty()); }

    /// Adds a task. Throws if the registry is closed, or if max_pending tasks are registered. A
    /// task that will replace another one with the same key is not counted. Throws what == of keys
    /// throws.
    void add(task<Clock>& t) {
        const std::lock_guard<mutex> guard(mutex_);
        if (closed_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::scheduler_stopped));
        }
        const bool replaces = t.key != nullptr && by_key_.find(*t.key) != nullptr;
        if (max_pending_ != 0 && size_ - (replaces ? 1 : 0) >= max_pending_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::too_many_pending));
        }
        if (orphan_reserve_.capacity() <= size_) {
            orphan_reserve_.reserve(std::max<std::size_t>(2 * size_, 16));
        }
        tasks_.push_back(t);
        ++size_;
    }

    /// Enters the key of `t`, if it has one, into the table. Returns the task that had the key
    /// before, or null. The caller cancels that task. If == of keys throws, nothing has changed.
    [[nodiscard]] task_ptr assign_key(task<Clock>& t) {
        if (t.key == nullptr) {
            return nullptr;
        }
        const std::lock_guard<mutex> guard(mutex_);
        registry_entry* const previous = by_key_.find(*t.key);
        if (previous != nullptr) {
            by_key_.erase(*previous);
        }
        by_key_.insert(t);
        return previous != nullptr ? shared_from(*previous) : nullptr;
    }

    /// The task that has a key; null if there is none.
    [[nodiscard]] task_ptr find(const key_view& key) {
        const std::lock_guard<mutex> guard(mutex_);
        registry_entry* const entry = by_key_.find(key);
        return entry != nullptr ? shared_from(*entry) : nullptr;
    }

    /// The key of `t` does not lead to it any more.
    void release_key(task<Clock>& t) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        if (key_table::contains(t)) {
            by_key_.erase(t);
        }
    }

    void remove(task<Clock>& t) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        const auto it = tasks_.iterator_to(t);
        if (next_to_stop_ == it) {
            ++next_to_stop_;
        }
        tasks_.erase(it);
        --size_;
        if (key_table::contains(t)) {
            by_key_.erase(t);
        }
        finish_waits_if_idle();
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return size_;
    }

    /// The registry takes no more tasks.
    void close() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        closed_ = true;
    }
    [[nodiscard]] bool closed() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return closed_;
    }

    /// Closes the registry. The first call returns true, and gives `orphans_out` enough capacity
    /// for all tasks. Then next_to_stop() returns one task after the other, and null at the end.
    [[nodiscard]] bool stop(orphans& orphans_out) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        closed_ = true;
        if (std::exchange(stopped_, true)) {
            return false;
        }
        orphans_out.swap(orphan_reserve_);
        next_to_stop_ = tasks_.begin();
        return true;
    }
    [[nodiscard]] task_ptr next_to_stop() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return next_to_stop_ != tasks_.end() ? shared_from(*next_to_stop_++) : nullptr;
    }

    /// Passes an exception of a task to on_error; or writes it to std::clog, if there is no
    /// on_error. If on_error throws, that is written to std::clog. If std::clog throws, that is
    /// ignored.
    void report(const handle& h, const std::exception_ptr& e) const noexcept {
        if (!on_error_) {
            return log("a task", e);
        }
        if (const std::exception_ptr failure = thrown_by([&] { on_error_(h, e); })) {
            log("on_error", failure);
        }
    }

    /// The same for an orphan, which has no registry.
    static void report_orphan(const std::exception_ptr& e) noexcept { log("a task", e); }

private:
    using list = boost::intrusive::list<registry_entry,
                                        boost::intrusive::base_hook<registry_entry::list_hook>,
                                        boost::intrusive::constant_time_size<false>>;

    static void log(const char* who, const std::exception_ptr& e) noexcept {
        const auto log_what = [&](const std::exception& failure) {
            std::clog << "asio_wheel: " << who << " has thrown: " << failure.what() << '\n';
            return true;
        };
        static_cast<void>(throws([&] { // Nothing can handle it.
            if (!points_to<std::exception>(e, log_what)) {
                std::clog << "asio_wheel: " << who << " has thrown an unknown exception\n";
            }
        }));
    }

    // A registered task has an owner, which keeps it until it is removed.
    [[nodiscard]] static task_ptr shared_from(registry_entry& entry) noexcept {
        return static_cast<task<Clock>&>(entry).shared_from_this();
    }

    [[nodiscard]] bool is_idle() const noexcept override { return size_ == 0; }

    const std::size_t max_pending_;
    const error_handler on_error_; // Several threads may call it at once.
    // The mutex of the base class guards all that follows.
    list tasks_;
    std::size_t size_ = 0;
    key_table by_key_;       // The tasks that have keys.
    orphans orphan_reserve_; // Empty, with capacity for all tasks.
    bool closed_ = false;
    bool stopped_ = false;
    typename list::iterator next_to_stop_ = tasks_.end();
};

} // namespace detail

} // namespace asio_wheel

#endif
