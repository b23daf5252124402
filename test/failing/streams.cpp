// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: without_caches

// Streams with deadlines while each allocation and each move of a handler fails once.

#include "support/failing.hpp"
#include "support/names.hpp"

#include <asio_wheel/beast.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/manual_layer.hpp"
#include "support/only_if.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using enum failing;
using asio::ip::tcp;
using asio_wheel::timeout_stream;

constexpr auto timed_out = asio_wheel::error::timed_out;

// Both ends of a connection.
template <class Socket = paired::socket>
struct connection {
    timeout_stream<Socket> stream;
    paired::socket peer;
    std::array<char, 4> in{}, out{};

    explicit connection(world& w)
        : stream(w.call([&] { return timeout_stream<Socket>(w.ctx()); })),
          peer(w.prepare([&] { return paired::socket(w.ctx()); })), world_(w) {
        w.prepare([&] { connect_pair(stream.socket(), peer); });
    }

    outcome& read(const error_code& ec = success) {
        outcome& o = world_.expect(ec);
        world_.start(o, [&](auto h) { stream.async_read_some(asio::buffer(in), std::move(h)); });
        return o;
    }
    outcome& write(const error_code& ec = success) {
        outcome& o = world_.expect(ec);
        world_.start(o, [&](auto h) { stream.async_write_some(asio::buffer(out), std::move(h)); });
        return o;
    }
    void send(std::size_t n) {
        world_.prepare([&] { asio::write(peer, asio::buffer(out, n)); });
    }

private:
    world& world_;
};

// Runs a scenario of a connection in the world's steady time, once for each failure.
template <class Scenario>
void each_failure_of_a_connection(Scenario scenario, std::initializer_list<failing> without = {}) {
    each_failure(
        [&](world& w) {
            w.steady();
            connection c(w);
            scenario(w, c);
        },
        without);
}

} // namespace

BOOST_AUTO_TEST_SUITE(failing_streams)

// ---- Operations that complete in time

BOOST_AUTO_TEST_CASE(reading_and_writing) {
    each_failure_of_a_connection([](world& w, auto& c) {
        const outcome& read = c.read();
        const outcome& write = c.write();
        w.pass(1);
        c.send(3);
        w.run();
        w.check(!read.accepted || read.calls == 0 || read.more == 3, "bytes are lost");
        w.check(!write.accepted || write.calls == 0 || write.more == 4, "bytes are lost");
    });
}

BOOST_AUTO_TEST_CASE(meeting_deadlines) {
    each_failure_of_a_connection([](world& w, auto& c) {
        w.call([&] { c.stream.expires_after(20ms); });
        w.call([&] { c.stream.idle_after(10ms); });
        c.read();
        c.write();
        w.pass(1);
        c.send(3);
        w.run();
        w.call([&] { c.stream.read_expires_after(30ms); });
        w.call([&] { c.stream.write_expires_after(40ms); });
        c.send(1);
        c.write();
        c.read();
        w.run();
        w.check(c.stream.socket().is_open(), "a stream is closed that is in time");
    });
}

BOOST_AUTO_TEST_CASE(deadlines_that_are_earlier_and_later) {
    each_failure_of_a_connection([](world& w, auto& c) {
        w.call([&] { c.stream.write_expires_after(5ms); });
        w.call([&] { c.stream.read_expires_after(20ms); });
        c.read(timed_out);
        c.write();
        w.pass(2);
        w.call([&] { c.stream.write_expires_never(); });
        c.write();
        w.run();
    });
}

BOOST_AUTO_TEST_CASE(each_way_to_set_a_deadline) {
    each_failure_of_a_connection([](world& w, auto& c) {
        const auto now = [&] { return w.steady().now(); };
        w.call([&] { c.stream.expires_at(now() + 20ms); });
        w.call([&] { c.stream.read_expires_at(now() + 9ms); });
        w.call([&] { c.stream.write_expires_at(now() + 2ms); });
        c.read();
        c.write();
        w.run_until([] { return true; });
        c.send(1);
        w.run();
        w.call([&] { c.stream.expires_never(); });
        w.call([&] { c.stream.idle_after(2ms); });
        w.call([&] { c.stream.idle_never(); });
        c.read();
        w.pass(5);
        c.send(1);
        w.run();
        w.call([&] { c.stream.write_expires_after(1ms); });
        w.call([&] { c.stream.read_expires_after(2ms); });
        w.call([&] { c.stream.read_expires_never(); });
        c.read();
        w.pass(5);
        c.send(1);
        w.run();
    });
}

// (A write whose handler is lost does not move the deadline.)
BOOST_AUTO_TEST_CASE(being_idle_for_a_while) {
    each_failure_of_a_connection(
        [](world& w, auto& c) {
            w.call([&] { c.stream.idle_after(5ms); });
            c.read(timed_out); // Each written byte moves its deadline.
            for (int i = 0; i < 3; ++i) {
                w.pass(3);
                c.write();
            }
            w.run();
        },
        {one_move});
}

// Asio composes this operation of several others. If the second one throws at its start, no caller
// can catch that, and Asio loses the handler.
BOOST_AUTO_TEST_CASE(composed_operations) {
    each_failure_of_a_connection(
        [](world& w, auto& c) {
            w.call([&] { c.stream.expires_after(30ms); });
            w.start(w.expect(),
                    [&](auto h) { asio::async_read(c.stream, asio::buffer(c.in), std::move(h)); });
            w.pass(1);
            c.send(1);
            w.pass(2);
            c.send(3);
            w.run();
        },
        {one_allocation, allocations_until_done});
}

// ---- Operations that are late

BOOST_AUTO_TEST_CASE(missing_deadlines) {
    each_failure_of_a_connection([](world& w, auto& c) {
        w.call([&] { c.stream.expires_after(3ms); });
        const outcome& read = c.read(timed_out);
        w.pass(4);
        w.check(!read.accepted || read.calls == 0 || !c.stream.socket().is_open(),
                "a stream is open that was late");
        c.read(timed_out);
        c.write(timed_out);
        w.run();
    });
}

BOOST_AUTO_TEST_CASE(beginning_too_late) {
    each_failure_of_a_connection([](world& w, auto& c) {
        w.call([&] { c.stream.expires_after(-1ms); });
        c.read(timed_out);
        c.write(timed_out);
        w.run();
    });
}

FAILING_TEST_CASE(a_stream_when_the_wheel_is_drained) {
    auto& wheel = w.steady();
    connection c(w);
    w.call([&] { c.stream.expires_after(30ms); });
    c.read(asio_wheel::error::wheel_stopped);
    w.pass(1);
    w.prepare([&] { return wheel.drain(); });
    w.run();
}

// ---- Other ends of an operation

FAILING_TEST_CASE(cancelling_and_closing) {
    w.steady();
    asio::cancellation_signal signal;
    connection c(w);
    w.call([&] { c.stream.expires_after(30ms); });
    c.read(aborted);
    w.pass(1);
    c.stream.cancel();
    w.run();
    w.start(w.expect(aborted), [&](auto h) {
        c.stream.async_read_some(asio::buffer(c.in),
                                 asio::bind_cancellation_slot(signal.slot(), std::move(h)));
    });
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.run();
    c.read(aborted);
    w.pass(1);
    c.stream.close();
    w.run();
}

FAILING_TEST_CASE(moving_and_destroying_a_stream) {
    w.steady();
    {
        connection c(w);
        w.call([&] { c.stream.expires_after(30ms); });
        c.read(aborted);
        w.pass(1);
        timeout_stream<paired::socket> other = std::move(c.stream);
        w.pass(1);
        c.stream.cancel(); // As new.
        c.stream.close();
        w.call([&] { c.stream.expires_after(5ms); });
    }
    w.run();
}

FAILING_TEST_CASE(a_stream_over_the_layer_of_another) {
    using io = asio::io_context::executor_type;
    using native_socket = paired::socket::rebind_executor<io>::other;
    w.steady();
    auto native = w.call([&] { return timeout_stream<native_socket>(w.ctx()); });
    paired::socket peer = w.prepare([&] { return paired::socket(w.ctx()); });
    w.prepare([&] { connect_pair(native.socket(), peer); });
    w.call([&] { native.expires_after(3ms); });
    auto stream = w.call([&] { return timeout_stream<paired::socket>(std::move(native)); });
    std::array<char, 4> buffer{};
    w.start(w.expect(timed_out),
            [&](auto h) { stream.async_read_some(asio::buffer(buffer), std::move(h)); });
    w.run();
}

BOOST_AUTO_TEST_CASE(giving_the_socket_away) {
    each_failure_of_a_connection([](world& w, auto& c) {
        w.call([&] { c.stream.expires_after(30ms); });
        c.read(aborted);
        w.pass(1);
        const paired::socket socket = c.stream.release_socket();
        w.check(socket.is_open(), "a socket is closed that was given away");
        w.run();
    });
}

// Asio destroys the ready operations of its sockets with the context, and moves their handlers for
// that. If the move throws, std::terminate() is called.
BOOST_AUTO_TEST_CASE(a_stream_when_the_context_ends) {
    each_failure(
        [](world& w) {
            w.steady();
            {
                connection c(w);
                w.call([&] { c.stream.expires_after(30ms); });
                c.read();
                w.pass(1);
            } // Sockets end before their context.
            w.end_context();
        },
        {one_move});
}

// Asio's sockets queue a handler on its strand without reserving memory for that, and lose it if
// there is none (Boost 1.81, boost/asio/detail/handler_work.hpp, dispatch()).
BOOST_AUTO_TEST_CASE(handlers_bound_to_a_strand) {
    each_failure(
        [](world& w) {
            w.steady();
            const auto strand = w.strand();
            connection c(w);
            w.call([&] { c.stream.expires_after(3ms); });
            w.start(w.expect(timed_out), [&](auto h) {
                c.stream.async_read_some(asio::buffer(c.in),
                                         asio::bind_executor(strand, std::move(h)));
            });
            w.run();
        },
        {one_allocation, allocations_until_done});
}

// ---- Connecting

// A port that accepts connections.
tcp::acceptor listen(world& w) {
    return w.prepare(
        [&] { return tcp::acceptor(w.ctx(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)); });
}

timeout_stream<tcp::socket> unconnected(world& w) {
    return w.call([&] { return timeout_stream<tcp::socket>(w.ctx()); });
}

FAILING_TEST_CASE(connecting) {
    w.steady();
    const tcp::acceptor acceptor = listen(w);
    auto stream = unconnected(w);
    w.call([&] { stream.expires_after(80ms); });
    w.start(w.expect(),
            [&](auto h) { stream.async_connect(acceptor.local_endpoint(), std::move(h)); });
    w.run();
}

// Asio copies the endpoints, and loses the handler if that fails (Boost 1.81,
// boost/asio/detail/reactive_socket_connect_op.hpp, line 102).
BOOST_AUTO_TEST_CASE(connecting_to_one_of_several) {
    each_failure(
        [](world& w) {
            w.steady();
            const tcp::acceptor acceptor = listen(w);
            const auto several =
                w.prepare([&] { return std::vector(2, acceptor.local_endpoint()); });
            auto stream = unconnected(w);
            w.call([&] { stream.expires_after(80ms); });
            w.start(w.expect(), [&](auto h) { stream.async_connect(several, std::move(h)); });
            w.run();
            const auto any = [](const error_code&, const tcp::endpoint&) { return true; };
            auto other = unconnected(w);
            w.call([&] { other.expires_after(80ms); });
            w.start(w.expect(), [&](auto h) { other.async_connect(several, any, std::move(h)); });
            w.run();
        },
        {one_allocation, allocations_until_done});
}

// With Beast. Since Boost 1.83 it posts in between, by an executor that allocates.
BOOST_AUTO_TEST_CASE(tearing_a_websocket_down, *only_if(BOOST_VERSION < 108300)) {
    each_failure([](world& w) {
        w.steady();
        tcp::acceptor acceptor = listen(w);
        auto stream = unconnected(w);
        w.prepare([&] {
            stream.socket().connect(acceptor.local_endpoint());
            acceptor.accept().close();
        });
        outcome& o = w.expect();
        o.otherwise = asio::error::
            bad_descriptor; // Beast closes the socket, and has no memory to report why.
        w.start(o, [&](auto h) {
            async_teardown(boost::beast::role_type::client, stream, std::move(h));
        });
        w.run();
    });
}

BOOST_AUTO_TEST_CASE(tearing_a_websocket_down_at_once) {
    each_failure(
        [](world& w) {
            w.steady();
            tcp::acceptor acceptor = listen(w);
            auto stream = unconnected(w);
            w.prepare([&] {
                stream.socket().connect(acceptor.local_endpoint());
                acceptor.accept().close();
            });
            error_code ec;
            teardown(boost::beast::role_type::client, stream, ec);
            w.check(!ec, "a stream is not torn down");
            beast_close_socket(stream);
            w.check(!stream.socket().is_open(), "a stream is not closed");
        },
        {one_move});
}

// ---- Over a layer other than a socket

// Its operations have reserved the memory for their ends.
class sturdy_layer : public manual_layer {
public:
    using manual_layer::manual_layer;

    void close(error_code& ec) { cancel(ec); }

    void cancel(error_code& ec) {
        const fault_line::pause no_allocation_fails(heap.faults);
        const fault_line::pause no_move_fails(moves);
        ec = {};
        for (auto* const op : {&wire->read, &wire->write}) {
            if (op->pending()) {
                asio::post(get_executor(), [wire = wire, op] { // It may have completed by then.
                    if (op->pending()) {
                        op->complete_inline(aborted, 0);
                    }
                });
            }
        }
    }
};

FAILING_TEST_CASE(a_stream_over_another_layer) {
    w.steady();
    auto stream = w.call([&] { return timeout_stream<sturdy_layer>(w.ctx()); });
    const auto wire = w.prepare([&] { return stream.socket().wire; });
    std::array<char, 4> buffer{};
    w.call([&] { stream.read_expires_after(3ms); });
    w.call([&] { stream.write_expires_after(30ms); });
    w.start(w.expect(timed_out),
            [&](auto h) { stream.async_read_some(asio::buffer(buffer), std::move(h)); });
    outcome& write = w.expect(aborted); // The stream below it is closed.
    w.start(write, [&](auto h) { stream.async_write_some(asio::buffer(buffer), std::move(h)); });
    w.run();
}

// ---- Deadlines of what is pending

BOOST_AUTO_TEST_CASE(setting_deadlines_of_what_is_pending) {
    each_failure_of_a_connection([](world& w, auto& c) {
        c.read(timed_out);
        w.call([&] { c.stream.read_expires_after(30ms); });
        w.call([&] { c.stream.read_expires_after(3ms); });
        w.run();
    });
    each_failure_of_a_connection([](world& w, auto& c) {
        c.read(timed_out);
        w.call([&] { c.stream.idle_after(30ms); });
        w.call([&] { c.stream.idle_after(3ms); });
        w.run();
    });
}

// ---- Rejected calls

BOOST_AUTO_TEST_CASE(refusing_deadlines) {
    each_failure_of_a_connection(
        [](world& w, auto& c) {
            c.read(aborted);
            const auto refuses = [&](auto f) {
                w.check(w.call([&] {
                    try {
                        f();
                    } catch (const std::logic_error&) {
                        return true;
                    }
                    return false;
                }),
                        "a deadline is taken that cannot hold");
            };
            const auto nan = std::chrono::duration<double>(std::nan(""));
            refuses([&] { c.stream.read_expires_after(nan); });
            refuses([&] { c.stream.idle_after(0s); });
            w.pass(0);
            c.stream.close();
            w.run();
        },
        {one_move});
}

BOOST_AUTO_TEST_SUITE_END()
