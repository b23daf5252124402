// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// requires: inspector
// unity: off

// Inspectors, contexts and connections that end in any order, and inspectors on their own threads.
// Real time: the clients are connected by TCP, and nothing here waits for a deadline.

#include <asio_wheel/inspector.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>

#include "inspector/client.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __linux__
#include <filesystem>
#include <fstream>
#endif
#ifndef _WIN32
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

namespace {

using namespace asio_wheel::test;
using asio_wheel::inspector;

// A client to which events are being sent.
[[nodiscard]] std::unique_ptr<http_client> listener(const inspector& it) {
    auto c = std::make_unique<http_client>(where(it));
    c->send(request_for("/events", it.port()));
    static_cast<void>(c->read_until("\n\n"));
    return c;
}

BOOST_AUTO_TEST_SUITE(inspector_lifetimes, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(events_end_between_two_of_them_when_the_inspector_ends) {
    asio::io_context watched;
    std::optional<inspector> it(std::in_place, watched,
                                asio_wheel::inspector_options{.period = 10ms});
    const auto c = listener(*it);
    static_cast<void>(c->read_until("\n\n"));
    it.reset();
    const std::string rest = c->read_all();
    BOOST_TEST((rest.empty() || rest.ends_with("\n\n")));
}

BOOST_AUTO_TEST_CASE(an_inspector_ends_while_clients_are_connected) {
    asio::io_context ctx;
    std::optional<inspector> it(std::in_place, ctx);
    const auto c = listener(*it);
    http_client silent(where(*it));
    const std::uint16_t port = it->port();
    it.reset();
    const inspector next(ctx, {.port = port}); // The port is free at once.
    BOOST_TEST(next.port() == port);
    static_cast<void>(c->read_all());
    static_cast<void>(silent.read_all(true));
    BOOST_TEST(get(next, "/metrics").status == 200);
}

#ifndef _WIN32
// It would keep the port, and the connections.
BOOST_AUTO_TEST_CASE(a_program_that_is_started_inherits_no_socket) {
    const auto is_kept = [](int fd) { // By this program only, or it is none.
        const int flags = ::fcntl(fd, F_GETFD);
        return flags == -1 || (flags & FD_CLOEXEC) != 0;
    };
    asio::io_context ctx;
    const inspector it(ctx);
    const auto c = listener(it);
    int sockets = 0;
    for (int fd = 0; fd < 1'000; ++fd) {
        ::sockaddr_in here{};
        ::socklen_t size = sizeof here;
        if (::getsockname(fd, reinterpret_cast<::sockaddr*>(&here), &size) == 0 &&
            here.sin_family == AF_INET && here.sin_port == htons(it.port())) {
            ++sockets;
            BOOST_TEST(is_kept(fd));
        }
    }
    BOOST_TEST(sockets == 2); // One accepts, and one was accepted.
}
#endif

BOOST_AUTO_TEST_CASE(a_context_may_end_before_its_inspector) {
    auto ctx = std::make_unique<asio::io_context>();
    inspector it(*ctx);
    const auto c = listener(it);
    ctx.reset();
    BOOST_TEST(wheel_of(get(it, "/wheel.json").body, "main").get<bool>("ended"));
    it.close();
    static_cast<void>(c->read_all());
    BOOST_TEST(it.url() == "http://127.0.0.1:" + std::to_string(it.port()) + "/");
    asio::io_context other;
    it.watch("other", other); // Nobody will see it.
}

BOOST_AUTO_TEST_CASE(a_watched_context_may_end_while_a_client_listens) {
    asio::io_context stays;
    auto ends = std::make_unique<asio::io_context>();
    inspector it(stays, {.period = 10ms});
    it.watch("ends", *ends);
    const auto c = listener(it);
    BOOST_TEST(!wheel_of(get(it, "/wheel.json").body, "ends").get<bool>("ended"));
    ends.reset();
    const auto ended = wheel_of(get(it, "/wheel.json").body, "ends");
    BOOST_TEST(ended.get<bool>("ended"));
    BOOST_TEST(ended.count("counts") == 0U);
    BOOST_TEST(get(it, "/metrics").body.find("context=\"ends\"") == std::string::npos);
    for (bool told = false; !told;) {
        told = wheel_of(c->read_until("\n\n").substr(6), "ends").get<bool>("ended");
    }
    asio::io_context again;
    it.watch("ends", again); // The name is free again.
    BOOST_TEST(!wheel_of(get(it, "/wheel.json").body, "ends").get<bool>("ended"));
}

BOOST_AUTO_TEST_CASE(contexts_end_on_other_threads_while_they_are_read) {
    asio::io_context stays;
    inspector it(stays, {.period = 10ms});
    const auto c = listener(it);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; ++thread) {
        threads.emplace_back([&it, thread] {
            for (int i = 0; i < 30; ++i) {
                asio::io_context ctx;
                it.watch("context " + std::to_string(thread), ctx);
                asio_wheel::steady_timer timer(ctx, 1h);
                timer.async_wait(ignore);
                ctx.run_for(2ms);
            }
        });
    }
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(get(it, "/wheel.json").status == 200);
        BOOST_TEST(get(it, "/metrics").status == 200);
        static_cast<void>(c->read_until("\n\n"));
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

BOOST_AUTO_TEST_CASE(timers_are_used_on_several_threads_while_they_are_read) {
    asio::thread_pool pool(3);
    std::atomic<bool> ended = false;
    const auto load = [&] {
        for (int i = 0; i < 100 && !ended; ++i) {
            asio_wheel::async_sleep_for(pool, 1ms * i, ignore);
            asio_wheel::steady_timer timer(pool, 1h);
            timer.async_wait(ignore);
        }
    };
    inspector it(pool, {.period = 10ms});
    const auto c = listener(it);
    for (int i = 0; i < 10; ++i) {
        asio::post(pool, load);
        static_cast<void>(c->read_until("\n\n"));
        BOOST_TEST(get(it, "/wheel.json").status == 200);
    }
    ended = true;
    pool.join();
}

BOOST_AUTO_TEST_CASE(an_inspector_serves_several_clients) {
    asio::io_context ctx;
    std::optional<inspector> it(std::in_place, ctx, asio_wheel::inspector_options{.period = 10ms});
    std::vector<std::thread> threads;
    std::atomic<int> answered = 0;
    for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10; ++i) {
                answered += get(*it, i % 2 == 0 ? "/wheel.json" : "/").status == 200 ? 1 : 0;
            }
        });
    }
    const auto c = listener(*it);
    for (std::thread& t : threads) {
        t.join();
    }
    BOOST_TEST(answered == 30);
    static_cast<void>(c->read_until("\n\n"));
    it.reset(); // While it sends events.
    static_cast<void>(c->read_all());
}

BOOST_AUTO_TEST_CASE(two_inspectors_show_the_same_context) {
    asio::io_context ctx;
    const inspector first(ctx);
    const inspector second(ctx, {.name = "second"});
    BOOST_TEST(first.port() != second.port());
    static_cast<void>(wheel_of(get(first, "/wheel.json").body, "main"));
    static_cast<void>(wheel_of(get(second, "/wheel.json").body, "second"));
}

BOOST_AUTO_TEST_CASE(a_wheel_without_a_lock_is_refused) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.locking = false});
    const auto names_it = [](const std::invalid_argument& e) {
        return std::string(e.what()).find("wheel_options::locking is false") != std::string::npos;
    };
    BOOST_CHECK_EXCEPTION(inspector{ctx}, std::invalid_argument, names_it);
    asio::io_context other;
    inspector elsewhere(other);
    BOOST_CHECK_EXCEPTION(elsewhere.watch("it", ctx), std::invalid_argument, names_it);
    BOOST_CHECK_EXCEPTION(elsewhere.watch("it", wheel), std::invalid_argument, names_it);
}

BOOST_AUTO_TEST_CASE(it_answers_while_a_handler_blocks) {
    asio::io_context ctx;
    const inspector it(ctx);
    int status = 0;
    asio::post(ctx, [&] { status = get(it, "/wheel.json").status; });
    ctx.run(); // Returns, although the inspector is there.
    BOOST_TEST(status == 200);
}

BOOST_AUTO_TEST_CASE(an_inspector_can_be_moved) {
    asio::io_context ctx;
    inspector a(ctx);
    const std::uint16_t port = a.port();
    inspector b(std::move(a));
    BOOST_TEST(b.port() == port);
    BOOST_CHECK_THROW(static_cast<void>(a.port()), std::logic_error);
    BOOST_CHECK_THROW(a.watch("it", ctx), std::logic_error);
    a.close();
    BOOST_TEST(get(b, "/").status == 200);
    inspector c(ctx);
    const std::uint16_t other = c.port();
    c = std::move(b); // Closes what was there.
    BOOST_TEST(c.port() == port);
    BOOST_TEST(get(c, "/").status == 200);
    const inspector free_again(ctx, {.port = other});
    static_assert(!std::is_copy_constructible_v<inspector>);
}

BOOST_AUTO_TEST_CASE(a_closed_inspector_listens_no_more) {
    asio::io_context ctx;
    inspector it(ctx);
    const auto c = listener(it);
    it.close();
    it.close();
    static_cast<void>(c->read_all());
    BOOST_CHECK_THROW(http_client(where(it)), boost::system::system_error);
}

#ifdef __linux__
BOOST_AUTO_TEST_CASE(its_thread_takes_no_signals) {
    const auto threads_that_block = [] { // How many threads block all that can be blocked.
        int n = 0;
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            std::ifstream status(task.path() / "status");
            for (std::string line; std::getline(status, line);) {
                // All but SIGKILL, SIGSTOP, and two that the C library uses.
                n += line.starts_with("SigBlk:") && line.ends_with("7ffbfeff") ? 1 : 0;
            }
        }
        return n;
    };
    asio::io_context ctx;
    const int before = threads_that_block();
    const inspector it(ctx);
    BOOST_TEST(get(it, "/").status == 200); // So the thread has begun.
    BOOST_TEST(threads_that_block() == before + 1);
}
#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace
