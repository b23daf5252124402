// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// Boost.MQTT5 (from 1.88).

// Timeouts of operations with Boost.MQTT5. Its argument is the port of a broker on this machine.
//
// The client reconnects by itself, and repeats what was not acknowledged. So without a timeout, to
// publish waits for as long as the broker is away. A message that has timed out is not repeated,
// but may have arrived.

#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio.hpp>
#include <boost/mqtt5.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace mqtt5 = boost::mqtt5;
using namespace std::chrono_literals;
using asio_wheel::timeout;
using client = mqtt5::mqtt_client<asio::ip::tcp::socket>;

const std::string topic = "asio-wheel/example";
constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

void connect(client& c, std::uint16_t port, const std::string& name) {
    c.brokers("127.0.0.1", port).credentials(name).async_run(asio::detached);
}

// Publishes with a timeout, and returns the error.
asio::awaitable<boost::system::error_code> publish(client& c, std::string text) {
    const mqtt5::publish_props none;
    const auto [ec, reason, properties] = co_await c.async_publish<mqtt5::qos_e::at_least_once>(
        topic, std::move(text), mqtt5::retain_e::no, none, timeout(1s, as_tuple));
    co_return ec;
}

asio::awaitable<bool> all_goes_well(std::uint16_t port) {
    const auto ex = co_await asio::this_coro::executor;
    client subscriber(ex);
    client publisher(ex);
    connect(subscriber, port, "subscriber");
    connect(publisher, port, "publisher");

    const mqtt5::subscribe_topic wanted{topic, {mqtt5::qos_e::at_least_once}};
    const mqtt5::subscribe_props none;
    const auto [failed, reasons, properties] =
        co_await subscriber.async_subscribe(wanted, none, timeout(5s, as_tuple));
    std::cout << "subscribed: " << failed.message() << '\n';
    std::cout << "published: " << (co_await publish(publisher, "hello")).message() << '\n';
    const auto [ec, from, text, received] =
        co_await subscriber.async_receive(timeout(5s, as_tuple));
    std::cout << "received: " << text << '\n';
    const auto [silence, t, x, p] = co_await subscriber.async_receive(timeout(100ms, as_tuple));
    std::cout << "nothing more: " << silence.message() << '\n';

    client lost(ex);
    connect(lost, 1, "lost"); // There is no broker.
    const auto never = co_await publish(lost, "is anybody there?");
    std::cout << "without a broker: " << never.message() << '\n';

    lost.cancel();
    publisher.cancel();
    subscriber.cancel();
    co_return !failed && !ec && text == "hello" && silence == asio_wheel::error::timed_out &&
        never == asio_wheel::error::timed_out;
}

int main(int argc, char** argv) {
    asio::io_context ctx;
    bool well = false;
    const auto port = static_cast<std::uint16_t>(std::atoi(argc > 1 ? argv[1] : "1883"));
    asio::co_spawn(ctx, all_goes_well(port),
                   [&](std::exception_ptr error, bool result) { well = !error && result; });
    ctx.run();
    return well ? 0 : 1;
}
