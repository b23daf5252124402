// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Delay queues, compared with a std::map of their elements.
//
// A new pop gets what is due at once, if one slice is enough for all that wait. When exactly the
// queue assigns a value to a pop that waits is unspecified, but it is observable: the value leaves
// the queue. So the model looks at the queue before and after each operation, and in each handler.
// The values that have left must be those that were due first, and belong to the pops that have
// waited longest.

#ifndef ASIO_WHEEL_TEST_SUPPORT_DELAY_QUEUE_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_DELAY_QUEUE_EPISODE_HPP

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/error.hpp>

#include "paused_episode.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace asio_wheel::test {

class delay_queue_episode : public paused_episode {
public:
    explicit delay_queue_episode(bytes& in)
        : paused_episode(in), strand_(boost::asio::make_strand(*context_)),
          capacity_(in.below(3) == 0 ? 1 + in.below(8) : 0) {
        queue_.emplace(*context_, delay_queue_options{.max_pending = capacity_});
    }

    void step() {
        act();
        look();
        check();
    }

    void finish() {
        switch (pick(4)) {
        case 0:
            queue_->cancel();
            end_pops(fate::cancelled);
            settle();
            require_work(false);
            break;
        case 1:
            note("close and clear");
            queue_->close();
            closed_ = true;
            queue_->clear();
            elements_.clear();
            end_if_over();
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
            queue_.reset();
        }
        strand_.reset();
        context_.reset();
        queue_.reset();
        require(std::all_of(pops_.begin(), pops_.end(), [](const pop& p) { return p.over; }),
                "each pop completes, or is destroyed");
    }

    /// The handler of a pop was destroyed without being called.
    void dropped(std::size_t id) {
        note("pop % is destroyed", id);
        require(ended_, "a handler is destroyed uncalled by the end of the context only");
        require(!std::exchange(pops_[id].over, true), "a handler is destroyed once");
    }

private:
    // In any case, no value is lost or handed out twice: AddressSanitizer checks that.
    struct value {
        value() = default;
        explicit value(std::size_t n) : number(std::make_unique<std::size_t>(n)) {}
        std::unique_ptr<std::size_t> number;
    };

    using queue = delay_queue<value>;

    // Elements in the order in which they are handed out.
    struct rank {
        time_point time;
        std::uint64_t sequence; // Among equal times, the earlier push comes first.
        auto operator<=>(const rank&) const = default;
    };

    enum class fate { waits, value, cancelled, closed, stopped };

    struct pop {
        fate how = fate::waits;
        std::size_t value = 0;
        bool direct =
            true; // Pops complete in order; those on other executors may come in any order.
        bool over = false;
        std::unique_ptr<boost::asio::cancellation_signal> signal;
    };

    struct handler {
        must_be_called<delay_queue_episode> inside;
        void operator()(const error_code& ec, value v) {
            auto [episode, id] = inside.called();
            episode.completed(id, ec, std::move(v));
        }
        void operator()(const error_code& ec, std::optional<queue::entry> e) {
            auto [episode, id] = inside.called();
            episode.require(e.has_value() == !ec, "there is an entry or an error");
            episode.require(!e || e->key == episode.keys_[*e->value.number],
                            "an entry has the key of its value");
            episode.completed(id, ec, e ? std::move(e->value) : value());
        }
    };

    void act() {
        switch (pick(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return push();
        case 4:
        case 5:
        case 6:
            return start();
        case 7:
            return erase();
        case 8:
        case 9:
            return postpone();
        case 10:
            return try_pop();
        case 11:
            return once_in(4) ? clear() : peek();
        case 12:
            return once_in(16) ? close() : cancel();
        case 13:
            return emit();
        case 14:
            return advance_to_next();
        case 15:
        case 16:
            return advance();
        case 17:
        case 18:
            return poll_one();
        default:
            return settle();
        }
    }

    void push() {
        const std::size_t n = keys_.size();
        const bool at = coin();
        const time_point t = at ? any_time() : sum(now(), any_duration());
        note("push % at %", n, ns(t));
        error_code refused;
        value v(n);
        queue::key k;
        try {
            k = at ? queue_->push_at(t, std::move(v)) : queue_->push(t - now(), std::move(v));
        } catch (const boost::system::system_error& e) {
            refused = e.code();
            require(v.number != nullptr, "a value that is refused is where it was");
        }
        const error_code expected = closed_ ? make_error_code(error::queue_closed)
                                    : capacity_ != 0 && elements_.size() >= capacity_
                                        ? make_error_code(error::queue_full)
                                        : error_code();
        require(refused == expected, "a queue takes what there is room for, until it is closed");
        if (!refused) {
            keys_.push_back(k);
            file(n, t);
        }
    }

    void file(std::size_t n, time_point t) { elements_.emplace(rank{t, sequence_++}, n); }

    // The element with this number, if it exists.
    [[nodiscard]] auto find(std::size_t n) {
        return std::find_if(elements_.begin(), elements_.end(),
                            [n](const auto& e) { return e.second == n; });
    }

    void erase() {
        if (keys_.empty()) {
            return;
        }
        const std::size_t n = pick(keys_.size());
        note("erase %", n);
        const auto it = find(n);
        const std::optional<value> v = queue_->erase(keys_[n]);
        require(v.has_value() == (it != elements_.end()), "erase() finds what is there");
        if (v) {
            require(*v->number == n, "erase() gives the value of the key");
            elements_.erase(it);
            end_if_over();
        }
    }

    void postpone() {
        if (keys_.empty()) {
            return;
        }
        const std::size_t n = pick(keys_.size());
        const time_point t = any_time();
        note("postpone % to %", n, ns(t));
        const auto it = find(n);
        require(queue_->postpone_until(keys_[n], t) == (it != elements_.end()),
                "postpone() finds what is there");
        if (it != elements_.end()) {
            elements_.erase(it);
            file(n, t);
        }
    }

    void try_pop() {
        note("try_pop");
        std::optional<std::size_t> number;
        if (keys_.size() % 2 == 0) {
            const std::optional<value> v = queue_->try_pop();
            number = v ? std::optional(*v->number) : std::nullopt;
        } else if (const std::optional<queue::entry> e = queue_->try_pop_entry()) {
            number = *e->value.number;
            require(e->key == keys_[*number] && e->expiry == elements_.begin()->first.time,
                    "an entry has the key of its value, and its time");
        }
        require(number.has_value() == is_due(), "try_pop() takes what is due");
        if (number) {
            require(*number == elements_.begin()->second, "try_pop() takes what is first");
            elements_.erase(elements_.begin());
            end_if_over();
        }
    }

    void peek() {
        const value* const v = queue_->peek();
        require((v != nullptr) == is_due(), "peek() sees what is due");
        require(v == nullptr || *v->number == elements_.begin()->second, "peek() sees the first");
        queue_->shrink_to_fit();
    }

    void clear() {
        note("clear");
        queue_->clear();
        elements_.clear();
        end_if_over();
    }

    void close() {
        note("close");
        queue_->close();
        closed_ = true;
        end_if_over();
    }

    void cancel() {
        note("cancel");
        const std::size_t waiting = waiting_.size();
        end_pops(fate::cancelled);
        require(queue_->cancel() == waiting, "cancel() counts what it aborts");
    }

    void start() {
        const std::size_t id = pops_.size();
        pop& p = pops_.emplace_back();
        waiting_.push_back(id);
        note("pop %", id);
        const auto later = std::find_if(elements_.begin(), elements_.end(),
                                        [this](const auto& e) { return e.first.time > now(); });
        const std::size_t left =
            elements_.size() -
            std::min({static_cast<std::size_t>(std::distance(elements_.begin(), later)),
                      waiting_.size(), wheel_.options().budget});
        handler h{must_be_called(*this, id)};
        switch (pick(4)) {
        case 0:
            queue_->async_pop(std::move(h));
            break;
        case 1:
            queue_->async_pop_entry(std::move(h));
            break;
        case 2:
            p.signal = std::make_unique<boost::asio::cancellation_signal>();
            queue_->async_pop(boost::asio::bind_cancellation_slot(p.signal->slot(), std::move(h)));
            break;
        default:
            p.direct = false;
            queue_->async_pop(boost::asio::bind_executor(*strand_, std::move(h)));
        }
        look();
        require(elements_.size() == left, "a pop gets what is due at once, behind those that wait");
        end_if_over();
    }

    void emit() {
        if (pops_.empty()) {
            return;
        }
        const std::size_t id = pick(pops_.size());
        pop& p = pops_[id];
        if (p.signal == nullptr) {
            return;
        }
        note("emit to pop %", id);
        if (p.how == fate::waits) {
            std::erase(waiting_, id);
            decide(id, fate::cancelled);
        }
        p.signal->emit(any_cancellation());
    }

    void completed(std::size_t id, const error_code& ec, value v) {
        look();
        pop& p = pops_[id];
        note("pop % completes, error %, value %", id, ec.value(), v.number ? *v.number : 0);
        require(!std::exchange(p.over, true), "a pop completes once");
        const auto it = std::find(decided_.begin(), decided_.end(), id);
        require(it != decided_.end(), "no pop completes without a reason");
        require(!p.direct ||
                    std::none_of(decided_.begin(), it,
                                 [this](std::size_t other) { return pops_[other].direct; }),
                "pops complete in the order in which they end");
        decided_.erase(it);
        switch (p.how) {
        case fate::value:
            require(!ec && v.number != nullptr && *v.number == p.value,
                    "the pop that has waited longest gets what is first");
            break;
        case fate::cancelled:
            require(ec == boost::asio::error::operation_aborted, "what was aborted says so");
            break;
        case fate::closed:
            require(ec == error::queue_closed, "a closed and empty queue ends pops");
            break;
        default:
            require(ec == error::wheel_stopped, "a drained wheel lets nobody wait");
        }
        require(!ec || v.number == nullptr, "with an error there is no value");
        if (!quiet_ && !in_.empty() && once_in(3)) {
            step();
        }
    }

    // What has been handed out since.
    void look() {
        std::set<std::size_t> there;
        queue_->for_each([&](const queue::key& k, const value& v, const time_point& t) {
            require(k == keys_[*v.number], "an element has the key that was given out for it");
            const auto it = find(*v.number);
            require(it != elements_.end(), "an element is there until it is taken");
            require(it->first.time == t, "an element keeps its time");
            require(there.insert(*v.number).second, "an element is there once");
        });
        while (there.size() < elements_.size()) {
            const auto first = elements_.begin();
            require(!there.contains(first->second), "what is first is handed out first");
            require(first->first.time <= now(), "no value is handed out early");
            require(!waiting_.empty(), "a value is handed out to a pop that waits");
            const std::size_t id = waiting_.front();
            waiting_.pop_front();
            pops_[id].value = first->second;
            elements_.erase(first);
            decide(id, fate::value);
        }
        end_if_over();
    }

    void check() {
        require(queue_->size() == elements_.size(), "size() counts what is there");
        require(queue_->empty() == elements_.empty(), "empty() if nothing is there");
        require(queue_->closed() == closed_, "closed() after close()");
        const std::optional<time_point> next = queue_->peek_expiry();
        require(next.has_value() != elements_.empty(), "peek_expiry() if something is there");
        require(!next || *next == elements_.begin()->first.time, "peek_expiry() is the first time");
        const std::optional<queue::key> first = queue_->next_key();
        require(first.has_value() != elements_.empty(), "next_key() if something is there");
        require(!first || *first == keys_[elements_.begin()->second], "next_key() is of the first");
        if (!keys_.empty()) { // The last element, which may be gone.
            const auto it = find(keys_.size() - 1);
            const value* const found = queue_->find(keys_.back());
            require((found != nullptr) == (it != elements_.end()), "find() finds what is there");
            require(!found || *found->number == it->second, "find() gives the value of the key");
            require(!found || queue_->expiry(keys_.back()) == it->first.time,
                    "expiry() gives the time of the key");
        }
    }

    void settle() {
        if (running_) {
            return;
        }
        poll_all();
        look();
        require(decided_.empty(), "what is decided is delivered");
        require(waiting_.empty() || !is_due(), "no pop waits while something is due");
        require_work(!waiting_.empty());
    }

    // All waiting pops, even for a value that never comes.
    void drain() {
        settle();
        note("drain");
        static_cast<void>(wheel_.drain());
        end_pops(fate::stopped);
        quiet_ = true;
        settle();
        require_work(false);
    }

    [[nodiscard]] bool is_due() const {
        return !elements_.empty() && elements_.begin()->first.time <= now();
    }

    void end_if_over() {
        if (closed_ && elements_.empty()) {
            end_pops(fate::closed);
        }
    }

    void end_pops(fate how) {
        for (; !waiting_.empty(); waiting_.pop_front()) {
            decide(waiting_.front(), how);
        }
    }

    void decide(std::size_t id, fate how) {
        pops_[id].how = how;
        decided_.push_back(id);
    }

    std::optional<boost::asio::strand<boost::asio::io_context::executor_type>> strand_;
    const std::size_t capacity_;
    std::optional<queue> queue_;
    std::map<rank, std::size_t> elements_; // By number of the push.
    std::vector<queue::key> keys_;         // For each push.
    std::uint64_t sequence_ = 0;
    std::deque<pop> pops_;            // All pops so far.
    std::deque<std::size_t> waiting_; // In order of their starts.
    std::deque<std::size_t> decided_; // In order of their ends.
    bool closed_ = false;
    bool quiet_ = false;
    bool ended_ = false;
};

} // namespace asio_wheel::test

#endif
