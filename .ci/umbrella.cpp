// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The input of clang-tidy besides src/. Includes all public headers and instantiates the most
// common templates, because most checks see only instantiated code.

#include <asio_wheel.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

template class asio_wheel::basic_waitable_timer<std::chrono::steady_clock>;
template class asio_wheel::wheel_service<std::chrono::steady_clock>;
template class asio_wheel::detail::stream_deadlines<boost::asio::any_io_executor>;

void wait_with_each_kind_of_handler(boost::asio::io_context& context,
                                    boost::asio::cancellation_signal& signal) {
    asio_wheel::make_wheel(context, asio_wheel::wheel_options{});
    asio_wheel::steady_timer timer(context, std::chrono::seconds(1));
    timer.async_wait([](const boost::system::error_code&) {});
    timer.async_wait(boost::asio::bind_cancellation_slot(signal.slot(),
                                                         [](const boost::system::error_code&) {}));
    asio_wheel::async_sleep_for(
        context, std::chrono::seconds(1),
        asio_wheel::cancel_after(std::chrono::seconds(1), [](const boost::system::error_code&) {}));
    asio_wheel::async_sleep_for(
        context, std::chrono::seconds(1),
        asio_wheel::timeout(std::chrono::seconds(1), [](const boost::system::error_code&) {}));
    asio_wheel::interval ticks(context, std::chrono::seconds(1));
    ticks.async_tick([](const boost::system::error_code&, std::size_t) {});
    asio_wheel::idle_timer idle(context, std::chrono::seconds(1));
    idle.async_wait([](const boost::system::error_code&) {});
    asio_wheel::heartbeat pulse(
        context, {.send_every = std::chrono::seconds(1), .dead_after = std::chrono::seconds(2)});
    asio_wheel::timeout_stream<boost::asio::ip::tcp::socket> stream(context);
    stream.expires_after(std::chrono::seconds(1));
    stream.async_connect(boost::asio::ip::tcp::endpoint(), [](const boost::system::error_code&) {});
    stream.async_read_some(boost::asio::mutable_buffer(),
                           [](const boost::system::error_code&, std::size_t) {});
    pulse.async_next([](const boost::system::error_code&, asio_wheel::heartbeat_event) {});
    asio_wheel::delay_queue<int> queue(context);
    asio_wheel::delayed_operations<int, int> operations(context);
    operations.async_wait(
        {1, 2}, std::chrono::seconds(1), [] { return std::optional<int>(); },
        [](const boost::system::error_code&, int) {});
    operations.check(1);
    queue.push(std::chrono::milliseconds(asio_wheel::backoff().next().count()), 1);
    queue.async_pop(boost::asio::bind_cancellation_slot(
        signal.slot(), [](const boost::system::error_code&, int) {}));
    static_cast<void>(queue.try_pop());
    queue.clear();
    asio_wheel::scheduler tasks(context);
    tasks.schedule_after(std::chrono::seconds(1), [] {});
    tasks.schedule_after("key", std::chrono::seconds(1), [] {});
    asio_wheel::system_scheduler days(context);
    days.schedule(asio_wheel::daily(std::chrono::hours(3)), [] {});
    days.schedule(asio_wheel::monthly(std::chrono::last, std::chrono::hours(3), asio_wheel::utc),
                  [] {});
    tasks.schedule_at_fixed_rate(std::chrono::seconds(1), std::chrono::seconds(1), [] {});
    asio_wheel::scheduler::group session(tasks);
    session.schedule_after(7, std::chrono::seconds(1), asio_wheel::on_cancel([] {}, [] {}));
    session.async_stop([](const boost::system::error_code&) {});
    static_cast<void>(tasks.wait_idle(std::chrono::seconds(1)));
}
