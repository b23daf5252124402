// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/lateness.hpp>

#include <asio_wheel/detail/text.hpp>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace asio_wheel {
namespace {

using std::chrono::nanoseconds;

std::string_view advice(lateness_cause cause) noexcept {
    switch (cause) {
    case lateness_cause::loop:
        return "a handler took long, or blocked, or the process was stopped.";
    case lateness_cause::processor:
        return "others had the processors.";
    case lateness_cause::wheel:
        return "More was due at once than a turn of the context delivers, or the wheel has given "
               "way "
               "to data after a stall.";
    case lateness_cause::none:
        break;
    }
    return "";
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

lateness_cause recent_lateness::cause() const noexcept {
    if (waits == 0) {
        return lateness_cause::none;
    }
    if (by_loop < late - by_loop) {
        return lateness_cause::wheel;
    }
    const bool starved = waited > nanoseconds::zero() && waited >= ran && waited >= lag - waited;
    return starved ? lateness_cause::processor : lateness_cause::loop;
}

std::ostream& operator<<(std::ostream& out, const recent_lateness& l) {
    const lateness_cause cause = l.cause();
    if (cause == lateness_cause::none) {
        return out << "No wait was late.";
    }
    const auto on_average = [&](nanoseconds sum) {
        return detail::short_time(sum / static_cast<std::int64_t>(l.waits));
    };
    std::string text = std::to_string(l.waits);
    text += l.waits == 1 ? " wait was" : " waits were";
    text += " late because of the ";
    text += to_string(cause);
    text += ": by " + on_average(l.late) + " on average, " + on_average(l.by_loop) +
            " of it before the context called the wheel. ";
    if (cause != lateness_cause::wheel) {
        text += "It called up to " + detail::short_time(l.longest_lag) + " late: ";
    }
    text += advice(cause);
    if (l.waited > nanoseconds::zero()) {
        text += " (Its thread ran for " + detail::short_time(l.ran) +
                ", and waited for a processor " + "for " + detail::short_time(l.waited) + ".)";
    }
    return out << text;
}

} // namespace asio_wheel
