// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The alarm by itself, with a driver that records how it is armed.

#include <asio_wheel/detail/core/alarm.hpp>

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/tick.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <vector>

namespace {

using asio_wheel::no_tick;
using asio_wheel::tick_t;
using asio_wheel::detail::driver_port;
using asio_wheel::detail::time_count;

class recorded_driver final : public driver_port {
public:
    struct call {
        bool is_cancelled; // Otherwise it was armed.
        std::uint64_t turn;

        friend bool operator==(const call&, const call&) = default;
    };

    [[nodiscard]] bool arm(std::uint64_t turn, time_count t, time_count n) noexcept override {
        if (has_memory) {
            calls.push_back({false, turn});
            time = t;
            now = n;
        }
        return has_memory;
    }
    void cancel(std::uint64_t turn) noexcept override { calls.push_back({true, turn}); }
    void after_fork() override { ++forks; }

    /// The last turn that it was armed for.
    [[nodiscard]] std::uint64_t turn() const {
        std::uint64_t last = 0;
        for (const call& c : calls) {
            last = c.is_cancelled ? last : c.turn;
        }
        return last;
    }

    std::vector<call> calls;
    time_count time = 0;
    time_count now = 0;
    int forks = 0;
    bool has_memory = true;
};

struct scene {
    recorded_driver driver;
    asio_wheel::detail::alarm clock{driver};

    /// Returns the number of the turn.
    std::uint64_t arm(tick_t tick) {
        BOOST_TEST(clock.arm(tick, 0, 0, 0));
        return driver.turn();
    }
    [[nodiscard]] bool is_armed_for(tick_t tick) const {
        return clock.armed() && clock.armed_for() == tick;
    }
    [[nodiscard]] bool is_disarmed() const {
        return !clock.armed() && clock.armed_for() == no_tick;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(alarm_)

BOOST_FIXTURE_TEST_CASE(a_new_alarm_is_not_armed_and_expects_no_call, scene) {
    BOOST_TEST(is_disarmed());
    BOOST_TEST(clock.to_come() == 0U);
    BOOST_TEST(driver.calls.empty());
}

BOOST_FIXTURE_TEST_CASE(an_alarm_knows_what_it_is_armed_for, scene) {
    BOOST_TEST(clock.arm(7, 70, 60, 65));
    BOOST_TEST(is_armed_for(7));
    BOOST_TEST(driver.time == 70);
    BOOST_TEST(driver.now == 60);
    BOOST_TEST(clock.due() == 65);
    BOOST_TEST(clock.to_come() == 1U);
    BOOST_TEST(clock.arm(5, 50, 40, 55));
    BOOST_TEST(is_armed_for(5));
    BOOST_TEST(clock.due() == 55);
}

BOOST_FIXTURE_TEST_CASE(the_driver_calls_for_the_turn_that_it_was_armed_for, scene) {
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t turn = arm(7);
        BOOST_TEST(clock.take_call(turn));
        BOOST_TEST(is_disarmed());
        BOOST_TEST(clock.to_come() == 0U);
    }
}

BOOST_FIXTURE_TEST_CASE(an_earlier_tick_begins_a_new_turn_before_it_cancels_the_old_one, scene) {
    using call = recorded_driver::call;
    const std::uint64_t old = arm(7);
    const std::uint64_t fresh = arm(5);
    BOOST_TEST(old != fresh);
    BOOST_TEST((driver.calls == std::vector<call>{{false, old}, {false, fresh}, {true, old}}));
    BOOST_TEST(clock.to_come() == 2U);
    BOOST_TEST(!clock.take_call(old)); // It was cancelled,
    BOOST_TEST(is_armed_for(5));       // and does not count as the other.
    BOOST_TEST(clock.to_come() == 1U);
    BOOST_TEST(clock.take_call(fresh));
    BOOST_TEST(clock.to_come() == 0U);
}

BOOST_FIXTURE_TEST_CASE(without_memory_for_a_turn_the_one_before_goes_on, scene) {
    BOOST_TEST(clock.arm(7, 70, 60, 65));
    const std::uint64_t turn = driver.turn();
    driver.has_memory = false;
    BOOST_TEST(!clock.arm(5, 50, 40, 45));
    BOOST_TEST(is_armed_for(7));
    BOOST_TEST(clock.due() == 65);
    BOOST_TEST(clock.to_come() == 1U);
    BOOST_TEST(driver.calls.size() == 1U); // Nothing was cancelled.
    BOOST_TEST(clock.take_call(turn));
}

BOOST_FIXTURE_TEST_CASE(a_call_after_the_alarm_was_disarmed_is_not_wanted, scene) {
    using call = recorded_driver::call;
    const std::uint64_t turn = arm(7);
    clock.disarm();
    BOOST_TEST(is_disarmed());
    clock.disarm(); // Once is enough.
    BOOST_TEST((driver.calls == std::vector<call>{{false, turn}, {true, turn}}));
    BOOST_TEST(clock.to_come() == 1U);
    BOOST_TEST(!clock.take_call(turn));
    BOOST_TEST(is_disarmed());
    BOOST_TEST(clock.to_come() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_turn_that_has_come_needs_no_cancellation, scene) {
    BOOST_TEST(clock.take_call(arm(7)));
    clock.disarm();
    BOOST_TEST(driver.calls.size() == 1U);
    BOOST_TEST(clock.take_call(arm(7)));
    BOOST_TEST(driver.calls.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_driver_hears_of_a_fork, scene) {
    clock.after_fork();
    BOOST_TEST(driver.forks == 1);
}

BOOST_AUTO_TEST_SUITE_END()
