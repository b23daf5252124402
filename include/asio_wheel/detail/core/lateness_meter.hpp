// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Splits how late waits are into what the loop has caused, and the rest. Times are nanoseconds of
// the wheel's clock.
//
//    deadline   tick begins: driver due     wake-up           found due
//    ---|---------------|----------------------|------------------|----
//       |  up to a tick |  lag: of the loop    |  of the wheel    |
//
// If a wait comes later than all of these explain, its deadline had passed when it started. Then
// nobody is to blame for what was before.

#ifndef ASIO_WHEEL_DETAIL_CORE_LATENESS_METER_HPP
#define ASIO_WHEEL_DETAIL_CORE_LATENESS_METER_HPP

#include <asio_wheel/detail/core/processor_time.hpp>
#include <asio_wheel/detail/core/recent_seconds.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/lateness.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class lateness_meter {
    using nanoseconds = std::chrono::nanoseconds;

public:
    /// How the scheduler treats a thread, and what the loop was late until then.
    struct sample {
        nanoseconds when = (nanoseconds::min)();
        long thread = 0;
        processor_time time{};
        nanoseconds lag{0};
    };

    /// At `now`, the driver has called. It is late by `lag`.
    void woke_up(nanoseconds lag, nanoseconds now) noexcept {
        queued(lag, now);
        called({}, now);
    }

    /// At `now`, a turn is queued, which comes before the driver. The driver is late by `lag`.
    void queued(nanoseconds lag, nanoseconds now) noexcept {
        woke_up_ = now;
        lag_ = queued_lag_ = lag;
    }

    /// At `now`, a queued turn has come, on a thread of the context. Others have kept it waiting
    /// for so long. Unless that is as short as any turn of a loop, it is the loop's lag, too.
    void called(nanoseconds others, nanoseconds now) noexcept {
        if (others <= recent_lateness::allowed) {
            others = {};
        }
        woke_up_ = sum(woke_up_, others);
        lag_ = sum(lag_, others);
        const nanoseconds lag = sum(std::exchange(queued_lag_, {}), others);
        // A turn and a wake-up may be late for the same time.
        all_lags_ =
            sum(all_lags_, (std::min)(lag, between(std::exchange(counted_until_, now), now)));
        if (lag > recent_lateness::allowed) {
            late_waits& second = seconds_.at(second_of(now));
            second.longest_lag = (std::max)(second.longest_lag, lag);
            ++second.late_calls;
            thread_ = this_thread_number();
        }
    }

    /// At `now`, a tick has found that so many waits of a timer are due, and how late they are.
    void found_due(std::size_t waits, nanoseconds late, nanoseconds now,
                   nanoseconds tick) noexcept {
        late = (std::min)(late, sum(sum(lag_, tick), between(woke_up_, now)));
        if (waits == 0 || late <= sum(tick, recent_lateness::allowed)) {
            return;
        }
        late_waits& second = seconds_.at(second_of(now));
        second.waits += waits;
        second.late = sum(second.late, times(late, waits));
        second.by_loop = sum(second.by_loop, times((std::min)(late, lag_), waits));
        second.longest = (std::max)(second.longest, late);
    }

    /// How late the loop was, all together.
    [[nodiscard]] nanoseconds lag() const noexcept { return all_lags_; }

    /// The thread that was last late; 0 if there is none.
    [[nodiscard]] long thread() const noexcept { return thread_; }

    /// Of the last minute. `latest` is a sample of now.
    [[nodiscard]] recent_lateness recent(const sample& latest) noexcept {
        recent_lateness all;
        static_cast<void>(seconds_.at(second_of(latest.when))); // The clock may have been set back.
        for (const late_waits& second : seconds_.until(second_of(latest.when))) {
            all.waits += second.waits;
            all.late = sum(all.late, second.late);
            all.by_loop = sum(all.by_loop, second.by_loop);
            all.longest_lag = (std::max)(all.longest_lag, second.longest_lag);
            all.late_calls += second.late_calls;
            all.longest = (std::max)(all.longest, second.longest);
        }
        compare(all, latest);
        return all;
    }

private:
    // In one second. See recent_lateness.
    struct late_waits {
        std::uint64_t waits = 0;
        nanoseconds late{0};
        nanoseconds by_loop{0};
        nanoseconds longest_lag{0};
        std::uint64_t late_calls = 0;
        nanoseconds longest{0};
    };

    static constexpr std::chrono::seconds between_samples{30};

    // With the sample before the last one; so with one that is 30 to 60 s old, if somebody asks all
    // the time.
    void compare(recent_lateness& all, const sample& latest) noexcept {
        // It has another thread's past. (The number of a thread that has ended may be given again.)
        if (latest.thread != newer_.thread || latest.time.ran < newer_.time.ran) {
            older_ = newer_ = {.thread = latest.thread};
        }
        all.ran = latest.time.ran - older_.time.ran;
        all.waited = latest.time.waited - older_.time.waited;
        all.lag = latest.lag - older_.lag;
        if (between(newer_.when, latest.when) >= between_samples) {
            older_ = newer_;
            newer_ = latest;
        }
    }

    // These results end at the longest duration. In a sum, `b` is not negative.
    [[nodiscard]] static nanoseconds sum(nanoseconds a, nanoseconds b) noexcept {
        return add_saturating(a, b);
    }
    [[nodiscard]] static nanoseconds times(nanoseconds d, std::size_t n) noexcept {
        const auto most = static_cast<std::uint64_t>((nanoseconds::max)().count());
        return static_cast<std::uint64_t>(d.count()) > most / n ? (nanoseconds::max)()
                                                                : d * static_cast<std::int64_t>(n);
    }
    [[nodiscard]] static nanoseconds between(nanoseconds earlier, nanoseconds later) noexcept {
        if (later <= earlier) {
            return nanoseconds::zero();
        }
        const auto n =
            static_cast<std::uint64_t>(later.count()) - static_cast<std::uint64_t>(earlier.count());
        return nanoseconds(static_cast<std::int64_t>((
            std::min<std::uint64_t>)(n, static_cast<std::uint64_t>((nanoseconds::max)().count()))));
    }
    [[nodiscard]] static std::int64_t second_of(nanoseconds t) noexcept {
        return floor_saturating<std::chrono::seconds>(t).count();
    }

    nanoseconds woke_up_{0};    // The last time,
    nanoseconds lag_{0};        // and how late that was.
    nanoseconds queued_lag_{0}; // Of a turn that has not come yet.
    nanoseconds all_lags_{0};
    nanoseconds counted_until_ = (nanoseconds::min)();
    long thread_ = 0;
    // With the present second, which is not over. So who asks once a minute misses nothing.
    recent_seconds<late_waits, recent_lateness::seconds + 1> seconds_;
    sample older_;
    sample newer_;
};

} // namespace asio_wheel::detail

#endif
