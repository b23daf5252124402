// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Waiting until something is idle: until none of its functions is scheduled or being called any
// more, and they are destroyed.
//
// A task, its group, its scheduler's registry, and a group of handlers are idle sources. Each has a
// mutex, which also guards the list of the waits for it, and knows under the mutex whether it is
// idle. What always holds when the mutex is released: if the source is idle, the list is empty.
//
// A wait is a thread that is blocked, or an operation (idle_op.hpp). Both are finished under the
// mutex. That is short: an operation is put into the queue of a context.

#ifndef ASIO_WHEEL_DETAIL_OP_IDLE_SOURCE_HPP
#define ASIO_WHEEL_DETAIL_OP_IDLE_SOURCE_HPP

#include <asio_wheel/detail/threads/event.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// A wait for an idle source. The mutex of the source guards it while it is in the list.
class idle_wait : public boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::normal_link>> {
public:
    idle_wait(const idle_wait&) = delete;
    idle_wait& operator=(const idle_wait&) = delete;

    /// The source is idle, or the wait was aborted. It is in no list any more.
    virtual void finish(const boost::system::error_code& ec) noexcept = 0;

protected:
    idle_wait() = default;
    ~idle_wait() = default;

private:
    friend class idle_source;
    std::uint64_t id_ = 0; // 0 is none: this wait cannot be aborted.
};

class idle_source {
public:
    using steady_clock = std::chrono::steady_clock;

    idle_source(const idle_source&) = delete;
    idle_source& operator=(const idle_source&) = delete;

    /// A number for a wait that can be aborted.
    [[nodiscard]] std::uint64_t new_id() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        return ++last_id_;
    }

    /// Calls `wait.finish()` now or later.
    void start(idle_wait& wait, std::uint64_t id) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        wait.id_ = id;
        if (is_idle()) {
            wait.finish({});
        } else {
            waits_.push_back(wait);
        }
    }

    /// Aborts a wait, if it is not finished.
    void abort(std::uint64_t id) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        for (auto it = waits_.begin(); it != waits_.end(); ++it) {
            if (it->id_ == id) {
                idle_wait& wait = *it;
                waits_.erase(it);
                return wait.finish(boost::asio::error::operation_aborted);
            }
        }
    }

    /// Blocks until the source is idle. Returns false if that takes longer than until `end`.
    /// Throws a system_error if it would wait for a call of its own thread.
    [[nodiscard]] bool block(const std::optional<steady_clock::time_point>& end) {
        blocked_thread wait;
        {
            const std::lock_guard<mutex> guard(mutex_);
            if (is_idle()) {
                return true;
            }
            if (idle_call::waits_for(*this)) {
                BOOST_THROW_EXCEPTION(boost::system::system_error(
                    make_error_code(boost::system::errc::resource_deadlock_would_occur),
                    "asio_wheel: a function waits for its own end"));
            }
            waits_.push_back(wait);
        }
        wait.block(end);
        const std::lock_guard<mutex> guard(mutex_); // So finish() has returned, if it was called.
        if (!wait.is_finished()) {
            waits_.erase(waits_.iterator_to(wait));
        }
        return wait.is_finished();
    }

    /// On the stack of a thread while it calls a function, or ends it. A wait for its sources, by
    /// the same thread, would never end.
    class idle_call {
    public:
        /// `group` and `all` may be null.
        explicit idle_call(const idle_source& own, const idle_source* group = nullptr,
                           const idle_source* all = nullptr) noexcept
            : sources_{&own, group, all} {
            innermost_ = this;
        }
        idle_call(const idle_call&) = delete;
        idle_call& operator=(const idle_call&) = delete;
        ~idle_call() { innermost_ = outer_; }

        [[nodiscard]] static bool waits_for(const idle_source& source) noexcept {
            for (const idle_call* c = innermost_; c != nullptr; c = c->outer_) {
                if (std::find(c->sources_.begin(), c->sources_.end(), &source) !=
                    c->sources_.end()) {
                    return true;
                }
            }
            return false;
        }

    private:
        static inline thread_local constinit const idle_call* innermost_ = nullptr;

        const idle_call* const outer_ = innermost_;
        const std::array<const idle_source*, 3> sources_;
    };

protected:
    idle_source() = default;
    ~idle_source() { BOOST_ASSERT(waits_.empty()); }

    /// The mutex is held.
    [[nodiscard]] virtual bool is_idle() const noexcept = 0;

    /// The source is idle, or may be. The mutex is held.
    void finish_waits_if_idle() noexcept {
        if (waits_.empty() || !is_idle()) {
            return;
        }
        while (!waits_.empty()) {
            idle_wait& first = waits_.front();
            waits_.pop_front();
            first.finish({});
        }
    }

    mutable mutex mutex_; // Guards the members below, and those of the derived class.

private:
    class blocked_thread final : public idle_wait {
    public:
        void finish(const boost::system::error_code&) noexcept override {
            is_finished_ = true;
            end_.set();
        }

        void block(const std::optional<steady_clock::time_point>& end) {
            if (end) {
                static_cast<void>(end_.wait_until(*end));
            } else {
                end_.wait();
            }
        }

        /// The mutex is held.
        [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }

    private:
        bool is_finished_ = false; // The mutex of the source guards it.
        event end_;
    };

    boost::intrusive::list<idle_wait, boost::intrusive::constant_time_size<false>> waits_;
    std::uint64_t last_id_ = 0;
};

/// Blocks until `source` is idle. Null is idle.
inline void block_until_idle(const std::shared_ptr<idle_source>& source) {
    static_cast<void>(!source || source->block(std::nullopt));
}

/// The same, but not for longer than `d`. Returns whether the source is idle.
template <class Rep, class Period>
[[nodiscard]] bool block_until_idle(const std::shared_ptr<idle_source>& source,
                                    const std::chrono::duration<Rep, Period>& d) {
    using clock = idle_source::steady_clock;
    throw_if_nan("the limit of a wait", d);
    const clock::time_point end = add_saturating(clock::now(), d);
    const bool is_limited = end != (clock::time_point::max)();
    return !source || source->block(is_limited ? std::optional(end) : std::nullopt);
}

} // namespace asio_wheel::detail

#endif
