// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A command-line option and its help text.

#ifndef DEMO_OPTION_HPP
#define DEMO_OPTION_HPP

#include <cstdio>
#include <string>
#include <variant>

namespace demo {

struct option {
    std::string name;
    std::variant<bool*, int*, double*, std::string*> value;
    std::string meaning;
    double min = 0;
    double max = 0;
};

/// Formats a number without needless digits.
inline std::string shown(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
}

/// Describes the values that an option accepts.
inline std::string range(const option& o) {
    if (std::holds_alternative<std::string*>(o.value)) {
        return "a name";
    }
    const bool whole = std::holds_alternative<int*>(o.value);
    return (whole ? "an integer from " : "a number from ") + shown(o.min) + " to " + shown(o.max);
}

/// Prints the lines of an option in --help.
inline void explain(const option& o) {
    const bool flag = std::holds_alternative<bool*>(o.value);
    const bool text = std::holds_alternative<std::string*>(o.value);
    std::printf("  %-18s %s\n",
                (o.name + (flag   ? ""
                           : text ? " NAME"
                                  : " N"))
                    .c_str(),
                o.meaning.c_str());
    if (!flag && !text) {
        std::printf("  %-18s %s\n", "", range(o).c_str());
    }
}

} // namespace demo

#endif
