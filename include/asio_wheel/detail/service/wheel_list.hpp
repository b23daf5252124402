// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All wheels of an execution context, whatever their clocks: for virtual_time, which moves the
// times of all clocks together.
//
// A context has one list. A wheel is in it from its construction to its end. While the list is
// paused, so are all wheels in it, also those that come later.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_LIST_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_LIST_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/listed_wheel.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/throw_exception.hpp>

#include <mutex>
#include <stdexcept>
#include <thread>

namespace asio_wheel::detail {

/// A service of the context. Safe for several threads.
class wheel_list : public boost::asio::execution_context::service {
public:
    using key_type = wheel_list;
    static inline boost::asio::execution_context::id id;

    explicit wheel_list(boost::asio::execution_context& context) : service(context) {}

    void add(listed_wheel& w) {
        const std::lock_guard<mutex> guard(mutex_);
        if (time_ != nullptr) {
            time_->let_join(w);
        }
        wheels_.push_back(w);
    }

    void remove(listed_wheel& w) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        wheels_.erase(wheels_.iterator_to(w));
    }

    /// Pauses all wheels. From now on `time` is theirs, which the caller moves.
    void pause(moved_time& time) {
        const std::lock_guard<mutex> guard(mutex_);
        if (time_ != nullptr) {
            BOOST_THROW_EXCEPTION(
                std::logic_error("asio_wheel: this context has a virtual_time already"));
        }
        scope_exit undo([this] { resume_all(); });
        for (listed_wheel& w : wheels_) {
            w.pause(time);
        }
        undo.release();
        time_ = &time;
    }

    void resume() noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        time_ = nullptr;
        resume_all();
    }

    /// Called before a thread waits for paused time to pass. Throws std::logic_error if it is the
    /// thread that moves this time: it would wait for ever.
    void before_blocking() {
        const std::lock_guard<mutex> guard(mutex_);
        if (time_ != nullptr && time_->mover == std::this_thread::get_id()) {
            BOOST_THROW_EXCEPTION(std::logic_error(
                "asio_wheel: wait() blocks the thread that moves the time of a virtual_time, so "
                "the timer would never expire. Use async_wait(), and advance()"));
        }
    }

    /// Calls f(wheel) for each under the lock of the list, so `f` must run no code of the user.
    /// Wheels do not: they put what becomes due into the context's queue.
    template <class Function>
    void for_each(Function f) {
        const std::lock_guard<mutex> guard(mutex_);
        for (listed_wheel& w : wheels_) {
            f(w);
        }
    }

private:
    void shutdown() noexcept override {}

    void resume_all() noexcept {
        for (listed_wheel& w : wheels_) {
            w.resume();
        }
    }

    mutex mutex_; // Guards the following. A wheel's lock is taken while it is held.
    boost::intrusive::list<listed_wheel, boost::intrusive::constant_time_size<false>> wheels_;
    moved_time* time_ = nullptr; // Null unless paused.
};

/// The place of a core in the list of its context.
class wheel_listing {
public:
    wheel_listing(boost::asio::execution_context& context, core& c)
        : list_(boost::asio::use_service<wheel_list>(context)), wheel_(c) {
        list_.add(wheel_);
    }
    wheel_listing(const wheel_listing&) = delete;
    wheel_listing& operator=(const wheel_listing&) = delete;
    ~wheel_listing() { list_.remove(wheel_); }

private:
    wheel_list& list_; // Was made before the core's service, and so ends after it.
    listed_wheel wheel_;
};

} // namespace asio_wheel::detail

#endif
