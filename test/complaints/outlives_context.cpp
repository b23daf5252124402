// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "The program crashes when it ends, in the destructor of a timer."
//
//   chriskohlhoff/asio 979     a static object owns a timer, and main() owned the io_context
//   ray-project/ray 15141      a runner whose destructor cancels its timers ends after its context
//
// Asio's timers keep a reference to a service of their context. Their destructor and cancel() use
// it. After the context's end that is undefined behaviour, so no case shows it. (AddressSanitizer
// reports heap-use-after-free for both.) The service of a wheel detaches its timers when it is
// destroyed. These cases are most useful with AddressSanitizer.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;

// asio 979: the content of a static variable.
std::unique_ptr<steady_timer> global;

// ray 15141: a runner that calls functions periodically. Its destructor cancels its timers.
class periodical_runner {
public:
    explicit periodical_runner(asio::io_context& ctx) : ctx_(ctx) {}
    periodical_runner(const periodical_runner&) = delete;
    periodical_runner& operator=(const periodical_runner&) = delete;

    ~periodical_runner() {
        for (const auto& timer : timers_) {
            timer->cancel();
        }
    }

    void run(std::function<void()> function, steady_timer::duration period) {
        timers_.push_back(std::make_shared<steady_timer>(ctx_));
        call(timers_.back(), std::move(function), period);
    }

private:
    static void call(const std::shared_ptr<steady_timer>& timer, std::function<void()> function,
                     steady_timer::duration period) {
        function();
        timer->expires_after(period);
        timer->async_wait([timer, function = std::move(function), period](error_code ec) {
            if (ec != asio::error::operation_aborted) {
                call(timer, function, period);
            }
        });
    }

    asio::io_context& ctx_;
    std::vector<std::shared_ptr<steady_timer>> timers_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_outlives_context)

// The program of that thread. Its wait has completed before the context is destroyed.
BOOST_AUTO_TEST_CASE(ours_a_timer_may_be_destroyed_after_its_context) {
    bool called = false;
    {
        std::unique_ptr<steady_timer> timer;
        asio::io_context ctx;
        timer = std::make_unique<steady_timer>(ctx);
        timer->expires_after(1ms); // real time
        timer->async_wait([&](error_code ec) { called = !ec; });
        ctx.run();
    }
    BOOST_TEST(called);
}

// The wait may also be pending. Its handler is destroyed with the context, without a call.
BOOST_AUTO_TEST_CASE(ours_a_static_timer_may_wait_when_its_context_ends) {
    const auto owned = std::make_shared<int>();
    bool called = false;
    {
        asio::io_context ctx;
        global = std::make_unique<steady_timer>(ctx, 1h);
        global->async_wait([&called, owned](error_code) { called = true; });
        ctx.poll();
        BOOST_TEST(owned.use_count() == 2);
    }
    BOOST_TEST(owned.use_count() == 1);
    global.reset();
    BOOST_TEST(!called);
}

BOOST_AUTO_TEST_CASE(ours_timers_may_be_cancelled_after_their_context) {
    int calls = 0;
    {
        std::optional<periodical_runner> runner;
        asio::io_context ctx;
        auto& wheel = asio_wheel::use_wheel(ctx);
        wheel.pause();
        runner.emplace(ctx);
        runner->run([&] { ++calls; }, 10s);
        runner->run([&] { ++calls; }, 1h);
        for (int i = 0; i < 6; ++i) {
            wheel.advance(10s);
            ctx.poll();
        }
    }
    BOOST_TEST(calls == 8);
}

BOOST_AUTO_TEST_CASE(ours_what_is_made_of_timers_may_outlive_the_context) {
    std::optional<asio_wheel::interval> ticks;
    std::optional<asio_wheel::idle_timer> idle;
    std::optional<asio_wheel::heartbeat> beat;
    bool called = false;
    {
        asio::io_context ctx;
        ticks.emplace(ctx, 1s);
        idle.emplace(ctx, 1s);
        beat.emplace(ctx, asio_wheel::heartbeat_options{.send_every = 1s, .dead_after = 3s});
        beat->async_next([&](auto...) { called = true; });
        ticks->async_tick([&](auto...) { called = true; });
        idle->async_wait([&](error_code) { called = true; });
    }
    ticks->cancel();
    idle->cancel();
    BOOST_TEST(!called);
}

BOOST_AUTO_TEST_SUITE_END()
