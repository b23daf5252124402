// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// requires: inspector
// unity: off

// The code about inspectors in headers and guides. What names a port is only compiled, because
// another program may use the port.

#include <asio_wheel/inspector.hpp>

#include "snippets/support.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_inspector, *boost::unit_test::timeout(60))

namespace inspectors {

[[maybe_unused]] void in_one_line(boost::asio::io_context& ctx) {
#include "include/asio_wheel/inspector.hpp/asio_wheel_inspector_inspector_ctx.inc"
}

[[maybe_unused]] void with_options() {
#include "include/asio_wheel/inspector.hpp/const_asio_wheel_inspector_options_options.inc"
}

[[maybe_unused]] void in_a_program() {
#include "include/asio_wheel/inspector.hpp/boost_asio_io_context_ctx.inc"
}

} // namespace inspectors

BOOST_AUTO_TEST_CASE(inspector_watches_further_contexts_and_clocks) {
    boost::asio::io_context ctx;
    boost::asio::thread_pool pool(1);
    {
        asio_wheel::inspector inspector(ctx);
#include "include/asio_wheel/inspector.hpp/inspector_watch_wall_clock.inc"
#include "include/asio_wheel/inspector.hpp/inspector_watch_workers_pool.inc"
        BOOST_CHECK_THROW(inspector.watch("workers", pool), std::invalid_argument);
    }
    {
        asio_wheel::inspector inspector(ctx);
#include "docs/guide/inspector.md/inspector_watch_workers_pool.inc"
        BOOST_CHECK_THROW(inspector.watch("wall clock", ctx), std::invalid_argument);
    }
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
