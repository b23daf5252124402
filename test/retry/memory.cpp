// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// Trying again without memory. operator new fails.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/retry.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::async_retry;

// Fails once, by an exception, and cannot be started again. A second passes in between.
struct retry_without_memory : virtual_time {
    manual_operation<std::exception_ptr> operation{ctx.get_executor()};
    std::shared_ptr<int> alive = std::make_shared<int>();
    std::exception_ptr result;

    void run(std::size_t max_tries) {
        const auto start = [&, calls = 0](auto token) mutable {
            if (++calls != 1) {
                throw std::bad_alloc();
            }
            return operation.start(std::move(token));
        };
        async_retry(ctx, start,
                    {.max_tries = max_tries, .pauses = {.initial = 1s, .max = 1s, .jitter = 0}},
                    [this, owner = alive](const std::exception_ptr& e) { result = e; });
        operation.complete(
            std::make_exception_ptr(boost::system::system_error(asio::error::connection_refused)));
        poll();
        elapse(1s);
        const out_of_memory no_memory;
        poll();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(retry_memory)

BOOST_FIXTURE_TEST_CASE(a_last_try_without_memory_for_its_exception_reports_bad_alloc,
                        retry_without_memory) {
    run(2);
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST_REQUIRE((result != nullptr));
    BOOST_CHECK_THROW(std::rethrow_exception(result), std::bad_alloc);
}

BOOST_FIXTURE_TEST_CASE(a_try_without_memory_for_its_exception_may_be_followed_by_another_one,
                        retry_without_memory) {
    run(3);
    BOOST_TEST((result == nullptr));
    BOOST_TEST(alive.use_count() == 2);
    pass(1s); // It cannot be started either.
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST_REQUIRE((result != nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
