// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/openmetrics.hpp>

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
#include <vector>

namespace asio_wheel {
namespace {

using std::chrono::nanoseconds;
using labels = std::vector<labelled_stats::label>;

bool is_label_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) && name != "le" && name != "kind" &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
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

// All samples of a metric follow each other, and among them those of a wheel.
class document {
public:
    document(format f, const std::vector<labelled_stats>& wheels) : format_(f), wheels_(wheels) {
        for (const labelled_stats& wheel : wheels) {
            std::string& text = label_texts_.emplace_back();
            for (const auto& [name, value] : wheel.labels) {
                text += (text.empty() ? "" : ",") + name + "=\"" + escaped(value) + '"';
            }
        }
    }

    void gauge(std::string_view name, std::string_view help, std::uint64_t wheel_stats::* value) {
        begin(name, "gauge", help, "");
        samples(name, "", value);
    }

    void counter(std::string_view name, std::string_view help, std::uint64_t wheel_stats::* value) {
        begin(name, "counter", help, "");
        samples(name, "_total", value);
    }

    void counter(std::string_view name, std::string_view help,
                 counts_by_kind wheel_stats::* value) {
        begin(name, "counter", help, "");
        each([&](const wheel_stats& stats, const std::string& label_text) {
            const std::string before = label_text + (label_text.empty() ? "" : ",") + "kind=\"";
            for (const wait_kind kind : all_wait_kinds) {
                sample(name, "_total", before + std::string(to_string(kind)) + '"',
                       written((stats.*value)[kind]));
            }
        });
    }

    void counter(std::string_view name, std::string_view help, nanoseconds wheel_stats::* value) {
        begin(name, "counter", help, "seconds");
        samples(name, "_total", value);
    }

    void histogram(std::string_view name, std::string_view help,
                   lateness_histogram wheel_stats::* value) {
        begin(name, "histogram", help, "seconds");
        each([&](const wheel_stats& stats, const std::string& label_text) {
            const lateness_histogram& h = stats.*value;
            const std::string before = label_text + (label_text.empty() ? "" : ",") + "le=\"";
            for (unsigned power = first_power; power <= last_power; ++power) {
                const nanoseconds limit((std::int64_t{1} << power) - 1);
                sample(name, "_bucket", before + written(limit) + '"',
                       written(h.count_up_to(limit)));
            }
            sample(name, "_bucket", before + "+Inf\"", written(h.count()));
            sample(name, "_count", label_text, written(h.count()));
            sample(name, "_sum", label_text, written(h.sum()));
        });
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    // Of the limits of buckets, in nanoseconds: 8 µs to 34 s.
    static constexpr unsigned first_power = 13;
    static constexpr unsigned last_power = 35;

    // OpenMetrics names a counter without the suffix of its samples.
    void begin(std::string_view name, std::string_view type, std::string_view help,
               std::string_view unit) {
        const std::string_view suffix =
            format_ == format::prometheus && type == "counter" ? "_total" : "";
        line("# TYPE asio_wheel_", name, suffix, " ", type);
        if (format_ == format::openmetrics && !unit.empty()) {
            line("# UNIT asio_wheel_", name, " ", unit);
        }
        line("# HELP asio_wheel_", name, suffix, " ", help);
    }

    void sample(std::string_view name, std::string_view suffix, const std::string& label_text,
                const std::string& value) {
        text_.append("asio_wheel_").append(name).append(suffix);
        if (!label_text.empty()) {
            text_.append("{").append(label_text).append("}");
        }
        text_.append(" ").append(value).append("\n");
    }

    // One for each wheel.
    template <class Value>
    void samples(std::string_view name, std::string_view suffix, Value wheel_stats::* value) {
        each([&](const wheel_stats& stats, const std::string& label_text) {
            sample(name, suffix, label_text, written(stats.*value));
        });
    }

    template <class Function>
    void each(Function f) {
        for (std::size_t i = 0; i < wheels_.size(); ++i) {
            f(wheels_[i].stats, label_texts_[i]);
        }
    }

    template <class... Parts>
    void line(Parts... parts) {
        (text_.append(parts), ...);
        text_ += '\n';
    }

    const format format_;
    const std::vector<labelled_stats>& wheels_;
    std::vector<std::string> label_texts_;
    std::string text_;
};

std::string text_of(format f, const std::vector<labelled_stats>& wheels) {
    check_labels(wheels);
    document d(f, wheels);
    d.gauge("pending", "Waits that have neither expired nor been cancelled.",
            &wheel_stats::pending);
    d.gauge("peak_pending", "The most waits that were pending at once.",
            &wheel_stats::peak_pending);
    d.counter("waits_scheduled", "Waits accepted.", &wheel_stats::scheduled);
    d.counter("waits_fired", "Waits delivered because their deadline had passed.",
              &wheel_stats::fired);
    d.counter("expired", "What has expired for users of the wheel, by kind.",
              &wheel_stats::expired);
    d.counter("waits_cancelled", "Waits delivered with operation_aborted.",
              &wheel_stats::cancelled);
    d.counter("waits_dropped", "Waits whose handlers were destroyed by their executor.",
              &wheel_stats::dropped);
    d.counter("waits_postponed", "Waits moved to another deadline without completing.",
              &wheel_stats::postponed);
    d.counter("waits_rejected", "Waits refused because of max_pending or after drain().",
              &wheel_stats::rejected);
    d.counter("entries_cascaded", "Entries filed again while time advanced.",
              &wheel_stats::cascaded);
    d.counter("wake_ups", "Times the one Asio timer expired.", &wheel_stats::wake_ups);
    d.counter("spurious_wake_ups", "Wake-ups that found nothing due.",
              &wheel_stats::spurious_wake_ups);
    d.counter("stalls", "Times the wheel came later than the option stall allows.",
              &wheel_stats::stalls);
    d.counter("stalled_seconds", "How late the wheel was in all stalls together.",
              &wheel_stats::stalled);
    d.histogram("lateness_seconds", "From a wait's deadline to the tick that found it due.",
                &wheel_stats::lateness);
    d.histogram("loop_lag_seconds", "How late the context called the wheel at a wake-up.",
                &wheel_stats::loop_lag);
    d.histogram("handler_delay_seconds",
                "From a tick to the call of a handler, with the option measure_handlers.",
                &wheel_stats::handler_delay);
    return d.text();
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
    to_openmetrics(out, {{.labels = {}, .stats = stats}});
}

void to_prometheus(std::ostream& out, const std::vector<labelled_stats>& wheels) {
    write(out, text_of(format::prometheus, wheels));
}

void to_prometheus(std::ostream& out, const wheel_stats& stats) {
    to_prometheus(out, {{.labels = {}, .stats = stats}});
}

} // namespace asio_wheel
