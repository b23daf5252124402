// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs on a delay queue in paused time, compared with a std::multimap as the model. Each
// value is handed out once, never early, in order, to the pop that has waited longest. Each pop
// completes once.

#include <asio_wheel/delay_queue.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::delay_queue;
using time_point = std::chrono::steady_clock::time_point;
using std::chrono::nanoseconds;

// How much later than try_pop() a waiting pop may get a value, while paused time advances tick by
// tick.
constexpr nanoseconds slack = 1ms;

// The expected results.
class model {
public:
    // The result of a pop.
    struct ending {
        int pop;
        char how; // 'v'alue, 'a'borted, 'c'losed
        int value = 0;

        friend bool operator==(const ending&, const ending&) = default;
        friend std::ostream& operator<<(std::ostream& out, const ending& e) {
            return out << "pop " << e.pop << " ends with " << e.how << " " << e.value;
        }
    };

    void push(int value, time_point t) { file(value, t); }

    // Returns false if the element is gone.
    bool erase(int value) {
        const auto it = places_.find(value);
        if (it == places_.end()) {
            return false;
        }
        elements_.erase(it->second);
        places_.erase(it);
        end_if_over();
        return true;
    }
    bool postpone(int value, time_point t) {
        const auto it = places_.find(value);
        if (it == places_.end()) {
            return false;
        }
        elements_.erase(it->second);
        file(value, t);
        return true;
    }
    void clear() {
        elements_.clear();
        places_.clear();
        end_if_over();
    }
    void close() {
        closed_ = true;
        end_if_over();
    }

    [[nodiscard]] std::size_t size() const { return elements_.size(); }
    [[nodiscard]] bool closed() const { return closed_; }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    [[nodiscard]] std::optional<time_point> first() const {
        return elements_.empty() ? std::nullopt : std::optional(elements_.begin()->first);
    }
    [[nodiscard]] std::optional<int> due(time_point now) const {
        return !elements_.empty() && elements_.begin()->first <= now
                   ? std::optional(elements_.begin()->second)
                   : std::nullopt;
    }
    std::optional<int> take(time_point now) {
        const std::optional<int> value = due(now);
        if (value) {
            static_cast<void>(erase(*value));
        }
        return value;
    }

    // A new pop is served at once, after those that wait, if one slice is enough for all.
    void start(int pop, time_point now, std::size_t slice) {
        waiting_.push_back(pop);
        for (; slice != 0 && !waiting_.empty() && due(now); --slice) {
            hand_out(now);
        }
        end_if_over();
    }
    // A waiting pop is served in its turn, when the model is notified.
    void tell(const ending& e, time_point now) {
        if (expected_.empty()) {
            BOOST_TEST_REQUIRE(!waiting_.empty());
            BOOST_TEST_REQUIRE(due(now).has_value(), "a value is early");
            hand_out(now);
        }
        BOOST_TEST_REQUIRE(e == expected_.front());
        expected_.pop_front();
    }
    void abort(int pop) {
        const auto it = std::find(waiting_.begin(), waiting_.end(), pop);
        if (it != waiting_.end()) {
            waiting_.erase(it);
            expected_.push_back({pop, 'a'});
        }
    }
    std::size_t abort_all() { return end_all('a'); }

    // When the context is idle.
    void settled(time_point now) const {
        BOOST_TEST_REQUIRE(expected_.empty(), "a pop has not completed");
        BOOST_TEST_REQUIRE(
            (waiting_.empty() || elements_.empty() || elements_.begin()->first > now - slack),
            "a pop waits though a value is due");
    }

    // Returns the value of the n-th element in some order, or one that is gone.
    [[nodiscard]] int some(std::uint64_t n, int otherwise) const {
        if (places_.empty() || n % 8 == 0) {
            return otherwise;
        }
        return std::next(places_.begin(),
                         static_cast<std::ptrdiff_t>(n % std::min<std::size_t>(places_.size(), 16)))
            ->first;
    }

private:
    using elements = std::multimap<time_point, int>; // Equal times keep their order.

    void file(int value, time_point t) { places_[value] = elements_.emplace(t, value); }

    void hand_out(time_point now) {
        const int pop = waiting_.front();
        waiting_.pop_front();
        const int value = due(now).value();
        elements_.erase(places_.at(value));
        places_.erase(value);
        expected_.push_back({pop, 'v', value});
        end_if_over();
    }

    void end_if_over() {
        if (closed_ && elements_.empty()) {
            end_all('c');
        }
    }

    std::size_t end_all(char how) {
        const std::size_t ended = waiting_.size();
        for (const int pop : waiting_) {
            expected_.push_back({pop, how});
        }
        waiting_.clear();
        return ended;
    }

    elements elements_;
    std::map<int, elements::iterator> places_;
    std::deque<int> waiting_;
    std::deque<ending> expected_;
    bool closed_ = false;
};

// A queue, its model, and operations on both.
class episode {
public:
    episode(virtual_time& world, std::mt19937_64& random)
        : world_(world), random_(random), queue_(world.ctx) {}

    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            for (std::uint64_t n = 1 + random_() % 3; n != 0; --n) {
                act(i);
                check();
            }
            if (random_() % 2 == 0) {
                world_.poll();
                model_.settled(world_.now());
                check();
            }
        }
        // At the end, everything is handed out, and all pops complete.
        queue_.close();
        model_.close();
        while (model_.size() != 0) {
            start_pop();
            world_.poll();
            world_.elapse(std::max<nanoseconds>(
                model_.first().value_or(world_.now()) - world_.now() + slack, 0ns));
            world_.poll();
            check();
        }
        world_.poll();
        model_.settled(world_.now());
        BOOST_TEST(model_.waiting() == 0U);
        BOOST_TEST(started_ == static_cast<int>(ended_.size()));
    }

private:
    using key = delay_queue<int>::key;

    // Usually within some ticks, sometimes far away or in the past.
    [[nodiscard]] nanoseconds some_time() {
        const auto span = std::uint64_t{1} << (random_() % (random_() % 4 == 0 ? 45 : 24));
        const std::uint64_t grain = random_() % 2 == 0 ? 1 : 500'000; // Makes equal times likely.
        const nanoseconds d(random_() % span / grain * grain);
        return random_() % 8 == 0 ? -d : d;
    }

    void act(int number) {
        const time_point now = world_.now();
        switch (random_() % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
            if (!model_.closed()) {
                const int value = static_cast<int>(keys_.size());
                const time_point t = now + some_time();
                model_.push(value, t);
                keys_.push_back(queue_.push_at(t, value));
            }
            break;
        case 4: {
            const int value = model_.some(random_(), number % 7);
            if (value < static_cast<int>(keys_.size())) {
                const auto erased = queue_.erase(keys_[static_cast<std::size_t>(value)]);
                BOOST_TEST_REQUIRE((erased.value_or(-1) == (model_.erase(value) ? value : -1)));
            }
            break;
        }
        case 5: {
            const int value = model_.some(random_(), number % 7);
            const time_point t = now + some_time();
            if (value < static_cast<int>(keys_.size())) {
                const bool moved = queue_.postpone_until(keys_[static_cast<std::size_t>(value)], t);
                BOOST_TEST_REQUIRE(moved == model_.postpone(value, t));
            }
            break;
        }
        case 6:
        case 7:
        case 8:
            start_pop();
            break;
        case 9:
        case 10: {
            const auto value = queue_.try_pop();
            BOOST_TEST_REQUIRE((value == model_.take(now)));
            break;
        }
        case 11:
            if (started_ != 0) { // One of the last pops, which may have completed.
                const int pop = started_ - 1 - static_cast<int>(random_() % 4);
                if (pop >= 0) {
                    model_.abort(pop);
                    signals_[static_cast<std::size_t>(pop)].emit(asio::cancellation_type::total);
                }
            }
            break;
        case 12:
            if (random_() % 4 == 0) {
                BOOST_TEST_REQUIRE(queue_.cancel() == model_.abort_all());
            }
            break;
        case 13:
            if (random_() % 64 == 0) {
                queue_.clear();
                model_.clear();
            }
            break;
        default:
            world_.elapse(std::max<nanoseconds>(some_time(), 0ns));
        }
    }

    void start_pop() {
        const int pop = started_++;
        model_.start(pop, world_.now(), world_.wheel.options().budget);
        queue_.async_pop(asio::bind_cancellation_slot(
            signals_.emplace_back().slot(), [this, pop](error_code ec, int value) {
                BOOST_TEST_REQUIRE(ended_.insert(pop).second);
                model_.tell({pop, !ec ? 'v' : ec == aborted ? 'a' : 'c', value}, world_.now());
            }));
    }

    void check() {
        BOOST_TEST_REQUIRE(queue_.size() == model_.size());
        BOOST_TEST_REQUIRE((queue_.peek_expiry() == model_.first()));
        const int* const value = queue_.peek();
        BOOST_TEST_REQUIRE(((value != nullptr ? std::optional(*value) : std::nullopt) ==
                            model_.due(world_.now())));
    }

    virtual_time& world_;
    std::mt19937_64& random_;
    model model_;
    std::deque<asio::cancellation_signal> signals_; // By the number of the pop.
    std::vector<key> keys_;                         // By the value.
    int started_ = 0;
    std::set<int> ended_;
    delay_queue<int> queue_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(it_does_what_a_multimap_does) {
    const std::uint64_t seed = asio_wheel::test::seed();
    std::mt19937_64 random(seed);
    BOOST_TEST_CONTEXT(asio_wheel::test::seed_note(seed)) {
        for (int i = 0; i < 200; ++i) {
            // Slices of pops of different sizes.
            virtual_time world({.budget = 1 + random() % 5});
            world.elapse(nanoseconds(random() % 1'000'000));
            episode(world, random).run(400);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
