// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Synchronous operations that end at the stream's deadlines: how they wait.
//
// A socket is made non-blocking. Then each operation is tried, and poll() waits between two
// attempts. The deadline is compared with the wheel's clock before each wait. So a signal, or a
// socket that was not ready after all, costs another round, and nothing is early.
//
// The mode of the socket is restored afterwards. But if Asio has made the socket non-blocking for
// asynchronous operations that are pending, the mode must not change: another thread may carry them
// out, and would block. Then the operation itself is only called when poll() says that it is ready.
// (Since Asio 1.38, reads and writes do not depend on the mode, and leave it alone.)
//
// The wheel's time may be paused. Nothing moves it while the only thread of a program is blocked.
// So an operation takes no longer in real time, either, than what was left when it began. Another
// thread may move paused time. That does not end poll(), so it waits in short pieces then.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_BLOCKING_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_BLOCKING_HPP

#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout_stream/deadlines.hpp>
#include <asio_wheel/detail/timeout_stream/system_wait.hpp>
#include <asio_wheel/detail/timeout_stream/unsent.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace asio_wheel::detail {

[[nodiscard]] inline bool would_block(const boost::system::error_code& ec) noexcept {
    return ec == boost::asio::error::would_block || ec == boost::asio::error::try_again;
}

/// The time that is left for an operation: on the wheel's clock, and in real time.
template <class Deadlines>
class blocking_time {
    using clock = std::chrono::steady_clock;

public:
    blocking_time(const Deadlines& d, clock::time_point end)
        : deadlines_(d), end_(end), real_end_(from_now(until_or_zero(d.now(), end))) {}

    [[nodiscard]] clock::duration left() const {
        return (std::min)(until_or_zero(deadlines_.now(), end_),
                          until_or_zero(clock::now(), real_end_));
    }
    [[nodiscard]] bool is_over() const { return left() == clock::duration::zero(); }

    /// Waits until `s` is ready. Otherwise false, with an error: error::timed_out if time is over.
    [[nodiscard]] bool wait(native_socket s, readiness what, boost::system::error_code& ec) const {
        for (;;) {
            const auto longest =
                deadlines_.paused() ? std::chrono::milliseconds(10) : longest_system_wait;
            if (wait_for_system(s, what, (std::min<clock::duration>)(left(), longest), ec)) {
                return true;
            }
            if (!ec && is_over()) {
                ec = error::timed_out;
            }
            if (ec) {
                return false;
            }
        }
    }

private:
    // Real time is read after the wheel's. If it were read before, and the thread was interrupted
    // in between, this would be too early.
    [[nodiscard]] static clock::time_point from_now(clock::duration left) {
        return add_saturating(clock::now(), left);
    }

    const Deadlines& deadlines_;
    clock::time_point end_;
    clock::time_point real_end_;
};

/// While this exists, what `layer` cannot do at once fails with would_block.
template <class Layer>
class non_blocking_scope {
public:
    non_blocking_scope(Layer& layer, boost::system::error_code& ec)
        : layer_(layer), native_(layer.native_non_blocking()) {
        layer_.non_blocking(true, ec);
    }
    non_blocking_scope(const non_blocking_scope&) = delete;
    non_blocking_scope& operator=(const non_blocking_scope&) = delete;
    ~non_blocking_scope() {
        boost::system::error_code ignored; // For example, the socket was closed.
        layer_.non_blocking(false, ignored);
        if (native_) { // The line above has ended this, too.
            layer_.native_non_blocking(true, ignored);
        }
    }

private:
    Layer& layer_;
    bool native_;
};

/// Reads or writes by calling `transfer(ec)`, until `time` is over.
template <class Deadlines, class Layer, class Transfer>
std::size_t transfer_within(const blocking_time<Deadlines>& time, Layer& layer, bool others_pending,
                            readiness what, Transfer transfer, boost::system::error_code& ec) {
    if (others_pending && layer.native_non_blocking()) {
        return time.wait(layer.native_handle(), what, ec) ? transfer(ec) : 0;
    }
    const non_blocking_scope<Layer> scope(layer, ec);
    for (bool last = false; !ec;) {
        const std::size_t n = transfer(ec);
        if (!would_block(ec)) {
            return n;
        }
        if (last) {
            ec = error::timed_out;
            break;
        }
        last = time.is_over(); // What has arrived meanwhile is still read.
        static_cast<void>(time.wait(layer.native_handle(), what, ec));
    }
    return 0;
}

/// Connects `layer`, until `time` is over. If there is more time after all, it is called again, and
/// goes on with the connect that is under way.
template <class Deadlines, class Layer, class Endpoint>
void connect_within(const blocking_time<Deadlines>& time, Layer& layer, const Endpoint& peer,
                    boost::system::error_code& ec) {
    ec = {};
    if (!layer.is_open()) {
        layer.open(peer.protocol(), ec);
    }
    const bool was_blocking = !layer.non_blocking() && !layer.native_non_blocking();
    if (!ec && was_blocking) {
        layer.native_non_blocking(true, ec);
    }
    if (ec) {
        return;
    }
    ec = start_connect(layer.native_handle(), peer);
    // A local server that has too many connections to accept. The system does not say when it has
    // accepted one.
    while (ec == boost::asio::error::try_again) {
        const auto pause = std::chrono::milliseconds(1);
        boost::system::error_code ignored;
        static_cast<void>(wait_for_system(native_socket(-1), readiness::connected, pause, ignored));
        ec = time.is_over() ? boost::system::error_code(error::timed_out)
                            : start_connect(layer.native_handle(), peer);
    }
    if (is_in_progress(ec) && time.wait(layer.native_handle(), readiness::connected, ec)) {
        ec = result_of_connect(layer.native_handle());
    }
    if (was_blocking) {
        boost::system::error_code ignored;
        layer.native_non_blocking(false, ignored);
    }
}

/// Performs a synchronous operation of a stream. `at_once(ec)` does without a deadline what
/// `within(time, layer, ec)` does with one. Both return how many bytes were transferred; a connect
/// counts as one.
template <class Impl, class AtOnce, class Within>
void block(Impl& impl, direction what, AtOnce at_once, Within within,
           boost::system::error_code& ec) {
    ec = {};
    auto end = impl.deadlines.block(what);
    if (!end) {
        ec = error::timed_out;
        impl.close();
        return;
    }
    std::size_t bytes = 0;
    if (*end == Impl::deadlines_type::never) {
        bytes = at_once(ec);
    } else if constexpr (system_layer<decltype(impl.layer)>) {
        do {
            bytes = within(blocking_time(impl.deadlines, *end), impl.layer, ec);
            if (ec == error::timed_out) {
                // A connect has nothing to take.
                const auto unsent = what == direction::connect
                                        ? std::nullopt
                                        : unsent_bytes_of(impl.layer, impl.deadlines.paused());
                end = impl.deadlines.block_on(what, *end, unsent);
                if (!end) {
                    impl.close();
                }
            }
        } while (end && ec == error::timed_out);
    } else {
        ec = make_error_code(boost::system::errc::operation_not_supported);
    }
    impl.deadlines.block_ended(what, bytes);
}

/// read_some() or write_some(), which is `transfer(ec)`. `empty`: it will read or write nothing.
template <class Impl, class Transfer>
std::size_t block_transfer(Impl& impl, direction what, bool empty, Transfer transfer,
                           boost::system::error_code& ec) {
    std::size_t n = 0;
    const auto at_once = [&](boost::system::error_code& result) {
        n = transfer(result);
        return n;
    };
    const auto within = [&](const auto& time, auto& layer, boost::system::error_code& result) {
        if (empty || !layer.is_open() || layer.non_blocking()) {
            return at_once(result); // It does not block.
        }
        n = transfer_within(time, layer, impl.deadlines.any_pending(),
                            what == direction::read ? readiness::reading : readiness::writing,
                            transfer, result);
        return n;
    };
    block(impl, what, at_once, within, ec);
    return n;
}

/// connect() to an endpoint.
template <class Impl, class Endpoint>
void block_connect(Impl& impl, const Endpoint& peer, boost::system::error_code& ec) {
    block(
        impl, direction::connect,
        [&](boost::system::error_code& result) {
            impl.layer.connect(peer, result);
            return !result;
        },
        [&](const auto& time, auto& layer, boost::system::error_code& result) {
            connect_within(time, layer, peer, result);
            return !result;
        },
        ec);
}

/// connect() to the first endpoint that accepts. All attempts share what time there is.
template <class Endpoint, class Impl, class Endpoints, class Condition>
[[nodiscard]] Endpoint block_connect_range(Impl& impl, const Endpoints& endpoints,
                                           Condition condition, boost::system::error_code& ec) {
    Endpoint connected;
    block(
        impl, direction::connect,
        [&](boost::system::error_code& result) {
            connected = boost::asio::connect(impl.layer, endpoints, condition, result);
            return !result;
        },
        [&](const auto& time, auto& layer, boost::system::error_code& result) {
            result = {}; // If there is more time after all, all of them are tried again.
            for (const auto& entry : endpoints) {
                if (result == error::timed_out) {
                    break;
                }
                if (condition(result, entry)) {
                    boost::system::error_code ignored;
                    layer.close(ignored);         // The last attempt, as Asio does.
                    const Endpoint& peer = entry; // Perhaps converted.
                    connect_within(time, layer, peer, result);
                    if (!result) {
                        connected = peer;
                        return true;
                    }
                }
            }
            if (!result) {
                result = boost::asio::error::not_found; // As Asio does.
            }
            return false;
        },
        ec);
    return connected;
}

} // namespace asio_wheel::detail

#endif
