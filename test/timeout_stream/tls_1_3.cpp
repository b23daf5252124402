// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: tls
// requires: openssl

// Deadlines of messages and TLS 1.3, whose server sends session tickets after the handshake: bytes
// that belong to no message of the program.

#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <openssl/evp.h>
#include <openssl/rsa.h> // EVP_RSA_gen()
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace {

using namespace asio_wheel::test;
namespace ssl = boost::asio::ssl;
using asio_wheel::timeout_stream;

// A server with a certificate of its own making, and a client that takes any.
struct tls_1_3 : virtual_world {
    ssl::context server_tls{ssl::context::tlsv13_server};
    ssl::context client_tls{ssl::context::tlsv13_client};
    std::optional<ssl::stream<paired::socket>> made; // With the certificate.
    std::array<char, 100> memory{};
    std::string story;

    tls_1_3() {
        EVP_PKEY* const key = EVP_RSA_gen(2048);
        X509* const certificate = X509_new();
        X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
        X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 60 * 60);
        X509_set_pubkey(certificate, key);
        X509_sign(certificate, key, EVP_sha256());
        BOOST_TEST_REQUIRE(SSL_CTX_use_certificate(server_tls.native_handle(), certificate) == 1);
        BOOST_TEST_REQUIRE(SSL_CTX_use_PrivateKey(server_tls.native_handle(), key) == 1);
        X509_free(certificate);
        EVP_PKEY_free(key);
        made.emplace(ctx, server_tls);
    }

    [[nodiscard]] auto& server() { return *made; }

    void settle() {
        for (int i = 0; i < 20; ++i) {
            poll();
        }
    }
    template <class Client>
    void handshake(Client& client) {
        int done = 0;
        const auto note = [&](error_code ec) { done += ec ? 100 : 1; };
        server().async_handshake(ssl::stream_base::server, note);
        client.async_handshake(ssl::stream_base::client, note);
        settle();
        BOOST_TEST_REQUIRE(done == 2);
    }
    template <class Client>
    void read(Client& client) {
        client.async_read_some(asio::buffer(memory), [this, &client](error_code ec, std::size_t n) {
            story += ec == std::errc::timed_out ? "late" : ec ? ec.message() : "";
            story += std::string(memory.data(), n);
            if (!ec) {
                read(client);
            }
        });
    }
    void send(const std::string& text) {
        asio::write(server(), asio::buffer(text));
        settle();
    }
    void after(std::chrono::milliseconds d) {
        pass(d);
        settle();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_tls_1_3, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(below_tls_a_session_ticket_begins_the_message, tls_1_3) {
    ssl::stream<timeout_stream<paired::socket>> client(ctx, client_tls);
    connect_pair(server().lowest_layer(), client.next_layer().socket());
    handshake(client);
    client.next_layer().read_expires_after(1min);
    client.next_layer().message_expires_after(200ms);
    read(client);
    settle();
    after(200ms);
    BOOST_TEST(story == "late"); // The server has not begun to answer.
}

BOOST_FIXTURE_TEST_CASE(above_tls_the_first_byte_of_the_message_begins_it, tls_1_3) {
    timeout_stream<ssl::stream<paired::socket>> client(ctx, client_tls);
    connect_pair(server().lowest_layer(), client.lowest_layer());
    handshake(client.socket());
    client.read_expires_after(1min);
    client.message_expires_after(200ms);
    read(client);
    settle();
    after(600ms);
    BOOST_TEST(story == "");
    send("ans");
    after(199ms);
    send("wer");
    BOOST_TEST(story == "answer");
    after(1ms);
    BOOST_TEST(story == "answerlate");
}

BOOST_FIXTURE_TEST_CASE(above_tls_a_handshake_has_the_deadline_of_its_token, tls_1_3) {
    timeout_stream<ssl::stream<paired::socket>> client(ctx, client_tls);
    connect_pair(server().lowest_layer(), client.lowest_layer());
    error_code result;
    client.socket().async_handshake(ssl::stream_base::client,
                                    asio_wheel::timeout(10s, [&](error_code ec) { result = ec; }));
    settle();
    after(10s);
    BOOST_TEST((result == std::errc::timed_out));
}

BOOST_AUTO_TEST_SUITE_END()
