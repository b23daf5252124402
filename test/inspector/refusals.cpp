// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// requires: inspector
// unity: off

// What an inspector refuses: other hosts and sites, other methods, requests that are too long or
// too slow, too many connections; and options that cannot be used.

#include <asio_wheel/inspector.hpp>

#include "inspector/client.hpp"
#include "inspector/served.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::inspector;
using asio_wheel::inspector_options;

struct inspected : served_wheel {
    using served_wheel::served_wheel;

    [[nodiscard]] int with_host(const std::string& host, const std::string& more = "") {
        return ask("GET /wheel.json HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" +
                   more + "\r\n")
            .status;
    }
    [[nodiscard]] http_answer with(const std::string& more, const std::string& method = "GET",
                                   const std::string& target = "/wheel.json") {
        return ask(request_for(target, where.port(), more, method));
    }
};

BOOST_AUTO_TEST_SUITE(inspector_refusals, *boost::unit_test::timeout(120))

BOOST_FIXTURE_TEST_CASE(a_host_that_is_not_this_machine_is_refused, inspected) {
    for (const std::string host : {"localhost", "LOCALHOST", "127.0.0.1", "[::1]"}) {
        BOOST_TEST(with_host(host + ":" + port()) == 200, host);
        BOOST_TEST(with_host(host) == 421, host);
        BOOST_TEST(with_host(host + ":1") == 421, host);
    }
    for (const std::string host : {"example.org", "localhost.example.org", "example.org:localhost",
                                   "127.0.0.1.example.org", "127.0.0.2", "2130706433", "0.0.0.0",
                                   "::1", "[::2]", "[::1", "", "localhost:", "a@localhost"}) {
        BOOST_TEST(with_host(host + ":" + port()) == 421, host);
    }
    BOOST_TEST(ask("GET / HTTP/1.0\r\n\r\n").status == 421);
    BOOST_TEST(ask("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status == 421);
    BOOST_TEST(with_host("localhost:" + port(), "Host: example.org\r\n") == 400);
    BOOST_TEST(with_host("example.org", "Host: localhost:" + port() + "\r\n") == 400);
}

BOOST_AUTO_TEST_CASE(further_hosts_can_be_allowed) {
    inspected world({.allowed_hosts = {"inspector.example.org", "localhost:8080"}});
    BOOST_TEST(world.with_host("inspector.example.org") == 200);
    BOOST_TEST(world.with_host("Inspector.Example.org:443") == 200);
    BOOST_TEST(world.with_host("localhost:8080") == 200);
    BOOST_TEST(world.with_host("localhost:8081") == 421);
    BOOST_TEST(world.with_host("localhost:" + world.port()) == 200);
    BOOST_TEST(world.with_host("example.org") == 421);
    BOOST_TEST(world.with_host("") == 421);
}

BOOST_FIXTURE_TEST_CASE(a_request_of_another_site_is_refused, inspected) {
    const std::string own = "http://localhost:" + port();
    BOOST_TEST(with("Origin: " + own + "\r\n").status == 200);
    for (const std::string& origin :
         {std::string("http://example.org"), std::string("null"), std::string(),
          std::string("http://localhost"), std::string("http://localhost:1"),
          "https://localhost:" + port(), "http://127.0.0.1:" + port(), own + "/", own + " " + own,
          own + ".example.org"}) {
        for (const std::string target : {"/", "/wheel.json", "/events", "/metrics", "/nothing"}) {
            BOOST_TEST(with("Origin: " + origin + "\r\n", "GET", target).status == 403, origin);
        }
    }
    BOOST_TEST(with("Origin: " + own + "\r\nOrigin: http://example.org\r\n").status == 403);
}

BOOST_FIXTURE_TEST_CASE(a_part_of_another_sites_page_is_refused_but_not_a_link, inspected) {
    for (const std::string site : {"same-origin", "none"}) {
        BOOST_TEST(with("Sec-Fetch-Site: " + site + "\r\n").status == 200);
    }
    for (const std::string site : {"cross-site", "same-site"}) {
        const std::string field = "Sec-Fetch-Site: " + site + "\r\n";
        BOOST_TEST(with(field).status == 403);
        BOOST_TEST(with(field + "Sec-Fetch-Mode: no-cors\r\n", "GET", "/events").status == 403);
        BOOST_TEST(with(field + "Sec-Fetch-Mode: navigate\r\n", "GET", "/").status == 200);
    }
}

// What browsers send: where the answer goes is said by Sec-Fetch-Dest.
BOOST_FIXTURE_TEST_CASE(a_frame_of_another_site_is_refused, inspected) {
    for (const std::string site : {"cross-site", "same-site", "", "unknown"}) {
        const std::string link = "Sec-Fetch-Site: " + site + "\r\nSec-Fetch-Mode: navigate\r\n";
        for (const std::string dest :
             {"iframe", "frame", "embed", "object", "fencedframe", "empty", "image", "unknown"}) {
            for (const std::string target : {"/", "/wheel.json", "/metrics", "/events"}) {
                const std::string fields = link + "Sec-Fetch-Dest: " + dest + "\r\n";
                BOOST_TEST(with(fields, "GET", target).status == 403, fields << target);
            }
        }
        BOOST_TEST(with(link + "Sec-Fetch-Dest: document\r\nSec-Fetch-User: ?1\r\n").status == 200);
        BOOST_TEST(with(link + "Sec-Fetch-Dest: document\r\n", "GET", "/").status == 200);
        BOOST_TEST(with(link + "Sec-Fetch-Dest: document\r\nSec-Fetch-Dest: iframe\r\n").status ==
                   403);
    }
    // Of its own page, and of the user.
    for (const std::string site : {"same-origin", "none"}) {
        const std::string own = "Sec-Fetch-Site: " + site + "\r\n";
        BOOST_TEST(with(own + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n").status ==
                   200);
        BOOST_TEST(with(own + "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n").status == 200);
    }
    BOOST_TEST(with("Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n").status == 403);
}

BOOST_FIXTURE_TEST_CASE(only_get_and_head_are_allowed, inspected) {
    for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"}) {
        const http_answer answer = with("", method);
        BOOST_TEST(answer.status == 405, method);
        BOOST_TEST(answer.field("Allow") == "GET, HEAD");
    }
    BOOST_TEST(with("", "CONNECT", "localhost:1").status == 405);
    BOOST_TEST(with("Content-Length: 3\r\n", "POST").status == 405);
}

BOOST_FIXTURE_TEST_CASE(every_answer_is_protected, inspected) {
    for (const std::string target : {"/", "/metrics", "/wheel.json", "/events", "/nothing"}) {
        for (const std::string method : {"HEAD", "POST"}) {
            const http_answer answer = with("", method, target);
            BOOST_TEST(answer.field("X-Content-Type-Options") == "nosniff");
            BOOST_TEST(answer.field("Cache-Control") == "no-store");
            BOOST_TEST(answer.field("Cross-Origin-Resource-Policy") == "same-origin");
            BOOST_TEST(answer.field("Referrer-Policy") == "no-referrer");
            const std::string policy = answer.field("Content-Security-Policy");
            BOOST_TEST(policy.starts_with("default-src 'none'; "));
            BOOST_TEST(policy.ends_with("frame-ancestors 'none'"));
            BOOST_TEST(answer.field("X-Frame-Options") == "DENY");
            BOOST_TEST(answer.field("Cross-Origin-Opener-Policy") == "same-origin");
            BOOST_TEST(answer.field("Access-Control-Allow-Origin").empty());
        }
    }
}

BOOST_FIXTURE_TEST_CASE(what_is_too_long_is_refused, inspected) {
    BOOST_TEST(with("X: " + std::string(7000, 'x') + "\r\n").status == 200);
    BOOST_TEST(with("X: " + std::string(8192, 'x') + "\r\n").status == 431);
    BOOST_TEST(with("X: " + std::string(100'000, 'x') + "\r\n").status == 431);
    BOOST_TEST(with("", "GET", "/" + std::string(8192, 'x')).status == 431);
    BOOST_TEST(with("Content-Length: 3\r\n").status == 413);
    BOOST_TEST(with("Content-Length: 3000000000\r\n").status == 413);
    BOOST_TEST(with("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n").status == 413);
}

BOOST_FIXTURE_TEST_CASE(what_is_not_http_is_refused, inspected) {
    for (const std::string text :
         {"hello\r\n\r\n", "GET / HTTP/7\r\n\r\n", "GET /\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n",
          "GET / HTTP/1.1\r\nHost localhost\r\n\r\n"}) {
        BOOST_TEST(ask(text).status == 400, text);
    }
}

BOOST_AUTO_TEST_CASE(a_connection_too_many_is_closed) {
    inspected world({.history = 0min, .max_connections = 3});
    std::vector<std::unique_ptr<http_client>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(world.client());
    }
    world.wait_for_pending(3);
    BOOST_TEST(world.client()->read_all(true).empty());
    BOOST_TEST(world.client()->read_all(true).empty());
    for (const auto& c : clients) {
        BOOST_TEST(!c->is_closed());
    }
    clients.pop_back(); // One ends, so there is room again.
    world.wait_for_pending(2);
    BOOST_TEST(world.with("").status == 200);
    clients[0]->send(request_for("/nothing", world.where.port()));
    BOOST_TEST(http_answer(clients[0]->read_all()).status == 404);
}

BOOST_FIXTURE_TEST_CASE(a_connection_may_be_silent_for_a_minute, inspected) {
    const auto c = client();
    wait_for_pending(1);
    pass(60s - 1ms);
    BOOST_TEST(!c->is_closed());
    pass(1ms);
    BOOST_TEST(c->read_all().empty());

    const auto d = client(); // The same after an answer.
    d->send("GET /nothing HTTP/1.1\r\nHost: localhost:" + port() + "\r\n\r\n");
    BOOST_TEST(http_answer(d->read_until("/events.\n")).status == 404);
    poll();
    pass(60s - 1ms);
    BOOST_TEST(!d->is_closed());
    pass(1ms);
    BOOST_TEST(d->read_all().empty());
}

BOOST_FIXTURE_TEST_CASE(a_request_in_drops_is_closed_after_five_seconds, inspected) {
    const auto c = client();
    wait_for_pending(1);
    pass(30s);
    c->send("GET / HTTP/1.1\r\nX: ");
    const auto read = [&] { // Until the inspector has read what was sent.
        for (int i = 0; i < 100; ++i) {
            poll();
            std::this_thread::sleep_for(1ms);
        }
    };
    read();
    for (int i = 0; i < 49; ++i) {
        pass(100ms);
        c->send("x");
    }
    read();
    BOOST_TEST(!c->is_closed());
    pass(100ms);
    BOOST_TEST(c->read_all(true).empty());
}

BOOST_AUTO_TEST_CASE(it_listens_on_loopback_unless_told_otherwise) {
    asio::io_context ctx;
    const inspector it(ctx);
    BOOST_TEST(it.port() != 0);
    BOOST_TEST(it.url() == "http://127.0.0.1:" + std::to_string(it.port()) + "/");
    BOOST_TEST(get(it, "/").status == 200);
}

#ifdef __linux__ // There, all of 127.0.0.0/8 is this machine.
BOOST_AUTO_TEST_CASE(another_address_can_be_given) {
    inspected world({.address = "127.0.0.2"});
    BOOST_TEST(world.where.address() == asio::ip::make_address("127.0.0.2"));
    BOOST_TEST(world.with_host("127.0.0.2:" + world.port()) == 200);
    BOOST_TEST(world.with_host("127.0.0.3:" + world.port()) == 421);
    BOOST_TEST(world.with_host("example.org:" + world.port()) == 421);
}
#endif

// There, an address of IPv4 has the form of IPv6.
BOOST_AUTO_TEST_CASE(an_address_of_ipv4_names_a_server_that_listens_on_both) {
    const auto reached = [](const char* host, const char* here) {
        return asio_wheel::detail::is_own_host(host, {asio::ip::make_address(here), 80}, {});
    };
    BOOST_TEST(reached("192.0.2.1", "::ffff:192.0.2.1"));
    BOOST_TEST(!reached("192.0.2.2", "::ffff:192.0.2.1"));
    BOOST_TEST(!reached("192.0.2.1", "2001:db8::1"));
    BOOST_TEST(reached("[2001:DB8::1]", "2001:db8::1"));
}

BOOST_AUTO_TEST_CASE(a_link_local_address_has_no_zone_in_a_host) {
    const asio::ip::address_v6 here(asio::ip::make_address_v6("fe80::1").to_bytes(), 2);
    BOOST_TEST(asio_wheel::detail::is_own_host("[fe80::1]", {here, 80}, {}));
    BOOST_TEST(!asio_wheel::detail::is_own_host("[fe80::2]", {here, 80}, {}));
}

BOOST_AUTO_TEST_CASE(a_host_without_a_port_has_port_80_also_if_that_is_allowed) {
    const auto allowed = [](const char* host, const char* name) {
        return asio_wheel::detail::is_own_host(host, {}, {name});
    };
    BOOST_TEST(allowed("example.org", "example.org:80"));
    BOOST_TEST(!allowed("example.org", "example.org:81"));
    BOOST_TEST(allowed("example.org:81", "example.org"));
}

// Nobody can connect to 0.0.0.0 by that name.
BOOST_AUTO_TEST_CASE(the_url_leads_to_the_page_also_if_it_listens_on_all_addresses) {
    asio::io_context ctx;
    const inspector it(ctx, {.address = "0.0.0.0"});
    const std::string host = "localhost:" + std::to_string(it.port());
    BOOST_TEST(it.url() == "http://" + host + "/");
    http_client c(where(it));
    c.send("GET /nothing HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    BOOST_TEST(http_answer(c.read_all()).status == 404);
}

BOOST_FIXTURE_TEST_CASE(a_port_that_is_taken_is_named, inspected) {
    const auto says_so = [&](const boost::system::system_error& e) {
        const std::string text = e.what();
        BOOST_TEST(text.find("cannot listen on 127.0.0.1:" + port()) != std::string::npos, text);
        return e.code() == asio::error::address_in_use;
    };
    const inspector_options same{.port = where.port()};
    BOOST_CHECK_EXCEPTION(inspector(ctx, same), boost::system::system_error, says_so);
    BOOST_TEST(with("").status == 200, "the first one is not disturbed");
}

BOOST_FIXTURE_TEST_CASE(options_that_cannot_be_used_are_named, inspected) {
    const auto check = [&](inspector_options options, const std::string& name) {
        BOOST_CHECK_EXCEPTION(inspector(ctx, std::move(options)), std::invalid_argument,
                              [&](const std::invalid_argument& e) {
                                  return std::string(e.what()).find(name) != std::string::npos;
                              });
    };
    check({.period = 9ms}, "inspector_options::period is 9");
    check({.period = -1ms}, "inspector_options::period is -1");
    check({.history = -1min}, "inspector_options::history is -1");
    check({.history = 10081min}, "inspector_options::history is 10081");
    check({.limits = {.warning = 2s, .critical = 1s}},
          "inspector_options::limits.critical is 1000000000");
    check({.max_connections = 0}, "inspector_options::max_connections is 0");
    check({.name = ""}, "the name of an inspected wheel");
    check({.address = "local\nhost"}, "inspector_options::address is \"local\\nhost\"");
    BOOST_TEST(with("").status == 200, "the first one is not disturbed");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
