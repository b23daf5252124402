// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How delayed operations work together. This is the state that its owner keeps in one place,
// wherever the owner moves: operations point here.
//
// An operation is accepted in this order: its memory, its places in the lists, its wait, its first
// attempt. All that can fail comes before the first attempt. So the result of an attempt is never
// lost.

#ifndef ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_IMPL_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_IMPL_HPP

#include <asio_wheel/delayed_operations.hpp>

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/delayed_operations/key_list.hpp>
#include <asio_wheel/detail/delayed_operations/op.hpp>
#include <asio_wheel/detail/delayed_operations/watch_lists.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

template <class Key, class Result, class Clock, class Executor, class Hash, class Equal>
class delayed_operations_impl {
    using op = delayed_op<delayed_operations_impl>;
    using op_list = watch_list<op>;
    using state = delayed_state;
    friend op;

public:
    using result_type = Result;
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;

    delayed_operations_impl(const executor_type& ex, const Hash& hash, const Equal& equal)
        : wheel_(wheel_of<Clock>(ex)), executor_(ex), keys_(hash, equal) {}

    delayed_operations_impl(const delayed_operations_impl&) = delete;
    delayed_operations_impl& operator=(const delayed_operations_impl&) = delete;
    ~delayed_operations_impl() {
        BOOST_ASSERT(attempts_ == 0); // No function destroys what calls it.
        cancel();
    }

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    /// Starts an operation whose deadline is a time point, or a duration from now.
    template <class Handler, class When, class Function>
    void start(Handler&& handler, const key_list<Key>& keys, const When& when,
               Function&& function) {
        if (keys.size() == 0) {
            BOOST_THROW_EXCEPTION(
                std::invalid_argument("asio_wheel: a delayed operation watches at least one key"));
        }
        op& o = make(std::forward<Handler>(handler), keys.size(), std::forward<Function>(function));
        scope_exit undo([&] {
            remove(o);
            o.destroy();
        });
        add(o, keys);
        undo.release();
        o.wait_until(deadline(when));
        scope_exit drop([&] { // If its function throws, there is no operation.
            remove(o);
            o.finish(state::dropped, {});
        });
        attempt which = attempt::ordinary;
        call_function(o, which);
        drop.release();
        settle(o, which);
    }

    /// Tries to complete what watches `key`, or whatever waits, in the order in which it started.
    std::size_t try_watchers(const Key& key, attempt which) {
        return with_watchers(key, [&](op_list& list) { return try_watchers(list, which); });
    }
    std::size_t try_watchers(attempt which) { return try_watchers(all_, which); }

    std::size_t cancel(const Key& key) {
        return with_watchers(key, [&](op_list& list) { return cancel(list); });
    }
    std::size_t cancel() noexcept { return cancel(all_); }

    [[nodiscard]] std::size_t pending() const noexcept { return delayed_; }
    [[nodiscard]] std::size_t watched() const noexcept { return watched_; }
    [[nodiscard]] std::size_t watched(const Key& key) {
        const entry* const e = keys_.find(key);
        return e != nullptr ? e->size() : 0;
    }
    [[nodiscard]] std::size_t keys() const noexcept { return keys_.size(); }

private:
    using entry = watched_key<Key, op>;

    // Calls f(list) with what watches a key. While the list is walked, its entry stays.
    template <class Function>
    std::size_t with_watchers(const Key& key, Function f) {
        entry* const e = keys_.find(key);
        if (e == nullptr) {
            return 0;
        }
        const scope_exit at_end([&] { keys_.remove_if_empty(*e); });
        return f(*e);
    }

    [[nodiscard]] time_point deadline(const time_point& t) const noexcept { return t; }
    [[nodiscard]] time_point deadline(const duration& d) const {
        return add_saturating(wheel_.now(), d);
    }

    template <class Handler, class Function>
    [[nodiscard]] op& make(Handler&& handler, std::size_t watches, Function&& function) {
        using base = delayed_function_op<delayed_operations_impl, std::decay_t<Function>>;
        const auto make_op = [&]<class Way>(Way way) -> op& {
            using type = handler_op<base, Handler, Way>;
            static_assert(alignof(typename op::watch_type) <= alignof(type));
            type* const o = op_memory<type, Handler>::create_with(
                watches * sizeof(typename op::watch_type), std::forward<Handler>(handler),
                std::move(way), *this, std::forward<Function>(function));
            o->make_watches(o + 1, watches);
            BOOST_ASIO_HANDLER_CREATION(
                (context_of(executor_), *o, "delayed_operations", this, 0, "async_wait"));
            connect_slot<op>(*o, o->handler(), [this](op& aborted) { cancel(aborted); });
            return *o;
        };
        const auto here = [](const auto& make_here) -> op& { return make_here(in_place()); };
        return choose_way(handler, executor_, here, make_op);
    }

    // Puts an operation into the lists of its keys: once into each, also if a key is given twice.
    void add(op& o, const key_list<Key>& keys) {
        all_.push_back(o.owner_entry());
        ++delayed_;
        auto place = o.watches().begin();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            entry& e = keys_.find_or_add(keys[i]);
            if (e.last() != &o) {
                e.push_back(*place++);
                ++watched_;
            }
        }
    }

    void remove(op& o) noexcept {
        for (auto& w : o.watches()) {
            if (w.list != nullptr) {
                auto& list = static_cast<entry&>(*w.list);
                list.erase(w);
                keys_.remove_if_empty(list);
                --watched_;
            }
        }
        all_.erase(o.owner_entry());
        --delayed_;
    }

    void finish(op& o, const boost::system::error_code& ec) noexcept {
        remove(o);
        o.finish(state::finished, ec);
    }

    std::size_t try_watchers(op_list& list, attempt which) {
        std::size_t completed = 0;
        std::exception_ptr thrown;
        for (typename op_list::walk walk(list); op* const o = walk.next();) {
            if (o->state() == state::trying) { // Its function has called this.
                o->again = (std::max)(o->again.value_or(which), which);
            } else if (o->state() == state::watching) {
                const std::exception_ptr e =
                    thrown_by([&] { completed += try_to_complete(*o, which) ? 1 : 0; });
                thrown = thrown != nullptr ? thrown : e;
            }
        }
        if (thrown != nullptr) {
            std::rethrow_exception(thrown);
        }
        return completed;
    }

    // Returns whether the operation has completed, otherwise than by being cancelled. After the
    // last attempt it has completed in any case, also if this throws.
    bool try_to_complete(op& o, attempt which) {
        bool completed = false;
        {
            const scope_exit at_end([&] { completed = settle(o, which); });
            call_function(o, which);
        }
        return completed;
    }

    // Calls the function of an operation, and again if it has checked a key of its own operation.
    // The attempt becomes the last one if it has forced its own operation, also if it throws then.
    void call_function(op& o, attempt& which) {
        ++attempts_;
        const scope_exit at_end([&] {
            --attempts_;
            which = (std::max)(which, o.again.value_or(which));
        });
        o.move_to(state::trying);
        o.again = which;
        while (o.again && !o.has_value() && o.state() == state::trying) {
            // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has one.
            which = (std::max)(which, *std::exchange(o.again, std::nullopt));
            o.try_to_complete(which);
        }
    }

    // The function has returned, or thrown. Returns as try_to_complete().
    bool settle(op& o, attempt which) noexcept {
        if (o.state() == state::cancelled) {
            finish(o, boost::asio::error::operation_aborted);
            return false;
        }
        if (!o.has_value() && which != attempt::last) {
            o.move_to(state::watching);
            return false;
        }
        finish(o, o.has_value() ? boost::system::error_code() : make_error_code(error::timed_out));
        return true;
    }

    // The wait of an operation that is in the lists has ended. It is finished then, also if this
    // throws.
    void on_wait(op& o, const boost::system::error_code& ec) {
        // A function that runs the context would come here.
        BOOST_ASSERT(o.state() == state::watching);
        if (!ec) {
            static_cast<void>(try_to_complete(o, attempt::last));
        } else { // Nobody has cancelled it, so the wheel was drained.
            const bool drained = ec == boost::asio::error::operation_aborted;
            finish(o, drained ? make_error_code(error::wheel_stopped) : ec);
        }
    }

    // The context ends.
    void on_wait_destroyed(op& o) noexcept {
        remove(o);
        o.move_to(state::dropped);
    }

    // Returns whether this has cancelled it.
    bool cancel(op& o) noexcept {
        if (o.state() == state::watching) {
            finish(o, boost::asio::error::operation_aborted);
            return true;
        }
        if (o.state() == state::trying) { // When its function has returned.
            o.move_to(state::cancelled);
            return true;
        }
        return false;
    }

    std::size_t cancel(op_list& list) noexcept {
        std::size_t cancelled = 0;
        for (typename op_list::walk walk(list); op* const o = walk.next();) {
            cancelled += cancel(*o) ? 1 : 0;
        }
        return cancelled;
    }

    wheel_service<Clock>& wheel_;
    const executor_type executor_;
    watched_keys<Key, op, Hash, Equal> keys_;
    op_list all_;
    std::size_t delayed_ = 0;  // How many operations are in `all_`.
    std::size_t watched_ = 0;  // How many watches are in the lists of keys.
    std::size_t attempts_ = 0; // How many functions are being called, one inside the other.
};

} // namespace asio_wheel::detail

#endif
