// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tasks of a group.
//
// A task joins its group before it is scheduled, and leaves it when it is over, or when it is
// destroyed as an orphan. It stays when another scheduler adopts it. The group does not own its
// tasks, but each task shares the ownership of its group.
//
// The group counts its tasks that are not at rest: see task.hpp.
//
// A mutex guards the group. It may be taken while a task's mutex is held. A task's mutex must not
// be taken while it is held, and no task may be destroyed.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_GROUP_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_GROUP_HPP

#include <asio_wheel/detail/op/idle_source.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

#include <cstddef>
#include <memory>
#include <mutex>

namespace asio_wheel::detail {

struct group_list_tag;

/// A base class of a task. The mutex of the task's group guards it.
using group_member =
    boost::intrusive::list_base_hook<boost::intrusive::tag<group_list_tag>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// `Task` is derived from group_member.
template <class Task>
class task_group final : public idle_source {
public:
    task_group() = default;

    /// `t` is about to be scheduled, or adopted. Throws if the group was stopped.
    void begin(Task& t) {
        const std::lock_guard<mutex> guard(mutex_);
        if (stopped_) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(error::scheduler_stopped));
        }
        if (!t.group_member::is_linked()) {
            tasks_.push_back(t);
        }
        ++busy_;
    }

    /// An orphan, or the group, is about to be cancelled.
    void begin_cancelling() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        ++busy_;
    }

    /// The task is an orphan now, or was not scheduled after all; or the group was cancelled.
    void rest() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        end_of_one();
    }

    /// The task is over.
    void leave(Task& t) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        unlink(t);
        end_of_one();
    }

    /// The task is destroyed while it is at rest.
    void forget(Task& t) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        unlink(t);
    }

    /// Takes no more tasks.
    void stop() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        stopped_ = true;
    }
    [[nodiscard]] bool stopped() const noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return stopped_;
    }

    /// Cancels all tasks that are in the group when this begins. Returns how many it has cancelled.
    /// If two threads do this at once, each cancels some of them.
    std::size_t cancel_all() noexcept {
        list tasks;
        {
            const std::lock_guard<mutex> guard(mutex_);
            tasks.swap(tasks_);
        }
        std::size_t cancelled = 0;
        while (const std::shared_ptr<Task> t = move_first(tasks)) {
            cancelled += t->cancel().result == cancel_result::cancelled ? 1 : 0;
        }
        return cancelled;
    }

private:
    using list = boost::intrusive::list<Task, boost::intrusive::base_hook<group_member>,
                                        boost::intrusive::constant_time_size<false>>;

    // Moves the first task of `tasks` back to the group and returns it; null at the end.
    [[nodiscard]] std::shared_ptr<Task> move_first(list& tasks) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        while (!tasks.empty()) {
            Task& first = tasks.front();
            tasks_.splice(tasks_.end(), tasks, tasks.begin());
            // Null if another thread is destroying the task. It will be forgotten.
            if (std::shared_ptr<Task> t = first.weak_from_this().lock()) {
                return t;
            }
        }
        return nullptr;
    }

    static void unlink(Task& t) noexcept { t.group_member::unlink(); }

    void end_of_one() noexcept {
        BOOST_ASSERT(busy_ != 0);
        --busy_;
        finish_waits_if_idle();
    }

    [[nodiscard]] bool is_idle() const noexcept override { return busy_ == 0; }

    list tasks_;
    std::size_t busy_ = 0;
    bool stopped_ = false;
};

} // namespace asio_wheel::detail

#endif
