// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The chat server of the examples with 2,000 connections. The sockets are real, and all periods
// pass in paused time. So no machine is too slow, and the test can check the last millisecond
// before a timeout.

#include "../examples/17_chat_server/peer.hpp"
#include "../examples/17_chat_server/server.hpp"
#include "../examples/echo_server/file_limit.hpp"

#include "support/backend.hpp"

#include <asio_wheel.hpp>

#include <boost/asio.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::size_t many = 2000;

/// Both ends of a connection are files of this process.
boost::test_tools::assertion_result enough_files(boost::unit_test::test_unit_id) {
    const long wanted = 2 * static_cast<long>(many) + 100;
    const long allowed = echo::raise_file_limit();
    boost::test_tools::assertion_result enough(allowed >= wanted && !asio_wheel::test::on_select);
    if (asio_wheel::test::on_select) {
        enough.message() << "select() cannot look at " << wanted << " files";
    } else {
        enough.message() << "only " << allowed << " of " << wanted << " files may be open";
    }
    return enough;
}

struct listener {
    explicit listener(asio::io_context& ctx) : at(ctx.get_executor()) {}

    chat::peer at;
    std::size_t lines = 0;
    std::size_t bytes = 0; // The size of these lines.
    std::string last{};
    bool ended = false;
    bool deaf = false; // It stops reading after the next line.
};

/// Reads all lines, and closes its end when the server closes the other.
asio::awaitable<void> listen(listener& l) {
    while (!l.deaf) {
        std::string line = co_await l.at.hear();
        if (line.empty()) {
            l.at.socket.close();
            l.ended = true;
            break;
        }
        ++l.lines;
        l.bytes += line.size();
        l.last = std::move(line);
    }
}

/// A server and its peers.
struct town {
    explicit town(const chat::settings& s = {}, const asio_wheel::wheel_options& options = {})
        : wheel(asio_wheel::make_wheel(ctx, options)), server(ctx, s) {
        wheel.pause();
        server.acceptor.set_option(asio::socket_base::send_buffer_size(4096));
        asio::co_spawn(ctx, server.accept(), asio::detached);
    }

    /// Adds peers, which do not read yet. Returns the index of the first.
    std::size_t add(std::size_t count) {
        const std::size_t first = peers.size();
        for (std::size_t i = 0; i != count; ++i) {
            listener& l = peers.emplace_back(ctx);
            asio::co_spawn(ctx, l.at.connect(server.acceptor.local_endpoint()), asio::detached);
            if (i % 100 == 99 ||
                i + 1 == count) { // At most as many as the acceptor's queue can hold.
                BOOST_REQUIRE(until([&] { return here() == peers.size(); }));
            }
        }
        return first;
    }

    std::size_t add_listeners(std::size_t count) {
        const std::size_t first = add(count);
        for (std::size_t i = first; i != peers.size(); ++i) {
            asio::co_spawn(ctx, listen(peers[i]), asio::detached);
        }
        return first;
    }

    void send(std::size_t from, std::size_t count, const std::string& bytes) {
        for (std::size_t i = from; i != from + count; ++i) {
            // Small enough for the socket's buffer, which has room unless the server does not read.
            BOOST_REQUIRE(asio::write(peers[i].at.socket, asio::buffer(bytes)) == bytes.size());
        }
    }

    /// Runs until the condition holds. A minute without any event is a failure.
    template <class Condition>
    bool until(Condition condition) {
        while (!condition()) {
            ctx.restart();
            if (ctx.run_one_for(60s) == 0) {
                return false;
            }
        }
        return true;
    }

    /// Advances time, and runs what is due.
    void pass(std::chrono::steady_clock::duration d) {
        wheel.advance(d);
        ctx.restart();
        ctx.poll();
    }

    bool all_heard(std::size_t from, std::size_t count, std::size_t lines) const {
        const auto first = peers.begin() + static_cast<std::ptrdiff_t>(from);
        return std::all_of(first, first + static_cast<std::ptrdiff_t>(count),
                           [&](const listener& l) { return l.lines == lines; });
    }

    [[nodiscard]] std::size_t here() const { return server.room->here.size(); }
    [[nodiscard]] int ended(std::string_view why) const { return server.room->ended[why]; }

    template <class Of>
    std::size_t count_here(Of of) const {
        return static_cast<std::size_t>(
            std::count_if(server.room->here.begin(), server.room->here.end(), of));
    }

    asio::io_context ctx;
    asio_wheel::wheel_service<std::chrono::steady_clock>& wheel;
    chat::server server;
    std::deque<listener> peers{};
};

/// Shuts the server down. `cut_off` is the expected number of connections that do not leave.
asio::awaitable<void> shut_down(town& t, std::size_t& cut_off, bool& completed) {
    cut_off = co_await t.server.shut_down();
    completed = true;
}

void check_that_it_shuts_down(town& t, std::size_t stay) {
    std::size_t cut_off = 0;
    bool completed = false;
    asio::co_spawn(t.ctx, shut_down(t, cut_off, completed), asio::detached);
    BOOST_TEST(t.until([&] { return t.here() == stay; }));
    if (stay != 0) {
        t.pass(4999ms);
        BOOST_TEST(!completed);
        BOOST_TEST(t.here() == stay);
        t.pass(1ms);
    }
    t.ctx.restart();
    t.ctx.run_for(60s);
    BOOST_TEST(t.ctx.stopped()); // No work is left.
    BOOST_TEST(completed);
    BOOST_TEST(cut_off == stay);
    BOOST_TEST(t.here() == 0U);
    BOOST_TEST(t.wheel.stats().pending == 0U);
}

} // namespace

BOOST_AUTO_TEST_CASE(what_one_peer_says_all_2000_hear,
                     *boost::unit_test::precondition(enough_files)) {
    town t;
    t.add_listeners(many);
    t.send(0, 10, "hello\n");
    BOOST_TEST(t.until([&] { return t.all_heard(0, many, 10); }));
    for (const listener& l : t.peers) {
        BOOST_TEST_REQUIRE(l.bytes == 10 * std::string("hello").size());
        BOOST_TEST_REQUIRE(l.last == "hello");
    }
    check_that_it_shuts_down(t, 0);
}

BOOST_AUTO_TEST_CASE(peers_that_do_not_play_by_the_rules_are_closed_in_time_the_others_are_not,
                     *boost::unit_test::precondition(enough_files)) {
    constexpr std::size_t live = 1200, idle = 330, loris = 20, dead = 300, stuck = 150;
    static_assert(live + idle + loris + dead + stuck == many);
    town t;
    const std::size_t first_loris = t.add_listeners(live + idle + loris) + live + idle;
    t.add(dead);
    const std::size_t first_stuck = t.add(stuck);

    // Each slow-loris sends a line, and starts another one.
    t.send(first_loris, loris, "hi\nx");
    BOOST_TEST_REQUIRE(t.until([&] { return t.all_heard(0, live + idle + loris, loris); }));
    t.pass(5s);
    t.send(first_loris, loris, "x");
    t.pass(4999ms);
    BOOST_TEST(t.here() == many);
    t.pass(1ms);
    BOOST_TEST(t.until([&] { return t.here() == many - loris; }));
    BOOST_TEST(t.ended("slow line") == int{loris});

    // Ten seconds have passed. From now on, a write is pending to each peer that does not read.
    const std::string chapter(4000, 'x');
    for (int i = 0; i != 12; ++i) {
        t.send(0, 1, chapter + '\n');
    }
    BOOST_TEST_REQUIRE(t.until([&] { return t.all_heard(0, live + idle, loris + 12); }));
    BOOST_TEST(t.count_here([](auto* c) { return c->writing; }) == dead + stuck);

    // 30 s and 50 s: pings, and answers of those that do not read.
    int rounds = 0;
    const auto next_round = [&] {
        ++rounds;
        t.send(first_stuck, t.ended("stuck") == 0 ? stuck : 0, "PONG\n");
        BOOST_TEST_REQUIRE(t.until([&] {
            const auto answered = t.count_here([&](auto* c) { return c->pongs == rounds; });
            return answered == t.here() - (t.ended("dead") == 0 ? dead : 0);
        }));
    };
    t.pass(20s);
    next_round();
    t.pass(20s);
    next_round();

    // 60 s: the dead peers have sent nothing. 100 s: the writes to the others have taken too long.
    t.pass(9999ms);
    BOOST_TEST(t.here() == many - loris);
    t.pass(1ms);
    BOOST_TEST(t.until([&] { return t.here() == live + idle + stuck; }));
    BOOST_TEST(t.ended("dead") == int{dead});
    BOOST_TEST(t.server.room->write_hung == int{dead});
    t.pass(10s);
    next_round();
    t.pass(20s);
    next_round();
    t.pass(9999ms);
    BOOST_TEST(t.here() == live + idle + stuck);
    t.pass(1ms);
    BOOST_TEST(t.until([&] { return t.here() == live + idle; }));
    BOOST_TEST(t.ended("stuck") == int{stuck});

    // In the sixth minute, the users of the live peers send something. The others only answer
    // pings.
    const auto pass_rounds = [&](int until_round) {
        t.pass(10s);
        next_round();
        while (rounds != until_round) {
            t.pass(20s);
            next_round();
        }
        t.pass(10s);
    };
    pass_rounds(15); // 320 s
    t.send(0, live, "\n");
    BOOST_TEST_REQUIRE(t.until(
        [&] { return t.count_here([](auto* c) { return c->quiet.idle_for() == 0s; }) == live; }));
    pass_rounds(28); // 580 s
    t.pass(10s);
    next_round();
    t.pass(9999ms);
    BOOST_TEST(t.here() == live + idle);
    t.pass(1ms); // The last lines of these came ten minutes ago.
    BOOST_TEST(t.until([&] { return t.here() == live; }));
    BOOST_TEST(t.ended("idle") == int{idle});
    for (std::size_t i = live; i != live + idle; ++i) {
        BOOST_TEST_REQUIRE(t.peers[i].last == "BYE idle");
        BOOST_TEST_REQUIRE(t.peers[i].ended);
    }

    // None of the live peers was closed, and they receive each other's lines.
    t.send(0, 1, "anybody here?\n");
    BOOST_TEST(t.until([&] { return t.all_heard(0, live, loris + 13); }));
    check_that_it_shuts_down(t, 0);
}

BOOST_AUTO_TEST_CASE(a_shutdown_tells_everybody_and_closes_those_that_stay,
                     *boost::unit_test::precondition(enough_files)) {
    constexpr std::size_t deaf = 100;
    town t;
    t.add_listeners(many);
    t.send(0, 1, "before the end\n");
    BOOST_TEST_REQUIRE(t.until([&] { return t.all_heard(0, many, 1); }));
    for (std::size_t i = 0; i != deaf; ++i) {
        t.peers[i].deaf = true; // It reads the goodbye, and nothing after that.
    }
    check_that_it_shuts_down(t, deaf);
    for (std::size_t i = 0; i != many; ++i) {
        BOOST_TEST_REQUIRE(t.peers[i].last == "BYE shutdown");
        BOOST_TEST_REQUIRE(t.peers[i].ended == (i >= deaf));
    }
    BOOST_TEST(t.ended("shutdown") == int{many});
}

BOOST_AUTO_TEST_CASE(an_idle_peer_that_does_not_leave_is_closed) {
    town t;
    t.add(1);
    for (int i = 1; i != 30; ++i) { // It answers pings without reading them.
        t.pass(20s);
        t.send(0, 1, "PONG\n");
        BOOST_TEST_REQUIRE(
            t.until([&] { return t.count_here([i](auto* c) { return c->pongs == i; }) == 1; }));
    }
    t.pass(20s);
    t.pass(4999ms);
    BOOST_TEST(t.here() == 1U);
    t.pass(1ms);
    BOOST_TEST(t.until([&] { return t.here() == 0; }));
    BOOST_TEST(t.ended("idle") == 1);
}

BOOST_AUTO_TEST_CASE(a_peer_that_falls_behind_is_closed) {
    town t({.longest_outbox = 20});
    t.add_listeners(1);
    t.add(1); // It does not read.
    std::string line(4000, 'x');
    line += '\n';
    for (std::size_t i = 1; i <= 60 && t.here() == 2; ++i) {
        t.send(0, 1, line);
        BOOST_TEST_REQUIRE(t.until([&] { return t.all_heard(0, 1, i); }));
    }
    BOOST_TEST(t.until([&] { return t.here() == 1; }));
    BOOST_TEST(t.ended("fell behind") == 1);
    check_that_it_shuts_down(t, 0);
}

// One block that is read may hold more of them than an outbox takes.
BOOST_AUTO_TEST_CASE(short_lines_at_once_throw_nobody_out) {
    constexpr std::size_t lines = 2000;
    town t;
    t.add_listeners(3);
    std::string block;
    for (std::size_t i = 0; i != lines; ++i) {
        block += "x\n";
    }
    t.send(0, 1, block);
    BOOST_TEST(t.until([&] { return t.here() < 3 || t.all_heard(0, 3, lines); }));
    BOOST_TEST(t.here() == 3U);
    check_that_it_shuts_down(t, 0);
}

BOOST_AUTO_TEST_CASE(a_line_without_end_is_closed) {
    town t({.longest_line = 100});
    t.add_listeners(2);
    t.send(0, 1, std::string(101, 'x'));
    BOOST_TEST(t.until([&] { return t.here() == 1; }));
    BOOST_TEST(t.ended("long line") == 1);
    check_that_it_shuts_down(t, 0);
}

BOOST_AUTO_TEST_CASE(a_peer_that_leaves_takes_nothing_with_it) {
    town t;
    t.add_listeners(2);
    t.peers[0].at.socket.close();
    BOOST_TEST(t.until([&] { return t.here() == 1; }));
    BOOST_TEST(t.ended("left") == 1);
    t.send(1, 1, "alone\n");
    BOOST_TEST(t.until([&] { return t.all_heard(1, 1, 1); }));
    check_that_it_shuts_down(t, 0);
}

BOOST_AUTO_TEST_CASE(a_server_whose_wheel_is_full_keeps_no_connection_without_timeouts) {
    town t({}, {.max_pending = 6}); // Enough for two connections with three waits each.
    t.add_listeners(2);
    t.peers.emplace_back(t.ctx).at.socket.connect(t.server.acceptor.local_endpoint());
    BOOST_TEST(t.until([&] { return t.ended("failed") == 1; }));
    BOOST_TEST(t.here() == 2U);
    check_that_it_shuts_down(t, 0);
}
