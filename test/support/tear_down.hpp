// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_TEAR_DOWN_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TEAR_DOWN_HPP

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>

namespace asio_wheel::test {

/// Runs one handler. If none is ready, moves the paused time of the default wheel to the next
/// deadline. Returns false if nothing is pending.
inline bool step_in_virtual_time(boost::asio::io_context& ctx) {
    ctx.restart();
    return ctx.poll_one() != 0 || use_wheel(ctx).advance_to_next() != 0;
}

/// What is destroyed first.
enum class ends_first { objects, context };

/// Calls `start(ctx)`, which starts operations and returns what it created (timers, sessions …) by
/// a std::shared_ptr or the like. Runs `n` steps, then destroys everything. Does this for n = 0, 1,
/// 2 … and in both orders of destruction, until the scenario has nothing left to do. Returns the
/// number of steps.
///
/// Sanitizers check memory, and the scenario checks the rest in its destructors.
///
/// Sockets must be destroyed before their context, so a scenario that holds sockets outside of it
/// requests only that order.
template <class Start, class Step>
std::size_t tear_down_at_every_step(Start start, Step step,
                                    std::initializer_list<ends_first> orders = {
                                        ends_first::objects, ends_first::context}) {
    constexpr std::size_t limit = 100'000;
    std::size_t needed = 0;
    for (const ends_first order : orders) {
        const char* const what = order == ends_first::objects ? "objects" : "context";
        bool ended = false;
        for (std::size_t steps = 0; !ended; ++steps) {
            BOOST_TEST_REQUIRE(steps < limit, "the scenario does not come to an end");
            BOOST_TEST_INFO_SCOPE("torn down after " << steps << " steps, " << what << " first");
            auto ctx = std::make_unique<boost::asio::io_context>();
            [[maybe_unused]] auto objects = start(*ctx);
            std::size_t done = 0;
            while (done < steps && step(*ctx)) {
                ++done;
            }
            ended = done < steps;
            needed = done;
            if (order == ends_first::objects) {
                objects = {};
            }
            ctx.reset();
        }
    }
    return needed;
}

template <class Start>
std::size_t tear_down_at_every_step(Start start, std::initializer_list<ends_first> orders = {
                                                     ends_first::objects, ends_first::context}) {
    return tear_down_at_every_step(
        [&start](boost::asio::io_context& ctx) {
            use_wheel(ctx).pause();
            return start(ctx);
        },
        step_in_virtual_time, orders);
}

} // namespace asio_wheel::test

#endif
