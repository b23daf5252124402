// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The page of an inspector: one document, with its style and its script inside, which needs nothing
// from elsewhere. The parts are string literals of less than 16 kB, the limit of some compilers.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_HPP

#include "page_body.hpp"
#include "page_charts.hpp"
#include "page_history.hpp"
#include "page_script.hpp"
#include "page_style.hpp"
#include "page_tables.hpp"
#include "page_wheel.hpp"

#include <string>
#include <string_view>

namespace asio_wheel::detail {

/// The document. A browser runs only the script, and applies only the style, that has the nonce.
[[nodiscard]] inline std::string inspector_page(std::string_view nonce) {
    std::string page;
    const auto append = [&](auto... parts) { ((page += parts), ...); };
    append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<title>asio-wheel inspector</title>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<style nonce=\"",
           nonce, "\">", page_style, "</style>\n</head>\n<body>", page_body, "<script nonce=\"",
           nonce, "\">\"use strict\";", page_charts, page_wheel, page_tables, page_history,
           page_script, "</script>\n</body>\n</html>\n");
    return page;
}

} // namespace asio_wheel::detail

#endif
