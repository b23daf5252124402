// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "The tests of the timeouts take longer than all others, and fail on busy machines."
//
//   CrowCpp/Crow 884 (and 897, 949, 976: a tick length as a parameter, for tests; sleeps that were
//   too short on one system; a timer instead of a sleep)
//
// Asio's timers expire in real time only. So a test must sleep, use shorter times, or pass a clock
// through all of the code. With asio-wheel, virtual_time moves the time of a context. The code
// under test is the production code.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio::ip::tcp;

// The code under test: a session that gives its client five seconds for each request, as Crow does.
// It contains nothing for tests.
template <class Timer>
class session {
public:
    explicit session(tcp::socket socket)
        : socket_(std::move(socket)), timer_(socket_.get_executor()) {}

    void start() {
        timer_.expires_after(5s);
        timer_.async_wait([this](error_code ec) {
            if (ec != asio::error::operation_aborted) {
                socket_.close();
            }
        });
        socket_.async_read_some(asio::buffer(request_), [this](error_code ec, std::size_t) {
            if (!ec) {
                ++requests_;
                start();
            }
        });
    }
    void stop() {
        timer_.cancel();
        socket_.close();
    }
    [[nodiscard]] bool is_open() const { return socket_.is_open(); }
    [[nodiscard]] int requests() const { return requests_; }

private:
    tcp::socket socket_;
    Timer timer_;
    std::array<char, 100> request_{};
    int requests_ = 0;
};

using test_clock = manual_clock<struct test_clock_tag>;

template <class Timer>
struct with_timer : drained_context {
    using timer = Timer;
};

template <class World>
struct served : World {
    tcp::socket client{this->ctx};
    session<typename World::timer> server{accept()};

    tcp::socket accept() {
        tcp::acceptor acceptor(this->ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        client.connect(acceptor.local_endpoint());
        return acceptor.accept();
    }
    void request(asio_wheel::virtual_time& time) {
        asio::write(client, asio::buffer("GET", 3));
        const int before = server.requests();
        while (server.requests() == before) { // Data on the loopback may take its time.
            time.advance(0s);
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_virtual_time, *boost::unit_test::timeout(60))

// With Asio, a test can only move its own clock. So the clock or the timer must be a template
// parameter of the code under test, and the tested type is not the one that is used in production.
BOOST_AUTO_TEST_CASE(asio_only_a_timer_of_another_type_can_be_moved) {
    using in_tests = asio::basic_waitable_timer<test_clock, impatient<test_clock>>;
    using in_production = asio::steady_timer;
    static_assert(!std::is_same_v<session<in_tests>, session<in_production>>);
    const auto start = in_production::clock_type::now();
    served<with_timer<in_tests>> tested;
    served<with_timer<in_production>> used;
    tested.server.start();
    used.server.start();
    test_clock::advance(5s);
    look(tested.ctx);
    look(used.ctx);
    BOOST_TEST(!tested.server.is_open());
    // Only real time closes this one. (The test itself may have been stopped for that long.)
    BOOST_TEST((used.server.is_open() || in_production::clock_type::now() >= start + 5s));
    used.server.stop();
}

BOOST_AUTO_TEST_CASE(ours_five_seconds_are_a_step_and_exact) {
    served<with_timer<asio_wheel::steady_timer>> world;
    asio_wheel::virtual_time time(world.ctx);
    world.server.start();
    time.advance(5s - 1ns);
    BOOST_TEST(world.server.is_open());
    world.request(time);
    time.advance(5s - 1ns);
    BOOST_TEST(world.server.is_open());
    time.advance(1ns);
    BOOST_TEST(!world.server.is_open());
}

BOOST_AUTO_TEST_CASE(ours_an_hour_of_requests_takes_no_time) {
    served<with_timer<asio_wheel::steady_timer>> world;
    asio_wheel::virtual_time time(world.ctx);
    world.server.start();
    while (time.elapsed() < 1h) {
        time.advance(4s);
        world.request(time);
    }
    BOOST_TEST(world.server.requests() == 900);
    BOOST_TEST(world.server.is_open());
    time.run_until([&] { return !world.server.is_open(); });
    BOOST_TEST((time.elapsed() == 1h + 5s));
}

BOOST_AUTO_TEST_SUITE_END()
