// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Writes JSON. Boost.JSON would do more than is needed here, and would have to be compiled into
// every program that includes inspector.hpp.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_JSON_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_JSON_HPP

#include <asio_wheel/detail/text.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <string>
#include <string_view>

namespace asio_wheel::detail {

/// Appends to a string. The caller opens and closes objects and arrays in the right order; the
/// writer adds commas, and escapes strings. A byte that is not UTF-8 becomes U+FFFD.
class json_writer {
public:
    explicit json_writer(std::string& out) noexcept : out_(out) {}

    json_writer& open(char bracket) {
        separate();
        out_ += bracket;
        return *this;
    }
    json_writer& close(char bracket) {
        out_ += bracket;
        return *this;
    }
    json_writer& key(std::string_view name) {
        value(name);
        out_ += ':';
        return *this;
    }

    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    json_writer& value(Number number) {
        separate();
        std::array<char, 24> digits; // Enough for 64 bits.
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        out_.append(digits.data(), end);
        return *this;
    }
    json_writer& value(std::chrono::nanoseconds d) { return value(d.count()); }
    json_writer& value(std::same_as<bool> auto yes) {
        separate();
        out_ += yes ? "true" : "false";
        return *this;
    }
    json_writer& value(std::string_view text) {
        separate();
        out_ += '"';
        while (!text.empty()) {
            append(next_character(text));
        }
        out_ += '"';
        return *this;
    }

    template <class Value>
    json_writer& member(std::string_view name, const Value& v) {
        return key(name).value(v);
    }

private:
    // A value follows another one unless it is the first of its object or array, or has a key.
    void separate() {
        if (!out_.empty() && std::string_view("[{:").find(out_.back()) == std::string_view::npos) {
            out_ += ',';
        }
    }

    void append(const character& c) {
        if (c.code == character::none) {
            out_ += replacement;
        } else if (c.code == '"' || c.code == '\\') {
            (out_ += '\\') += c.bytes;
        } else if (c.code < 0x20) {
            constexpr std::string_view hex = "0123456789abcdef";
            out_ += "\\u00";
            out_ += hex[c.code >> 4U];
            out_ += hex[c.code & 0xFU];
        } else {
            out_ += c.bytes;
        }
    }

    std::string& out_;
};

} // namespace asio_wheel::detail

#endif
