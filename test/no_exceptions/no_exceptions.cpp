// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The library without exceptions and RTTI (-fno-exceptions -fno-rtti). Boost.Test needs both, so
// this is a plain program:
//
//   no_exceptions           uses the library, and returns 0 if it works
//   no_exceptions <case>    does what is documented to throw, and returns 0 if that has called
//                           boost::throw_exception with the right exception

#include <asio_wheel.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/assert/source_location.hpp>
#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>
#include <boost/version.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#ifndef BOOST_NO_EXCEPTIONS
#error "compile this with -fno-exceptions"
#endif

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio_wheel::error;
using boost::system::error_code;

namespace {

int failures = 0;

void check(bool ok, const char* what) {
    if (!ok) {
        std::printf("failed: %s\n", what);
        ++failures;
    }
}
#define CHECK(condition) check(condition, #condition)

// What is documented to throw.

struct throwing_case {
    const char* name;
    void (*run)(asio::io_context& ctx);
    const char* what; // A part of the message.
    bool (*has_type)(const std::exception& e);
};
const throwing_case* current = nullptr;

// Without RTTI, the type cannot be seen.
template <class Exception>
bool is_a([[maybe_unused]] const std::exception& e) {
#ifdef BOOST_NO_RTTI
    return true;
#else
    return dynamic_cast<const Exception*>(&e) != nullptr;
#endif
}

const std::array throwing_cases{
    throwing_case{"bad_argument",
                  [](asio::io_context& ctx) { asio_wheel::make_wheel(ctx, {.tick = 0ms}); },
                  "wheel_options::tick is 0 ns", is_a<std::invalid_argument>},
    throwing_case{"second_wheel",
                  [](asio::io_context& ctx) {
                      asio_wheel::make_wheel(ctx);
                      asio_wheel::make_wheel(ctx);
                  },
                  "this context already has a wheel", is_a<asio_wheel::wheel_already_exists>},
    throwing_case{"limit",
                  [](asio::io_context& ctx) {
                      asio_wheel::scheduler tasks(ctx, {.max_pending = 1});
                      tasks.schedule_after(1h, [] {});
                      tasks.schedule_after(1h, [] {});
                  },
                  "",
                  [](const std::exception& e) {
                      return std::string_view(e.what()).find(
                                 make_error_code(error::scheduler_full).message()) !=
                                 std::string_view::npos &&
                             is_a<boost::system::system_error>(e);
                  }},
    throwing_case{"closed_queue",
                  [](asio::io_context& ctx) {
                      asio_wheel::delay_queue<int> queue(ctx);
                      queue.close();
                      queue.push(1s, 1);
                  },
                  "", is_a<boost::system::system_error>},
};

// What works as with exceptions.

void timers() {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.max_pending = 2});
    asio_wheel::virtual_time time(ctx);
    std::optional<error_code> expired;
    std::optional<error_code> refused;
    asio_wheel::steady_timer first(ctx, 1s);
    asio_wheel::steady_timer second(ctx, 1h);
    asio_wheel::steady_timer third(ctx, 1s);
    first.async_wait([&](error_code ec) { expired = ec; });
    second.async_wait([&](error_code ec) { CHECK(ec == asio::error::operation_aborted); });
    third.async_wait([&](error_code ec) { refused = ec; });
    time.advance(999ms);
    CHECK(refused == error::too_many_pending);
    CHECK(first.postpone(1s) == 1);
    time.advance(999ms);
    CHECK(!expired);
    time.advance(2ms);
    CHECK(expired == error_code());
    CHECK(second.cancel() == 1);
    ctx.poll();
}

void timeouts() {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    int called = 0;
    asio_wheel::steady_timer never(ctx, 24h);
    const auto strand = asio::make_strand(ctx);
    never.async_wait(asio_wheel::timeout(1s, asio::bind_executor(strand, [&](error_code ec) {
                                             CHECK(ec == error::timed_out);
                                             ++called;
                                         })));
    asio_wheel::async_sleep_for(ctx, 24h, asio_wheel::cancel_after(1s, [&](error_code ec) {
                                    CHECK(ec == asio::error::operation_aborted);
                                    ++called;
                                }));
    time.advance(1s);
    CHECK(called == 2);
}

void utilities() {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    int idle_after = 0;
    int popped = 0;
    int ticks = 0;
    int calls = 0;
    int completed = 0;
    asio_wheel::idle_timer idle(ctx, 2s);
    idle.async_wait([&](error_code ec) { idle_after = ec ? -1 : 1; });
    asio_wheel::delay_queue<int> queue(ctx);
    queue.push(1s, 7);
    queue.async_pop([&](error_code ec, int value) { popped = ec ? -1 : value; });
    asio_wheel::interval interval(ctx, 1s);
    interval.async_tick(
        [&](error_code ec, std::size_t n) { ticks = ec ? -1 : static_cast<int>(n); });
    asio_wheel::scheduler tasks(ctx);
    tasks.schedule_at_fixed_rate("key", 1s, 1s, [&] { ++calls; });
    asio_wheel::delayed_operations<int, int> operations(ctx);
    operations.async_wait(
        {1}, 1s, [] { return std::optional<int>(); },
        [&](error_code ec, int) { completed = ec == error::timed_out ? 1 : -1; });
    time.advance(1s);
    idle.touch();
    CHECK(popped == 7);
    CHECK(ticks == 1);
    CHECK(completed == 1);
    time.advance(1s);
    CHECK(calls == 2);
    CHECK(idle_after == 0);
    time.advance(2s);
    CHECK(idle_after == 1);
}

// A scheduler reports a wait that is refused, and goes on.
void a_refused_task() {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.max_pending = 1});
    asio_wheel::virtual_time time(ctx);
    int errors = 0;
    asio_wheel::scheduler tasks(ctx,
                                {.on_error = [&](const auto&, std::exception_ptr) { ++errors; }});
    tasks.schedule_after(1h, [] {});
    tasks.schedule_after(1s, [] { CHECK(false); });
    ctx.poll();
    CHECK(errors == 1);
    CHECK(tasks.pending() == 1);
}

void streams() {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    using asio::ip::tcp;
    tcp::acceptor acceptor(ctx, {asio::ip::address_v4::loopback(), 0});
    asio_wheel::timeout_stream<tcp::socket> client(ctx);
    client.expires_after(5s);
    bool connected = false;
    client.async_connect(acceptor.local_endpoint(), [&](error_code ec) { connected = !ec; });
    time.run_until([&] { return connected; });
    std::array<char, 1> byte{};
    bool timed_out = false;
    client.async_read_some(asio::buffer(byte),
                           [&](error_code ec, std::size_t) { timed_out = ec == error::timed_out; });
    time.advance(5s);
    CHECK(timed_out);
}

void threads() {
    std::atomic<int> expired = 0;
    asio::thread_pool pool(2);
    asio_wheel::steady_timer timer(pool, 1ms);
    timer.async_wait([&](error_code ec) { expired += ec ? 0 : 1; });
    pool.join();
    CHECK(expired == 1);
}

// Until Boost 1.88, co_spawn() has a `try`. clang accepts it in a header of the system.
#if defined(__clang__) || BOOST_VERSION >= 108800
asio::awaitable<void> wait_in_vain(bool& timed_out) {
    asio_wheel::steady_timer never(co_await asio::this_coro::executor, 24h);
    auto token = asio_wheel::timeout(1s, asio::as_tuple(asio::use_awaitable));
    const auto [ec] = co_await never.async_wait(std::move(token));
    timed_out = ec == error::timed_out;
}

void coroutines() {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    bool timed_out = false;
    asio::co_spawn(ctx, wait_in_vain(timed_out), asio::detached);
    time.advance(1s);
    CHECK(timed_out);
}
#else
void coroutines() {}
#endif

} // namespace

// As a program without exceptions defines them.
namespace boost {
void throw_exception(const std::exception& e, const boost::source_location& where) {
    std::printf("%s\n    at %s\n", e.what(), where.to_string().c_str());
    const bool expected = current != nullptr && current->has_type(e) &&
                          std::strstr(e.what(), current->what) != nullptr && where.line() != 0;
    std::fflush(stdout);
    std::_Exit(expected ? 0 : 1);
}
void throw_exception(const std::exception& e) {
    throw_exception(e, boost::source_location());
}
} // namespace boost

int main(int argc, char** argv) {
    if (argc == 2) {
        asio::io_context ctx;
        for (const throwing_case& c : throwing_cases) {
            if (std::string_view(c.name) == argv[1]) {
                current = &c;
                c.run(ctx);
            }
        }
        std::printf("%s has not thrown\n", argv[1]);
        return 1;
    }
    timers();
    timeouts();
    utilities();
    a_refused_task();
    streams();
    threads();
    coroutines();
    return failures == 0 ? 0 : 1;
}
