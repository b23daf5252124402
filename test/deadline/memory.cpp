// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// The memory of executors with a deadline. operator new is counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/empty_pool.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <new>
#include <optional>

namespace {

using namespace asio_wheel::test;
using asio::any_io_executor;
using asio_wheel::deadline_executor;
using asio_wheel::remaining_time;
using asio_wheel::timeout;
using asio_wheel::with_deadline;

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_memory)

BOOST_FIXTURE_TEST_CASE(asking_allocates_nothing, virtual_time) {
    const auto ex = with_deadline(ctx, 5s);
    const any_io_executor any = ex;
    auto token = timeout(3s, asio::bind_executor(any, ignore));
    const auto operation = [&](auto handler) {
        bool right = false;
        const auto allocations = allocations_of([&] {
            right = remaining_time(handler) == 3s && remaining_time(any) == 5s &&
                    remaining_time(ex) == 5s;
        });
        BOOST_TEST(right);
        BOOST_TEST(allocations == 0U);
    };
    asio::async_initiate<decltype(token), void(error_code)>(operation, token);
}

BOOST_FIXTURE_TEST_CASE(copies_do_not_allocate, virtual_time) {
    const auto ex = with_deadline(ctx, 5s);
    const any_io_executor any = ex;
    std::optional<deadline_executor> copy;
    std::optional<any_io_executor> copy_of_any;
    {
        const empty_pool pool;
        const out_of_memory no_memory;
        copy = ex;
        copy_of_any = any;
    }
    BOOST_TEST((remaining_time(*copy) == 5s));
    BOOST_TEST((remaining_time(*copy_of_any) == 5s));
}

BOOST_FIXTURE_TEST_CASE(without_memory_an_exception_says_so, virtual_time) {
    static_cast<void>(with_deadline(ctx, 5s)); // The wheel exists.
    const auto ex = with_deadline(ctx, 5s);
    const empty_pool pool;
    bool made = true;
    bool preferred = true;
    {
        const out_of_memory no_memory;
        try {
            static_cast<void>(with_deadline(ctx, 5s));
        } catch (const std::bad_alloc&) {
            made = false;
        }
        try {
            static_cast<void>(asio::prefer(ex, asio::execution::outstanding_work.tracked));
        } catch (const std::bad_alloc&) {
            preferred = false;
        }
    }
    BOOST_TEST(!made);
    BOOST_TEST(!preferred);
    BOOST_TEST((remaining_time(ex) == 5s));
}

BOOST_AUTO_TEST_SUITE_END()
