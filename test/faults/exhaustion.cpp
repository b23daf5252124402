// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 600
// unity: off

// Descriptors and memory that run out in the servers of the examples, each in a process with limits of
// its own: the server says so, lives on, and serves the next ones when there are some again.
//
// Real time and real sockets.

#include "support/sanitizers.hpp"
#include "support/server_process.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using namespace std::chrono_literals;

constexpr rlim_t few_files = 24;

const std::vector<std::string> patient_echo_server{ASIO_WHEEL_TEST_ECHO_SERVER, "--idle", "3600"};
const std::vector<std::string> http_server{ASIO_WHEEL_TEST_HTTP_SERVER};
const std::vector<std::string> websocket_server{ASIO_WHEEL_TEST_WEBSOCKET_SERVER};

bool echo_answers(peer& p) {
    return p.connected() && p.read_until("\n") && p.send("PING 1\n") &&
           p.read_until("\n") == "PONG 1";
}

std::string http_request(std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
}

bool http_answers(peer& p) {
    return p.connected() && p.send(http_request(9)) && p.read_until("xxxxxxxxx");
}

bool websocket_answers(peer& p) {
    return p.connected() &&
           p.send("GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                  "Sec-WebSocket-Version: 13\r\n\r\n") &&
           p.read_until("\r\n\r\n") && p.read_until(std::string_view("\x89\x00", 2));
}

struct tested_server {
    const char* name;
    std::vector<std::string> command;
    bool (*answers)(peer&);
};

const tested_server servers[] = {{"echo", patient_echo_server, echo_answers},
                                 {"http", http_server, http_answers},
                                 {"websocket", websocket_server, websocket_answers}};

// As many connections as this process may have.
void allow_files(rlim_t wanted) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min(limit.rlim_max, wanted);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A server whose address space may grow by so much from what it is at the beginning.
rlim_t memory_for(const std::vector<std::string>& command, std::size_t megabytes) {
    const server_process unlimited(command);
    return (unlimited.status_of("VmSize") + 1024 * megabytes) * 1024;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_exhaustion)

// Twice as many connections as there are descriptors: some wait to be accepted until others have gone.
BOOST_AUTO_TEST_CASE(a_server_without_descriptors_says_so_and_serves_the_others_later) {
    for (const tested_server& s : servers) {
        BOOST_TEST_CONTEXT(s.name) {
            server_process server(s.command, {.files = few_files});
            std::deque<peer> idle;
            for (rlim_t i = 0; i < 2 * few_files; ++i) {
                idle.emplace_back(server.port());
                BOOST_TEST(idle.back().connected()); // By the system, for the server.
            }
            std::this_thread::sleep_for(100ms); // So that it runs out before anybody goes.
            std::size_t answered = 0;
            for (; !idle.empty(); idle.pop_front()) {
                // Servers with short timeouts have closed some.
                answered += s.answers(idle.front()) ? 1 : 0;
            }
            if (s.answers == echo_answers) {
                BOOST_TEST(answered == 2 * few_files);
            }
            peer late(server.port());
            BOOST_TEST(s.answers(late), "the server does not answer afterwards");
            BOOST_TEST(server.is_alive());
            const auto counted = server.stop();
            BOOST_TEST(!counted.empty(), "the server did not end well");
            BOOST_TEST_INFO_SCOPE(server.complaints());
            BOOST_TEST(server.complaints().find("not accepted") != std::string::npos);
            BOOST_TEST(std::ranges::count(server.complaints(), '\n') < 50); // Not for each try.
        }
    }
}

// Where nobody goes for a while, trying again does not keep the server busy.
BOOST_AUTO_TEST_CASE(a_server_without_descriptors_does_not_spin) {
    server_process server(patient_echo_server, {.files = few_files});
    std::deque<peer> idle;
    for (rlim_t i = 0; i < 2 * few_files; ++i) {
        idle.emplace_back(server.port());
    }
    std::this_thread::sleep_for(1s);
    idle.clear();
    auto counted = server.stop();
    BOOST_TEST(counted["not_accepted"] >= 1);
    BOOST_TEST(counted["not_accepted"] <= 300); // A try each 10 ms makes 100.
    BOOST_TEST(counted["connections_left"] == 0);
}

// Connections until there is no memory for them; a sanitizer's memory cannot be limited.
BOOST_AUTO_TEST_CASE(an_echo_server_without_memory_lives_on,
                     *boost::unit_test::enable_if<!is_sanitized>()) {
    allow_files(8192);
    const auto limit = memory_for(patient_echo_server, 8);
    server_process server(patient_echo_server, {.files = 8192, .memory = limit});
    {
        std::deque<peer> many;
        for (int i = 0; i < 4000; ++i) {
            if (!many.emplace_back(server.port()).connected()) {
                many.pop_back();
                break;
            }
            many.back().send("a line that is not over yet ");
        }
        BOOST_TEST(many.size() > 1000U);
        std::this_thread::sleep_for(500ms);
        BOOST_TEST_REQUIRE(server.is_alive());
    }
    for (int i = 0; i < 100; ++i) {
        peer late(server.port());
        BOOST_TEST_REQUIRE(echo_answers(late), "the server does not answer afterwards");
    }
    auto counted = server.stop();
    BOOST_TEST_INFO_SCOPE(server.complaints());
    BOOST_TEST(counted["not_accepted"] + counted["given_up"] > 0, "there was memory enough");
    BOOST_TEST(counted["connections_left"] == 0);
    BOOST_TEST(counted["waits_left"] == 0);
}

// Bodies and messages that are larger than what there is.
BOOST_AUTO_TEST_CASE(servers_without_memory_for_a_message_live_on,
                     *boost::unit_test::enable_if<!is_sanitized>()) {
    const auto check = [](const tested_server& s, const std::string& message) {
        BOOST_TEST_CONTEXT(s.name) {
            const auto limit = memory_for(s.command, 8);
            server_process server(s.command, {.memory = limit});
            for (int round = 0; round < 5; ++round) {
                std::deque<peer> many;
                for (int i = 0; i < 40; ++i) {
                    many.emplace_back(server.port());
                }
                // In parts, so that all of them are under way at once.
                for (std::size_t at = 0; at < message.size(); at += 100'000) {
                    for (peer& p : many) {
                        static_cast<void>(
                            p.send_some(std::string_view(message).substr(at, 100'000)));
                    }
                }
                std::this_thread::sleep_for(50ms);
                BOOST_TEST_REQUIRE(server.is_alive());
            }
            for (int i = 0; i < 20; ++i) {
                peer late(server.port());
                BOOST_TEST_REQUIRE(s.answers(late), "the server does not answer afterwards");
            }
            BOOST_TEST(!server.stop().empty(), "the server did not end well");
        }
    };
    check(servers[1], http_request(990'000));
    std::string message = "GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\n"
                          "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                          "Sec-WebSocket-Version: 13\r\n\r\n";
    message += std::string("\x81\xff\x00\x00\x00\x00\x00\x0f\x00\x00", 10) + std::string(4, '\0');
    message += std::string(983'040, 'x');
    check(servers[2], message);
}

BOOST_AUTO_TEST_SUITE_END()
