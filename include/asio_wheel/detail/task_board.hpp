// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_TASK_BOARD_HPP
#define ASIO_WHEEL_DETAIL_TASK_BOARD_HPP

#include <asio_wheel/detail/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/system/system_error.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace asio_wheel {

template <class Clock>
class basic_task_handle;

namespace detail {

template <class Clock>
class task;

/// What a scheduler knows of its tasks. Its lock may be taken while a task's is held, not the other way
/// round.
///
/// It does not own them. What does is the wait that each has begun; so tasks end with their context,
/// also those that own their scheduler.
template <class Clock>
class task_board {
public:
    using handle = basic_task_handle<Clock>;
    using error_handler = std::function<void(const handle&, std::exception_ptr)>;
    using task_ptr = std::shared_ptr<task<Clock>>;

    std::size_t max_pending = 0;
    error_handler on_error;

    /// Takes `t`, and gives it the key that it wants. Returns who had that, and is to be cancelled.
    [[nodiscard]] task_ptr add(const task_ptr& t) {
        task_ptr former; // No task may end under the lock.
        const std::lock_guard<mutex> guard(mutex_);
        if (closed_) {
            throw boost::system::system_error(error::scheduler_stopped);
        }
        const std::optional<std::string>& key = t->key();
        if (key) {
            const auto holder = keyed_.find(*key);
            former = holder != keyed_.end() ? holder->second.lock() : nullptr;
        }
        if (max_pending != 0 && tasks_.size() - (former ? 1 : 0) >= max_pending) {
            throw boost::system::system_error(error::too_many_pending);
        }
        const auto added = tasks_.emplace(t.get(), t).first;
        try {
            if (key) {
                keyed_[*key] = t;
            }
        } catch (...) {
            tasks_.erase(added);
            throw;
        }
        return former;
    }

    /// If `t` has its key still, it goes back to `former`, if that is still here.
    void remove(const task_ptr& t, const task_ptr& former = nullptr) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        tasks_.erase(t.get());
        const std::optional<std::string>& key = t->key();
        if (!key) {
            return;
        }
        const auto holder = keyed_.find(*key);
        if (holder == keyed_.end() || holder->second.owner_before(t) ||
            t.owner_before(holder->second)) {
            return;
        }
        if (former && tasks_.contains(former.get())) {
            holder->second = former;
        } else {
            keyed_.erase(holder);
        }
    }

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard<mutex> guard(mutex_);
        return tasks_.size();
    }

    /// Takes no more.
    void close() {
        const std::lock_guard<mutex> guard(mutex_);
        closed_ = true;
    }
    [[nodiscard]] bool closed() const {
        const std::lock_guard<mutex> guard(mutex_);
        return closed_;
    }

    /// Returns all tasks there were. Takes no more.
    [[nodiscard]] std::unordered_map<const task<Clock>*, std::weak_ptr<task<Clock>>>
    stop() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        closed_ = true;
        keyed_.clear();
        return std::exchange(tasks_, {});
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
    mutable mutex mutex_;
    bool closed_ = false;
    std::unordered_map<const task<Clock>*, std::weak_ptr<task<Clock>>> tasks_;
    std::unordered_map<std::string, std::weak_ptr<task<Clock>>> keyed_; // Some of these.
};

} // namespace detail

} // namespace asio_wheel

#endif
