// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 900
// unity: off

// The servers of the examples run out of descriptors and memory, each in a process with limits. The
// server reports that, survives, and serves the next peers when resources are available again.
//
// Real time and real sockets. Expected events have a minute.

#include "faults/conversations.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"
#include "support/server_process.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using clock_type = peer::clock;

// Since Asio has dispositions, it turns an error into an exception in a noexcept function, although
// that may need memory for a long text.
#if __has_include(<boost/asio/disposition.hpp>)
constexpr bool asio_has_dispositions = true;
#else
constexpr bool asio_has_dispositions = false;
#endif

constexpr rlim_t few_files = 24;

const std::vector<std::string> patient_echo_server{ASIO_WHEEL_TEST_ECHO_SERVER, "--idle", "3600"};
const std::vector<std::string> http_server{ASIO_WHEEL_TEST_HTTP_SERVER};
const std::vector<std::string> websocket_server{ASIO_WHEEL_TEST_WEBSOCKET_SERVER};

struct tested_server {
    const char* name;
    std::vector<std::string> command;
    conversation talk;
};

const tested_server servers[] = {{"echo", patient_echo_server, talk_to_echo},
                                 {"http", http_server, talk_to_http},
                                 {"websocket", websocket_server, talk_to_websocket}};

bool has_run_out(const server_process& server) {
    return server.complaints().find("cannot accept") != std::string::npos;
}

// Returns how many connections this process may have, at most `wanted`.
std::size_t connections_allowed(std::size_t wanted) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted + 64);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur - 64;
}

// Returns an address space that may grow by this many bytes from the start of the server.
rlim_t memory_for(const std::vector<std::string>& command, std::size_t kilobytes) {
    const server_process unlimited(command);
    return (unlimited.status_of("VmSize") + kilobytes) * 1024;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_exhaustion)

// Twice as many connections as descriptors: some wait to be accepted until others have ended.
BOOST_AUTO_TEST_CASE(a_server_without_descriptors_says_so_and_serves_the_others_later) {
    for (const tested_server& s : servers) {
        BOOST_TEST_CONTEXT(s.name) {
            server_process server(s.command, {.files = few_files});
            const std::size_t before = server.descriptors();
            std::size_t connections = 0;
            const bool is_patient = s.talk == talk_to_echo;
            const auto limit = clock_type::now() + 60s;
            do { // The others close idle connections, possibly before the last ones are there.
                std::deque<peer> idle;
                for (rlim_t i = 0; i < 2 * few_files; ++i) {
                    idle.emplace_back(server.port());
                    BOOST_TEST_REQUIRE(
                        idle.back().connected()); // The system accepts it on behalf of the server.
                }
                connections += idle.size();
                if (is_patient) {
                    BOOST_TEST(server_process::wait_until([&] { return has_run_out(server); }));
                }
                std::size_t answered = 0;
                for (; !idle.empty(); idle.pop_front()) {
                    answered += s.talk(idle.front()) ? 1 : 0;
                }
                BOOST_TEST((!is_patient || answered == connections));
            } while (!has_run_out(server) && clock_type::now() < limit);
            BOOST_TEST(has_run_out(server), "the server did not run out of descriptors");
            BOOST_TEST(is_left_alone(server, before));
            BOOST_TEST(answers(server.port(), s.talk), "the server does not answer afterwards");
            BOOST_TEST(server.is_alive());
            BOOST_TEST(!server.stop().empty(), "the server did not end well");
            const std::string complaints = server.complaints();
            BOOST_TEST_INFO_SCOPE(complaints);
            // Once for each time that they run out. Between two times, some connection is accepted.
            BOOST_TEST(static_cast<std::size_t>(std::ranges::count(complaints, '\n')) <=
                       connections + 50);
        }
    }
}

// If no peer leaves for a while, trying again does not keep the server busy.
BOOST_AUTO_TEST_CASE(a_server_without_descriptors_does_not_spin) {
    const auto start = clock_type::now();
    server_process server(patient_echo_server, {.files = few_files});
    const std::size_t before = server.descriptors();
    std::deque<peer> idle;
    for (rlim_t i = 0; i < 2 * few_files; ++i) {
        idle.emplace_back(server.port());
    }
    BOOST_TEST(server_process::wait_until([&] { return has_run_out(server); }));
    std::this_thread::sleep_for(1s);
    idle.clear();
    BOOST_TEST(is_left_alone(server, before));
    auto counted = server.stop();
    const auto took = clock_type::now() - start;
    // One attempt every 10 ms, and one after each success.
    BOOST_TEST(counted["not_accepted"] >= 1);
    BOOST_TEST(counted["not_accepted"] <=
               static_cast<double>(took / 10ms) + counted["accepted"] + 1);
    BOOST_TEST(counted["connections_left"] == 0);
}

// Connections until there is no memory for them. The memory of a sanitizer cannot be limited. With
// select(), Asio allocates when an operation starts, and without memory it terminates the program
// in async_accept().
BOOST_AUTO_TEST_CASE(an_echo_server_without_memory_lives_on,
                     *only_if(!is_sanitized && !uses_select)) {
    const std::size_t most = connections_allowed(4000);
    const rlim_t limit = memory_for(patient_echo_server, most / 2); // Half a kilobyte for each.
    server_process server(patient_echo_server, {.files = most + 64, .memory = limit});
    const std::size_t before = server.descriptors();
    {
        std::deque<peer> many;
        while (many.size() < most && many.emplace_back(server.port()).connected()) {
            many.back().send("a line that is not over yet ");
        }
        BOOST_TEST(many.size() == most);
        const auto is_closed = [](peer& p) { return !p.read_some(); };
        BOOST_TEST(server_process::wait_until([&] { return std::ranges::any_of(many, is_closed); }),
                   "there was memory enough");
        BOOST_TEST_REQUIRE(server.is_alive(), "the server is gone: " << server.complaints());
    }
    BOOST_TEST(is_left_alone(server, before));
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST_REQUIRE(answers(server.port(), talk_to_echo), "no answer afterwards");
    }
    BOOST_TEST(is_left_alone(server, before));
    auto counted = server.stop();
    BOOST_TEST_INFO_SCOPE(server.complaints());
    BOOST_TEST(counted["connections_left"] == 0);
    BOOST_TEST(counted["waits_left"] == 0);
}

// Bodies and messages that are larger than the memory.
BOOST_AUTO_TEST_CASE(servers_without_memory_for_a_message_live_on, *only_if(!is_sanitized)) {
    const std::string large(990'000, 'x');
    const auto check = [](const tested_server& s, const std::string& message) {
        BOOST_TEST_CONTEXT(s.name) {
            server_process server(s.command, {.memory = memory_for(s.command, 8192)});
            const std::size_t before = server.descriptors();
            for (int round = 0; round < 5; ++round) {
                std::deque<peer> many;
                for (int i = 0; i < 40; ++i) {
                    many.emplace_back(server.port());
                }
                // In parts, so that all of them are in progress at once.
                for (std::size_t at = 0; at < message.size(); at += 100'000) {
                    for (peer& p : many) {
                        static_cast<void>(
                            p.send_some(std::string_view(message).substr(at, 100'000)));
                    }
                }
                BOOST_TEST_REQUIRE(server.is_alive(),
                                   "the server is gone: " << server.complaints());
            }
            for (int i = 0; i < 20; ++i) {
                BOOST_TEST_REQUIRE(answers(server.port(), s.talk), "no answer afterwards");
            }
            BOOST_TEST(is_left_alone(server, before));
            BOOST_TEST(!server.stop().empty(), "the server did not end well");
        }
    };
    check(servers[1], http_request(large));
    check(servers[2], std::string(websocket_request) + websocket_message(text, large));
}

// There is no memory for a connection, nor for a pause before the next one.
BOOST_AUTO_TEST_CASE(a_server_without_any_memory_does_not_spin, *only_if(!asio_has_dispositions)) {
    for (const tested_server& s : {servers[1], servers[2]}) {
        BOOST_TEST_CONTEXT(s.name) {
            const auto start = clock_type::now();
            server_process server(s.command);
            // Asio keeps the memory of this connection's descriptor. So the next one is accepted.
            const std::size_t before = server.descriptors();
            BOOST_TEST(answers(server.port(), s.talk));
            BOOST_TEST(is_left_alone(server, before));
            server.signal(SIGHUP);
            const peer refused(server.port());
            BOOST_TEST(server_process::wait_until([&] { return has_run_out(server); }));
            std::this_thread::sleep_for(200ms);
            server.signal(SIGUSR2);
            BOOST_TEST(answers(server.port(), s.talk), "no answer afterwards");
            auto counted = server.stop();
            const auto took = clock_type::now() - start;
            // The server tries once in a millisecond: its main function has a pause of its own.
            BOOST_TEST(counted["failures"] > 2);
            BOOST_TEST(counted["failures"] <= static_cast<double>(took / 1ms) * 4 + 100);
        }
    }
}

// While a server accepts, reads, writes and waits, each allocation may fail, alone or with many of
// the following ones, except for small ones (programs/failing_memory.hpp says why).
BOOST_AUTO_TEST_CASE(servers_whose_allocations_fail_at_random_live_on,
                     *only_if(!asio_has_dispositions)) {
    for (const tested_server& s : servers) {
        BOOST_TEST_CONTEXT(s.name) {
            server_process server(s.command);
            const std::size_t before = server.descriptors();
            BOOST_TEST(answers(server.port(), s.talk));
            for (int round = 0; round < 3; ++round) {
                server.signal(SIGUSR1);
                for (int i = 0; i < 20; ++i) {
                    std::deque<peer> some;
                    for (int k = 0; k < 5; ++k) {
                        some.emplace_back(server.port());
                        static_cast<void>(some.back().send_some(k == 0 ? "" : "PING 1\nand "));
                    }
                    static_cast<void>(s.talk(some.front()));
                }
                server.signal(SIGUSR2);
                BOOST_TEST_REQUIRE(answers(server.port(), s.talk), "no answer afterwards");
                BOOST_TEST(is_left_alone(server, before), "connections stay");
            }
            auto counted = server.stop();
            BOOST_TEST_INFO_SCOPE(server.complaints());
            BOOST_TEST(!counted.empty(), "the server did not end well");
            BOOST_TEST(counted["connections_left"] == 0);
            BOOST_TEST(counted["waits_left"] == 0);
            BOOST_TEST((counted["failures"] > 0 ||
                        server.complaints().find("cannot accept") != std::string::npos));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
