// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// pch: off
// unity: off

// A wheel on a context of which only public functions of Asio may be used, and whose executors are
// not those of the Networking TS. There an armed driver is work of the context. So run() returns
// after the last wait has ended only if the driver is disarmed then, on whatever thread that was.

#define ASIO_WHEEL_PUBLIC_ASIO_ONLY 1
#define BOOST_ASIO_NO_TS_EXECUTORS 1

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;

} // namespace

BOOST_AUTO_TEST_SUITE(public_queue, *boost::unit_test::timeout(60))

// A wait of an hour starts on one thread, and ends on another one.
BOOST_AUTO_TEST_CASE(run_returns_when_the_last_wait_has_ended_on_another_thread_than_it_began_on) {
    struct scene {
        asio::io_context ctx;
        std::unique_ptr<steady_timer> t = std::make_unique<steady_timer>(ctx, 1h);
        asio::steady_timer other{ctx, 2h};
        asio::cancellation_signal signal;
    };
    using function = std::function<void(scene&)>;
    struct way {
        const char* name;
        function begin;
        function end;
    };
    const auto wait = [](scene& s) { s.t->async_wait([](error_code) {}); };
    const way ways[] = {
        {"cancel()", wait, [](scene& s) { s.t->cancel(); }},
        {"cancel_one()", wait, [](scene& s) { s.t->cancel_one(); }},
        {"expires_after()", wait, [](scene& s) { s.t->expires_after(2h); }},
        {"the destructor", wait, [](scene& s) { s.t.reset(); }},
        {"drain()", wait, [](scene& s) { static_cast<void>(use_wheel(s.ctx).drain()); }},
        {"postpone()", wait, [](scene& s) { BOOST_TEST(s.t->postpone(1ms) == 1U); }},
        {"a slot",
         [](scene& s) {
             s.t->async_wait(asio::bind_cancellation_slot(s.signal.slot(), [](error_code) {}));
         },
         [](scene& s) { s.signal.emit(asio::cancellation_type::terminal); }},
        {"a strand",
         [](scene& s) {
             s.t->async_wait(asio::bind_executor(asio::make_strand(s.ctx), [](error_code) {}));
         },
         [](scene& s) { s.t->cancel(); }},
        {"timeout() of a wait of the same wheel",
         [](scene& s) {
             asio::post(s.ctx, [&s] {
                 s.t->expires_after(1ms);
                 s.t->async_wait(asio_wheel::timeout(1h, [](error_code) {}));
             });
             s.ctx.poll();
         },
         [](scene&) {}},
        {"timeout() of another operation",
         [](scene& s) {
             asio::post(s.ctx,
                        [&s] { s.other.async_wait(asio_wheel::timeout(1h, [](error_code) {})); });
             s.ctx.poll();
         },
         [](scene& s) { s.other.cancel(); }},
    };
    for (const way& w : ways) {
        BOOST_TEST_CONTEXT(w.name) {
            scene s;
            std::jthread([&] { w.begin(s); }).join();
            const auto start = std::chrono::steady_clock::now();
            w.end(s);
            s.ctx.restart();
            s.ctx.run_for(10s);
            BOOST_TEST(s.ctx.stopped());
            BOOST_TEST((std::chrono::steady_clock::now() - start < 5s));
            BOOST_TEST(use_wheel(s.ctx).pending() == 0U);
        }
    }
}

// As with what a handler has posted: it lies in a list of the thread until the handler returns. So
// a run_one() there, which waits for a handler, might wait for ever.
BOOST_AUTO_TEST_CASE(a_handler_of_a_context_for_one_thread_cannot_run_what_is_due_with_it,
                     *only_if(counts_only_handlers && !on_completion_port)) {
    for (const bool posts : {false, true}) {
        asio::io_context ctx(1);
        use_wheel(ctx).pause();
        steady_timer first(ctx, 1s), second(ctx, 1s);
        std::vector<std::size_t> ran;
        const auto run_one = [&](error_code) { ran.push_back(ctx.run_one_for(0s)); };
        first.async_wait(run_one);
        if (posts) {
            asio::post(ctx, [&] {
                asio::post(ctx, [] {});
                run_one({});
            });
            ctx.poll();
        } else {
            second.async_wait(run_one);
            use_wheel(ctx).advance(1s);
            ctx.poll();
            BOOST_TEST(ran.size() == 2U);
        }
        BOOST_TEST(ran.front() == 0U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
