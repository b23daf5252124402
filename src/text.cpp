// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/text.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace asio_wheel::detail {
namespace {

// The length of the character at the beginning of `text`, which is not empty; 0 if there is none.
std::size_t length_of_first(std::string_view text) noexcept {
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

char32_t decoded(std::string_view bytes) noexcept {
    const auto first = static_cast<unsigned char>(bytes.front());
    if (bytes.size() == 1) {
        return first;
    }
    char32_t code = first & (0x7FU >> bytes.size()); // The first byte tells the length, too.
    for (const char c : bytes.substr(1)) {
        code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    }
    return code;
}

// Controls, ends of lines and paragraphs, and what changes the direction of text.
bool changes_the_line(char32_t code) noexcept {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x206F) || code == 0xFEFF;
}

void append_hex(std::string& out, unsigned value, unsigned digits) {
    while (digits > 0) {
        out += "0123456789abcdef"[value >> 4 * --digits & 0xFU];
    }
}

void append_escaped(std::string& out, const character& c) {
    out += '\\';
    if (c.code == '\n' || c.code == '\r' || c.code == '\t') {
        out += c.code == '\n' ? 'n' : c.code == '\r' ? 'r' : 't';
    } else if (c.bytes.size() == 1) {
        out += 'x';
        append_hex(out, static_cast<unsigned char>(c.bytes.front()), 2);
    } else {
        out += 'u';
        append_hex(out, static_cast<unsigned>(c.code), 4);
    }
}

} // namespace

character next_character(std::string_view& text) noexcept {
    const std::size_t length = length_of_first(text);
    const character first{text.substr(0, length == 0 ? 1 : length),
                          length == 0 ? character::none : decoded(text.substr(0, length))};
    text.remove_prefix(first.bytes.size());
    return first;
}

bool is_utf8(std::string_view text) noexcept {
    bool good = true;
    while (good && !text.empty()) {
        good = next_character(text).code != character::none;
    }
    return good;
}

std::string printable(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const character c = next_character(text);
        if (c.code == '\\') {
            out += "\\\\";
        } else if (c.code == character::none || changes_the_line(c.code)) {
            append_escaped(out, c);
        } else {
            out += c.bytes;
        }
    }
    return out;
}

std::string short_time(std::chrono::nanoseconds d) {
    struct unit {
        std::uint64_t ns;
        const char* name;
    };
    constexpr std::uint64_t second = 1'000'000'000;
    constexpr std::array units{unit{86'400 * second, " d"}, unit{3'600 * second, " h"},
                               unit{60 * second, " min"},   unit{second, " s"},
                               unit{1'000'000, " ms"},      unit{1'000, " us"}};
    const bool negative = d.count() < 0;
    const auto count = static_cast<std::uint64_t>(d.count());
    const std::uint64_t ns = negative ? std::uint64_t{0} - count : count;
    std::string text = negative ? "-" : "";
    for (const unit& u : units) {
        if (ns >= u.ns) {
            const std::uint64_t whole = ns / u.ns;
            text += std::to_string(whole);
            if (whole < 100) {
                const std::string hundredths = std::to_string(ns % u.ns / (u.ns / 100) + 100);
                text += '.' + hundredths.substr(1, whole < 10 ? 2 : 1);
            }
            return text + u.name;
        }
    }
    return text + std::to_string(ns) + " ns";
}

} // namespace asio_wheel::detail
