// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which requests the inspector answers. A page of another site, open in a browser on this machine,
// can send requests to this machine too. Three rules keep it from reading anything:
//
//  - The header Host must name this machine. A site that resolves its own name to 127.0.0.1 (DNS
//    rebinding) sends its own name there.
//  - If there is a header Origin, it must be the same as Host. Browsers send it with requests that
//    scripts of other sites make, and those cannot change it.
//  - If the browser says that another site makes the request (Sec-Fetch-Site), it must be for a
//    document of its own (Sec-Fetch-Mode and Sec-Fetch-Dest): a link that was followed, an address
//    that a window was sent to. All else is a part of a page: a frame is a navigation, too, but its
//    destination is iframe, embed, object or the like. Browsers of before 2020 send no destination.
//
// Browsers send Sec-Fetch-* only to addresses that they trust: to localhost, 127.0.0.1 and [::1],
// and by HTTPS, which a proxy may add. So the headers of an answer say the same once more: no page
// may frame it, and none of another site may use it.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_REQUESTS_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_REQUESTS_HPP

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_wheel::detail {

using inspector_request = boost::beast::http::request_header<boost::beast::http::fields>;

/// A header of a request, or an empty string.
[[nodiscard]] inline std::string_view field_of(const inspector_request& request,
                                               boost::beast::http::field name) {
    const auto found = request.find(name);
    return found == request.end() ? std::string_view()
                                  : std::string_view(found->value().data(), found->value().size());
}

/// The value of a header; nothing if it is not there. If it is there more than once, no value is
/// right: then it is empty.
[[nodiscard]] inline std::optional<std::string_view> only_field(const inspector_request& request,
                                                                std::string_view name) {
    const auto [first, last] =
        request.equal_range(boost::beast::string_view(name.data(), name.size()));
    if (first == last) {
        return std::nullopt;
    }
    return std::next(first) != last
               ? std::string_view()
               : std::string_view(first->value().data(), first->value().size());
}

[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) noexcept {
    return boost::beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

/// The value of a header Host: a name or an address, and a port.
struct host_and_port {
    std::string_view host;
    std::string_view port; ///< Empty if there is none.

    explicit host_and_port(std::string_view text) noexcept : host(text) {
        const std::size_t bracket = text.rfind(']'); // The end of an IPv6 address.
        const std::size_t colon = text.rfind(':');
        if (colon != std::string_view::npos &&
            (bracket == std::string_view::npos || bracket < colon)) {
            host = text.substr(0, colon);
            port = text.substr(colon + 1);
        }
    }
};

/// Whether `text`, with brackets if it is an IPv6 address, is this address, as clients write it.
/// (make_address() of some systems also understands other forms, such as one large number.) A
/// socket that listens on `::` gives an address of IPv4 in the form of IPv6.
[[nodiscard]] inline bool is_address(std::string_view text, boost::asio::ip::address a) {
    namespace ip = boost::asio::ip;
    if (a.is_v6()) { // Clients write no zone.
        a = ip::address_v6(a.to_v6().to_bytes());
    }
    if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
        text = text.substr(1, text.size() - 2);
    }
    return same_name(text, a.to_string()) ||
           (a.is_v6() && a.to_v6().is_v4_mapped() &&
            text == ip::make_address_v4(ip::v4_mapped, a.to_v6()).to_string());
}

/// Whether a Host names this machine: localhost, 127.0.0.1, [::1], or the address that the client
/// has connected to, each with the port of the connection; or one of the allowed names. An allowed
/// name without a port allows any.
[[nodiscard]] inline bool is_own_host(std::string_view text,
                                      const boost::asio::ip::tcp::endpoint& here,
                                      const std::vector<std::string>& allowed) {
    const host_and_port own(text);
    const std::string_view port = own.port.empty() ? "80" : own.port;
    const auto names_it = [&](const std::string& name) {
        const host_and_port entry(name);
        return !own.host.empty() && same_name(entry.host, own.host) &&
               (entry.port.empty() || entry.port == port);
    };
    if (std::any_of(allowed.begin(), allowed.end(), names_it)) {
        return true;
    }
    if (port != std::to_string(here.port())) {
        return false;
    }
    return same_name(own.host, "localhost") || own.host == "127.0.0.1" || own.host == "[::1]" ||
           is_address(own.host, here.address());
}

/// Whether a request comes from this site, from the user, from no browser, or from a link that was
/// followed. Not if the answer is for a part of another site's page.
[[nodiscard]] inline bool is_of_own_page_or_a_link(const inspector_request& request) {
    const auto site = only_field(request, "Sec-Fetch-Site").value_or("none");
    return site == "same-origin" || site == "none" ||
           (only_field(request, "Sec-Fetch-Mode") == "navigate" &&
            only_field(request, "Sec-Fetch-Dest").value_or("document") == "document");
}

/// A reason to refuse a request.
struct inspector_refusal {
    boost::beast::http::status status;
    std::string_view reason;
};

/// Checks a request that came to the address `here`.
[[nodiscard]] inline std::optional<inspector_refusal>
refusal_of(const inspector_request& request, const boost::asio::ip::tcp::endpoint& here,
           const std::vector<std::string>& allowed_hosts) {
    namespace http = boost::beast::http;
    using http::status;
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
        return inspector_refusal{status::method_not_allowed, "Only GET and HEAD are allowed here."};
    }
    const auto host = field_of(request, http::field::host);
    if (request.count(http::field::host) > 1) {
        return inspector_refusal{status::bad_request, "There is more than one header Host."};
    }
    if (!is_own_host(host, here, allowed_hosts)) {
        return inspector_refusal{
            status::misdirected_request,
            "The header Host does not name this server. Use localhost, or name the host in "
            "inspector_options::allowed_hosts."};
    }
    const std::string own_origin = "http://" + std::string(host);
    if (!same_name(only_field(request, "Origin").value_or(own_origin), own_origin) ||
        !is_of_own_page_or_a_link(request)) {
        return inspector_refusal{status::forbidden, "Another site makes this request."};
    }
    return std::nullopt;
}

/// A number from 0 to 1 as RFC 9110 writes it, with up to three digits after the point.
[[nodiscard]] inline int thousandths(std::string_view text) noexcept {
    if (text.empty() || text.front() != '0') {
        return 1000;
    }
    int value = 0;
    for (std::size_t i = 2, unit = 100; i < text.size() && unit > 0; ++i, unit /= 10) {
        if (text[i] < '0' || text[i] > '9') {
            break;
        }
        value += (text[i] - '0') * static_cast<int>(unit);
    }
    return value;
}

/// The weight, 0 … 1000, that a header Accept gives to a media type by its name. 0 if it does not
/// name it.
[[nodiscard]] inline int weight_of(std::string_view accept, std::string_view type) {
    int best = 0;
    while (!accept.empty()) {
        const std::size_t comma = (std::min)(accept.find(','), accept.size());
        std::string_view entry = accept.substr(0, comma);
        accept.remove_prefix(std::min(comma + 1, accept.size()));
        int weight = 1000;
        bool matches = false;
        for (bool name = true; !entry.empty(); name = false) {
            const std::size_t semicolon = (std::min)(entry.find(';'), entry.size());
            std::string_view part = entry.substr(0, semicolon);
            entry.remove_prefix(std::min(semicolon + 1, entry.size()));
            part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
            part.remove_suffix(part.size() - (part.find_last_not_of(" \t") + 1));
            if (name) {
                matches = same_name(part, type);
            } else if (part.starts_with("q=") || part.starts_with("Q=")) {
                weight = thousandths(part.substr(2));
            }
        }
        best = matches ? (std::max)(best, weight) : best;
    }
    return best;
}

/// Whether a client prefers OpenMetrics to the older text format of Prometheus.
[[nodiscard]] inline bool prefers_openmetrics(std::string_view accept) {
    const int weight = weight_of(accept, "application/openmetrics-text");
    return weight > 0 && weight >= weight_of(accept, "text/plain");
}

} // namespace asio_wheel::detail

#endif
