// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// One factor for the periods of all idle timers: scale_idle_timers().

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <limits>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::heartbeat;
using asio_wheel::heartbeat_event;
using asio_wheel::idle_timer;

/// A wheel that visits ten idle timers per slice.
struct slice_of_ten : virtual_time {
    std::list<idle_timer> idles;
    std::size_t completed = 0;

    slice_of_ten() : virtual_time(asio_wheel::wheel_options{.budget = 10}) {
        align();
        for (int i = 0; i < 100; ++i) {
            idles.emplace_back(ctx, 100s).async_wait([this](error_code ec) { completed += !ec; });
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(idle_scale, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(it_shortens_the_periods_of_all_idle_timers, virtual_world) {
    idle_timer a(ctx, 30s);
    idle_timer b(ctx, 60s);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    BOOST_TEST(asio_wheel::idle_timer_scale(wheel) == 1.0);
    asio_wheel::scale_idle_timers(wheel, 0.5);
    BOOST_TEST(asio_wheel::idle_timer_scale(wheel) == 0.5);
    BOOST_TEST(log_after(15s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "a");
    BOOST_TEST(log_after(15s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "b");
}

BOOST_FIXTURE_TEST_CASE(what_has_been_idle_for_longer_completes, virtual_world) {
    idle_timer old(ctx, 30s);
    old.async_wait(log.note("old"));
    pass(10s);
    idle_timer young(ctx, 30s);
    young.async_wait(log.note("young"));
    asio_wheel::scale_idle_timers(wheel, 0.25);
    BOOST_TEST(log.size() == 0U); // Not inside scale().
    BOOST_TEST(log_now() == "old");
    BOOST_TEST(log_after(7500ms) == "young");
}

BOOST_FIXTURE_TEST_CASE(a_touch_begins_a_shortened_period_anew, virtual_world) {
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    asio_wheel::scale_idle_timers(wheel, 0.1);
    for (int i = 0; i < 100; ++i) {
        pass(3s - 1ns);
        idle.touch();
    }
    BOOST_TEST(log.take() == "");
    BOOST_TEST(log_after(3s) == "1");
}

BOOST_FIXTURE_TEST_CASE(waits_that_start_later_are_shortened_too, virtual_world) {
    asio_wheel::scale_idle_timers(wheel, 0.5);
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    BOOST_TEST(log_after(15s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "1");
}

BOOST_FIXTURE_TEST_CASE(opened_again_it_lets_waits_be_as_long_as_they_were, virtual_world) {
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    asio_wheel::scale_idle_timers(wheel, 0.1);
    asio_wheel::scale_idle_timers(wheel, 1);
    BOOST_TEST(log_after(30s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "1");
}

BOOST_FIXTURE_TEST_CASE(a_period_stays_as_it_was_given, virtual_world) {
    idle_timer idle(ctx, 30s);
    asio_wheel::scale_idle_timers(wheel, 0.5);
    BOOST_TEST((idle.period() == 30s));
    idle.async_wait(log.note(1));
    idle.period(10s);
    BOOST_TEST((idle.period() == 10s));
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "1");
    idle.period(idle_timer::duration::max()); // Half of it is still long enough.
    idle.async_wait(log.note(2));
    BOOST_TEST(log_after(24h * 365 * 100) == "");
    idle.cancel();
    poll();
}

BOOST_FIXTURE_TEST_CASE(heartbeats_and_other_timers_stay_as_they_are, virtual_world) {
    timer t(ctx, 30s);
    t.async_wait(log.note("timer"));
    heartbeat pulse(ctx, {.send_every = 30s, .dead_after = 35s});
    pulse.async_next([&](error_code ec, heartbeat_event) { log.add("pulse", ec); });
    asio_wheel::scale_idle_timers(wheel, 0.01);
    BOOST_TEST(log_after(30s - 1ns) == "");
    pass(1ns);
    BOOST_TEST(log.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_wheel_on_another_clock_stays_as_it_is, virtual_world) {
    asio_wheel::scale_idle_timers(asio_wheel::use_wheel<std::chrono::system_clock>(ctx), 0.01);
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    BOOST_TEST(log_after(30s - 1ns) == "");
    idle.cancel();
    poll();
}

BOOST_FIXTURE_TEST_CASE(a_factor_that_is_none_is_refused, virtual_world) {
    for (const double wrong : {0.0, -0.5, 1.0001, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
        BOOST_CHECK_EXCEPTION(asio_wheel::scale_idle_timers(wheel, wrong), std::invalid_argument,
                              [&](const auto& e) {
                                  const std::string what = e.what();
                                  return what.find(std::to_string(wrong)) != what.npos &&
                                         what.find("greater than 0 and at most 1") != what.npos;
                              });
        BOOST_TEST(asio_wheel::idle_timer_scale(wheel) == 1.0);
    }
    asio_wheel::scale_idle_timers(wheel, 1);
    asio_wheel::scale_idle_timers(wheel, std::numeric_limits<double>::denorm_min());
}

// A million idle timers must not delay other handlers.
BOOST_FIXTURE_TEST_CASE(it_goes_through_them_in_slices, slice_of_ten) {
    pass(60s);
    const auto moved = [this] { return wheel.stats().postponed; };
    asio_wheel::scale_idle_timers(wheel, 0.5);
    BOOST_TEST(moved() == 10U);
    std::size_t slices = 1;
    for (std::size_t before = 10; before < 100; before = moved(), ++slices) {
        bool others = false;
        asio::post(ctx, [&] { others = true; });
        while (!others) {
            ctx.restart();
            ctx.run_one();
        }
        BOOST_TEST(moved() <= before + 10);
    }
    BOOST_TEST(slices >= 10U);
    poll();
    BOOST_TEST(completed == 100U);
}

BOOST_FIXTURE_TEST_CASE(a_factor_set_meanwhile_holds_for_all, slice_of_ten) {
    asio_wheel::scale_idle_timers(wheel, 0.5);
    asio_wheel::scale_idle_timers(wheel, 0.1);
    pass(10s);
    BOOST_TEST(completed == 100U);
}

BOOST_FIXTURE_TEST_CASE(idle_timers_may_go_while_it_is_under_way, slice_of_ten) {
    pass(60s);
    asio_wheel::scale_idle_timers(wheel, 0.5);
    idles.erase(std::next(idles.begin(), 5),
                std::next(idles.begin(), 15)); // Including the next one.
    ctx.restart();
    ctx.run_one();
    idles.pop_back();
    idles.emplace_back(ctx, 100s);
    poll();
    BOOST_TEST(completed == 89U);
    idles.clear();
    asio_wheel::scale_idle_timers(wheel, 0.1);
}

BOOST_AUTO_TEST_CASE(idle_timers_may_outlive_it) {
    std::unique_ptr<idle_timer> idle;
    {
        asio::io_context ctx;
        auto& wheel = asio_wheel::make_wheel(ctx, {.budget = 1});
        idle = std::make_unique<idle_timer>(ctx, 30s);
        idle->async_wait(ignore);
        idle_timer another(ctx, 30s);
        another.async_wait(ignore);
        asio_wheel::scale_idle_timers(wheel, 0.5); // The rest of it is never executed.
    }
    idle.reset();
}

BOOST_FIXTURE_TEST_CASE(a_drained_wheel_takes_nothing, virtual_world) {
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    static_cast<void>(wheel.drain());
    asio_wheel::scale_idle_timers(wheel, 0.5);
    BOOST_TEST(log_now() == "1!");
}

// A wait that starts while the factor is being set is either visited or uses the new factor.
BOOST_AUTO_TEST_CASE(waits_that_begin_just_then_are_not_missed) {
    constexpr int rounds = 200;
    constexpr int many = 50;
    asio::thread_pool pool(2);
    auto& wheel = asio_wheel::make_wheel(pool, {.budget = 7});
    for (int round = 0; round < rounds; ++round) {
        asio_wheel::scale_idle_timers(wheel, 1);
        std::atomic<int> waiting{0};
        std::promise<void> all_completed;
        std::atomic<int> left{many};
        std::vector<std::unique_ptr<idle_timer>> idles;
        for (int i = 0; i < many; ++i) {
            idles.push_back(std::make_unique<idle_timer>(asio::make_strand(pool), 1h));
            asio::post(idles.back()->get_executor(), [&, idle = idles.back().get()] {
                ++waiting;
                idle->async_wait([&](error_code ec) {
                    if (!ec && --left == 0) {
                        all_completed.set_value();
                    }
                });
            });
        }
        while (waiting.load() < round % many) {
            std::this_thread::yield();
        }
        asio_wheel::scale_idle_timers(wheel, 1e-9);
        all_completed.get_future().get(); // Otherwise it takes an hour.
    }
    pool.join();
}

BOOST_AUTO_TEST_CASE(any_thread_may_set_it) {
    asio::thread_pool pool(2);
    auto& wheel = asio_wheel::make_wheel(pool, {.budget = 3});
    std::atomic<bool> stop{false};
    std::atomic<int> completions{0};
    struct connection : std::enable_shared_from_this<connection> {
        connection(asio::thread_pool& pool, std::atomic<int>& n, std::atomic<bool>& stop)
            : idle(asio::make_strand(pool), 2ms), completed(n), stopped(stop) {}
        void wait() {
            idle.async_wait([self = shared_from_this()](error_code ec) {
                self->completed += !ec;
                if (!self->stopped) {
                    self->idle.touch();
                    self->idle.period(self->completed % 2 == 0 ? 1ms : 3ms);
                    self->wait();
                }
            });
        }
        idle_timer idle;
        std::atomic<int>& completed;
        std::atomic<bool>& stopped;
    };
    for (int i = 0; i < 20; ++i) {
        const auto c = std::make_shared<connection>(pool, completions, stop);
        asio::post(c->idle.get_executor(), [c] { c->wait(); });
    }
    const auto set = [&](double low) {
        while (!stop) {
            asio_wheel::scale_idle_timers(wheel, low);
            asio_wheel::scale_idle_timers(wheel, 1);
        }
    };
    std::thread first(set, 0.25);
    std::thread second(set, 0.75);
    while (completions < 1000) {
        std::this_thread::yield();
    }
    stop = true;
    first.join();
    second.join();
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
