// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 600
// unity: off

// Peers that stop reading, send byte by byte, flood, go idle or reset the connection, against the
// servers of the examples, each in a process of its own. The documented timeouts close such peers,
// none too early, and others are served in the meantime.
//
// Real time and real sockets. Durations are compared in one direction only.

#include "faults/conversations.hpp"
#include "support/names.hpp"
#include "support/sanitizers.hpp"
#include "support/seed.hpp"
#include "support/server_process.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using clock_type = peer::clock;

// The documented timeouts of the servers.
constexpr auto echo_idle = 500ms;
constexpr auto http_keep_alive = 300ms;
constexpr auto http_header = 200ms;
constexpr auto http_body = 250ms;
constexpr auto http_response = 200ms;
constexpr auto websocket_handshake = 1s;
constexpr auto websocket_dead = 300ms;

std::vector<std::string> echo_server() {
    return {ASIO_WHEEL_TEST_ECHO_SERVER, "--idle", "0.5"};
}
std::vector<std::string> http_server() {
    return {ASIO_WHEEL_TEST_HTTP_SERVER};
}
std::vector<std::string> websocket_server() {
    return {ASIO_WHEEL_TEST_WEBSOCKET_SERVER};
}

// The behaviour of a peer. Returns how long after the start of its connection it was closed, or
// nothing if it was not.
using behaviour = std::function<std::optional<clock_type::duration>(std::uint16_t port)>;

// Sends `at_once`, and then a byte now and then until it is closed.
behaviour sends_drops(std::string at_once) {
    return [at_once](std::uint16_t port) -> std::optional<clock_type::duration> {
        peer p(port);
        p.send(at_once);
        const auto limit = clock_type::now() + peer::patience;
        while (p.send_some("x") && p.read_some()) {
            if (clock_type::now() > limit) {
                return std::nullopt;
            }
            std::this_thread::sleep_for(10ms);
        }
        return clock_type::now() - p.start();
    };
}

behaviour says(std::string at_once) {
    return [at_once](std::uint16_t port) {
        peer p(port);
        p.send(at_once);
        return p.wait_closed(p.start());
    };
}

// Sends `at_once`, then `what` again and again, and never reads.
behaviour sends_and_never_reads(std::string at_once, std::string what) {
    return [at_once, what](std::uint16_t port) {
        peer p(port, 4096);
        p.send(at_once);
        while (p.send(what)) {
        }
        return p.wait_closed_unread(p.start());
    };
}

// Sends a request with a large answer, and reads it byte by byte.
behaviour reads_drops(std::string what) {
    return [what](std::uint16_t port) -> std::optional<clock_type::duration> {
        peer p(port, 4096);
        const auto limit = clock_type::now() + peer::patience;
        std::string_view rest = what;
        while (clock_type::now() < limit) {
            const auto sent = rest.empty() ? std::optional<std::size_t>(0) : p.send_some(rest);
            if (!sent || !p.read_few(16)) {
                return clock_type::now() - p.start();
            }
            rest.remove_prefix(*sent);
            std::this_thread::sleep_for(5ms);
        }
        return std::nullopt;
    };
}

struct bad_peer {
    const char* name;
    behaviour behave;
    clock_type::duration not_before;
};

// All of them concurrently, and a well-behaved peer all the time.
void check(std::uint16_t port, const std::vector<bad_peer>& peers, conversation talk) {
    std::deque<std::optional<clock_type::duration>> closed(peers.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < peers.size(); ++i) {
            threads.emplace_back([&, i] { closed[i] = peers[i].behave(port); });
        }
        for (int i = 0; i < 3; ++i) {
            BOOST_TEST(answers(port, talk), "the server does not answer meanwhile");
        }
    }
    for (std::size_t i = 0; i < peers.size(); ++i) {
        BOOST_TEST(closed[i].has_value(), "not closed: who " << peers[i].name);
        if (closed[i]) {
            BOOST_TEST((*closed[i] >= peers[i].not_before),
                       "closed early, after " << *closed[i] / 1ms << " ms: who " << peers[i].name);
        }
    }
    BOOST_TEST(answers(port, talk), "the server does not answer afterwards");
}

// Connections that are reset after any part of their messages.
void reset_many(std::uint16_t port, std::string_view what, conversation talk) {
    std::mt19937_64 random(seed());
    for (int i = 0; i < 300; ++i) {
        peer p(port);
        p.send(what.substr(0, random() % (what.size() + 1)));
        if (random() % 2 == 0) {
            p.read_some();
        }
        if (random() % 4 == 0) {
            std::this_thread::sleep_for(1ms);
        }
        p.reset();
    }
    BOOST_TEST(answers(port, talk));
}

// Connections that send the same as fast as possible, and read the answers. Others are served, and
// the memory of the server does not grow.
void flood(const server_process& server, const std::function<bool(peer&)>& begin, std::string what,
           conversation talk) {
    std::string much;
    while (much.size() < 10'000) {
        much += what;
    }
    BOOST_TEST(answers(server.port(), talk));
    const std::size_t before = server.status_of("VmRSS");
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> heard = 0;
    const auto send_much = [&] {
        peer p(server.port());
        bool open = begin(p);
        std::string_view rest = much; // Whole requests.
        while (open && !stop) {
            const auto sent = p.send_some(rest);
            open = sent && p.read_some();
            rest.remove_prefix(sent.value_or(0));
            rest = rest.empty() ? std::string_view(much) : rest;
            heard += p.received().size();
            p.received().clear();
            p.wait_ready();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                while (!stop) { // On a busy machine, a timeout may close it.
                    send_much();
                }
            });
        }
        for (int i = 0; i < 5; ++i) {
            BOOST_TEST(answers(server.port(), talk), "the server does not answer meanwhile");
        }
        BOOST_TEST(server_process::wait_until([&] { return heard > 0; }));
        stop = true;
    }
    if (!is_sanitized) {
        BOOST_TEST(server.status_of("VmRSS") < before + 16 * 1024U); // kB
    }
}

bool no_beginning(peer&) {
    return true;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_peers)

BOOST_AUTO_TEST_CASE(the_echo_server_closes_whoever_says_no_whole_line) {
    server_process server(echo_server());
    const std::size_t before = server.descriptors();
    check(server.port(),
          {
              {"says nothing", says(""), echo_idle},
              {"says a line and then nothing", says("PING 1\n"), echo_idle},
              {"sends drops", sends_drops(""), echo_idle},
              {"sends drops after a line", sends_drops("PING 1\n"), echo_idle},
              {"never reads", sends_and_never_reads("", "something to be sent back\n"), echo_idle},
              {"sends a line without end", says(std::string(100'000, 'x')), 0s},
          },
          talk_to_echo);
    BOOST_TEST(is_left_alone(server, before));
    auto counted = server.stop();
    BOOST_TEST(counted["early_closes"] == 0);
    BOOST_TEST(counted["idle_closes"] >= 5);
    BOOST_TEST(counted["connections_left"] == 0);
    BOOST_TEST(counted["waits_left"] == 0);
}

BOOST_AUTO_TEST_CASE(the_echo_server_goes_on_after_resets) {
    server_process server(echo_server());
    const std::size_t before = server.descriptors();
    reset_many(server.port(), "PING 1\nPING 2\na line that is not over", talk_to_echo);
    BOOST_TEST(is_left_alone(server, before));
    auto counted = server.stop();
    BOOST_TEST(counted["accepted"] >= 301);
    BOOST_TEST(counted["connections_left"] == 0);
    BOOST_TEST(counted["waits_left"] == 0);
}

BOOST_AUTO_TEST_CASE(the_echo_server_serves_others_while_some_flood_it) {
    server_process server(echo_server());
    flood(server, no_beginning, "PING of a peer that does not wait for the answer\n", talk_to_echo);
    BOOST_TEST(server.stop()["early_closes"] == 0);
}

BOOST_AUTO_TEST_CASE(the_http_server_closes_whoever_holds_it_up) {
    server_process server(http_server());
    const std::string large = http_request(std::string(900'000, 'x'));
    check(server.port(),
          {
              {"says nothing", says(""), http_keep_alive},
              {"says nothing after a request", says(http_request("x")), http_keep_alive},
              {"sends a header in drops", sends_drops("POST / HTTP/1.1\r\nX: "), http_header},
              {"sends a body in drops",
               sends_drops("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"), http_body},
              {"never reads", sends_and_never_reads("", large), http_response},
              {"reads in drops", reads_drops(large + large + large + large + large + large + large),
               http_response},
              {"sends a header without end",
               says("GET / HTTP/1.1\r\nX: " + std::string(99'999, 'x')), 0s},
          },
          talk_to_http);
    auto counted = server.stop();
    // Which timeout closes a peer that sends byte by byte, or does not read, depends on the
    // machine.
    BOOST_TEST(counted["late_request"] >= 2);
    BOOST_TEST(counted["late_request"] + counted["late_header"] + counted["late_body"] +
                   counted["late_response"] >=
               6);
}

BOOST_AUTO_TEST_CASE(the_http_server_goes_on_after_resets) {
    server_process server(http_server());
    const std::size_t before = server.descriptors();
    reset_many(server.port(), http_request("a body") + http_request(std::string(2'000, 'x')),
               talk_to_http);
    BOOST_TEST(is_left_alone(server, before));
    BOOST_TEST(server.stop()["answered"] >= 1);
}

BOOST_AUTO_TEST_CASE(the_http_server_serves_others_while_some_flood_it) {
    server_process server(http_server());
    flood(server, no_beginning, http_request("of a peer that does not wait"), talk_to_http);
    BOOST_TEST(server.stop()["answered"] > 10);
}

BOOST_AUTO_TEST_CASE(the_websocket_server_closes_whoever_is_not_there) {
    server_process server(websocket_server());
    const std::string shake(websocket_request);
    check(server.port(),
          {
              {"says nothing", says(""), websocket_handshake},
              {"sends a handshake in drops", sends_drops("GET / HTTP/1.1\r\nX: "),
               websocket_handshake},
              {"does not answer pings", says(shake), websocket_dead},
              {"neither reads nor answers",
               [&](std::uint16_t port) {
                   peer p(port, 4096);
                   p.send(shake);
                   return p.wait_closed_unread(p.start());
               },
               websocket_dead},
              {"sends a message in drops",
               sends_drops(shake + websocket_message(text, std::string(60'000, 'x')).substr(0, 9)),
               websocket_dead},
              {"asks and never reads the answers",
               sends_and_never_reads(shake, websocket_message(ping, std::string(125, 'x'))),
               websocket_dead},
          },
          talk_to_websocket);
    auto counted = server.stop();
    BOOST_TEST(counted["closed"] >= 3); // The last one may not have been counted yet.
    BOOST_TEST(counted["messages"] >= 4);
    BOOST_TEST(counted["timed_out"] >= 6);
}

BOOST_AUTO_TEST_CASE(the_websocket_server_goes_on_after_resets) {
    server_process server(websocket_server());
    const std::size_t before = server.descriptors();
    reset_many(server.port(),
               std::string(websocket_request) + websocket_message(text, "hello") +
                   websocket_message(text, std::string(2'000, 'x')),
               talk_to_websocket);
    BOOST_TEST(is_left_alone(server, before));
    BOOST_TEST(server.stop()["connections"] >= 300);
}

BOOST_AUTO_TEST_CASE(the_websocket_server_serves_others_while_some_flood_it) {
    server_process server(websocket_server());
    const std::size_t before = server.descriptors();
    flood(server, shake_hands,
          websocket_message(text, "what nobody asked for") + websocket_message(ping, "?"),
          talk_to_websocket);
    BOOST_TEST(is_left_alone(server, before)); // It counts connections that have ended.
    BOOST_TEST(server.stop()["messages"] > 10);
}

BOOST_AUTO_TEST_SUITE_END()
