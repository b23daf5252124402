// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Operations with deadlines, by the tokens of timeout.hpp and cancel_after.hpp, and their model.
// The operations are manual: the program completes them, after a cancellation or without one.

#ifndef ASIO_WHEEL_TEST_SUPPORT_TIMEOUT_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TIMEOUT_EPISODE_HPP

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include "manual_operation.hpp"
#include "paused_episode.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace asio_wheel::test {

class timeout_episode : public paused_episode {
public:
    explicit timeout_episode(bytes& in) : paused_episode(in) {
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            operation& o = operations_[i];
            o.manual.emplace(context_->get_executor());
            o.manual->on_cancel = [this, i] { cancelled(i); };
        }
    }

    void step() {
        act();
        check();
    }

    void finish() {
        if (coin()) {
            for (std::size_t i = 0; i < operations_.size(); ++i) {
                complete(i);
            }
            settle();
            require_work(false);
        }
        ended_ = true;
        if (coin()) {
            drop_all();
        }
        context_.reset();
        drop_all();
        for (const operation& o : operations_) {
            require(o.handlers == 0, "each handler is called or destroyed");
        }
    }

    /// The handler of an operation was destroyed without being called.
    void dropped(std::size_t i) {
        note("the handler of % is destroyed", i);
        require(ended_ || dropping_, "no handler is destroyed but with its operation");
        --operations_[i].handlers;
        operations_[i].pending = false;
    }

private:
    /// The first cancellation of the operation.
    enum class sent { nothing, deadline, signal };

    struct operation {
        std::optional<manual_operation<error_code, int>> manual;
        bool pending = false;   // Until its handler is called.
        bool ending = false;    // It has completed, but its handler was not called yet.
        bool times_out = false; // By timeout(); otherwise by cancel_after().
        time_point deadline;
        boost::asio::cancellation_type type{};
        error_code why;
        sent first = sent::nothing;
        bool passed = false; // The deadline has been noticed.
        error_code result;   // The result of its completion.
        int value = 0;
        int handlers = 0;
        std::unique_ptr<boost::asio::cancellation_signal> signal;
    };

    using handler = completing_handler<timeout_episode, int>;
    friend handler;

    void act() {
        switch (pick(11)) {
        case 0:
        case 1:
        case 2:
            return start(pick(operations_.size()));
        case 3:
        case 4:
            return complete(pick(operations_.size()));
        case 5:
            return emit(pick(operations_.size()));
        case 6:
            return drop(pick(operations_.size()));
        case 7:
            return advance_to_next();
        case 8:
            return advance();
        case 9:
            return poll_one();
        default:
            return settle();
        }
    }

    void start(std::size_t i) {
        operation& o = operations_[i];
        if (o.pending) {
            return;
        }
        o.pending = true;
        o.ending = o.passed = false;
        o.first = sent::nothing;
        o.type = any_cancellation();
        o.why = error::timed_out;
        ++o.handlers;
        o.signal.reset();
        const std::size_t how = pick(6);
        const duration d = any_duration();
        o.deadline = sum(now(), d);
        note("start %, until %, in way %", i, ns(o.deadline), how);
        o.times_out = how < 4;
        if (coin()) {
            o.signal = std::make_unique<boost::asio::cancellation_signal>();
            begin(i, how, d,
                  boost::asio::bind_cancellation_slot(o.signal->slot(),
                                                      handler{must_be_called(*this, i)}));
        } else {
            begin(i, how, d, handler{must_be_called(*this, i)});
        }
    }

    template <class Token>
    void begin(std::size_t i, std::size_t how, duration d, Token&& token) {
        operation& o = operations_[i];
        using boost::asio::cancellation_type;
        switch (how) {
        case 0:
            o.type = cancellation_type::terminal;
            o.manual->start(timeout(d, std::forward<Token>(token)));
            break;
        case 1:
            o.manual->start(timeout(d, o.type, std::forward<Token>(token)));
            break;
        case 2:
            o.type = cancellation_type::terminal;
            o.why = error::too_many_pending; // Any other error.
            o.manual->start(timeout(d, o.why, std::forward<Token>(token)));
            break;
        case 3:
            o.manual->start(asio_wheel::timeout_at(o.deadline, o.type, std::forward<Token>(token)));
            break;
        case 4:
            o.manual->start(cancel_after(d, o.type, std::forward<Token>(token)));
            break;
        default:
            o.manual->start(cancel_at(o.deadline, o.type, std::forward<Token>(token)));
        }
    }

    // By the program, or spontaneously.
    void complete(std::size_t i) {
        operation& o = operations_[i];
        if (!o.manual->pending()) {
            return;
        }
        const std::array<error_code, 4> results{
            error_code(), boost::asio::error::operation_aborted, boost::asio::error::eof,
            make_error_code(boost::system::errc::operation_canceled)};
        o.result = results[pick(results.size())];
        o.value = static_cast<int>(pick(100));
        o.ending = true;
        const bool now = coin();
        note("complete % with error %, value %, now %", i, o.result.value(), o.value, now);
        if (now) {
            o.manual->complete_inline(o.result, o.value);
        } else {
            o.manual->complete(o.result, o.value);
        }
    }

    void completed(std::size_t i, const error_code& ec, int value) {
        operation& o = operations_[i];
        note("% completes, error %", i, ec.value());
        --o.handlers;
        require(std::exchange(o.pending, false) && o.ending, "an operation completes once");
        require(value == o.value, "other results are the operation's");
        const bool says_so = o.result == boost::asio::error::operation_aborted ||
                             o.result == boost::system::errc::operation_canceled;
        if (o.times_out && o.first == sent::deadline && says_so) {
            require(ec == o.why, "what the deadline has cancelled has timed out");
        } else {
            require(ec == o.result, "any other result is the operation's");
        }
    }

    // The operation's slot was called.
    void cancelled(std::size_t i) {
        operation& o = operations_[i];
        const std::string types = o.manual->take_cancellations();
        note("% is cancelled", i);
        if (emitting_ == i) {
            require(types == name_of(emitted_), "a signal reaches the operation as it is");
            const auto both = emitted_ & o.type;
            o.first = o.first == sent::nothing && both == o.type ? sent::signal : o.first;
            return;
        }
        require(o.pending, "an operation that has ended is not cancelled");
        require(now() >= o.deadline, "no deadline is early");
        require(!std::exchange(o.passed, true), "a deadline passes once");
        require(types == name_of(o.type), "a deadline sends its type of cancellation");
        o.first = o.first == sent::nothing ? sent::deadline : o.first;
        if (!in_.empty() && once_in(3)) {
            complete(i); // As many operations do.
        }
    }

    void emit(std::size_t i) {
        operation& o = operations_[i];
        if (o.signal == nullptr) {
            return;
        }
        emitted_ = any_cancellation();
        note("emit to %", i);
        emitting_ = i;
        o.signal->emit(emitted_);
        emitting_ = nobody;
    }

    void drop(std::size_t i) {
        operation& o = operations_[i];
        if (o.manual->pending() && once_in(4)) {
            note("drop %", i);
            dropping_ = true;
            o.manual->drop();
            dropping_ = false;
        }
    }

    void drop_all() {
        dropping_ = true;
        for (operation& o : operations_) {
            if (o.manual->pending()) {
                o.manual->drop();
            }
        }
        dropping_ = false;
    }

    void settle() {
        poll_all();
        std::size_t waits = 0;
        for (const operation& o : operations_) {
            require(!o.pending || !o.ending, "what has completed is delivered");
            require(!o.pending || o.passed || now() < o.deadline || o.deadline == never,
                    "an operation is cancelled when its deadline has passed");
            waits += o.pending && !o.passed && o.deadline != never;
        }
        require(wheel_.pending() == waits, "nothing waits for an operation that has ended");
        require_work(waits != 0);
    }

    void check() const {
        for (const operation& o : operations_) {
            require(o.handlers == (o.pending ? 1 : 0), "there is one handler");
        }
    }

    [[nodiscard]] static std::string name_of(boost::asio::cancellation_type type) {
        using boost::asio::cancellation_type;
        return type == cancellation_type::terminal  ? "terminal"
               : type == cancellation_type::partial ? "partial"
                                                    : "total";
    }

    static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

    std::array<operation, 3> operations_;
    std::size_t emitting_ = nobody; // The operation that a signal is cancelling.
    boost::asio::cancellation_type emitted_{};
    bool dropping_ = false;
    bool ended_ = false;
};

} // namespace asio_wheel::test

#endif
