// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ECHO_WORK_HPP
#define ECHO_WORK_HPP

#include "../support/coroutine.hpp"

namespace echo {

using namespace demo;

/// What a handler does in place of a server's work.
inline void work_for(steady_clock::duration d) {
    for (const auto end = steady_clock::now() + d; steady_clock::now() < end;) {
    }
}

} // namespace echo

#endif
