// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Text of users, such as tags, in what the library writes. It may be anything: what cannot be
// written as it is, is replaced. For each target one function knows how: printable() for people,
// json_writer for JSON, and the document of openmetrics.cpp for metrics. All of them take the text
// apart with next_character().

#ifndef ASIO_WHEEL_DETAIL_TEXT_HPP
#define ASIO_WHEEL_DETAIL_TEXT_HPP

#include <chrono>
#include <string>
#include <string_view>

namespace asio_wheel::detail {

/// A character of UTF-8, or a byte that belongs to none.
struct character {
    static constexpr char32_t none = 0x110000;

    std::string_view bytes; ///< As they are in the text.
    char32_t code;          ///< `none` if it is no character.
};

/// What is written in place of a byte that belongs to no character: U+FFFD.
inline constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Takes the first character away from `text`, which is not empty.
[[nodiscard]] character next_character(std::string_view& text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// For people, who read it in one line of a terminal or of a log: control characters, what changes
/// the direction of text, and bytes that are no characters come as `\n`, `\x1b` or `\u202e`. A
/// backslash is doubled, so different texts stay different.
[[nodiscard]] std::string printable(std::string_view text);

/// A duration for people: in the largest unit of which there is at least one, with three digits,
/// rounded down, such as `1.50 s`.
[[nodiscard]] std::string short_time(std::chrono::nanoseconds d);

} // namespace asio_wheel::detail

#endif
