// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/lateness.hpp>

#include <asio_wheel/detail/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace asio_wheel {
namespace {

using std::chrono::nanoseconds;

// How late the context called the wheel, and why.
std::string calls_of(const recent_lateness& l, lateness_cause cause) {
    using detail::short_time;
    const std::string_view why = cause == lateness_cause::processor ? "others had the processors."
                                 : l.late_calls == 1
                                     ? "a handler blocked, or the process was stopped."
                                     : "handlers take long, or block.";
    const nanoseconds longest = (std::max<nanoseconds>)(l.longest_lag, recent_lateness::allowed);
    std::string text = "It called ";
    switch (l.late_calls) {
    case 0:
        text += "up to " + short_time(longest) + " late: ";
        break;
    case 1:
        text += "late once, by " + short_time(longest) + ": ";
        break;
    default:
        text += "late " + std::to_string(l.late_calls) + " times, by up to " + short_time(longest) +
                ": ";
    }
    text += why;
    return text;
}

// Which handler was so long, if that was measured.
std::string handler_of(const recent_lateness& l, lateness_cause cause,
                       std::span<const tag_stats> tags) {
    if (tags.empty() || l.longest_lag == nanoseconds::zero()) {
        return "";
    }
    const tag_stats& longest =
        *std::max_element(tags.begin(), tags.end(), [](const tag_stats& a, const tag_stats& b) {
            return a.recent_run < b.recent_run;
        });
    const std::string time = detail::short_time(longest.recent_run);
    if (longest.recent_run < l.longest_lag / 2) {
        if (cause == lateness_cause::processor) {
            return "";
        }
        return " No handler of a wait took longer than " + time +
               ": it was another one, or is on a strand.";
    }
    return " The longest handler of a wait took " + time + ": " +
           std::string(to_string(longest.kind)) +
           (longest.tag.empty() ? " without a tag."
                                : " \"" + detail::printable(longest.tag) + "\".");
}

// The context called the wheel late, but that is not what made waits late.
std::string lag_of(const recent_lateness& l, std::span<const tag_stats> tags) {
    return "the context called the wheel late. " + calls_of(l, lateness_cause::loop) +
           handler_of(l, lateness_cause::loop, tags);
}

// How late the waits were, and why. There is one at least.
std::string waits_of(const recent_lateness& l, const lateness_limits& limits,
                     std::span<const tag_stats> tags) {
    const lateness_cause cause = l.cause();
    const auto on_average = [&](nanoseconds sum) {
        return detail::short_time(sum / static_cast<std::int64_t>(l.waits));
    };
    std::string text = std::to_string(l.waits);
    text += l.waits == 1 ? " wait was" : " waits were";
    text += " late because of the ";
    text += to_string(cause);
    text += ": by " + on_average(l.late) + " on average, " + on_average(l.by_loop) +
            " of it before the context called the wheel. ";
    text +=
        cause == lateness_cause::wheel
            ? "More was due at once than a turn of the context delivers, or the wheel has given "
              "way to data after a stall."
            : calls_of(l, cause) + handler_of(l, cause, tags);
    if (cause == lateness_cause::wheel && l.late_calls != 0 && l.longest_lag >= limits.warning) {
        text += " Besides, " + lag_of(l, tags);
    }
    if (l.waited > nanoseconds::zero()) {
        text += " (Its thread ran for " + detail::short_time(l.ran) +
                ", and waited for a processor for " + detail::short_time(l.waited) + ".)";
    }
    return text;
}

} // namespace

std::string_view to_string(lateness_cause cause) noexcept {
    switch (cause) {
    case lateness_cause::none:
        return "none";
    case lateness_cause::loop:
        return "loop";
    case lateness_cause::wheel:
        return "wheel";
    case lateness_cause::processor:
        return "processor";
    }
    return "unknown";
}

std::string_view to_string(lateness_severity severity) noexcept {
    switch (severity) {
    case lateness_severity::ok:
        return "ok";
    case lateness_severity::warning:
        return "warning";
    case lateness_severity::critical:
        return "critical";
    }
    return "unknown";
}

lateness_cause recent_lateness::cause() const noexcept {
    if (waits == 0) {
        return overdue > nanoseconds::zero() ? lateness_cause::loop : lateness_cause::none;
    }
    if (by_loop < late - by_loop) {
        return lateness_cause::wheel;
    }
    const bool starved = waited > nanoseconds::zero() && waited >= ran && waited >= lag - waited;
    return starved ? lateness_cause::processor : lateness_cause::loop;
}

std::string recent_lateness::verdict(const lateness_limits& limits,
                                     std::span<const tag_stats> tags) const {
    const lateness_severity how_bad = severity(limits);
    if (how_bad == lateness_severity::ok) {
        return waits == 0 ? "All is well: no wait was late."
                          : "All is well: " + std::to_string(waits) +
                                (waits == 1 ? " wait was late, by " : " waits were late, by ") +
                                detail::short_time(longest) + " at most.";
    }
    std::string text = how_bad == lateness_severity::warning ? "Warning: " : "Critical: ";
    if (overdue >= (std::max)(limits.warning, nanoseconds(1))) {
        text += "the context should have called the wheel " + detail::short_time(overdue) +
                " ago: a handler blocks, or nobody runs the context. In the last minute, ";
    }
    if (waits != 0) {
        return text + waits_of(*this, limits, tags);
    }
    text += "no wait was late.";
    if (late_calls != 0) {
        text += " But " + lag_of(*this, tags);
    }
    return text;
}

std::ostream& operator<<(std::ostream& out, const recent_lateness& l) {
    return out << l.verdict();
}

} // namespace asio_wheel
