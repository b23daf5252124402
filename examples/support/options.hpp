// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Parses command lines of the form `--name value` and `--name`.

#ifndef DEMO_OPTIONS_HPP
#define DEMO_OPTIONS_HPP

#include "option.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace demo {

class command_line {
public:
    command_line(std::string program, std::string purpose, std::vector<option> options)
        : program_(std::move(program)), purpose_(std::move(purpose)), options_(std::move(options)) {
    }

    /// Stores the values. Exits with 0 after --help, and with 2 at the first error.
    void parse(int argc, char** argv) const {
        for (int i = 1; i < argc; ++i) {
            const std::string name = argv[i];
            if (name == "--help" || name == "-h") {
                help();
                std::exit(0);
            }
            const option& wanted = find(name);
            if (auto* flag = std::get_if<bool*>(&wanted.value)) {
                **flag = true;
            } else if (++i == argc) {
                fail(name + ": missing value: " + range(wanted));
            } else {
                store(wanted, argv[i]);
            }
        }
    }

    [[noreturn]] void fail(const std::string& error) const {
        std::fprintf(stderr, "%s: %s (see %s --help)\n", program_.c_str(), error.c_str(),
                     program_.c_str());
        std::exit(2);
    }

private:
    const option& find(const std::string& name) const {
        for (const option& o : options_) {
            if (o.name == name) {
                return o;
            }
        }
        fail(name + ": unknown option");
    }

    void store(const option& o, const std::string& text) const {
        if (auto* words = std::get_if<std::string*>(&o.value)) {
            **words = text;
            return;
        }
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool whole = std::holds_alternative<int*>(o.value);
        // Written so that NaN is rejected too.
        const bool good = !text.empty() && *end == '\0' && number >= o.min && number <= o.max &&
                          (!whole || number == std::floor(number));
        if (!good) {
            fail(o.name + ": '" + text + "' is not " + range(o));
        }
        if (whole) {
            *std::get<int*>(o.value) = static_cast<int>(number);
        } else {
            *std::get<double*>(o.value) = number;
        }
    }

    void help() const {
        std::printf("usage: %s [OPTION...]\n\n%s\n\n", program_.c_str(), purpose_.c_str());
        for (const option& o : options_) {
            explain(o);
        }
        std::printf("  %-18s print this help\n", "--help");
    }

    std::string program_;
    std::string purpose_;
    std::vector<option> options_;
};

} // namespace demo

#endif
