// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The format in which server and load generator report their figures to the demo: one line of named
// numbers.

#ifndef DEMO_RECORD_HPP
#define DEMO_RECORD_HPP

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace demo {

using record = std::map<std::string, double>;

inline void print_result(const record& values) {
    std::printf("result");
    for (const auto& [name, value] : values) {
        std::printf(" %s=%.15g", name.c_str(), value);
    }
    std::printf("\n");
    std::fflush(stdout);
}

/// Returns the numbers of a line that `print_result` wrote, or nothing for any other line.
inline std::optional<record> parse_result(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != "result") {
        return std::nullopt;
    }
    record values;
    while (words >> word) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            return std::nullopt;
        }
        values[word.substr(0, equals)] = std::strtod(word.c_str() + equals + 1, nullptr);
    }
    return values;
}

} // namespace demo

#endif
