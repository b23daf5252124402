// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a timeout_stream shares with its pending operations: the next layer and the deadlines.
//
// It is an object of its own because a stream may be moved or destroyed while operations are
// pending. They need the next layer and the deadlines until they complete.
//
// What always holds:
//
//  1. The stream and each operation that has begun own it. The wait for the deadlines does not:
//     otherwise the next layer of a destroyed stream would live until its wait ends.
//  2. The wait ends where the handlers of the pending operations are called, on the stream's
//     strand. So the next layer is closed on that strand, too.
//  3. What has begun is ended once: by stream_op when it completes, or by abandon().

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_IMPL_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_IMPL_HPP

#include <asio_wheel/detail/asio/bound_to.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/driver_timer.hpp>
#include <asio_wheel/detail/service/handler_ops.hpp>
#include <asio_wheel/detail/timeout_stream/deadlines.hpp>
#include <asio_wheel/detail/timeout_stream/unsent.hpp>
#include <asio_wheel/detail/timeout_stream/watch_place.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// What a stream with deadlines can be made of. Its operations are checked where they are used.
template <class Layer>
concept closable_layer = requires(Layer& layer, boost::system::error_code& ec) {
    layer.get_executor();
    requires requires { lowest_layer_of(layer).close(ec); } ||
                 requires { lowest_layer_of(layer).close(); };
};

/// Closes `layer`, so that everything pending on it completes. It is closed even if this reports an
/// error, so errors are ignored.
template <class Layer>
void close_layer(Layer& layer) noexcept {
    auto& lowest = lowest_layer_of(layer);
#ifdef BOOST_ASIO_HAS_IOCP
    // On Windows, closing a socket need not end its pending operations soon. Cancelling them does.
    if constexpr (boost::system::error_code ignored; requires { lowest.cancel(ignored); }) {
        lowest.cancel(ignored);
    }
#endif
    if constexpr (boost::system::error_code ignored; requires { lowest.close(ignored); }) {
        lowest.close(ignored);
    } else {
        lowest.close();
    }
}

/// The handler of the wait for a stream's deadlines. It keeps the memory of the wait: if the
/// deadline has become later, the next wait begins here, and then needs no memory.
template <class Impl, class Executor, class Tag>
class stream_watch : public bound_to<Executor> {
    using upstream = block_allocator<void>;

public:
    using allocator_type = kept_memory_allocator<void, upstream>;
    using wait_tag_type = Tag; // no_tag: it has none.
    static constexpr wait_kind kind_of_wait = wait_kind::stream;

    stream_watch(const std::shared_ptr<Impl>& impl, bound_to<Executor> ex, const Tag& tag)
        : bound_to<Executor>(std::move(ex)), tag_(tag), impl_(impl), memory_(upstream()) {}
    stream_watch(stream_watch&&) = default;
    stream_watch& operator=(stream_watch&&) = delete;
    ~stream_watch() { // It was not called if it still knows the stream.
        if (const std::shared_ptr<Impl> impl = impl_.lock()) {
            impl->deadlines.dropped(turn);
        }
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(memory_); }
    [[nodiscard]] upstream upstream_allocator() const noexcept { return memory_.upstream(); }
    [[nodiscard]] const Tag& get_wait_tag() const noexcept { return tag_; }

    void operator()(const boost::system::error_code& ec) {
        if (const std::shared_ptr<Impl> impl = impl_.lock()) {
            impl->on_time(*this, ec);
            impl_.reset();
        }
    }

    std::uint64_t turn = 0; ///< The number of the wait. Set by the deadlines.

private:
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Tag tag_;
    std::weak_ptr<Impl> impl_;
    mutable kept_memory<upstream> memory_; // get_allocator() is const.
};

/// The end of a grace. An Asio timer that has expired already calls it, not the wheel: Asio looks
/// for such timers after it has asked the system for what is ready. So what was ready at once
/// completes before. (It has the traits of the wheel's own timer, so replace_asio_timers.hpp does
/// not put it on a wheel.) Only operations that begin too late have one, so the timer is made for
/// each.
template <class Impl, class Executor>
class stream_grace : public bound_to<Executor> {
    using clock = std::chrono::steady_clock;
    using timer =
        boost::asio::basic_waitable_timer<clock, driver_traits<boost::asio::wait_traits<clock>>,
                                          typename Impl::executor_type>;

public:
    static void start(const std::shared_ptr<Impl>& impl, bound_to<Executor> ex, direction what) {
        auto owned = std::make_unique<timer>(impl->layer.get_executor(), clock::time_point());
        timer& t = *owned;
        t.async_wait(stream_grace(impl, std::move(ex), what, std::move(owned)));
    }

    void operator()(const boost::system::error_code&) {
        if (const std::shared_ptr<Impl> impl = impl_.lock()) {
            impl->on_grace(what_, number_);
        }
    }

private:
    stream_grace(const std::shared_ptr<Impl>& impl, bound_to<Executor> ex, direction what,
                 std::unique_ptr<timer> t)
        : bound_to<Executor>(std::move(ex)), impl_(impl), timer_(std::move(t)),
          number_(impl->deadlines.grace()), what_(what) {}

    std::weak_ptr<Impl> impl_;
    std::unique_ptr<timer> timer_; // It calls this. Asio has moved this out of it by then.
    std::uint64_t number_;
    direction what_;
};

template <class Layer>
class stream_impl : public std::enable_shared_from_this<stream_impl<Layer>> {
public:
    using executor_type = std::decay_t<decltype(std::declval<Layer&>().get_executor())>;
    using deadlines_type = stream_deadlines<executor_type>;

    template <class... Args>
    explicit stream_impl(const stream_limits& l, Args&&... args)
        : layer(std::forward<Args>(args)...), deadlines(layer.get_executor(), l) {}

    /// Begins an operation that completes by calling `handler`. Returns false if its deadline has
    /// passed: then the next layer is closed, and the operation has not begun. If this throws,
    /// nothing has begun. `empty`: it will read or write nothing.
    template <class Handler>
    [[nodiscard]] bool begin(direction what, const Handler& handler, bool empty) {
        place_.enter(handler, layer.get_executor());
        scope_exit leave([&] { leave_if_unused(); });
        const next answer = deadlines.begin(what, empty);
        if (answer == next::close) {
            close();
            return false;
        }
        if (answer == next::arm) {
            scope_exit undo([&] { deadlines.take_back(what); });
            deadlines.wait(watch_for(handler));
            undo.release();
        } else if (answer == next::grace) {
            scope_exit undo([&] { deadlines.take_back_grace(what); });
            start_grace(handler, what);
            undo.release();
        }
        leave.release();
        return true;
    }

    /// An operation has ended. `bytes`: see stream_deadlines.
    [[nodiscard]] deadlines_type::ending end(direction what, std::size_t bytes) noexcept {
        const auto ending = deadlines.end(what, bytes);
        if (ending.last) {
            place_.leave();
        }
        return ending;
    }

    /// An operation was destroyed without having completed.
    void abandon(direction what) noexcept {
        static_cast<void>(end(what, 0));
        deadlines.settle();
    }

    /// Sets deadlines by calling set(deadlines), also for what is pending. If there is no memory
    /// for a wait that they need, this throws, and nothing was set.
    template <class Set>
    void set(Set f) {
        const auto setting = f(deadlines);
        if (setting.needs_wait) {
            scope_exit undo([&] { deadlines.take_back(setting); });
            place_.start_wait(*this);
            undo.release();
        }
    }

    /// Starts the wait that is needed, without an operation. For watch_place.
    template <class Executor>
    void start_wait(bound_to<Executor> ex) {
        deadlines.wait(stream_watch<stream_impl, Executor, no_tag>(this->shared_from_this(),
                                                                   std::move(ex), no_tag()));
    }

    /// The wait has ended.
    template <class Watch>
    void on_time(Watch& watch, const boost::system::error_code& ec) noexcept {
        carry_out(deadlines.on_time(watch.turn, ec), [&] { deadlines.wait(std::move(watch)); });
    }

    void on_grace(direction what, std::uint64_t grace) noexcept {
        carry_out(deadlines.on_grace(what, grace), [&] { place_.start_wait(*this); });
    }

    void close() noexcept {
        close_layer(layer);
        deadlines.closed();
    }

    Layer layer;
    deadlines_type deadlines;

private:
    using next = typename deadlines_type::next;

    template <class Wait>
    void carry_out(next answer, Wait wait) noexcept {
        if (answer == next::ask) {
            answer = deadlines.asked(unsent_bytes_of(layer, deadlines.paused()));
        }
        // A wait's executor may need memory. Close the stream then: without a wait, its operations
        // could stay pending for ever.
        const bool refused =
            answer == next::arm && throws(wait) &&
            deadlines.refuse(make_error_code(boost::system::errc::not_enough_memory));
        if (refused || answer == next::close) {
            close();
        }
    }

    // What was to begin does not.
    void leave_if_unused() noexcept {
        if (!deadlines.any_pending()) {
            place_.leave();
        }
    }

    // The wait for the deadline of an operation. It ends where the operation's handler is called,
    // and so does a grace.
    template <class Handler>
    [[nodiscard]] auto watch_for(const Handler& handler) {
        auto ex = bound_as(handler, layer.get_executor());
        using executor = typename decltype(ex)::bound;
        const auto tag = associated_tag<Handler>::get(handler);
        return stream_watch<stream_impl, executor, std::decay_t<decltype(tag)>>(
            this->shared_from_this(), std::move(ex), tag);
    }

    template <class Handler>
    void start_grace(const Handler& handler, direction what) {
        auto ex = bound_as(handler, layer.get_executor());
        using executor = typename decltype(ex)::bound;
        stream_grace<stream_impl, executor>::start(this->shared_from_this(), std::move(ex), what);
    }

    watch_place<stream_impl> place_;
};

} // namespace asio_wheel::detail

#endif
