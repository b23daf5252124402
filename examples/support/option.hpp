// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One option of a command line, and how it is explained.

#ifndef DEMO_OPTION_HPP
#define DEMO_OPTION_HPP

#include <cstdio>
#include <string>
#include <variant>

namespace demo {

struct option {
    std::string name;
    std::variant<bool*, int*, double*> value;
    std::string meaning;
    double min = 0;
    double max = 0;
};

/// A number as a person would write it.
inline std::string shown(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
}

/// The values that an option may have.
inline std::string range(const option& o) {
    const bool whole = std::holds_alternative<int*>(o.value);
    return (whole ? "a whole number from " : "a number from ") + shown(o.min) + " to " +
           shown(o.max);
}

/// Its lines of --help.
inline void explain(const option& o) {
    const bool flag = std::holds_alternative<bool*>(o.value);
    std::printf("  %-18s %s\n", (o.name + (flag ? "" : " N")).c_str(), o.meaning.c_str());
    if (!flag) {
        std::printf("  %-18s %s\n", "", range(o).c_str());
    }
}

} // namespace demo

#endif
