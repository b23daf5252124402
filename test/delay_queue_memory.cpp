// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// Delay queues without memory. operator new is counted.

#include "support/operator_new.hpp"

#include <asio_wheel/delay_queue.hpp>

#include "support/context.hpp"
#include "support/empty_pool.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using boost::system::error_code;
using queue_type = asio_wheel::delay_queue<std::unique_ptr<int>>;

// Calls try_it(n) for each allocation of its that may fail, in a thread with an empty pool.
template <class Function>
void for_each_allocation(Function try_it) {
    std::size_t n = 0;
    bool failed = true;
    while (failed) {
        BOOST_TEST_CONTEXT("allocation " << n) {
            std::thread([&] {
                const empty_pool pool;
                failed = try_it(n);
            }).join();
        }
        ++n;
    }
    BOOST_TEST(n >= 2U);
}

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_memory)

BOOST_AUTO_TEST_CASE(what_cannot_be_pushed_is_where_it_was) {
    for_each_allocation([](std::size_t n) {
        asio::io_context ctx;
        queue_type queue(ctx);
        std::array<std::unique_ptr<int>, 20> values;
        for (auto& value : values) {
            value = std::make_unique<int>();
        }
        std::size_t pushed = 0;
        const fail_after failure(n);
        for (auto& value : values) {
            try {
                queue.push(std::move(value), -1s);
                ++pushed;
            } catch (const std::bad_alloc&) {
                BOOST_TEST((value != nullptr));
            }
        }
        BOOST_TEST(queue.size() == pushed);
        for (; pushed != 0; --pushed) {
            BOOST_TEST(queue.try_pop().has_value());
        }
        BOOST_TEST(queue.empty());
        return failure.has_failed();
    });
}

BOOST_AUTO_TEST_CASE(a_pop_is_started_or_not) {
    for_each_allocation([](std::size_t n) {
        asio::cancellation_signal signal;
        const auto alive = std::make_shared<int>();
        int calls = 0;
        bool thrown = false, failed = false;
        {
            asio::io_context ctx;
            queue_type queue(ctx);
            {
                const fail_after failure(n);
                try {
                    queue.async_pop(asio::bind_cancellation_slot(
                        signal.slot(), [&calls, alive](error_code ec, std::unique_ptr<int>) {
                            BOOST_TEST(ec == aborted);
                            ++calls;
                        }));
                } catch (const std::bad_alloc&) {
                    thrown = true;
                }
                failed = failure.has_failed();
            }
            BOOST_TEST(alive.use_count() == (thrown ? 1 : 2));
            signal.emit(asio::cancellation_type::terminal);
            ctx.run();
        }
        BOOST_TEST((failed || !thrown)); // Waiting for a wake-up needs no memory.
        BOOST_TEST(calls == (thrown ? 0 : 1));
        return failed;
    });
}

BOOST_AUTO_TEST_SUITE_END()
