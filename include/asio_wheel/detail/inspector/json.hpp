// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Writes JSON. Boost.JSON would do more than is needed here, and would have to be compiled into
// every program that includes inspector.hpp.

#ifndef ASIO_WHEEL_DETAIL_INSPECTOR_JSON_HPP
#define ASIO_WHEEL_DETAIL_INSPECTOR_JSON_HPP

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace asio_wheel::detail {

/// The length of the UTF-8 character at the beginning of `text`, which is not empty; 0 if there is
/// none.
[[nodiscard]] inline std::size_t utf8_character(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        // Besides continuation bytes, exclude long forms, surrogates, and what is above U+10FFFF.
        const unsigned char least = i > 1           ? 0x80
                                    : first == 0xE0 ? 0xA0
                                    : first == 0xF0 ? 0x90
                                                    : 0x80;
        const unsigned char most = i > 1           ? 0xBF
                                   : first == 0xED ? 0x9F
                                   : first == 0xF4 ? 0x8F
                                                   : 0xBF;
        if (byte(i) < least || byte(i) > most) {
            return 0;
        }
    }
    return length;
}

[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_character(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

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
            const std::size_t length = utf8_character(text);
            if (length == 0) {
                out_ += "\xEF\xBF\xBD";
                text.remove_prefix(1);
                continue;
            }
            append_character(text.substr(0, length));
            text.remove_prefix(length);
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

    void append_character(std::string_view character) {
        const char c = character.front();
        if (c == '"' || c == '\\') {
            out_ += '\\';
            out_ += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            constexpr std::string_view hex = "0123456789abcdef";
            out_ += "\\u00";
            out_ += hex[static_cast<unsigned char>(c) >> 4U];
            out_ += hex[static_cast<unsigned char>(c) & 0xFU];
        } else {
            out_ += character;
        }
    }

    std::string& out_;
};

} // namespace asio_wheel::detail

#endif
