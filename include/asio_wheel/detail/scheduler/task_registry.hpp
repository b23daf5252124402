// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tasks of a scheduler.
//
// stop(), cancel() and the end of a call need no memory, and never fail. The function that
// schedules a task has allocated all that they need. So the list of tasks and the table of keys
// link the tasks themselves, and there is always room for as many orphans as there are tasks.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_REGISTRY_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_REGISTRY_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <boost/intrusive/unordered_set_hook.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel {

template <class Clock>
class basic_task_handle;

namespace detail {

template <class Clock>
class task;

struct task_list_tag;
struct key_table_tag;

/// What a registry keeps in a task. Its lock guards the hooks; the key never changes.
struct registry_entry
    : boost::intrusive::list_base_hook<boost::intrusive::tag<task_list_tag>>,
      boost::intrusive::unordered_set_base_hook<boost::intrusive::tag<key_table_tag>> {
    using list_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<task_list_tag>>;
    using table_hook =
        boost::intrusive::unordered_set_base_hook<boost::intrusive::tag<key_table_tag>>;

    std::optional<std::string> key;
};

/// The members that have keys, by their keys. To take one needs no memory: without it there are too
/// few buckets, which makes it slower, not wrong.
class key_table {
public:
    key_table() noexcept : table_(traits(single_bucket_.data(), single_bucket_.size())) {}
    key_table(const key_table&) = delete;
    key_table& operator=(const key_table&) = delete;
    ~key_table() { table_.clear(); }

    /// Null if no member has this key.
    [[nodiscard]] registry_entry* find(const std::string& key) noexcept {
        const auto it = table_.find(key);
        return it != table_.end() ? &*it : nullptr;
    }

    /// Its key is free.
    void insert(registry_entry& m) noexcept {
        if (table_.size() >= table_.bucket_count()) {
            grow();
        }
        table_.insert(m);
    }

    void erase(registry_entry& m) noexcept { table_.erase(table_.iterator_to(m)); }

    [[nodiscard]] static bool contains(const registry_entry& m) noexcept {
        return m.registry_entry::table_hook::is_linked();
    }

private:
    struct key_of {
        using type = std::string;
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): members without a key are not here.
        const type& operator()(const registry_entry& m) const noexcept { return *m.key; }
    };
    using table = boost::intrusive::unordered_set<
        registry_entry, boost::intrusive::base_hook<registry_entry::table_hook>,
        boost::intrusive::key_of_value<key_of>, boost::intrusive::hash<std::hash<std::string>>,
        boost::intrusive::power_2_buckets<true>>;
    using traits = table::bucket_traits;
    using bucket = table::bucket_type;

    void grow() noexcept {
        try {
            std::vector<bucket> buckets(std::max<std::size_t>(2 * table_.bucket_count(), 16));
            table_.rehash(traits(buckets.data(), buckets.size()));
            buckets_.swap(buckets);
        } catch (const std::bad_alloc&) {
        }
    }

    std::array<bucket, 1> single_bucket_; // Most schedulers have no keys.
    std::vector<bucket> buckets_;
    table table_;
};

/// The tasks of a scheduler, from when they begin to wait until they are let go. Its lock may be
/// taken while a task's is held, not the other way round.
///
/// It does not own them: the wait that each has begun does, and the call. So tasks end with their
/// context, also those that own their scheduler.
template <class Clock>
class task_registry {
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

    /// Takes `t`. If another member has its key, it will have that one's place. Throws if there is
    /// no place, or the registry is closed.
    void add(task<Clock>& t) {
        const std::lock_guard<mutex> guard(mutex_);
        if (closed_) {
            throw boost::system::system_error(error::scheduler_stopped);
        }
        const bool replaces = t.key && by_key_.find(*t.key) != nullptr;
        if (max_pending_ != 0 && size_ - (replaces ? 1 : 0) >= max_pending_) {
            throw boost::system::system_error(error::too_many_pending);
        }
        if (orphan_reserve_.capacity() <= size_) {
            orphan_reserve_.reserve(std::max<std::size_t>(2 * size_, 16));
        }
        tasks_.push_back(t);
        ++size_;
    }

    /// Gives `t` its key, if it wants one. Returns the member that had it, and is to be cancelled.
    [[nodiscard]] task_ptr assign_key(task<Clock>& t) noexcept {
        if (!t.key) {
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
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return size_;
    }

    /// Takes no more.
    void close() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        closed_ = true;
    }
    [[nodiscard]] bool closed() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return closed_;
    }

    /// Takes no more. The first time, returns true, and makes room for as many orphans as there may
    /// be; next_to_stop() then gives one member after the other, and at last null.
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

    /// Tells on_error what a task has thrown, or std::clog if there is none. What on_error throws
    /// is told std::clog, and what that throws is nobody's.
    void report(const handle& h, const std::exception_ptr& e) const noexcept {
        try {
            if (!on_error_) {
                return log("a task", e);
            }
            try {
                on_error_(h, e);
            } catch (...) {
                log("on_error", std::current_exception());
            }
        } catch (...) { // NOLINT(bugprone-empty-catch)
        }
    }

private:
    using list = boost::intrusive::list<registry_entry,
                                        boost::intrusive::base_hook<registry_entry::list_hook>,
                                        boost::intrusive::constant_time_size<false>>;

    static void log(const char* who, const std::exception_ptr& e) {
        try {
            std::rethrow_exception(e);
        } catch (const std::exception& failure) {
            std::clog << "asio_wheel: " << who << " has thrown: " << failure.what() << '\n';
        } catch (...) {
            std::clog << "asio_wheel: " << who << " has thrown something\n";
        }
    }

    // A member has an owner that does not go before the member has left.
    [[nodiscard]] static task_ptr shared_from(registry_entry& m) noexcept {
        return static_cast<task<Clock>&>(m).shared_from_this();
    }

    const std::size_t max_pending_;
    const error_handler on_error_; // May be called by several threads at once.
    mutable mutex mutex_;          // Guards all that follows.
    list tasks_;
    std::size_t size_ = 0;
    key_table by_key_;       // Some of the members.
    orphans orphan_reserve_; // Empty, with a capacity for all members.
    bool closed_ = false;
    bool stopped_ = false;
    typename list::iterator next_to_stop_ = tasks_.end();
};

} // namespace detail

} // namespace asio_wheel

#endif
