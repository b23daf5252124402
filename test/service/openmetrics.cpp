// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/openmetrics.hpp>
#include <asio_wheel/stats.hpp>

#include <asio_wheel/detail/metrics.hpp>
#include <asio_wheel/detail/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <locale>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;
using asio_wheel::labelled_stats;
using asio_wheel::wheel_stats;

wheel_stats sample() {
    wheel_stats stats;
    std::uint64_t n = 0;
    for (std::uint64_t* const count :
         {&stats.pending, &stats.peak_pending, &stats.scheduled, &stats.fired, &stats.cancelled,
          &stats.postponed, &stats.rejected, &stats.cascaded, &stats.wake_ups,
          &stats.spurious_wake_ups, &stats.stalls, &stats.dropped}) {
        *count = 1'000'000 + ++n;
    }
    stats.stalled = 90'061'000'000'007ns;
    stats.lateness.add(1ms);
    stats.lateness.add(2ms);
    stats.loop_lag.add(0ns);
    stats.handler_delay.add(1h);
    return stats;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

template <class Stats>
std::string openmetrics(const Stats& stats) {
    std::ostringstream out;
    asio_wheel::to_openmetrics(out, stats);
    return out.str();
}

bool has_line(const std::string& text, const std::string& line) {
    const auto lines = lines_of(text);
    return std::count(lines.begin(), lines.end(), line) == 1;
}

// A decimal comma, and points between thousands.
struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

std::string refusal(const std::vector<labelled_stats>& wheels) {
    std::ostringstream out;
    try {
        asio_wheel::to_openmetrics(out, wheels);
    } catch (const std::invalid_argument& e) {
        return out.str().empty() ? e.what() : "something was written";
    }
    return "none";
}

} // namespace

BOOST_AUTO_TEST_SUITE(service_openmetrics)

BOOST_AUTO_TEST_CASE(all_numbers_are_there) {
    const std::string text = openmetrics(sample());
    for (const char* const line : {
             "# TYPE asio_wheel_pending gauge",
             "# HELP asio_wheel_pending Waits that have neither expired nor been cancelled.",
             "# TYPE asio_wheel_waits_scheduled counter",
             "# TYPE asio_wheel_stalled_seconds counter",
             "# UNIT asio_wheel_stalled_seconds seconds",
             "# TYPE asio_wheel_lateness_seconds histogram",
             "# UNIT asio_wheel_lateness_seconds seconds",
             "asio_wheel_pending 1000001",
             "asio_wheel_peak_pending 1000002",
             "asio_wheel_waits_scheduled_total 1000003",
             "asio_wheel_waits_fired_total 1000004",
             "asio_wheel_waits_cancelled_total 1000005",
             "asio_wheel_waits_postponed_total 1000006",
             "asio_wheel_waits_rejected_total 1000007",
             "asio_wheel_entries_cascaded_total 1000008",
             "asio_wheel_wake_ups_total 1000009",
             "asio_wheel_spurious_wake_ups_total 1000010",
             "asio_wheel_stalls_total 1000011",
             "asio_wheel_waits_dropped_total 1000012",
             "asio_wheel_stalled_seconds_total 90061.000000007",
             "asio_wheel_lateness_seconds_count 2",
             "asio_wheel_lateness_seconds_sum 0.003",
             "asio_wheel_lateness_seconds_bucket{le=\"0.000524287\"} 0",
             "asio_wheel_lateness_seconds_bucket{le=\"0.001048575\"} 1",
             "asio_wheel_lateness_seconds_bucket{le=\"0.002097151\"} 2",
             "asio_wheel_lateness_seconds_bucket{le=\"+Inf\"} 2",
             "asio_wheel_loop_lag_seconds_sum 0.0",
             "asio_wheel_loop_lag_seconds_bucket{le=\"0.000008191\"} 1",
             "asio_wheel_handler_delay_seconds_bucket{le=\"34.359738367\"} 0",
             "asio_wheel_handler_delay_seconds_bucket{le=\"+Inf\"} 1",
             "asio_wheel_handler_delay_seconds_sum 3600.0",
         }) {
        BOOST_TEST(has_line(text, line), "no line: " << line);
    }
}

// Each metric has its type and its help before its samples, and all of them follow each other.
BOOST_AUTO_TEST_CASE(the_document_has_the_shape_that_the_format_asks_for) {
    const auto lines = lines_of(openmetrics(
        std::vector<labelled_stats>{{{{"wheel", "a"}}, sample()}, {{{"wheel", "b"}}, sample()}}));
    BOOST_TEST_REQUIRE(!lines.empty());
    BOOST_TEST(lines.back() == "# EOF");
    std::set<std::string> begun;
    std::set<std::string> samples;
    std::string current;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        const std::string& line = lines[i];
        std::istringstream words(line);
        std::string first, kind, name;
        words >> first;
        if (first == "#") {
            words >> kind >> name;
            if (kind == "TYPE") {
                BOOST_TEST(begun.insert(name).second, name << " begins twice");
                current = name;
            }
            BOOST_TEST(name == current);
        } else {
            BOOST_TEST(first.starts_with(current), line << " is not of " << current);
            BOOST_TEST(samples.insert(first).second, first << " is there twice");
        }
    }
    BOOST_TEST(begun.size() == asio_wheel::detail::metrics.size());
    BOOST_TEST(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
                   return line.starts_with("# UNIT ");
               }) == 4);
}

BOOST_AUTO_TEST_CASE(a_name_ends_with_the_unit_and_the_type_is_that_of_the_member) {
    for (const asio_wheel::detail::metric& m : asio_wheel::detail::metrics) {
        BOOST_TEST_CONTEXT(m.name) {
            const bool histogram =
                std::holds_alternative<asio_wheel::lateness_histogram wheel_stats::*>(m.member);
            const bool time =
                std::holds_alternative<std::chrono::nanoseconds wheel_stats::*>(m.member);
            BOOST_TEST(m.openmetrics.ends_with("_seconds") == (histogram || time));
            BOOST_TEST((m.type == "histogram") == histogram);
            BOOST_TEST((histogram || m.type == "counter" || m.type == "gauge"));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_document_may_have_further_metrics) {
    std::ostringstream out;
    asio_wheel::append_openmetrics(out, {{{}, sample()}});
    BOOST_TEST(out.str() + "# EOF\n" == openmetrics(sample()));
}

BOOST_AUTO_TEST_CASE(labels_are_escaped_and_told_apart) {
    const std::string text = openmetrics(
        std::vector<labelled_stats>{{{{"context", "a\\b\"c\nd"}, {"_x1", "ü"}}, sample()},
                                    {{{"context", "e"}}, wheel_stats()}});
    BOOST_TEST(has_line(text, "asio_wheel_pending{context=\"a\\\\b\\\"c\\nd\",_x1=\"ü\"} 1000001"));
    BOOST_TEST(has_line(text, "asio_wheel_pending{context=\"e\"} 0"));
    BOOST_TEST(has_line(text, "asio_wheel_loop_lag_seconds_bucket{context=\"e\",le=\"+Inf\"} 0"));
}

BOOST_AUTO_TEST_CASE(label_values_are_always_utf8) {
    const std::string bad = "a\xff\xc3z\xed\xa0\x80\"";
    const std::string text =
        openmetrics(std::vector<labelled_stats>{{{{"context", bad}}, sample()}});
    const std::string replaced = "\xef\xbf\xbd";
    BOOST_TEST(has_line(text, "asio_wheel_pending{context=\"a" + replaced + replaced + "z" +
                                  replaced + replaced + replaced + "\\\"\"} 1000001"));
    BOOST_TEST(asio_wheel::detail::is_utf8(text));
    // What is written must differ.
    BOOST_TEST(refusal({{{{"a", "\xff"}}, {}}, {{{"a", "\xfe"}}, {}}}) ==
               "asio_wheel: two wheels have the same labels");
}

BOOST_AUTO_TEST_CASE(labels_that_are_none_are_refused) {
    for (const std::string name :
         {"", "1x", "a-b", "a b", "a:b", "a~b", "ü", "le", "kind", "tag", "__name__"}) {
        BOOST_TEST(refusal({{{{name, "v"}}, {}}}) ==
                   "asio_wheel: \"" + name + "\" is not a name for a label of a metric");
    }
    BOOST_TEST(refusal({{{{"a\n\x1b\xff", "v"}}, {}}}) ==
               "asio_wheel: \"a\\n\\x1b\\xff\" is not a name for a label of a metric");
    BOOST_TEST(refusal({{{{"a", "1"}, {"b", "2"}, {"a", "3"}}, {}}}) ==
               "asio_wheel: the label \"a\" is there twice");
    BOOST_TEST(refusal({{{{"a", "1"}, {"b", "2"}}, {}}, {{{"b", "2"}, {"a", "1"}}, {}}}) ==
               "asio_wheel: two wheels have the same labels");
    BOOST_TEST(refusal({{{{"a", "1"}}, {}}, {{{"a", "2"}}, {}}}) == "none");
    // An empty label is as none.
    BOOST_TEST(refusal({{{{"a", ""}}, {}}, {{}, {}}}) ==
               "asio_wheel: two wheels have the same labels");
    BOOST_TEST(refusal({{{{"a", ""}}, {}}, {{{"a", "1"}}, {}}}) == "none");
    BOOST_TEST(refusal({{{{"_azAZ09", "1"}, {"zone", "2"}, {"ABBA", "3"}, {"Z", "4"}}, {}}}) ==
               "none");
}

// Those of all tags of a metric follow each other. Without tags, there are none of these metrics.
BOOST_AUTO_TEST_CASE(what_was_measured_by_tag_has_the_tag_as_a_label) {
    using asio_wheel::tag_stats;
    using asio_wheel::wait_kind;
    const tag_stats slow{.kind = wait_kind::idle,
                         .tag = "a \"slow\" one",
                         .fired = 2,
                         .wake_ups = 1,
                         .late = 6ms,
                         .longest_late = 3ms,
                         .delayed = 81ms,
                         .longest_delay = 80ms,
                         .handlers = 2,
                         .ran = 100ms,
                         .longest_run = 70ms};
    const std::string text = openmetrics(std::vector<labelled_stats>{
        {{{"context", "x"}}, sample(), {slow, tag_stats()}}, {{{"context", "y"}}, sample()}});
    const std::string labels = "{context=\"x\",kind=\"idle\",tag=\"a \\\"slow\\\" one\"} ";
    for (const std::string& line :
         {"waits_fired_total" + labels + "2", "wake_ups_total" + labels + "1",
          "late_seconds_total" + labels + "0.006", "longest_late_seconds" + labels + "0.003",
          "delayed_seconds_total" + labels + "0.081", "longest_delay_seconds" + labels + "0.08",
          "handlers_total" + labels + "2", "handler_seconds_total" + labels + "0.1",
          "longest_handler_seconds" + labels + "0.07",
          std::string("waits_fired_total{context=\"x\",kind=\"timer\",tag=\"\"} 0")}) {
        BOOST_TEST(has_line(text, "asio_wheel_tag_" + line), line << " is not in " << text);
    }
    BOOST_TEST(has_line(text, "# TYPE asio_wheel_tag_handler_seconds counter"));
    BOOST_TEST(has_line(text, "# UNIT asio_wheel_tag_handler_seconds seconds"));
    BOOST_TEST(openmetrics(sample()).find("asio_wheel_tag_") == std::string::npos);
    BOOST_TEST(asio_wheel::detail::tag_metrics.size() == 9U);
}

// No document may have two samples with the same labels.
BOOST_AUTO_TEST_CASE(tags_that_are_not_utf8_are_told_apart) {
    std::vector<asio_wheel::tag_stats> tags(4);
    tags[0].tag = "gr\xfc\xdf";
    tags[1].tag = "gr\xf6\xdf";
    tags[2].tag = "\xff";
    tags[3].tag = "\\xff"; // It only looks like that.
    const std::string text = openmetrics(std::vector<labelled_stats>{{{}, sample(), tags}});
    for (const std::string tag :
         {"gr\\\\xfc\\\\xdf", "gr\\\\xf6\\\\xdf", "\\\\xff", "\\\\\\\\xff"}) {
        const std::string line =
            "asio_wheel_tag_waits_fired_total{kind=\"timer\",tag=\"" + tag + "\"} 0";
        BOOST_TEST(has_line(text, line), line << " is not in " << text);
    }
    BOOST_TEST(asio_wheel::detail::is_utf8(text));
}

BOOST_AUTO_TEST_CASE(seconds_are_written_exactly) {
    const auto sum = [](std::chrono::nanoseconds d) {
        wheel_stats stats;
        stats.lateness.add(d);
        for (const std::string& line : lines_of(openmetrics(stats))) {
            if (line.starts_with("asio_wheel_lateness_seconds_sum ")) {
                return line.substr(line.find(' ') + 1);
            }
        }
        return std::string();
    };
    BOOST_TEST(sum(0ns) == "0.0");
    BOOST_TEST(sum(1ns) == "0.000000001");
    BOOST_TEST(sum(999'999'999ns) == "0.999999999");
    BOOST_TEST(sum(100ms) == "0.1");
    BOOST_TEST(sum(1s) == "1.0");
    BOOST_TEST(sum(10s) == "10.0");
    BOOST_TEST(sum(std::chrono::nanoseconds::max()) == "9223372036.854775807");
}

BOOST_AUTO_TEST_CASE(a_locale_changes_nothing) {
    std::ostringstream out;
    out.imbue(std::locale(std::locale::classic(), new german));
    asio_wheel::to_openmetrics(out, sample());
    BOOST_TEST(out.str() == openmetrics(sample()));
}

// There, a counter has its whole name, and a document no end.
BOOST_AUTO_TEST_CASE(prometheus_text_has_the_same_numbers) {
    std::ostringstream out;
    asio_wheel::to_prometheus(out, sample());
    const auto samples_of = [](const std::string& text) {
        std::vector<std::string> samples;
        for (const std::string& line : lines_of(text)) {
            if (line.front() != '#') {
                samples.push_back(line);
            }
        }
        return samples;
    };
    BOOST_TEST((samples_of(out.str()) == samples_of(openmetrics(sample()))));
    BOOST_TEST(has_line(out.str(), "# TYPE asio_wheel_waits_fired_total counter"));
    BOOST_TEST(!has_line(out.str(), "# EOF"));
}

BOOST_AUTO_TEST_SUITE_END()
