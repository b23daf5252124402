// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// TLS without certificates, because both ends know a secret; and their handshakes.

#ifndef ASIO_WHEEL_TEST_SUPPORT_TLS_SECRET_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TLS_SECRET_HPP

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/system/error_code.hpp>

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace asio_wheel::test {

inline unsigned int copy_secret(unsigned char* psk, unsigned int max_psk) {
    constexpr std::array<unsigned char, 5> secret{1, 2, 3, 4, 5};
    const std::size_t n = std::min<std::size_t>(max_psk, secret.size());
    std::copy_n(secret.begin(), n, psk);
    return static_cast<unsigned int>(n);
}

inline unsigned int client_secret(SSL*, const char*, char* identity, unsigned int max_identity,
                                  unsigned char* psk, unsigned int max_psk) {
    std::strncpy(identity, "client", max_identity);
    return copy_secret(psk, max_psk);
}

inline unsigned int server_secret(SSL*, const char*, unsigned char* psk, unsigned int max_psk) {
    return copy_secret(psk, max_psk);
}

/// A context of TLS 1.2 for both ends.
[[nodiscard]] inline boost::asio::ssl::context tls_with_secret() {
    boost::asio::ssl::context tls(boost::asio::ssl::context::tlsv12);
    SSL_CTX_set_cipher_list(tls.native_handle(), "PSK-AES128-CBC-SHA256:PSK");
    SSL_CTX_set_psk_client_callback(tls.native_handle(), &client_secret);
    SSL_CTX_set_psk_server_callback(tls.native_handle(), &server_secret);
    return tls;
}

/// Performs both handshakes, while `settle` runs their context. Whether both have succeeded.
template <class Server, class Client, class Settle>
[[nodiscard]] bool shake_hands(Server& server, Client& client, Settle settle) {
    int done = 0;
    const auto note = [&](boost::system::error_code ec) { done += ec ? 100 : 1; };
    server.async_handshake(boost::asio::ssl::stream_base::server, note);
    client.async_handshake(boost::asio::ssl::stream_base::client, note);
    settle();
    return done == 2;
}

} // namespace asio_wheel::test

#endif
