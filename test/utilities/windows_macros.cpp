// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: off

// windows.h defines macros with common names. Asio includes it on Windows, and a program may have
// done so before, without NOMINMAX. No header of ours uses such a name.
//
// It is enough to compile this. On other systems, the macros are defined here. That is stricter,
// because libstdc++ removes some of them. Headers of others come first: they care for themselves.

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN // Asio requires winsock2.h before winsock.h.
#include <winsock2.h>
// winsock2.h must be first.
#include <windows.h>
#endif

#include <boost/asio.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/assert.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/config.hpp>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/rbtree.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/slist.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <bit>
#include <charconv>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <iomanip>
#include <ranges>
#include <source_location>
#include <vector>

// NOLINTBEGIN
#undef min
#undef max
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#ifndef _WIN32
#define CALLBACK __stdcall
#define CONST const
#define DELETE 0x00010000L
#define DOMAIN 1
#define ERROR 0
#define FALSE 0
#define IGNORE 0
#define IN
#define INFINITE 0xFFFFFFFF
#define NO_ERROR 0L
#define OPTIONAL
#define OUT
#define STRICT 1
#define TRUE 1
#define VOID void
#define Yield()
#define cdecl __cdecl
#define far
#define hyper __int64
#define interface struct
#define near
#define pascal __stdcall
#define small char
#endif
// NOLINTEND

#include <asio_wheel.hpp>

#include <asio_wheel/beast.hpp>

#undef min
#undef max

namespace {

template <class T>
constexpr bool is_instantiated = sizeof(T) != 0;

// Macros are replaced in templates, too. So what matters is that they are parsed.
BOOST_AUTO_TEST_CASE(our_headers_use_no_name_that_windows_h_defines) {
    boost::asio::io_context ctx;
    asio_wheel::steady_timer t(ctx, std::chrono::hours(1));
    bool cancelled = false;
    t.async_wait([&](const boost::system::error_code& ec) { cancelled = static_cast<bool>(ec); });
    t.cancel();
    ctx.run();
    BOOST_TEST(cancelled);
    BOOST_TEST(is_instantiated<asio_wheel::delay_queue<int>>);
    BOOST_TEST(is_instantiated<asio_wheel::scheduler>);
}

} // namespace
