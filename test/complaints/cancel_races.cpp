// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "I cancelled the timer, and its handler ran with success."
//
//   chriskohlhoff/asio 878     the timer is destroyed, its handler sees success
//   chriskohlhoff/asio 423     so each handler needs a state of its own that says "cancelled"
//   boostorg/asio 85           cancel() of an active timer returns 0, and the handler is called
//   ray-project/ray 18400      a queue that was removed is used by its timer's handler
//   PurpleI2P/i2pd 2355        handlers that return on operation_aborted use an object that is gone
//
// Asio sets the result of a wait when the timer expires, and queues the handler. Nothing can change
// the result after that. The wheel sets the result when the handler is about to be called.
//
// Each program below runs with Asio's timers and with ours. With Asio's, it needs some milliseconds
// of real time. The order of its handlers does not depend on the speed of the machine.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace asio_wheel::test;

using asios = real_time<asio::steady_timer>;
using ours = virtual_world;

// asio 878: the timer expires while a handler that destroys it is in the queue.
template <class World>
std::string destroy_a_timer_that_is_due() {
    World world;
    journal log;
    auto timer = std::make_unique<typename World::timer>(world.ctx, 5ms);
    timer->async_wait(log.note("wait"));
    asio::post(world.ctx, [&] {
        timer.reset();
        log.add("destroyed");
    });
    world.elapse(5ms);
    world.poll();
    return log.take();
}

// The program of that thread: the timer has expired before the wait begins.
template <class World>
std::string destroy_a_timer_that_has_expired() {
    World world;
    journal log;
    auto timer = std::make_unique<typename World::timer>(world.ctx);
    timer->expires_after(0s);
    timer->async_wait(log.note("wait"));
    asio::post(world.ctx, [&] {
        timer.reset();
        log.add("destroyed");
    });
    world.poll();
    return log.take();
}

// asio 423, ray 18400: the same with cancel(), which says how many waits it has cancelled.
template <class World>
std::string cancel_a_timer_that_is_due() {
    World world;
    journal log;
    typename World::timer timer(world.ctx, 5ms);
    timer.async_wait(log.note("wait"));
    asio::post(world.ctx, [&] { log.add("cancelled " + std::to_string(timer.cancel())); });
    world.elapse(5ms);
    world.poll();
    return log.take();
}

// boostorg/asio 85: several timers expire in one pass, and one handler starts another timer again.
template <class World>
std::string restart_a_timer_that_is_due() {
    World world;
    journal log;
    typename World::timer first(world.ctx, 5ms);
    typename World::timer second(world.ctx, first.expiry() + 1us);
    first.async_wait([&](error_code) {
        log.add("restarted " + std::to_string(second.expires_after(1h)));
        second.async_wait(log.note("new"));
    });
    second.async_wait(log.note("old"));
    world.pass(6ms);
    log.add("stopped " + std::to_string(second.cancel()));
    world.poll();
    return log.take();
}

// i2pd 2355: sessions whose handlers use them unless they were aborted. The first session that
// times out ends the other one. `life` detects a use after free.
template <class World>
class session {
public:
    session(World& world, journal& log, std::list<session>& all)
        : timer_(world.ctx, 5ms), life_(std::make_shared<int>()) {
        timer_.async_wait([&log, &all, life = std::weak_ptr<int>(life_)](error_code ec) {
            if (ec == asio::error::operation_aborted) {
                log.add("told");
            } else if (life.expired()) {
                log.add("used after its end");
            } else {
                all.clear();
                log.add("timed out");
            }
        });
    }

private:
    typename World::timer timer_;
    std::shared_ptr<int> life_;
};

template <class World>
std::string end_a_session_whose_timer_is_due() {
    World world;
    journal log;
    std::list<session<World>> all;
    all.emplace_back(world, log, all);
    all.emplace_back(world, log, all);
    world.pass(5ms);
    return log.take();
}

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_cancel_races, *boost::unit_test::timeout(60))

// Where Asio itself does not look for timers that have expired, the posted function comes first.
BOOST_AUTO_TEST_CASE(asio_a_timer_that_was_destroyed_succeeds, *only_if(!polls_are_slow)) {
    BOOST_TEST(destroy_a_timer_that_is_due<asios>() == "destroyed wait");
    BOOST_TEST(destroy_a_timer_that_has_expired<asios>() == "destroyed wait");
}

BOOST_AUTO_TEST_CASE(ours_a_timer_that_was_destroyed_is_aborted) {
    BOOST_TEST(destroy_a_timer_that_is_due<ours>() == "destroyed wait!");
    // An expired wait is queued before a function that is posted after it.
    BOOST_TEST(destroy_a_timer_that_has_expired<ours>() == "wait destroyed");
}

BOOST_AUTO_TEST_CASE(asio_a_wait_that_was_cancelled_succeeds, *only_if(!polls_are_slow)) {
    BOOST_TEST(cancel_a_timer_that_is_due<asios>() == "cancelled 0 wait");
}

BOOST_AUTO_TEST_CASE(ours_a_wait_that_was_cancelled_is_aborted) {
    BOOST_TEST(cancel_a_timer_that_is_due<ours>() == "cancelled 1 wait!");
}

BOOST_AUTO_TEST_CASE(asio_a_timer_that_was_started_again_expires_for_its_old_time) {
    BOOST_TEST(restart_a_timer_that_is_due<asios>() == "restarted 0 old stopped 1 new!");
}

BOOST_AUTO_TEST_CASE(ours_a_timer_that_was_started_again_waits_for_its_new_time_only) {
    BOOST_TEST(restart_a_timer_that_is_due<ours>() == "restarted 1 old! stopped 1 new!");
}

BOOST_AUTO_TEST_CASE(asio_a_handler_uses_what_is_gone) {
    BOOST_TEST(end_a_session_whose_timer_is_due<asios>() == "timed out used after its end");
}

BOOST_AUTO_TEST_CASE(ours_a_handler_is_told_that_its_object_is_gone) {
    BOOST_TEST(end_a_session_whose_timer_is_due<ours>() == "timed out told");
}

// As with Asio, the handler of a cancelled wait is still called. It must check the error first. A
// cancel() after the handler has begun is too late, and returns 0.
BOOST_AUTO_TEST_CASE(ours_what_cancel_counts_is_what_handlers_see) {
    ours world;
    journal log;
    std::optional<timer> t(std::in_place, world.ctx, 5ms);
    t->async_wait([&](error_code ec) {
        log.add("wait", ec);
        log.add("cancelled " + std::to_string(t->cancel()));
    });
    BOOST_TEST(world.log_after(5ms, log) == "wait cancelled 0");
}

BOOST_AUTO_TEST_SUITE_END()
