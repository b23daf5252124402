// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A line of text that the server sends.

#ifndef CHAT_MESSAGE_HPP
#define CHAT_MESSAGE_HPP

#include <memory>
#include <string>

namespace chat {

/// A message to several peers shares its text.
using message = std::shared_ptr<const std::string>;

inline message line(std::string text) {
    text += '\n';
    return std::make_shared<const std::string>(std::move(text));
}

} // namespace chat

#endif
