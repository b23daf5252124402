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

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/delayed_operations/handler_op.hpp>
#include <asio_wheel/detail/delayed_operations/key_list.hpp>
#include <asio_wheel/detail/delayed_operations/op.hpp>
#include <asio_wheel/detail/delayed_operations/watch_lists.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/associated_executor.hpp>
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
class delayed_operations_impl final : public delayed_op<Result, Clock, Executor>::owner {
    using op = delayed_op<Result, Clock, Executor>;
    using op_list = watch_list<op>;
    using state = delayed_state;

public:
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
        entry* const e = keys_.find(key);
        if (e == nullptr) {
            return 0;
        }
        const entry_guard scope(*this, *e);
        return try_watchers(*e, which);
    }
    std::size_t try_watchers(attempt which) { return try_watchers(all_, which); }

    std::size_t cancel(const Key& key) {
        entry* const e = keys_.find(key);
        if (e == nullptr) {
            return 0;
        }
        const entry_guard scope(*this, *e);
        return cancel(*e);
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
    using key_table = watched_keys<Key, op, Hash, Equal>;
    using entry = typename key_table::entry;

    // Counts functions that are being called, one inside the other.
    class running_function {
    public:
        explicit running_function(std::size_t& count) noexcept : count_(++count) {}
        running_function(const running_function&) = delete;
        running_function& operator=(const running_function&) = delete;
        ~running_function() { --count_; }

    private:
        std::size_t& count_;
    };

    // While a key's list is walked, its entry stays.
    class entry_guard {
    public:
        entry_guard(delayed_operations_impl& self, entry& e) noexcept : self_(self), entry_(e) {}
        entry_guard(const entry_guard&) = delete;
        entry_guard& operator=(const entry_guard&) = delete;
        ~entry_guard() { self_.keys_.remove_if_empty(entry_); }

    private:
        delayed_operations_impl& self_;
        entry& entry_;
    };

    [[nodiscard]] static bool is_in_lists(const op& o) noexcept {
        return o.state() != state::finished && o.state() != state::dropped;
    }

    [[nodiscard]] time_point deadline(const time_point& t) const noexcept { return t; }
    [[nodiscard]] time_point deadline(const duration& d) const {
        return add_saturating(wheel_.now(), d);
    }

    // An operation of the kind that reaches `handler`.
    template <class Handler, class Function>
    [[nodiscard]] op& make(Handler&& handler, std::size_t watches, Function&& function) {
        const auto bound = boost::asio::get_associated_executor(handler, executor_);
        using bound_executor = std::decay_t<decltype(bound)>;
        constexpr bool unbound =
            std::is_same_v<boost::asio::associated_executor_t<Handler, op>, op>;
        const auto make_with = [&](auto way) -> op& {
            return make_op(std::forward<Handler>(handler), watches,
                           std::forward<Function>(function), std::move(way));
        };
        if constexpr (unbound) {
            return make_with(in_place());
        } else {
            const auto* const home = native_context(bound);
            if ((home != nullptr && home == native_context(executor_)) ||
                is_same_executor(executor_, bound)) {
                return make_with(in_place());
            }
            return make_with(to_executor<bound_executor>(
                bound, home != nullptr ? queue_of(bound) : queue_of(executor_)));
        }
    }

    template <class Handler, class Function, class Way>
    [[nodiscard]] op& make_op(Handler&& handler, std::size_t watches, Function&& function,
                              Way way) {
        using type = delayed_op_of<op, std::decay_t<Function>, Handler, Way>;
        type* const o = delayed_op_memory<type, Handler>::create(
            std::forward<Handler>(handler), watches, *this, executor_,
            std::forward<Function>(function), std::move(way));
        BOOST_ASIO_HANDLER_CREATION(
            (context_of(executor_), *o, "delayed_operations", this, 0, "async_wait"));
        scope_exit undo([o] { o->destroy(); });
        connect_slot<op>(*o, o->handler(), [](op& cancelled) { cancelled.cancel(); });
        undo.release();
        return *o;
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
    // The attempt becomes the last one if it has forced its own operation.
    void call_function(op& o, attempt& which) {
        const running_function scope(attempts_);
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

    void on_wait(op& o, const boost::system::error_code& ec) override {
        // A function that runs the context would come here.
        BOOST_ASSERT(o.state() == state::watching);
        if (!ec) {
            static_cast<void>(try_to_complete(o, attempt::last));
        } else { // Nobody has cancelled it, so the wheel was drained.
            const bool drained = ec == boost::asio::error::operation_aborted;
            finish(o, drained ? make_error_code(error::wheel_stopped) : ec);
        }
    }

    void on_wait_destroyed(op& o) noexcept override {
        remove(o);
        o.move_to(state::dropped);
    }

    bool cancel(op& o) noexcept override {
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
    key_table keys_;
    op_list all_;
    std::size_t delayed_ = 0;  // How many operations are in `all_`.
    std::size_t watched_ = 0;  // How many watches are in the lists of keys.
    std::size_t attempts_ = 0; // How many functions are being called.
};

} // namespace asio_wheel::detail

#endif
