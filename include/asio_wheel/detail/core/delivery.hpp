// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The way of a wait from its timer to its handler, and what can still change on that way. See
// wait_node.hpp for the locations of a wait.

#ifndef ASIO_WHEEL_DETAIL_CORE_DELIVERY_HPP
#define ASIO_WHEEL_DETAIL_CORE_DELIVERY_HPP

#include <asio_wheel/detail/core/book.hpp>
#include <asio_wheel/detail/core/outbox.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class delivery {
public:
    using result = wait_node::result_state;

    delivery(queue_port& queue, book& b) noexcept : queue_(queue), book_(b), outbox_(queue) {}

    [[nodiscard]] outbox& out() noexcept { return outbox_; }

    /// How many due waits are on their way to other executors. They do not count as work here.
    [[nodiscard]] std::size_t due_elsewhere() const noexcept { return due_elsewhere_; }

    void attach(timer_state& s, wait_node& wait) noexcept;

    /// Detaches a wait from its timer. The caller calls settle().
    void detach(wait_node& wait) noexcept;
    /// Detaches a wait. With the last one, takes the timer out of the wheel.
    void detach_and_remove(wait_node& wait) noexcept;

    /// From now on its cancellation slot does not reach the wait.
    static void disconnect_slot(wait_node& wait) noexcept;

    /// Sets the life of a timer that may have lost its last wait. After that the timer may end at
    /// any time.
    void settle(timer_state& s) noexcept;

    /// Sets the result of a wait that is attached, and puts it on its way. False if that has ended
    /// work that may be the last: then the caller ends it.
    [[nodiscard]] bool make_ready(wait_node& wait, result how) noexcept;
    /// Puts a wait into the queue that is not attached any more.
    void finish(wait_node& wait, result why) noexcept;

    /// Lets a due wait wait again. If it is in the queue, it stays there, and its turn finds it
    /// waiting.
    void take_back(wait_node& wait) noexcept;

    /// The turn of a wait in the context's queue, whose result is not final. Removes one reference
    /// to it. True if it was the last, and the wait has a result.
    [[nodiscard]] static bool is_turn(wait_node& wait) noexcept;

    /// The turn of a wait whose handler has another executor. True if the caller dispatches it.
    [[nodiscard]] bool leave(wait_node& wait) noexcept;
    /// There was no memory for that: its turn comes once more.
    void come_back(wait_node& wait) noexcept;

    // Timers that are not filed, with waits on their way to other executors. (The list uses the
    // wheel's links.)
    void list(timer_state& s) noexcept;
    void unlist(timer_state& s) noexcept;
    [[nodiscard]] timer_state* first_listed() noexcept {
        return elsewhere_.empty() ? nullptr : static_cast<timer_state*>(&elsewhere_.front());
    }

private:
    using timer_list =
        boost::intrusive::list<timer_entry, boost::intrusive::constant_time_size<false>>;

    static constexpr auto max_queue_refs = (std::numeric_limits<std::uint8_t>::max)();

    queue_port& queue_;
    book& book_;
    outbox outbox_;
    timer_list elsewhere_;
    std::size_t due_elsewhere_ = 0;
};

} // namespace asio_wheel::detail

#endif
