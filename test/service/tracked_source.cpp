// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off
// pch: off

// ASIO_WHEEL_TRACK_SOURCE: waits know the places in the source that have started them.

#define ASIO_WHEEL_TRACK_SOURCE

#include <asio_wheel/interval.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>

namespace {

using namespace asio_wheel::test;
using asio_wheel::pending_wait;

constexpr auto ignore_all = [](auto&&...) {};

unsigned line(std::source_location here = std::source_location::current()) {
    return here.line();
}

struct world : virtual_time {
    /// The lines of all waits that are pending.
    std::multiset<unsigned> lines() {
        std::multiset<unsigned> found;
        wheel.for_each_pending([&](const pending_wait& w) {
            found.insert(w.place.line());
            BOOST_TEST((w.place.line() == 0 ||
                        std::string_view(w.place.file_name()).ends_with("tracked_source.cpp")));
        });
        return found;
    }

    ~world() { pass(24h); }
};

using lines = std::multiset<unsigned>;

} // namespace

BOOST_AUTO_TEST_SUITE(service_tracked_source)

BOOST_FIXTURE_TEST_CASE(a_wait_of_a_timer_has_the_place_of_async_wait, world) {
    timer t(ctx, 1s);
    t.async_wait(ignore);
    const unsigned first = line() - 1;
    t.async_wait(asio::bind_executor(asio::make_strand(ctx), ignore));
    BOOST_TEST((lines() == ::lines{first, first + 2}));
}

BOOST_FIXTURE_TEST_CASE(a_sleep_has_the_place_of_its_call, world) {
    asio_wheel::async_sleep_for(ctx, 1s, ignore);
    asio_wheel::async_sleep_for(ctx.get_executor(), 1s, ignore);
    asio_wheel::async_sleep_until(ctx, now() + 1s, ignore);
    asio_wheel::async_sleep_until(ctx.get_executor(), now() + 1s, ignore);
    const unsigned last = line() - 1;
    BOOST_TEST((lines() == ::lines{last - 3, last - 2, last - 1, last}));
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_has_the_place_of_its_wait, world) {
    unsigned expected = 0;
    const auto coroutine = [&]() -> asio::awaitable<void> {
        timer t(co_await asio::this_coro::executor, 1s);
        expected = line() + 1;
        co_await t.async_wait(asio::use_awaitable);
    };
    asio::co_spawn(ctx, coroutine(), asio::detached);
    poll();
    BOOST_TEST((lines() == ::lines{expected}));
}

BOOST_FIXTURE_TEST_CASE(a_tag_has_its_own_place, world) {
    timer t(ctx, 1s);
    const auto token = asio_wheel::tag("a", ignore);
    const unsigned expected = line() - 1;
    t.async_wait(token);
    BOOST_TEST((lines() == ::lines{expected}));
}

// Where the library starts a wait does not help its users.
BOOST_FIXTURE_TEST_CASE(waits_of_the_library_have_no_place, world) {
    asio_wheel::interval ticks(ctx, 1h);
    ticks.async_tick(ignore_all);
    BOOST_TEST((lines() == ::lines{0}));
    ticks.cancel();
    timer outer(ctx, 1s);
    outer.async_wait(asio_wheel::timeout(2s, ignore_all));
    const unsigned operation = line() - 1;
    BOOST_TEST((lines() == ::lines{0, operation}));
}

BOOST_FIXTURE_TEST_CASE(the_report_prints_the_place, world) {
    timer t(ctx, 1s);
    t.async_wait(ignore);
    const unsigned expected = line() - 1;
    std::ostringstream out;
    wheel.report(out);
    BOOST_TEST(out.str().find("(tracked_source.cpp:" + std::to_string(expected) + ")") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
