// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/pending.hpp>

#include <asio_wheel/detail/text.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_wheel {
namespace {

using std::chrono::nanoseconds;

std::string right(const std::string& text, std::size_t width) {
    return std::string(width - (std::min)(width, text.size()), ' ') + text;
}

std::string left(std::string_view text, std::size_t width) {
    std::string padded(text);
    padded.resize((std::max)(width, text.size()), ' ');
    return padded;
}

std::string name_of(wait_kind kind, std::string_view tag) {
    constexpr std::size_t longest_kind = 9;
    return tag.empty() ? std::string(to_string(kind))
                       : left(to_string(kind), longest_kind) + "  " + detail::printable(tag);
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.find_last_of("/\\") + 1); // npos + 1 is 0.
}

std::string line_of(const pending_wait& wait) {
    std::string text =
        right(detail::short_time(wait.remaining), 8) + "  " + name_of(wait.kind, wait.tag);
    if (wait.place.line() != 0) {
        text += "  (" + detail::printable(file_name(wait.place.file_name())) + ':' +
                std::to_string(wait.place.line()) + ')';
    }
    return text;
}

// Equal lines that follow each other are one.
void print_next(std::string& text, const std::vector<pending_wait>& next) {
    std::vector<std::pair<std::string, std::size_t>> lines;
    for (const pending_wait& wait : next) {
        std::string line = line_of(wait);
        if (lines.empty() || lines.back().first != line) {
            lines.emplace_back(std::move(line), 0);
        }
        ++lines.back().second;
    }
    for (const auto& [line, count] : lines) {
        text += "  " + line;
        text += count == 1 ? "\n" : "  (" + std::to_string(count) + " of them)\n";
    }
}

// One line for each power of ten, from the first one that has waits to the last one.
void print_remaining(std::string& text, const lateness_histogram& remaining) {
    constexpr std::array limits{
        std::pair{nanoseconds(1'000'000), "1 ms"},
        std::pair{nanoseconds(10'000'000), "10 ms"},
        std::pair{nanoseconds(100'000'000), "100 ms"},
        std::pair{nanoseconds(1'000'000'000), "1 s"},
        std::pair{nanoseconds(10'000'000'000), "10 s"},
        std::pair{nanoseconds(60'000'000'000), "1 min"},
        std::pair{nanoseconds(600'000'000'000), "10 min"},
        std::pair{nanoseconds(3'600'000'000'000), "1 h"},
        std::pair{nanoseconds(86'400'000'000'000), "1 d"},
    };
    std::uint64_t before = 0;
    for (const auto& [limit, name] : limits) {
        const std::uint64_t up_to = remaining.count_up_to(limit);
        if (up_to != before) {
            text += "  " + right(std::to_string(up_to - before), 9) + "  up to about " + name;
            text += '\n';
        }
        before = up_to;
    }
    if (remaining.count() != before) {
        text += "  " + right(std::to_string(remaining.count() - before), 9) + "  longer\n";
    }
}

// One line for each second that had any.
void print_wake_ups(std::string& text,
                    const std::array<wake_ups_in_second, wheel_report::seconds>& wake_ups) {
    const bool none =
        std::all_of(wake_ups.begin(), wake_ups.end(),
                    [](const wake_ups_in_second& w) { return w == wake_ups_in_second(); });
    if (none) {
        text += "no wake-ups in the last " + std::to_string(wheel_report::seconds) + " s\n";
        return;
    }
    text += "wake-ups             what was due   nothing due   moved\n";
    for (std::size_t ago = 0; ago < wake_ups.size(); ++ago) {
        const wake_ups_in_second& w = wake_ups[ago];
        if (w != wake_ups_in_second()) {
            const std::string when =
                ago == 0 ? std::string("this second") : std::to_string(ago) + " s ago";
            text += "  " + left(when, 17) + right(std::to_string(w.due), 14) +
                    right(std::to_string(w.nothing_due), 14) + right(std::to_string(w.moved), 8) +
                    '\n';
        }
    }
}

} // namespace

void wheel_report::add(const pending_wait& wait) {
    const auto belongs = [&](const group& g) { return g.kind == wait.kind && g.tag == wait.tag; };
    if (last_group_ >= groups_.size() || !belongs(groups_[last_group_])) {
        const auto found = std::find_if(groups_.begin(), groups_.end(), belongs);
        last_group_ = static_cast<std::size_t>(found - groups_.begin());
        if (found == groups_.end()) {
            groups_.push_back({wait.kind, wait.tag, 0, wait.remaining});
        }
    }
    group& its = groups_[last_group_];
    ++its.count;
    its.soonest = (std::min)(its.soonest, wait.remaining);
    remaining_.add(wait.remaining);

    const auto sooner = [](const pending_wait& a, const pending_wait& b) {
        return a.remaining < b.remaining;
    };
    if (next_.size() == most_next) {
        if (!sooner(wait, next_.back())) {
            return;
        }
        next_.pop_back();
    }
    next_.insert(std::upper_bound(next_.begin(), next_.end(), wait, sooner), wait);
}

std::vector<wheel_report::group> wheel_report::groups() const {
    std::vector<group> sorted = groups_;
    std::sort(sorted.begin(), sorted.end(), [](const group& a, const group& b) {
        return a.count != b.count ? a.count > b.count
               : a.kind != b.kind ? a.kind < b.kind
                                  : a.tag < b.tag;
    });
    return sorted;
}

std::ostream& operator<<(std::ostream& out, const wheel_report& report) {
    std::string text = std::to_string(report.waits()) + " waits are pending.\n";
    if (report.lateness_) {
        text +=
            "lateness in the last minute\n  " + report.lateness_->verdict({}, report.tags_) + '\n';
    }
    if (report.waits() != 0) {
        text += "by kind and tag\n";
        for (const wheel_report::group& g : report.groups()) {
            text += "  " + right(std::to_string(g.count), 9) + "  " + name_of(g.kind, g.tag) + '\n';
        }
        text += "the next\n";
        print_next(text, report.next());
        text += "time that remains\n";
        print_remaining(text, report.remaining());
    }
    print_wake_ups(text, report.wake_ups());
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

} // namespace asio_wheel
