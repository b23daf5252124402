// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs on delayed operations, in paused time, beside a model that is a list of
// operations. Each operation completes once, with what the model says, when the model says so.

#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/error.hpp>

#include "support/context.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using asio_wheel::attempt;
using boost::system::error_code;
using operations = asio_wheel::delayed_operations<int, int>;
using time_point = std::chrono::steady_clock::time_point;
using std::chrono::nanoseconds;

constexpr int keys = 6;

// How an operation ends.
struct ending {
    char how; // 'v'alue, 'l'ate, 'a'borted
    int value = 0;

    friend bool operator==(const ending&, const ending&) = default;
    friend std::ostream& operator<<(std::ostream& out, const ending& e) {
        return out << e.how << e.value;
    }
};

// An operation wants so many units of all of its keys together.
struct wish {
    std::set<int> watched;
    int least = 0;
    bool takes_less = false; // At the last attempt.
    time_point deadline;
};

class model {
public:
    std::array<int, keys> stock{};

    [[nodiscard]] int sum(const wish& w) const {
        int n = 0;
        for (const int key : w.watched) {
            n += stock[static_cast<std::size_t>(key)];
        }
        return n;
    }
    [[nodiscard]] std::optional<int> give(const wish& w, bool last) const {
        const int n = sum(w);
        return n >= w.least || (last && w.takes_less && n != 0) ? std::optional(n) : std::nullopt;
    }

    void start(int id, wish w) {
        waiting_.emplace_back(id, std::move(w));
        if (const auto n = give(waiting_.back().second, false)) {
            end(std::prev(waiting_.end()), {'v', *n});
        }
    }

    // With which the operations that watch `key` (all, if negative) end, or those that can.
    std::size_t check(int key) {
        return each(key, [this](const wish& w) -> std::optional<ending> {
            const auto n = give(w, false);
            return n ? std::optional(ending{'v', *n}) : std::nullopt;
        });
    }
    std::size_t force(int key) {
        return each(key, [this](const wish& w) { return last(w); });
    }
    std::size_t cancel(int key) {
        return each(key, [](const wish&) { return ending{'a'}; });
    }
    void abort(int id) {
        const auto it = find(id);
        if (it != waiting_.end()) {
            end(it, {'a'});
        }
    }

    // The handler of `id` was called at that time.
    void tell(int id, const ending& e, time_point now) {
        const auto decided = decided_.find(id);
        if (decided != decided_.end()) {
            BOOST_TEST_REQUIRE(e == decided->second);
            decided_.erase(decided);
            return;
        }
        const auto it = find(id); // Then its deadline has come.
        BOOST_TEST_REQUIRE((it != waiting_.end()), "an operation completes twice");
        BOOST_TEST_REQUIRE((it->second.deadline <= now), "an operation is early");
        BOOST_TEST_REQUIRE(e == last(it->second));
        waiting_.erase(it);
    }

    // When the context has nothing to do.
    void settled(time_point now) const {
        BOOST_TEST_REQUIRE(decided_.empty(), "an operation has not completed");
        for (const auto& [id, w] : waiting_) {
            BOOST_TEST_REQUIRE((w.deadline > now), "an operation waits beyond its deadline");
        }
    }

    [[nodiscard]] std::size_t pending() const { return waiting_.size(); }
    [[nodiscard]] std::size_t watched() const {
        std::size_t n = 0;
        for (const auto& [id, w] : waiting_) {
            n += w.watched.size();
        }
        return n;
    }
    [[nodiscard]] std::size_t watched(int key) const {
        return static_cast<std::size_t>(
            std::count_if(waiting_.begin(), waiting_.end(),
                          [key](const auto& w) { return w.second.watched.contains(key); }));
    }
    [[nodiscard]] std::size_t watched_keys() const {
        std::set<int> all;
        for (const auto& [id, w] : waiting_) {
            all.insert(w.watched.begin(), w.watched.end());
        }
        return all.size();
    }

private:
    using list = std::vector<std::pair<int, wish>>;

    [[nodiscard]] list::iterator find(int id) {
        return std::find_if(waiting_.begin(), waiting_.end(),
                            [id](const auto& w) { return w.first == id; });
    }
    [[nodiscard]] ending last(const wish& w) const {
        const auto n = give(w, true);
        return n ? ending{'v', *n} : ending{'l'};
    }
    list::iterator end(list::iterator it, const ending& e) {
        decided_[it->first] = e;
        return waiting_.erase(it);
    }

    template <class Function>
    std::size_t each(int key, Function decide) {
        std::size_t ended = 0;
        for (auto it = waiting_.begin(); it != waiting_.end();) {
            std::optional<ending> e;
            if (key < 0 || it->second.watched.contains(key)) {
                e = decide(it->second);
            }
            it = e ? end(it, *e) : std::next(it);
            ended += e ? 1 : 0;
        }
        return ended;
    }

    list waiting_;
    std::map<int, ending> decided_; // Whose handlers are to be called.
};

// Operations, their model, and what is done to both.
class episode {
public:
    episode(virtual_time& world, std::mt19937_64& random)
        : world_(world), random_(random), strand_(asio::make_strand(world.ctx)),
          operations_(world.ctx) {}

    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            for (std::uint64_t n = 1 + random_() % 4; n != 0; --n) {
                act();
                compare();
            }
            if (random_() % 2 == 0) {
                settle();
            }
        }
        BOOST_TEST_REQUIRE(operations_.force() == model_.force(-1));
        settle();
        BOOST_TEST(operations_.pending() == 0U);
        BOOST_TEST(started_ == called_);
    }

private:
    void settle() {
        world_.poll();
        model_.settled(world_.now());
        compare();
    }

    void act() {
        const int key = static_cast<int>(random_() % keys);
        switch (random_() % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
            start();
            break;
        case 4:
        case 5:
        case 6:
            model_.stock[static_cast<std::size_t>(key)] += static_cast<int>(random_() % 4);
            BOOST_TEST_REQUIRE(operations_.check(key) == model_.check(key));
            break;
        case 7: // Something is taken, and nobody told; or added.
            model_.stock[static_cast<std::size_t>(key)] = static_cast<int>(random_() % 3);
            break;
        case 8:
            BOOST_TEST_REQUIRE(operations_.check(key) == model_.check(key));
            break;
        case 9:
            if (random_() % 4 == 0) {
                BOOST_TEST_REQUIRE(operations_.force(key) == model_.force(key));
            }
            break;
        case 10:
            if (random_() % 4 == 0) {
                BOOST_TEST_REQUIRE(operations_.cancel(key) == model_.cancel(key));
            }
            break;
        case 11:
            if (started_ != 0) { // One of the last, which may have ended.
                const int id = started_ - 1 - static_cast<int>(random_() % 8);
                if (id >= 0) {
                    model_.abort(id);
                    signals_[static_cast<std::size_t>(id)].emit(asio::cancellation_type::total);
                }
            }
            break;
        case 12:
            if (random_() % 16 == 0) {
                operations moved(std::move(operations_));
                operations_ = std::move(moved);
            }
            break;
        default:
            world_.elapse(some_time());
        }
    }

    [[nodiscard]] nanoseconds some_time() {
        return nanoseconds(random_() % (std::uint64_t{1} << (random_() % 26)));
    }

    void start() {
        const int id = started_++;
        wish w;
        std::vector<int> watched; // Some of them twice.
        for (std::uint64_t n = 1 + random_() % 4; n != 0; --n) {
            watched.push_back(static_cast<int>(random_() % keys));
        }
        w.watched.insert(watched.begin(), watched.end());
        w.least = 1 + static_cast<int>(random_() % 12);
        w.takes_less = random_() % 2 == 0;
        w.deadline = world_.now() + some_time();
        auto function = [this, w](attempt which) { return model_.give(w, which == attempt::last); };
        auto handler = asio::bind_cancellation_slot(
            signals_.emplace_back().slot(), [this, id](error_code ec, int value) {
                ++called_;
                const char how = !ec ? 'v' : ec == aborted ? 'a' : 'l';
                model_.tell(id, {how, value}, world_.now());
            });
        const time_point deadline = w.deadline;
        model_.start(id, std::move(w));
        if (random_() % 3 == 0) {
            operations_.async_wait_until(watched, deadline, function,
                                         asio::bind_executor(strand_, std::move(handler)));
        } else {
            operations_.async_wait_until(watched, deadline, function, std::move(handler));
        }
    }

    void compare() {
        BOOST_TEST_REQUIRE(operations_.pending() == model_.pending());
        BOOST_TEST_REQUIRE(operations_.watched() == model_.watched());
        BOOST_TEST_REQUIRE(operations_.keys() == model_.watched_keys());
        const int key = static_cast<int>(random_() % keys);
        BOOST_TEST_REQUIRE(operations_.watched(key) == model_.watched(key));
    }

    virtual_time& world_;
    std::mt19937_64& random_;
    asio::strand<asio::io_context::executor_type> strand_;
    model model_;
    std::deque<asio::cancellation_signal> signals_; // By the number of the operation.
    int started_ = 0;
    int called_ = 0;
    operations operations_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(delayed_operations_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(they_do_what_a_list_of_wishes_does) {
    const std::uint64_t seed = asio_wheel::test::seed();
    std::mt19937_64 random(seed);
    BOOST_TEST_CONTEXT(asio_wheel::test::seed_note(seed)) {
        for (int i = 0; i < 200; ++i) {
            virtual_time world({.budget = 1 + random() % 5});
            world.elapse(nanoseconds(random() % 1'000'000));
            episode(world, random).run(300);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
