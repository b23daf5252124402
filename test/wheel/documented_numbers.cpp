// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Checks numbers about the wheel that guides and headers state. The test reads them from the
// documents.

#include <asio_wheel/detail/core/tag_meter.hpp>
#include <asio_wheel/detail/delay_queue/delayed_elements.hpp>
#include <asio_wheel/detail/metrics.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

#include "support/only_if.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace {

std::string document(const std::string& path) {
    const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    std::ifstream file(root / path);
    std::ostringstream text;
    text << file.rdbuf();
    BOOST_TEST_REQUIRE(text.str().size() > 1000U, "cannot read " << path);
    return text.str();
}

// Parses a time as a document writes it, in seconds.
double seconds(const std::string& number, const std::string& unit) {
    const double factor = unit == "ms"     ? 1e-3
                          : unit == "s"    ? 1
                          : unit == "h"    ? 3600
                          : unit == "days" ? 86400
                                           : 0;
    BOOST_TEST_REQUIRE(factor != 0, "which unit is " << unit << "?");
    return std::stod(number) * factor;
}

double bytes(const std::string& number, const std::string& unit) {
    return std::stod(number) * (unit == "kB" ? 1e3 : 1e6);
}

// The documents state what a wheel takes where pointers have 64 bits.
constexpr bool memory_is_documented = sizeof(void*) == 8;

// What a wheel takes that uses all of its levels.
double memory_of(std::size_t slots, unsigned levels) {
    const asio_wheel::wheel w(slots, levels);
    return static_cast<double>(asio_wheel::wheel_inspector::memory(w) +
                               levels * asio_wheel::wheel_inspector::level_size(w));
}

// Documents round numbers.
void compare(double stated, double actual, double share_left_out) {
    BOOST_TEST(std::abs(stated - actual) <= share_left_out * actual,
               "is said to be " << stated << ", but is " << actual);
}

// The table of the guide that begins so has a row for each of these metrics, and no other.
void compare_table(std::string_view begin, const auto& metrics) {
    std::istringstream guide(document("docs/guide/operations.md"));
    std::string line;
    while (std::getline(guide, line) && !line.starts_with(begin)) {
    }
    std::getline(guide, line); // |---|
    for (const auto& m : metrics) {
        std::getline(guide, line);
        std::ostringstream row;
        row << "| `" << m.name << "` | `" << m.openmetrics << (m.type == "counter" ? "_total" : "")
            << "` | " << m.help << ' ';
        BOOST_TEST(line.starts_with(row.str()), "not '" << row.str() << "…', but '" << line << "'");
    }
    std::getline(guide, line);
    BOOST_TEST(line.empty(), "no metric: " << line);
}

} // namespace

BOOST_AUTO_TEST_SUITE(documented_numbers, *boost::unit_test::timeout(60))

// | 10 ms | 256 × 4 | 2.56 s | 497 days, then rounds | 146 kB |
BOOST_AUTO_TEST_CASE(the_guide_says_how_far_a_wheel_reaches_and_what_it_takes) {
    const std::string guide = document("docs/guide/wheel.md");
    const std::regex row(
        "\\| *([\\d.]+) ms *\\| *(\\d+) × (\\d+) *\\| *([\\d.]+) (\\w+) *\\| *([\\d.]+) "
        "(\\w+), then rounds *\\| *([\\d.]+) (kB|MB) *\\|");
    int rows = 0;
    for (std::sregex_iterator it(guide.begin(), guide.end(), row), end; it != end; ++it, ++rows) {
        const std::smatch& cell = *it;
        BOOST_TEST_CONTEXT(cell.str()) {
            const double tick = seconds(cell[1], "ms");
            const auto slots = static_cast<std::size_t>(std::stoul(cell[2]));
            const auto levels = static_cast<unsigned>(std::stoul(cell[3]));
            const auto in_slots = static_cast<double>(slots);
            compare(seconds(cell[4], cell[5]), tick * in_slots, 0.001);
            compare(seconds(cell[6], cell[7]), tick * std::pow(in_slots, levels), 0.001);
            if (memory_is_documented) {
                compare(bytes(cell[8], cell[9]), memory_of(slots, levels), 0.03);
            }
        }
    }
    BOOST_TEST(rows == 4);
}

// | 2 | slots² ticks | 4.66 h |
BOOST_AUTO_TEST_CASE(wheel_options_say_how_far_each_level_reaches) {
    const std::string header = document("include/asio_wheel/wheel_options.hpp");
    const asio_wheel::wheel_options defaults;
    const auto slots = static_cast<double>(defaults.slots);
    const double tick = static_cast<double>(defaults.tick.count()) * 1e-9;
    const std::regex row("/// \\| +(\\d) \\|[^|]*\\| ([\\d.]+) (\\w+)[^|]*\\|");
    unsigned level = 0;
    for (std::sregex_iterator it(header.begin(), header.end(), row), end; it != end; ++it) {
        const std::smatch& cell = *it;
        BOOST_TEST(std::stoul(cell[1]) == level);
        ++level;
        compare(seconds(cell[2], cell[3]), tick * std::pow(slots, level), 0.001);
    }
    BOOST_TEST(level == defaults.levels);
}

BOOST_AUTO_TEST_CASE(wheel_options_say_what_a_slot_takes,
                     *asio_wheel::test::only_if(memory_is_documented)) {
    const std::string header = document("include/asio_wheel/wheel_options.hpp");
    std::smatch stated;
    BOOST_TEST_REQUIRE(std::regex_search(header, stated, std::regex("Each takes (\\d+) bytes")));
    const double difference = memory_of(4096, 1) - memory_of(2048, 1);
    compare(std::stod(stated[1]), difference / 2048, 0.01);
}

// The rest is its elements.
BOOST_AUTO_TEST_CASE(guide_and_header_say_what_the_wheel_of_a_delay_queue_takes,
                     *asio_wheel::test::only_if(memory_is_documented)) {
    using elements =
        asio_wheel::detail::delayed_elements<int, std::chrono::steady_clock::time_point, true>;
    for (const char* const path :
         {"docs/guide/delay_queue.md", "include/asio_wheel/delay_queue.hpp"}) {
        const std::string text = document(path);
        std::smatch stated;
        BOOST_TEST_REQUIRE(
            std::regex_search(text, stated, std::regex("queue takes up to (\\d+) (kB)")), path);
        compare(bytes(stated[1], stated[2]), memory_of(elements::slots, elements::levels), 0.01);
    }
}

// | `fired` | `waits_fired_total` | Waits delivered because their deadline had passed. … |
BOOST_AUTO_TEST_CASE(the_guide_has_the_table_of_metrics) {
    compare_table("| number |", asio_wheel::detail::metrics);
}

// | `fired` | `tag_waits_fired_total` | Waits delivered because their deadline had passed. … |
BOOST_AUTO_TEST_CASE(the_guide_has_the_table_of_metrics_by_tag) {
    compare_table("| number by tag |", asio_wheel::detail::tag_metrics);
}

BOOST_AUTO_TEST_CASE(the_guide_says_what_numbers_of_a_wheel_take,
                     *asio_wheel::test::only_if(memory_is_documented)) {
    using asio_wheel::lateness_histogram;
    const std::string guide = document("docs/guide/operations.md");
    const std::pair<const char*, std::size_t> sizes[] = {
        {"copies some (\\d+) (kB)", sizeof(asio_wheel::wheel_stats)},
        {"wait that expires, and (\\d+) (kB)",
         sizeof(lateness_histogram) + sizeof(asio_wheel::detail::tag_meter)}};
    for (const auto& [text, size] : sizes) {
        std::smatch stated;
        BOOST_TEST_REQUIRE(std::regex_search(guide, stated, std::regex(text)), text);
        compare(bytes(stated[1], stated[2]), static_cast<double>(size), 0.05);
    }
}

BOOST_AUTO_TEST_CASE(a_histogram_takes_4_kB) {
    const std::string header = document("include/asio_wheel/stats.hpp");
    std::smatch stated;
    BOOST_TEST_REQUIRE(std::regex_search(header, stated, std::regex("in (\\d+) kB")));
    compare(std::stod(stated[1]) * 1000, double{sizeof(asio_wheel::lateness_histogram)}, 0.05);
}

BOOST_AUTO_TEST_SUITE_END()
