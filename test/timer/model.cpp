// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 200

// Random programs of many timers in virtual time, compared with a std::multimap of their waits.
// Handlers do the same random operations as the program itself.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using time_point = timer::time_point;
using duration = timer::duration;

class program {
public:
    program(const asio_wheel::wheel_options& options, std::size_t others, std::uint64_t seed)
        : wheel_(asio_wheel::make_wheel(ctx_, options)), strand_(asio::make_strand(ctx_)),
          random_(seed) {
        wheel_.pause();
        for (std::size_t i = 0; i < timer_count; ++i) {
            timers_[i].emplace(ctx_);
        }
        // Other waits that never expire. With very many, operations are aborted in another way.
        for (std::size_t i = 0; i < others; ++i) {
            others_.emplace_back(ctx_, time_point::max()).async_wait([](const error_code&) {});
        }
    }

    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            do_anything();
            switch (pick(6)) {
            case 0:
                run_everything();
                check_nothing_is_overdue();
                break;
            case 1:
                poll_one(ctx_);
                break;
            case 2:
                poll_one(other_);
                break;
            default:
                break;
            }
            BOOST_REQUIRE(wheel_.pending() == waiting_.size() + others_.size());
        }
    }

    // Nothing must be left after all have been cancelled.
    void end_by_cancelling() {
        cancel_others();
        for (std::size_t i = 0; i < timer_count; ++i) {
            cancel(i);
        }
        finish();
    }

    void end_by_draining() {
        cancel_others();
        run_everything();
        std::vector<time_point> left;
        for (const auto& [expiry, id] : waiting_) {
            left.push_back(expiry);
            waits_[id].aborted = true;
        }
        waiting_.clear();
        for (auto& of_timer : of_timer_) {
            of_timer.clear();
        }
        quiet_ = true;
        BOOST_REQUIRE((wheel_.drain() == left));
        finish();
    }

    // ~program destroys all pending operations with the contexts.
    void end_abruptly() { quiet_ = true; }

    [[nodiscard]] std::size_t waits() const { return waits_.size(); }

private:
    static constexpr std::size_t timer_count = 40;

    struct wait {
        std::multimap<time_point, std::size_t>::iterator place; // In waiting_, unless aborted.
        std::size_t timer = 0;
        bool aborted = false;
        bool over = false;
        bool direct = true; // Not through an executor of the handler.
        std::unique_ptr<asio::cancellation_signal> signal;
    };

    [[nodiscard]] std::size_t pick(std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
    }

    // Mostly close ones, so that much happens, but of all magnitudes for which the wheel has
    // levels.
    [[nodiscard]] duration pick_duration() {
        switch (pick(12)) {
        case 0:
            return 0ns;
        case 1:
            return -pick_duration();
        case 2:
            return duration::max();
        case 3:
            return pick(48) * 1h;
        case 4:
            return pick(600) * 1s;
        case 5:
            return pick(10'000'000) * 1ns;
        default:
            return pick(300) * 1ms;
        }
    }

    void do_anything() {
        const std::size_t i = pick(timer_count);
        switch (pick(14)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return start(i);
        case 4:
        case 5:
            return expire_after(i);
        case 6:
            return cancel(i);
        case 7:
            return cancel_one(i);
        case 8:
        case 9:
            return postpone(i);
        case 10:
            return move(i, pick(timer_count));
        case 11:
            return renew(i);
        case 12:
            return emit();
        default:
            return advance();
        }
    }

    void start(std::size_t i) {
        const std::size_t id = waits_.size();
        wait& w = waits_.emplace_back();
        w.timer = i;
        w.place = waiting_.emplace(timers_[i]->expiry(), id);
        of_timer_[i].push_back(id);
        const auto handler = [this, id](const error_code& ec) { on_completion(id, ec); };
        switch (pick(5)) {
        case 0:
            w.direct = false;
            timers_[i]->async_wait(asio::bind_executor(strand_, handler));
            break;
        case 1:
            w.direct = false;
            timers_[i]->async_wait(asio::bind_executor(other_, handler));
            break;
        case 2:
            w.signal = std::make_unique<asio::cancellation_signal>();
            timers_[i]->async_wait(asio::bind_cancellation_slot(w.signal->slot(), handler));
            break;
        default:
            timers_[i]->async_wait(handler);
        }
    }

    void on_completion(std::size_t id, const error_code& ec) {
        wait& w = waits_[id];
        BOOST_REQUIRE(!w.over);
        w.over = true;
        if (w.aborted) {
            BOOST_REQUIRE(ec == aborted);
        } else {
            BOOST_REQUIRE(!ec);
            BOOST_REQUIRE((w.place->first <= wheel_.now()));
            auto& queue = of_timer_[w.timer];
            const auto place = std::find(queue.begin(), queue.end(), id);
            // First come, first served; handlers on other executors may come in any order.
            BOOST_REQUIRE(
                (!w.direct || std::none_of(queue.begin(), place, [this](std::size_t earlier) {
                    return waits_[earlier].direct;
                })));
            queue.erase(place);
            waiting_.erase(w.place);
        }
        if (!quiet_ && pick(3) == 0) {
            do_anything();
        }
    }

    // The model's part of aborting the first `n` waits of a timer.
    void abort_first(std::size_t i, std::size_t n) {
        for (; n != 0; --n) {
            wait& w = waits_[of_timer_[i].front()];
            of_timer_[i].pop_front();
            waiting_.erase(w.place);
            w.aborted = true;
        }
    }

    void expire_after(std::size_t i) {
        const std::size_t pending = of_timer_[i].size();
        abort_first(i, pending);
        BOOST_REQUIRE(timers_[i]->expires_after(pick_duration()) == pending);
        if (pick(2) == 0) {
            start(i);
        }
    }

    void cancel(std::size_t i) {
        const std::size_t pending = of_timer_[i].size();
        abort_first(i, pending);
        BOOST_REQUIRE(timers_[i]->cancel() == pending);
    }

    void cancel_one(std::size_t i) {
        const std::size_t pending = std::min<std::size_t>(of_timer_[i].size(), 1);
        abort_first(i, pending);
        BOOST_REQUIRE(timers_[i]->cancel_one() == pending);
    }

    void postpone(std::size_t i) {
        BOOST_REQUIRE(timers_[i]->postpone(pick_duration()) == of_timer_[i].size());
        for (const std::size_t id : of_timer_[i]) {
            waiting_.erase(waits_[id].place);
            waits_[id].place = waiting_.emplace(timers_[i]->expiry(), id);
        }
    }

    void move(std::size_t from, std::size_t to) {
        if (from == to) {
            return;
        }
        const time_point expiry = timers_[from]->expiry();
        abort_first(to, of_timer_[to].size());
        if (pick(2) == 0) {
            *timers_[to] = std::move(*timers_[from]);
        } else {
            timers_[to].emplace(std::move(*timers_[from]));
        }
        of_timer_[to].swap(of_timer_[from]);
        for (const std::size_t id : of_timer_[to]) {
            waits_[id].timer = to;
        }
        BOOST_REQUIRE((timers_[to]->expiry() == expiry));
        BOOST_REQUIRE((timers_[from]->expiry() == time_point()));
    }

    void renew(std::size_t i) {
        abort_first(i, of_timer_[i].size());
        timers_[i].emplace(ctx_, pick_duration());
    }

    void emit() {
        if (waits_.empty()) {
            return;
        }
        const std::size_t id = pick(waits_.size());
        wait& w = waits_[id];
        if (w.signal == nullptr) {
            return;
        }
        if (!w.over && !w.aborted) {
            std::erase(of_timer_[w.timer], id);
            waiting_.erase(w.place);
            w.aborted = true;
        }
        w.signal->emit(asio::cancellation_type::total);
    }

    void advance() {
        if (pick(8) == 0) {
            wheel_.advance_to_next();
            return;
        }
        const time_point before = wheel_.now();
        const duration d = pick_duration();
        const std::size_t due = wheel_.advance(d == duration::max() ? 1h : d);
        const time_point now = wheel_.now();
        // Not before the expiry, and at most a tick after it. It is unknown which of the earlier
        // expired waits have been found due.
        const std::size_t may =
            static_cast<std::size_t>(std::distance(waiting_.begin(), waiting_.upper_bound(now)));
        BOOST_REQUIRE(due <= may);
        const auto first = waiting_.upper_bound(before);
        const auto last = waiting_.upper_bound(now - wheel_.options().tick);
        if (first != waiting_.end() && now - wheel_.options().tick > before) {
            BOOST_REQUIRE(due >= static_cast<std::size_t>(std::distance(first, last)));
        }
    }

    std::size_t poll() {
        ctx_.restart();
        return ctx_.poll();
    }

    static void poll_one(asio::io_context& ctx) {
        ctx.restart();
        ctx.poll_one();
    }

    void run_everything() {
        do {
            other_.restart();
            other_.poll();
        } while (poll() != 0);
    }

    void check_nothing_is_overdue() {
        BOOST_REQUIRE(
            (waiting_.empty() || waiting_.begin()->first > wheel_.now() - wheel_.options().tick));
    }

    void cancel_others() {
        cancelled_others_ = others_.size();
        others_.clear();
    }

    void finish() {
        quiet_ = true;
        run_everything();
        BOOST_TEST(ctx_.stopped());
        BOOST_TEST(wheel_.pending() == 0U);
        BOOST_TEST(std::all_of(waits_.begin(), waits_.end(), [](const wait& w) { return w.over; }));
        const asio_wheel::wheel_stats stats = wheel_.stats();
        BOOST_TEST(stats.scheduled == waits_.size() + cancelled_others_);
        BOOST_TEST(stats.fired + stats.cancelled == stats.scheduled);
        BOOST_TEST(stats.cancelled - cancelled_others_ ==
                   static_cast<std::size_t>(std::count_if(
                       waits_.begin(), waits_.end(), [](const wait& w) { return w.aborted; })));
    }

    asio::io_context other_; // Outlives the wheel, because waits hold work on it.
    asio::io_context ctx_;
    asio_wheel::wheel_service<timer::clock_type>& wheel_;
    asio::strand<asio::io_context::executor_type> strand_;
    std::mt19937_64 random_;
    std::deque<wait> waits_; // All waits so far, by number.
    std::multimap<time_point, std::size_t> waiting_;
    std::array<std::deque<std::size_t>, timer_count> of_timer_;
    std::array<std::optional<timer>, timer_count> timers_;
    std::deque<timer> others_;
    std::size_t cancelled_others_ = 0;
    bool quiet_ = false;
};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_model, *boost::unit_test::timeout(180))

BOOST_AUTO_TEST_CASE(timers_do_what_a_multimap_says) {
    const std::uint64_t seed = asio_wheel::test::seed();
    const asio_wheel::wheel_options shapes[] = {
        {},
        {.slots = 2, .levels = 10, .budget = 1},
        {.slots = 16, .levels = 1, .budget = 3},
        {.tick = 7ms, .slots = 64, .levels = 3},
        {.tick = 100us, .slots = 8, .levels = 5, .locking = false, .budget = 2},
    };
    BOOST_TEST_CONTEXT(seed_note(seed)) {
        std::uint64_t number = 0;
        for (const auto& shape : shapes) {
            for (const int end : {0, 1, 2}) {
                BOOST_TEST_INFO_SCOPE("program " << number);
                program p(shape, number % 2 == 0 ? 0 : 20'000, seed + number);
                ++number;
                p.run(10'000);
                end == 0   ? p.end_by_cancelling()
                : end == 1 ? p.end_by_draining()
                           : p.end_abruptly();
                BOOST_TEST(p.waits() > 2000U);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
