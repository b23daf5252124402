// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/error.hpp>

#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace {

using asio_wheel::error;
using boost::system::error_code;

constexpr std::array all{error::too_many_pending, error::wheel_stopped, error::timed_out,
                         error::queue_closed,     error::queue_full,    error::scheduler_stopped,
                         error::scheduler_full,   error::limiter_closed};

static_assert(boost::system::is_error_code_enum<error>::value);
static_assert(!boost::system::is_error_condition_enum<error>::value);
static_assert(std::is_convertible_v<error, error_code>);
static_assert(noexcept(asio_wheel::make_error_code(error::wheel_stopped)));
static_assert(noexcept(asio_wheel::error_category()));

} // namespace

BOOST_AUTO_TEST_SUITE(error_)

BOOST_AUTO_TEST_CASE(the_category_is_named_asio_wheel_and_there_is_one) {
    BOOST_TEST(std::string_view(asio_wheel::error_category().name()) == "asio_wheel");
    BOOST_TEST((&asio_wheel::error_category() == &asio_wheel::error_category()));
    BOOST_TEST((asio_wheel::error_category() != boost::system::generic_category()));
    BOOST_TEST((asio_wheel::error_category() != boost::system::system_category()));
}

BOOST_AUTO_TEST_CASE(the_values_never_change) {
    BOOST_TEST(static_cast<int>(error::too_many_pending) == 1);
    BOOST_TEST(static_cast<int>(error::wheel_stopped) == 2);
    BOOST_TEST(static_cast<int>(error::timed_out) == 3);
    BOOST_TEST(static_cast<int>(error::queue_closed) == 4);
    BOOST_TEST(static_cast<int>(error::queue_full) == 5);
    BOOST_TEST(static_cast<int>(error::scheduler_stopped) == 6);
    BOOST_TEST(static_cast<int>(error::scheduler_full) == 7);
}

BOOST_AUTO_TEST_CASE(an_error_converts_to_a_failing_error_code) {
    for (const error e : all) {
        const error_code code = e;
        BOOST_TEST(static_cast<bool>(code));
        BOOST_TEST(code.value() == static_cast<int>(e));
        BOOST_TEST((code.category() == asio_wheel::error_category()));
        BOOST_TEST(code == asio_wheel::make_error_code(e));
        BOOST_TEST((code == e));
    }
    error_code assigned;
    assigned = error::wheel_stopped;
    BOOST_TEST((assigned == error::wheel_stopped));
    BOOST_TEST((assigned != error::too_many_pending));
}

BOOST_AUTO_TEST_CASE(an_error_is_not_taken_for_anothers_with_the_same_value) {
    for (const error e : all) {
        const int value = static_cast<int>(e);
        BOOST_TEST((error_code(e) != error_code(value, boost::system::generic_category())));
        BOOST_TEST((error_code(e) != error_code(value, boost::system::system_category())));
        BOOST_TEST((error_code(e) !=
                    boost::system::error_condition(value, boost::system::generic_category())));
    }
}

BOOST_AUTO_TEST_CASE(each_message_says_what_happened) {
    BOOST_TEST(error_code(error::too_many_pending).message() ==
               "Too many waits are pending on the wheel");
    BOOST_TEST(error_code(error::wheel_stopped).message() ==
               "The wheel was drained and accepts no more waits");
    BOOST_TEST(error_code(error::timed_out).message() ==
               "The deadline of the operation has passed");
    BOOST_TEST(error_code(error::queue_closed).message() == "The queue was closed");
    BOOST_TEST(error_code(error::queue_full).message() == "The queue is full");
    BOOST_TEST(error_code(error::scheduler_stopped).message() == "The scheduler was stopped");
    BOOST_TEST(error_code(error::scheduler_full).message() == "The scheduler is full");
    BOOST_TEST(error_code(error::limiter_closed).message() == "The rate limiter was closed");
}

BOOST_AUTO_TEST_CASE(a_passed_deadline_is_everybodys_timeout) {
    const error_code code = error::timed_out;
    BOOST_TEST((code == boost::system::errc::timed_out));
    BOOST_TEST((code == std::errc::timed_out));
    BOOST_TEST((std::error_code(code) == std::errc::timed_out));
    BOOST_TEST((code != boost::system::errc::operation_canceled));
    BOOST_TEST((error_code(error::wheel_stopped) != boost::system::errc::timed_out));
    BOOST_TEST((error_code(error::wheel_stopped).default_error_condition().category() ==
                asio_wheel::error_category()));
}

BOOST_AUTO_TEST_CASE(a_value_that_is_no_error_has_a_message_too) {
    for (const int value : {-1, 0, static_cast<int>(all.size()) + 1, 1000}) {
        BOOST_TEST(asio_wheel::error_category().message(value) == "Unknown asio_wheel error");
    }
}

BOOST_AUTO_TEST_CASE(an_error_code_survives_the_way_through_an_exception) {
    try {
        throw boost::system::system_error(error::too_many_pending, "async_wait");
    } catch (const boost::system::system_error& thrown) {
        BOOST_TEST((thrown.code() == error::too_many_pending));
        BOOST_TEST(std::string(thrown.what()).find("Too many waits") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(an_error_code_converts_to_the_standards) {
    const std::error_code code = error_code(error::wheel_stopped);
    BOOST_TEST(code.value() == 2);
    BOOST_TEST(std::string_view(code.category().name()) == "asio_wheel");
    BOOST_TEST(code.message() == "The wheel was drained and accepts no more waits");
}

BOOST_AUTO_TEST_SUITE_END()
