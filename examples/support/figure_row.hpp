// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef DEMO_FIGURE_ROW_HPP
#define DEMO_FIGURE_ROW_HPP

#include "outcome.hpp"
#include "record.hpp"
#include "verdict.hpp"

namespace demo {

/// A line of the table: a number that one of the processes has reported.
struct figure_row {
    const char* title;
    int decimals;
    record outcome::* side;
    const char* name;
    better good = better::neither;
};

} // namespace demo

#endif
