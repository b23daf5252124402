// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/openmetrics.hpp>

#include <asio_wheel/detail/metrics.hpp>
#include <asio_wheel/detail/text.hpp>

#include <boost/throw_exception.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace asio_wheel {
namespace {

using detail::metric;
using detail::tag_metric;
using std::chrono::nanoseconds;
using labels = std::vector<labelled_stats::label>;

bool is_label_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) && !name.starts_with("__") && name != "le" &&
           name != "kind" && name != "tag" && std::all_of(name.begin(), name.end(), [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9');
           });
}

// As the value of a label, which is UTF-8.
std::string escaped(std::string_view value) {
    std::string text;
    while (!value.empty()) {
        const detail::character c = detail::next_character(value);
        if (c.code == detail::character::none) {
            text += detail::replacement;
        } else if (c.code == '\n') {
            text += "\\n";
        } else {
            text += c.code == '\\' || c.code == '"' ? "\\" : "";
            text += c.bytes;
        }
    }
    return text;
}

// A tag that is not UTF-8 is written as report() prints it. So is one that might look like that, so
// that two tags do not come as one.
std::string escaped_tag(std::string_view tag) {
    const bool as_it_is = detail::is_utf8(tag) && tag.find('\\') == std::string_view::npos;
    return escaped(as_it_is ? std::string(tag) : detail::printable(tag));
}

// Labels with one more.
std::string with(std::string label_text, std::string_view name, std::string_view value) {
    label_text += label_text.empty() ? "" : ",";
    return label_text.append(name).append("=\"").append(value).append("\"");
}

void check_labels(const std::vector<labelled_stats>& wheels) {
    std::vector<labels> seen;
    for (const labelled_stats& wheel : wheels) {
        labels sorted = wheel.labels;
        for (auto& [name, value] : sorted) {
            value = escaped(value); // As a reader sees it: different bytes may come as the same.
        }
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const std::string& name = sorted[i].first;
            if (!is_label_name(name)) {
                BOOST_THROW_EXCEPTION(
                    std::invalid_argument("asio_wheel: \"" + detail::printable(name) +
                                          "\" is not a name for a label of a metric"));
            }
            if (i != 0 && name == sorted[i - 1].first) {
                BOOST_THROW_EXCEPTION(
                    std::invalid_argument("asio_wheel: the label \"" + name + "\" is there twice"));
            }
        }
        // An empty label is as none.
        std::erase_if(sorted, [](const auto& label) { return label.second.empty(); });
        if (std::find(seen.begin(), seen.end(), sorted) != seen.end()) {
            BOOST_THROW_EXCEPTION(
                std::invalid_argument("asio_wheel: two wheels have the same labels"));
        }
        seen.push_back(std::move(sorted));
    }
}

std::string written(std::uint64_t n) {
    return std::to_string(n);
}

// In seconds: 1'500'000 ns are 0.0015. Digits only, so that no locale can change them.
std::string written(nanoseconds d) {
    constexpr std::size_t decimals = 9;
    std::string text = std::to_string(d.count());
    if (text.size() <= decimals) {
        text.insert(0, decimals + 1 - text.size(), '0');
    }
    text.insert(text.size() - decimals, 1, '.');
    while (text.back() == '0') {
        text.pop_back();
    }
    if (text.back() == '.') {
        text += '0';
    }
    return text;
}

enum class format { openmetrics, prometheus };

// Of a metric, or of one by tag.
std::string_view suffix_of(const auto& m) {
    return m.type == "counter" ? "_total" : "";
}

// What comes before the samples. OpenMetrics names a counter without the suffix of its samples.
std::string header_of(const auto& m, format f) {
    std::string name = "asio_wheel_" + std::string(m.openmetrics);
    name += f == format::prometheus ? suffix_of(m) : "";
    std::string text = "# TYPE " + name + ' ' + std::string(m.type) + '\n';
    if (f == format::openmetrics && name.ends_with("_seconds")) {
        text += "# UNIT " + name + " seconds\n";
    }
    return text + "# HELP " + name + ' ' + std::string(m.help) + '\n';
}

// Appends the samples of a metric of one wheel, or of one tag.
template <class Metric>
struct append_samples {
    std::string& text;
    const Metric& m;
    const std::string& label_text; // Of the wheel, and of the tag.

    void operator()(auto value) const { append(suffix_of(m), label_text, written(value)); }

    void operator()(const counts_by_kind& counts) const {
        for (const wait_kind kind : all_wait_kinds) {
            append(suffix_of(m), with(label_text, "kind", to_string(kind)), written(counts[kind]));
        }
    }

    // With the limits of buckets in nanoseconds: 8 µs to 34 s.
    void operator()(const lateness_histogram& h) const {
        for (int power = 13; power <= 35; ++power) {
            const nanoseconds limit((std::int64_t{1} << power) - 1);
            append("_bucket", with(label_text, "le", written(limit)),
                   written(h.count_up_to(limit)));
        }
        append("_bucket", with(label_text, "le", "+Inf"), written(h.count()));
        append("_count", label_text, written(h.count()));
        append("_sum", label_text, written(h.sum()));
    }

    void append(std::string_view suffix, const std::string& all, const std::string& value) const {
        text.append("asio_wheel_").append(m.openmetrics).append(suffix);
        text.append(all.empty() ? "" : '{' + all + '}').append(" ").append(value).append("\n");
    }
};

std::string labels_of(const labelled_stats& wheel) {
    std::string all;
    for (const auto& [name, value] : wheel.labels) {
        all = with(all, name, escaped(value));
    }
    return all;
}

void append_tags(std::string& text, format f, const std::vector<labelled_stats>& wheels) {
    for (const tag_metric& m : detail::tag_metrics) {
        text += header_of(m, f);
        for (const labelled_stats& wheel : wheels) {
            for (const tag_stats& t : wheel.tags) {
                const std::string all = with(with(labels_of(wheel), "kind", to_string(t.kind)),
                                             "tag", escaped_tag(t.tag));
                std::visit(
                    [&](auto member) { append_samples<tag_metric>{text, m, all}(t.*member); },
                    m.member);
            }
        }
    }
}

// All samples of a metric follow each other, and among them those of a wheel.
std::string text_of(format f, const std::vector<labelled_stats>& wheels) {
    check_labels(wheels);
    std::string text;
    for (const metric& m : detail::metrics) {
        text += header_of(m, f);
        for (const labelled_stats& wheel : wheels) {
            const std::string all = labels_of(wheel);
            std::visit(
                [&](auto member) { append_samples<metric>{text, m, all}(wheel.stats.*member); },
                m.member);
        }
    }
    if (std::any_of(wheels.begin(), wheels.end(),
                    [](const labelled_stats& wheel) { return !wheel.tags.empty(); })) {
        append_tags(text, f, wheels);
    }
    return text;
}

void write(std::ostream& out, const std::string& text) {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

} // namespace

void append_openmetrics(std::ostream& out, const std::vector<labelled_stats>& wheels) {
    write(out, text_of(format::openmetrics, wheels));
}

void to_openmetrics(std::ostream& out, const std::vector<labelled_stats>& wheels) {
    write(out, text_of(format::openmetrics, wheels) + "# EOF\n");
}

void to_openmetrics(std::ostream& out, const wheel_stats& stats) {
    to_openmetrics(out, {{.labels = {}, .stats = stats, .tags = {}}});
}

void to_prometheus(std::ostream& out, const std::vector<labelled_stats>& wheels) {
    write(out, text_of(format::prometheus, wheels));
}

void to_prometheus(std::ostream& out, const wheel_stats& stats) {
    to_prometheus(out, {{.labels = {}, .stats = stats, .tags = {}}});
}

} // namespace asio_wheel
