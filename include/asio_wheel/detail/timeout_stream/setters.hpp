// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the deadlines of a timeout_stream are set: a base class of it.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_SETTERS_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_SETTERS_HPP

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/jitter.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout_stream/deadline_fsm.hpp>
#include <asio_wheel/detail/timeout_stream/limits.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace asio_wheel::detail {

/// The functions that set the deadlines.
template <class Stream>
class deadline_setters {
public:
    using clock_type = std::chrono::steady_clock; ///< The clock of the deadlines.
    using duration = clock_type::duration;        ///< Of the clock.
    using time_point = clock_type::time_point;    ///< Of the clock.

    /// Sets the deadlines of reads and of writes to `d` from now. If `d` is zero or less, that is
    /// now. Very long durations saturate. Here and below, this throws std::invalid_argument if `d`
    /// is not a number (NaN).
    ///
    /// As with Beast: while a read is pending, the deadline of reads stays as it is, also for the
    /// reads after it, such as those that a composed operation will start. The same holds for
    /// writes. If both are pending, or a connect, this throws std::logic_error. So if a connection
    /// reads and writes at once, use idle_after(), or a deadline for each direction.
    ///
    ///     stream.expires_after(5s);
    ///     co_await http::async_read_header(stream, buffer, parser, use_awaitable);
    ///     stream.expires_after(60s);
    ///     co_await http::async_read(stream, buffer, parser, use_awaitable);
    template <class Rep, class Period>
    void expires_after(const std::chrono::duration<Rep, Period>& d) {
        expires_at(from_now(d));
    }

    /// As expires_after(), at a point of time.
    void expires_at(const time_point& t) {
        set([t](auto& deadlines) { return deadlines.expires(t); });
    }

    /// As expires_after(), but reads and writes have no deadlines then. (A new stream has none.)
    void expires_never() { expires_at(deadline_fsm::never); }

    /// Sets the deadline of reads, at any time. It is also that of the read that is pending, and of
    /// the composed operation that it belongs to, whether it becomes earlier or later. If `d` is
    /// zero or less, what is pending times out on the context's next turn. Here and below, if there
    /// is no memory for the wait that this needs, std::bad_alloc is thrown, and nothing was set.
    template <class Rep, class Period>
    void read_expires_after(const std::chrono::duration<Rep, Period>& d) {
        read_expires_at(from_now(d));
    }
    /// As read_expires_after(), at a point of time.
    void read_expires_at(const time_point& t) { set_deadline(&stream_limits::read, t); }
    /// As read_expires_after(), but reads have no deadline then.
    void read_expires_never() { read_expires_at(deadline_fsm::never); }

    /// Sets the deadline of writes and connects, at any time, as read_expires_after() does.
    template <class Rep, class Period>
    void write_expires_after(const std::chrono::duration<Rep, Period>& d) {
        write_expires_at(from_now(d));
    }
    /// As write_expires_after(), at a point of time.
    void write_expires_at(const time_point& t) { set_deadline(&stream_limits::write, t); }
    /// As write_expires_after(), but writes and connects have no deadline then.
    void write_expires_never() { write_expires_at(deadline_fsm::never); }

    /// Limits the whole connection: `d` from now it is over, whatever it reads and writes. What is
    /// pending then times out; otherwise, the next operation does. May be called at any time.
    /// Functions that set or take away other deadlines leave this one alone.
    ///
    /// The connection lives longer by a random time, less than the share `jitter` of `d`: 0 to 1.
    /// It spreads the connections that clients have made at one moment, when a server was started.
    /// Returns when the connection is over. So a server can end it in time, between two requests:
    ///
    ///     const auto end = stream.lifetime(1h, 0.1);
    ///     while (asio_wheel::now(stream.get_executor()) + 1min < end) {
    ///         co_await answer_a_request(stream);
    ///     }
    ///
    /// Throws std::invalid_argument if `d` is not a number, or if `jitter` is not a share.
    template <class Rep, class Period>
    time_point lifetime(const std::chrono::duration<Rep, Period>& d, double jitter = 0) {
        const auto most = ceil_saturating<duration>(not_nan("the lifetime of a timeout_stream", d));
        const auto more =
            random_share(most, require_share("the jitter of a timeout_stream's lifetime", jitter));
        const time_point end = add_saturating(deadlines().from_now(most), more);
        set_deadline(&stream_limits::lifetime, end);
        return end;
    }
    /// The connection may live for ever, as at first.
    void lifetime_never() { set_deadline(&stream_limits::lifetime, deadline_fsm::never); }

    /// Limits the next message, from its first byte. The next byte that is read begins the message.
    /// When that read completes, the deadline of reads becomes `d` from then, whatever it was.
    /// Until then, it is what was set by the functions above, before or after this. So a peer may
    /// be silent for long, but must not send slowly:
    ///
    ///     stream.read_expires_after(60s);
    ///     stream.message_expires_after(5s);
    ///     co_await asio::async_read_until(stream, input, '\n', use_awaitable);
    ///
    /// Holds for one message: call both functions before each. If a part of the message has been
    /// read already, call read_expires_after(5s) instead. If several reads are pending, the message
    /// begins when the last of them has completed. If a read is pending when this is called, its
    /// bytes begin the message. Below TLS, bytes of TLS itself begin it, such as session tickets of
    /// TLS 1.3: so put this deadline above, timeout_stream<ssl::stream<tcp::socket>>.
    template <class Rep, class Period>
    void message_expires_after(const std::chrono::duration<Rep, Period>& d) {
        deadlines().message_after(
            ceil_saturating<duration>(not_nan("the deadline of a timeout_stream", d)));
    }
    /// Takes that back, if no byte has been read since. (The deadline of reads stays as it is.)
    void message_expires_never() { deadlines().message_after(std::nullopt); }

    /// While operations are pending, at least one byte must be read or written within `d`, again
    /// and again; otherwise all of them time out. Time in which no operation is pending does not
    /// count. May be called at any time, and takes effect at once: if there was another period
    /// before, `d` is counted from the last byte, as that was; so what has been idle for longer
    /// times out. scale_idle_timers() of idle_timer.hpp shortens the idle periods of all streams of
    /// a context. Throws std::invalid_argument if `d` is not greater than zero.
    ///
    /// A peer that takes what was written is not idle. So when `d` has passed, the next layer is
    /// asked how many bytes the peer has not taken. If there are any, the stream has a further `d`,
    /// again and again while they become fewer. So a peer that takes none of them is given up after
    /// up to twice `d`. On Linux, FreeBSD and macOS, the system knows this number for a socket. Any
    /// other layer may have a function unsent_bytes(layer) in its namespace, which returns it as a
    /// std::size_t, or a std::optional of that, and throws nothing. Where nobody knows, only bytes
    /// that are read or written count. There, a period should be long enough for a peer to take a
    /// third of the socket's buffer. A period must also be longer than the peer's system takes to
    /// report what it has taken: seconds, if the peer reads slowly. (While time is paused, the
    /// system is not asked: what it does takes real time.)
    template <class Rep, class Period>
    void idle_after(const std::chrono::duration<Rep, Period>& d) {
        set_idle(positive<duration>("the idle period of a timeout_stream", d));
    }
    /// No idle period, also for what is pending.
    void idle_never() { set_idle(deadline_fsm::no_period); }

    /// scale_idle_timers() makes the idle period no shorter than `d`, as
    /// idle_timer_options::min_period does. A period that is shorter by itself stays as it is. Zero
    /// at first. May be called at any time, and takes effect at once. Throws std::invalid_argument
    /// if `d` is less than zero, or not a number.
    template <class Rep, class Period>
    void min_idle_period(const std::chrono::duration<Rep, Period>& d) {
        const auto least =
            ceil_saturating<duration>(not_nan("the shortest idle period of a timeout_stream", d));
        if (least < duration::zero()) {
            bad_argument("the shortest idle period of a timeout_stream", in_ns(least),
                         "0 ns or more");
        }
        set([least](auto& deadlines) { return deadlines.min_idle(least); });
    }

    /// An idle period of writes alone, which proxies call a flush timeout: while a write is
    /// pending, at least one byte must be written within `d`, or taken by the peer, again and
    /// again. So a peer that sends, but does not read, is stopped. It holds for connects, too, and
    /// together with idle_after(). scale_idle_timers() does not shorten it. Everything else is as
    /// with idle_after().
    template <class Rep, class Period>
    void write_idle_after(const std::chrono::duration<Rep, Period>& d) {
        set_period(&stream_limits::write_idle,
                   positive<duration>("the idle period of a timeout_stream's writes", d));
    }
    /// No idle period of writes, also for what is pending.
    void write_idle_never() { set_period(&stream_limits::write_idle, deadline_fsm::no_period); }

    /// While operations are pending, at least so many bytes must be read and written, together,
    /// within the time `per`, again and again; otherwise all of them time out. As soon as they are,
    /// the next period begins. Time in which no operation is pending does not count; so the period
    /// of a slow message goes on with its next read. What is written counts when the system has
    /// taken it; at the end of a period, the peer is asked as for idle_after(), and what it has
    /// taken counts. So a connection that is always below the rate ends after up to two periods.
    /// (But the system takes bytes in bursts, and a burst of so many bytes begins a period. So a
    /// peer that takes more than half of the rate may go on.)
    ///
    /// It guards against peers that send or read slowly, to hold the connection (a slow-loris). A
    /// read that waits for the next request is slow, too: set the rate when a message begins, and
    /// take it away after it. May be called at any time. What takes the place of another rate is
    /// counted from the same time.
    ///
    ///     stream.least_rate(10'000, 10s);
    ///     co_await http::async_read(stream, buffer, parser, use_awaitable);
    ///     stream.least_rate_never();
    ///
    /// Throws std::invalid_argument if one of the numbers is not greater than zero.
    template <class Rep, class Period>
    void least_rate(std::size_t bytes, const std::chrono::duration<Rep, Period>& per) {
        if (bytes == 0) {
            bad_argument("the least rate of a timeout_stream", "0 bytes", "1 byte or more");
        }
        set_period(&stream_limits::rate,
                   positive<duration>("the time of a timeout_stream's least rate", per), bytes);
    }
    /// No least rate, also for what is pending.
    void least_rate_never() { set_period(&stream_limits::rate, deadline_fsm::no_period); }

    /// Whether an operation is tried if it is started after its deadline. By default it is not: it
    /// closes the stream and times out. If it is tried, it wins if it is ready at once, and times
    /// out otherwise. Beast's streams do that: so <asio_wheel/beast.hpp> has a stream for programs
    /// that rely on it. But a peer that always sends can evade its deadline then. From the next
    /// operation on.
    void try_late_operations(bool on) {
        stream().try_late_ = on;
        deadlines().try_late(on);
    }

    // For arguments of other types, the compiler says what is expected: detail/asio/misuse.hpp.
    template <class T>
        requires(!duration_argument<T>)
    auto expires_after(const T&) {
        expect_duration<T>();
    }
    template <class T>
        requires(!steady_time_point_argument<T>)
    auto expires_at(const T&) {
        expect_steady_time_point<T>();
    }
    template <class T>
        requires(!duration_argument<T>)
    auto read_expires_after(const T&) {
        expect_duration<T>();
    }
    template <class T>
        requires(!steady_time_point_argument<T>)
    auto read_expires_at(const T&) {
        expect_steady_time_point<T>();
    }
    template <class T>
        requires(!duration_argument<T>)
    auto write_expires_after(const T&) {
        expect_duration<T>();
    }
    template <class T>
        requires(!steady_time_point_argument<T>)
    auto write_expires_at(const T&) {
        expect_steady_time_point<T>();
    }
    template <class T>
        requires(!duration_argument<T>)
    auto message_expires_after(const T&) {
        expect_duration<T>();
    }
    template <class T>
        requires(!duration_argument<T>)
    auto lifetime(const T&, double = 0) {
        expect_duration<T>();
    }
    template <class T>
        requires(!duration_argument<T>)
    auto least_rate(std::size_t, const T&) {
        expect_duration<T>();
    }

private:
    friend Stream;

    deadline_setters() = default;

    [[nodiscard]] Stream& stream() noexcept { return static_cast<Stream&>(*this); }
    [[nodiscard]] auto& deadlines() { return stream().impl().deadlines; }

    template <class Set>
    void set(Set f) {
        stream().impl().set(f);
    }

    void set_deadline(time_point stream_limits::* which, time_point t) {
        set([=](auto& deadlines) { return deadlines.expires(which, t); });
    }

    void set_period(progress_period stream_limits::* which, duration d, std::size_t least = 1) {
        set([=](auto& deadlines) { return deadlines.period(which, d, least); });
    }

    void set_idle(duration d) {
        set([d](auto& deadlines) { return deadlines.idle_after(d); });
    }

    template <class Rep, class Period>
    [[nodiscard]] time_point from_now(const std::chrono::duration<Rep, Period>& d) {
        return deadlines().from_now(
            ceil_saturating<duration>(not_nan("the deadline of a timeout_stream", d)));
    }
};

} // namespace asio_wheel::detail

#endif
