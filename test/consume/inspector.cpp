// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program with an inspector. Without CMake, it compiles the inspector's source itself.

#include <asio_wheel/inspector.hpp>

#ifdef COMPILE_INSPECTOR
#include <asio_wheel/src/inspector/inspector.cpp>
#endif

#include <boost/asio/io_context.hpp>

#include <iostream>

int main() {
    boost::asio::io_context context;
    const asio_wheel::inspector inspector(context);
    std::cout << inspector.url() << '\n';
    return inspector.port() == 0 ? 1 : 0;
}
