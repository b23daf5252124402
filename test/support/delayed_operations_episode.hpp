// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Delayed operations, compared with a list of them. Each operation wants so many units of the stock
// of its keys. Its function tells the model of each attempt, and so the model knows at once how the
// operation ends. Functions may throw, check keys and cancel operations.

#ifndef ASIO_WHEEL_TEST_SUPPORT_DELAYED_OPERATIONS_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_DELAYED_OPERATIONS_EPISODE_HPP

#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/error.hpp>

#include "paused_episode.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace asio_wheel::test {

class delayed_operations_episode : public paused_episode {
public:
    explicit delayed_operations_episode(bytes& in)
        : paused_episode(in), strand_(boost::asio::make_strand(*context_)) {
        operations_.emplace(*context_);
    }

    void step() {
        act();
        check_counts();
    }

    void finish() {
        quiet_ = true;
        switch (pick(4)) {
        case 0:
            cancel_all();
            settle();
            require_work(false);
            break;
        case 1:
            force_all();
            settle();
            require_work(false);
            break;
        case 2:
            drain();
            break;
        default:
            break;
        }
        ended_ = true;
        if (coin()) {
            operations_.reset();
        }
        strand_.reset();
        context_.reset();
        operations_.reset();
        require(std::all_of(all_.begin(), all_.end(), [](const operation& op) { return op.over; }),
                "each operation completes, or is destroyed");
    }

    /// The handler of an operation was destroyed without being called.
    void dropped(std::size_t id) {
        note("operation % is destroyed", id);
        require(ended_ || all_[id].how == fate::refused,
                "a handler is destroyed uncalled by the end of the context only");
        require(!std::exchange(all_[id].over, true), "a handler is destroyed once");
    }

private:
    static constexpr std::size_t keys = 5;
    using operations = delayed_operations<std::size_t, std::size_t>;

    enum class fate { starts, waits, value, late, cancelled, refused };

    struct operation {
        std::set<std::size_t> watched;
        std::size_t least = 0;
        bool takes_less = false; // At the last attempt.
        bool throws = false;     // At each attempt but the first.
        time_point deadline;
        fate how = fate::starts;
        std::size_t value = 0;
        bool trying = false;       // Its function is being called.
        bool abort_wanted = false; // It was cancelled meanwhile,
        bool again = false;        // or one of its keys was checked.
        bool over = false;
        std::unique_ptr<boost::asio::cancellation_signal> signal;
    };

    struct failure {};

    using handler = completing_handler<delayed_operations_episode, std::size_t>;
    friend handler;

    void act() {
        switch (pick(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
            return start();
        case 5:
        case 6:
        case 7:
            stock_[pick(keys)] += pick(4);
            return check(pick(keys));
        case 8:
            stock_[pick(keys)] = pick(3); // Somebody takes something, or adds it, and tells nobody.
            return;
        case 9:
            return once_in(4) ? force(pick(keys)) : check(pick(keys));
        case 10:
            return once_in(8) ? force_all() : cancel(pick(keys));
        case 11:
            return once_in(8) ? cancel_all() : emit();
        case 12:
            return once_in(8) ? move() : emit();
        case 13:
            return advance_to_next();
        case 14:
        case 15:
            return advance();
        case 16:
        case 17:
            return poll_once();
        default:
            return settle();
        }
    }

    void start() {
        const std::size_t id = all_.size();
        operation& op = all_.emplace_back();
        std::vector<std::size_t> watched; // Some of them twice.
        for (std::size_t n = 1 + pick(3); n != 0; --n) {
            watched.push_back(pick(keys));
        }
        op.watched.insert(watched.begin(), watched.end());
        op.least = 1 + pick(8);
        op.takes_less = coin();
        op.throws = once_in(8);
        op.deadline = any_time();
        const bool at_start = op.throws && coin();
        note("operation % wants % by %", id, op.least, ns(op.deadline));
        auto function = [this, id, at_start](attempt which) { return tried(id, which, at_start); };
        handler h{must_be_called(*this, id)};
        bool thrown = false;
        try {
            switch (pick(4)) {
            case 0:
            case 1:
                operations_->async_wait_until(watched, op.deadline, function, std::move(h));
                break;
            case 2:
                op.signal = std::make_unique<boost::asio::cancellation_signal>();
                operations_->async_wait_until(
                    watched, op.deadline, function,
                    boost::asio::bind_cancellation_slot(op.signal->slot(), std::move(h)));
                break;
            default:
                operations_->async_wait_until(watched, op.deadline, function,
                                              boost::asio::bind_executor(*strand_, std::move(h)));
            }
        } catch (const failure&) {
            thrown = true;
        }
        require(thrown == at_start, "what the first attempt throws leaves async_wait()");
        if (op.how == fate::starts) {
            op.how = fate::waits;
        }
    }

    // An operation's function is called.
    std::optional<std::size_t> tried(std::size_t id, attempt which, bool throws_at_start) {
        operation& op = all_[id];
        note("attempt of %, last: %", id, which == attempt::last);
        require(op.how == fate::starts || op.how == fate::waits,
                "a function is called as long as its operation waits");
        require(!std::exchange(op.trying, true), "a function is not called inside of itself");
        if (op.how == fate::starts) {
            require(which == attempt::ordinary, "the first attempt is not the last");
            if (throws_at_start) {
                op.how = fate::refused;
                throw failure();
            }
        } else {
            require(which == attempt::ordinary || op.deadline <= now() || forcing_,
                    "the last attempt is at the deadline");
            calls_.push_back(id);
            if (!quiet_ && once_in(8)) {
                act_inside();
            }
        }
        op.trying = false;
        const bool again = std::exchange(op.again, false);
        const bool fails = op.throws && op.how == fate::waits;
        const std::optional<std::size_t> result = fails ? std::nullopt : result_of(op, which);
        op.value = result.value_or(0);
        if (op.abort_wanted) { // With the value, which is not lost.
            decide(op, fate::cancelled);
        } else if (result) {
            decide(op, fate::value);
        } else if (which == attempt::last && (fails || !again)) {
            decide(op, fate::late);
        }
        if (fails) {
            throw failure();
        }
        return result;
    }

    [[nodiscard]] std::optional<std::size_t> result_of(const operation& op, attempt which) const {
        std::size_t n = 0;
        for (const std::size_t key : op.watched) {
            n += stock_[key];
        }
        const bool enough = n >= op.least || (which == attempt::last && op.takes_less && n != 0);
        return enough ? std::optional(n) : std::nullopt;
    }

    // What a function does before it returns.
    void act_inside() {
        inside_ = true;
        switch (pick(4)) {
        case 0:
            return emit();
        case 1:
            return cancel(pick(keys));
        case 2:
            stock_[pick(keys)] = pick(3);
            return;
        default:
            return check(pick(keys));
        }
    }

    [[nodiscard]] std::vector<std::size_t> watching(std::size_t key) const {
        std::vector<std::size_t> ids;
        for (std::size_t id = 0; id < all_.size(); ++id) {
            if (all_[id].how == fate::waits && all_[id].watched.contains(key)) {
                ids.push_back(id);
            }
        }
        return ids;
    }

    // Calls `f`, which tries these operations, but for one that is being tried: its function is
    // called again when it has returned. Functions that use the operations themselves may change
    // which are tried, and how often.
    template <class Function>
    void try_all(std::vector<std::size_t> expected, Function f) {
        std::erase_if(expected, [this](std::size_t id) {
            return all_[id].trying && (all_[id].again = true);
        });
        const bool outer = std::exchange(inside_, false);
        const std::vector<std::size_t> calls = std::exchange(calls_, {});
        bool thrown = false;
        std::size_t ended = 0;
        try {
            ended = f();
        } catch (const failure&) {
            thrown = true;
        }
        if (!inside_) {
            require(calls_ == expected, "the functions of all that watch are called, in order");
            const auto count = [&](auto property) {
                return static_cast<std::size_t>(
                    std::count_if(expected.begin(), expected.end(),
                                  [&](std::size_t id) { return property(all_[id]); }));
            };
            require(thrown == (count([](const operation& op) { return op.throws; }) != 0),
                    "what a function throws leaves the check");
            require(thrown ||
                        ended == count([](const operation& op) { return op.how != fate::waits; }),
                    "a check counts what it completes");
        }
        inside_ = outer || inside_;
        calls_ = calls;
    }

    void check(std::size_t key) {
        note("check %", key);
        try_all(watching(key), [&] { return operations_->check(key); });
    }

    void force(std::size_t key) {
        note("force %", key);
        forcing_ = true;
        try_all(watching(key), [&] { return operations_->force(key); });
        forcing_ = false;
    }

    void force_all() {
        note("force all");
        std::vector<std::size_t> ids;
        for (std::size_t id = 0; id < all_.size(); ++id) {
            if (all_[id].how == fate::waits) {
                ids.push_back(id);
            }
        }
        forcing_ = true;
        try_all(ids, [&] { return operations_->force(); });
        forcing_ = false;
    }

    void cancel(std::size_t key) {
        note("cancel %", key);
        const std::vector<std::size_t> ids = watching(key);
        for (const std::size_t id : ids) {
            abort(all_[id]);
        }
        const std::size_t count = operations_->cancel(key);
        require(inside_ || count == ids.size(), "cancel() counts what it aborts");
    }

    void cancel_all() {
        note("cancel all");
        std::size_t waiting = 0;
        for (operation& op : all_) {
            waiting += op.how == fate::waits ? 1 : 0;
            abort(op);
        }
        require(operations_->cancel() == waiting, "cancel() counts what it aborts");
    }

    void emit() {
        if (all_.empty()) {
            return;
        }
        const std::size_t id = pick(all_.size());
        operation& op = all_[id];
        if (op.signal == nullptr || op.how == fate::starts) {
            return;
        }
        note("emit to %", id);
        abort(op);
        op.signal->emit(any_cancellation());
    }

    void abort(operation& op) {
        if (op.how == fate::waits) {
            op.trying ? static_cast<void>(op.abort_wanted = true) : decide(op, fate::cancelled);
        }
    }

    void move() {
        note("move");
        operations moved(std::move(*operations_));
        *operations_ = std::move(moved);
    }

    void completed(std::size_t id, const error_code& ec, std::size_t value) {
        operation& op = all_[id];
        note("operation % completes, error %, value %", id, ec.value(), value);
        require(!std::exchange(op.over, true), "an operation completes once");
        if (op.how == fate::waits) {
            require(drained_ && ec == error::wheel_stopped,
                    "an operation has a reason to complete");
            op.how = fate::cancelled;
        } else {
            --decided_;
            require(value == op.value, "an operation gives what its function has returned");
            require(op.how != fate::value || !ec, "one that has a value has no error");
            require(op.how != fate::late || ec == error::timed_out, "one that is late says so");
            require(op.how != fate::cancelled || ec == boost::asio::error::operation_aborted,
                    "one that was cancelled says so");
        }
        if (!quiet_ && !in_.empty() && once_in(3)) {
            step();
        }
    }

    void decide(operation& op, fate how) {
        op.how = how;
        op.abort_wanted = false;
        ++decided_;
    }

    void check_counts() {
        std::size_t delayed = 0;
        std::size_t places = 0;
        std::array<std::size_t, keys> watchers{};
        for (const operation& op : all_) {
            if (op.how == fate::waits) {
                ++delayed;
                places += op.watched.size();
                for (const std::size_t key : op.watched) {
                    ++watchers[key];
                }
            }
        }
        require(operations_->pending() == delayed, "pending() counts what waits");
        require(operations_->watched() == places, "watched() counts places");
        require(operations_->keys() == keys - static_cast<std::size_t>(
                                                  std::count(watchers.begin(), watchers.end(), 0U)),
                "keys() counts what is watched");
        for (std::size_t key = 0; key < keys; ++key) {
            require(operations_->watched(key) == watchers[key], "watched(key) counts operations");
        }
    }

    // What a function throws at the deadline leaves run(). Then the context is run again.
    void poll_once() {
        note("poll_one");
        run([](boost::asio::io_context& ctx) {
            try {
                return ctx.poll_one();
            } catch (const failure&) {
                return std::size_t{1};
            }
        });
    }

    void settle() {
        if (running_) {
            return;
        }
        note("poll");
        while (run([](boost::asio::io_context& ctx) {
                   try {
                       return ctx.poll();
                   } catch (const failure&) {
                       return std::size_t{1};
                   }
               }) != 0) {
        }
        require(decided_ == 0, "what is decided is delivered");
        bool waits = false;
        for (const operation& op : all_) {
            require(op.how != fate::waits || op.deadline > now(),
                    "no operation waits beyond its deadline");
            waits = waits || op.how == fate::waits;
        }
        require_work(waits);
    }

    void drain() {
        settle();
        note("drain");
        static_cast<void>(wheel_.drain());
        drained_ = true;
        settle();
        require_work(false);
    }

    std::optional<boost::asio::strand<boost::asio::io_context::executor_type>> strand_;
    std::optional<operations> operations_;
    std::deque<operation> all_;
    std::array<std::size_t, keys> stock_{};
    std::size_t decided_ = 0; // How many handlers are to be called.
    std::vector<std::size_t> calls_;
    bool inside_ = false; // A function has used the operations.
    bool forcing_ = false;
    bool quiet_ = false;
    bool drained_ = false;
    bool ended_ = false;
};

} // namespace asio_wheel::test

#endif
