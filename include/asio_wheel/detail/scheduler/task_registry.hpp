// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The registry of a scheduler: all of its tasks, and the keys of those that have one.
//
// stop(), cancel() and the end of a call never allocate and never fail. The function that schedules
// a task allocates all that they need. So the list of tasks and the table of keys are intrusive,
// and there is always capacity for as many orphans as there are tasks.
//
// A task is registered when its first wait has begun, and until its function is destroyed. The
// registry does not own the tasks: the pending wait of a task does, and a call of it. So when the
// context ends, its tasks end, too, even those that own their scheduler.
//
// Places. There are no more places than max_pending. A registered task has one until it is over, or
// until another task takes its key, and the place with it. So whoever has a key that leads to a
// task is never refused for lack of a place, however long the calls of that task and of those
// before it take. Every task in the table of keys has a place.
//
// A mutex guards the registry. It may be taken while a task's mutex is held. A task's mutex must
// not be taken while it is held.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_REGISTRY_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_REGISTRY_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/key_table.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>
#include <asio_wheel/detail/scheduler/task_key.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
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

struct task_list_tag;

/// A base class of a task. The registry's mutex guards it, but for the key, which does not change
/// before the task is over.
struct registry_entry : boost::intrusive::list_base_hook<boost::intrusive::tag<task_list_tag>>,
                        key_table_hook {
    using list_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<task_list_tag>>;

    [[nodiscard]] std::size_t key_hash() const noexcept { return key->hash(); }

    const key_view* key = nullptr; ///< Null: it has none.
    bool has_place = false;        ///< It counts for max_pending: see above.
};

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

    /// Throws if add() would throw now: if the registry is closed; if all places are taken, and `t`
    /// has no key whose task it would replace; for lack of memory; or what == of keys throws.
    void prepare_to_add(const task<Clock>& t) {
        const std::lock_guard<mutex> guard(mutex_);
        static_cast<void>(prepare(t));
    }

    /// Adds a task, and enters its key, if it has one. Returns the task that had the key before,
    /// and the place, or null. The caller cancels that task. If this throws, nothing has changed.
    [[nodiscard]] task_ptr add(task<Clock>& t) {
        const std::lock_guard<mutex> guard(mutex_);
        registry_entry* const previous = prepare(t);
        tasks_.push_back(t);
        ++size_;
        if (previous != nullptr) {
            give_up_place(*previous);
        }
        t.has_place = true;
        ++places_;
        if (t.key != nullptr) {
            by_key_.insert(t);
        }
        return previous != nullptr ? shared_from(*previous) : nullptr;
    }

    /// The task that has a key; null if there is none.
    [[nodiscard]] task_ptr find(const key_view& key) {
        const std::lock_guard<mutex> guard(mutex_);
        registry_entry* const entry = find_entry(key);
        return entry != nullptr ? shared_from(*entry) : nullptr;
    }

    /// `t` is over: its key does not lead to it any more, and its place is free.
    void release_place(task<Clock>& t) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        give_up_place(t);
    }

    void remove(task<Clock>& t) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        const auto it = tasks_.iterator_to(t);
        if (next_to_stop_ == it) {
            ++next_to_stop_;
        }
        tasks_.erase(it);
        --size_;
        give_up_place(t);
        finish_waits_if_idle();
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return size_;
    }

    /// All tasks, as they are now.
    [[nodiscard]] std::vector<task_ptr> tasks() {
        const std::lock_guard<mutex> guard(mutex_);
        std::vector<task_ptr> all;
        all.reserve(size_);
        for (registry_entry& entry : tasks_) {
            all.push_back(shared_from(entry));
        }
        return all;
    }

    /// A call has ended.
    void count_call() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t calls() const noexcept {
        return calls_.load(std::memory_order_relaxed);
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

    // All of add() that may fail. Returns what `t` replaces, or null. The mutex is held.
    [[nodiscard]] registry_entry* prepare(const task<Clock>& t) {
        if (closed_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::scheduler_stopped));
        }
        registry_entry* const previous = t.key != nullptr ? find_entry(*t.key) : nullptr;
        if (previous == nullptr && max_pending_ != 0 && places_ >= max_pending_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::scheduler_full));
        }
        if (orphan_reserve_.capacity() <= size_) {
            orphan_reserve_.reserve(std::max<std::size_t>(2 * size_, 16));
        }
        return previous;
    }

    // The mutex is held.
    [[nodiscard]] registry_entry* find_entry(const key_view& key) {
        return by_key_.find(key.hash(),
                            [&](const registry_entry& entry) { return key.equals(*entry.key); });
    }

    // Does nothing if it has none any more. The mutex is held.
    void give_up_place(registry_entry& entry) noexcept {
        if (std::exchange(entry.has_place, false)) {
            --places_;
        }
        if (by_key_.contains(entry)) {
            by_key_.erase(entry);
        }
    }

    // A registered task has an owner, which keeps it until it is removed.
    [[nodiscard]] static task_ptr shared_from(registry_entry& entry) noexcept {
        return static_cast<task<Clock>&>(entry).shared_from_this();
    }

    [[nodiscard]] bool is_idle() const noexcept override { return size_ == 0; }

    const std::size_t max_pending_;
    const error_handler on_error_;        // Several threads may call it at once.
    std::atomic<std::uint64_t> calls_{0}; // Only counted: orders nothing.
    // The mutex of the base class guards all that follows.
    list tasks_;
    std::size_t size_ = 0;
    std::size_t places_ = 0;           // How many of them have places.
    key_table<registry_entry> by_key_; // The tasks that have keys, and places.
    orphans orphan_reserve_;           // Empty, with capacity for all tasks.
    bool closed_ = false;
    bool stopped_ = false;
    typename list::iterator next_to_stop_ = tasks_.end();
};

} // namespace detail

} // namespace asio_wheel

#endif
